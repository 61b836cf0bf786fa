//! The files that hold prompts: they stand in the workflow's folder, and nowhere else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

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
    /// Here, by name.
    Given(BTreeMap<String, String>),
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
        let PromptFiles::Folder(folder) = self else { return None };
        let parent = folder.parent().filter(|_| folder.ends_with("workflows"));
        [Some(folder.as_path()), parent].into_iter().flatten().map(|it| it.join(name)).find(|it| it.exists())
    }

    /// The text of one of them.
    pub fn read(&self, name: &str) -> Result<String, PromptFileFault> {
        let is_inside = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
        if name.is_empty() || !Path::new(name).components().all(is_inside) {
            return Err(PromptFileFault::Outside);
        }
        match self {
            PromptFiles::Nowhere => Err(PromptFileFault::Missing(None)),
            PromptFiles::Given(texts) => {
                let close = || suggest::closest(name, texts.keys().map(String::as_str)).map(str::to_owned);
                texts.get(name).cloned().ok_or_else(|| PromptFileFault::Missing(close()))
            }
            PromptFiles::Folder(folder) => match read(folder, name) {
                Err(PromptFileFault::Missing(close)) if folder.ends_with("workflows") => {
                    match read(&folder_of(folder), name) {
                        Err(PromptFileFault::Missing(other)) => {
                            Err(PromptFileFault::Missing(close.or(other)))
                        }
                        found => found,
                    }
                }
                found => found,
            },
        }
    }
}

/// The folder of a file, as one can open it.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn read(folder: &Path, name: &str) -> Result<String, PromptFileFault> {
    let path = match folder.join(name).canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(PromptFileFault::Missing(close_to(folder, name)));
        }
        Err(error) => return Err(PromptFileFault::Io(error)),
    };
    let folder = folder.canonicalize().map_err(PromptFileFault::Io)?;
    if !path.starts_with(folder) {
        return Err(PromptFileFault::Outside);
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
    let text = String::from_utf8(bytes)
        .map_err(|error| PromptFileFault::NoText(error.utf8_error().valid_up_to()))?;
    if let Some(at) = text.find('\0') {
        return Err(PromptFileFault::Nul(text[..at].matches('\n').count() + 1));
    }
    match text.strip_prefix('\u{feff}').unwrap_or(&text) {
        blank if blank.trim().is_empty() => Err(PromptFileFault::Empty),
        // A checkout with other line ends is the same definition.
        prompt => Ok(prompt.replace("\r\n", "\n")),
    }
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
