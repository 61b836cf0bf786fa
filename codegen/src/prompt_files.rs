//! The files that hold prompts: they stand in the workflow's folder, and nowhere else.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::suggest;

/// Bytes in one prompt.
pub const MAX_PROMPT_BYTES: usize = 1 << 20;

/// Place of the prompt files of a workflow.
#[derive(Clone, Debug, Default)]
pub enum PromptFiles {
    /// Nowhere: the source is not a file.
    #[default]
    Nowhere,
    /// In this folder; in its parent, too, if it is called `workflows`.
    Folder(PathBuf),
    /// Likewise, where an editor may have other texts than the disk.
    Over(PathBuf, OpenTexts),
    /// Here, by name.
    Given(BTreeMap<String, String>),
}

/// The texts that an editor has open, by their paths. They stand for those on the disk.
#[derive(Clone)]
pub struct OpenTexts(Arc<OpenText>);

/// The text of a path that an editor has open.
type OpenText = dyn Fn(&Path) -> Option<String> + Send + Sync;

impl OpenTexts {
    /// Those that this function knows.
    pub fn new(open: impl Fn(&Path) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

impl fmt::Debug for OpenTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenTexts(..)")
    }
}

/// Reason for which there is no prompt.
#[derive(Debug)]
pub enum PromptFileFault {
    /// The name leads out of the folder.
    Outside,
    /// There is no such file; this one has almost that name.
    Missing(Option<String>),
    /// Something else has that name.
    NoFile,
    /// It has more than [`MAX_PROMPT_BYTES`].
    TooLong,
    /// Its text is not UTF-8, from this byte on.
    NoText(usize),
    /// It has the character U+0000, in this line.
    Nul(usize),
    /// It has no text.
    Empty,
    /// It cannot be read.
    Io(io::Error),
}

impl PromptFiles {
    /// Those of a workflow's file.
    pub fn beside(path: &Path) -> PromptFiles {
        PromptFiles::Folder(folder_of(path))
    }

    /// Path of a prompt file that [`PromptFiles::read`] finds, for those who watch it.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let (folder, open) = self.folder()?;
        let parent = folder.parent().filter(|_| folder.ends_with("workflows"));
        let paths = [Some(folder), parent].into_iter().flatten().map(|it| it.join(name));
        paths.into_iter().find(|it| it.exists() || open.is_some_and(|open| open.0(it).is_some()))
    }

    /// The text of one of them.
    pub fn read(&self, name: &str) -> Result<String, PromptFileFault> {
        let is_inside = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
        if name.is_empty() || !Path::new(name).components().all(is_inside) {
            return Err(PromptFileFault::Outside);
        }
        if let PromptFiles::Given(texts) = self {
            let close = || suggest::closest(name, texts.keys().map(String::as_str)).map(str::to_owned);
            return texts.get(name).cloned().ok_or_else(|| PromptFileFault::Missing(close()));
        }
        let Some((folder, open)) = self.folder() else { return Err(PromptFileFault::Missing(None)) };
        match read(folder, name, open) {
            Err(PromptFileFault::Missing(close)) if folder.ends_with("workflows") => {
                match read(&folder_of(folder), name, open) {
                    Err(PromptFileFault::Missing(other)) => Err(PromptFileFault::Missing(close.or(other))),
                    found => found,
                }
            }
            found => found,
        }
    }

    fn folder(&self) -> Option<(&Path, Option<&OpenTexts>)> {
        match self {
            PromptFiles::Folder(folder) => Some((folder, None)),
            PromptFiles::Over(folder, open) => Some((folder, Some(open))),
            PromptFiles::Nowhere | PromptFiles::Given(_) => None,
        }
    }
}

/// The folder of a file, as one can open it.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn read(folder: &Path, name: &str, open: Option<&OpenTexts>) -> Result<String, PromptFileFault> {
    let named = folder.join(name);
    let open_text = |path: &Path| open.and_then(|it| it.0(path));
    let path = match named.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let missing = || PromptFileFault::Missing(close_to(folder, name));
            return prompt(open_text(&named).ok_or_else(missing)?);
        }
        Err(error) => return Err(PromptFileFault::Io(error)),
    };
    let folder = folder.canonicalize().map_err(PromptFileFault::Io)?;
    if !path.starts_with(folder) {
        return Err(PromptFileFault::Outside);
    }
    if let Some(text) = open_text(&named).or_else(|| open_text(&path)) {
        return prompt(text);
    }
    let metadata = fs::metadata(&path).map_err(PromptFileFault::Io)?;
    if !metadata.is_file() {
        return Err(PromptFileFault::NoFile);
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(MAX_PROMPT_BYTES as u64) as usize + 1);
    let file = File::open(&path).map_err(PromptFileFault::Io)?;
    file.take(MAX_PROMPT_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(PromptFileFault::Io)?;
    if bytes.len() > MAX_PROMPT_BYTES {
        return Err(PromptFileFault::TooLong);
    }
    prompt(
        String::from_utf8(bytes)
            .map_err(|error| PromptFileFault::NoText(error.utf8_error().valid_up_to()))?,
    )
}

/// The prompt that a text is.
fn prompt(text: String) -> Result<String, PromptFileFault> {
    if text.len() > MAX_PROMPT_BYTES {
        return Err(PromptFileFault::TooLong);
    }
    if let Some(at) = text.find('\0') {
        return Err(PromptFileFault::Nul(text[..at].matches('\n').count() + 1));
    }
    match normalised(&text) {
        blank if blank.trim().is_empty() => Err(PromptFileFault::Empty),
        prompt => Ok(prompt),
    }
}

/// The prompt that a file's text is: without a byte order mark, and with `\n` alone at the end of each line, since a checkout with
/// other line ends is the same definition. Lines and columns are those of the file.
pub fn normalised(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

/// The file of the same folder whose name is almost this one.
fn close_to(folder: &Path, name: &str) -> Option<String> {
    let (parent, file) = name.rsplit_once('/').unwrap_or(("", name));
    let entries = fs::read_dir(folder.join(parent)).ok()?;
    let names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let close = suggest::closest(file, names.iter().map(String::as_str))?;
    Some(if parent.is_empty() { close.to_owned() } else { format!("{parent}/{close}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_text_stands_for_that_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["saved.md", "closed.md"] {
            fs::write(folder.path().join(name), "on the disk\n").unwrap();
        }
        let open = OpenTexts::new(|path: &Path| match path.file_name()?.to_str()? {
            "saved.md" => Some("in the editor\r\n".to_owned()),
            "new.md" => Some("not saved".to_owned()),
            "blank.md" => Some(" \n".to_owned()),
            _ => None,
        });
        let files = PromptFiles::Over(folder.path().to_owned(), open);
        let read = |name: &str| files.read(name).map_err(|fault| format!("{fault:?}"));
        assert_eq!(read("saved.md").as_deref(), Ok("in the editor\n"));
        assert_eq!(read("closed.md").as_deref(), Ok("on the disk\n"));
        assert_eq!(read("new.md").as_deref(), Ok("not saved"));
        assert_eq!(read("blank.md").unwrap_err(), "Empty");
        assert_eq!(read("../saved.md").unwrap_err(), "Outside");
        assert_eq!(read("save.md").unwrap_err(), "Missing(Some(\"saved.md\"))");
        assert_eq!(files.path("new.md"), Some(folder.path().join("new.md")));
        assert_eq!(files.path("none.md"), None);
    }
}
