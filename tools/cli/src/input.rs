//! The files of a run, and their texts.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use orange_codegen::catalogue::S08;
use orange_codegen::prompt_files;
use orange_codegen::source::is_scenario_file;
use orange_codegen::syntax::limits;
use orange_codegen::{Diagnostic, PromptFiles, Source, Span};

use crate::answer::Failure;

/// One file to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Input {
    /// Its name in every message.
    pub shown: String,
    /// Its origin.
    pub origin: Origin,
}

/// Origin of an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The user named the file: it has to be a workflow.
    Named(PathBuf),
    /// It was found in a folder: it may be anything.
    Found(PathBuf),
    /// Standard input.
    Stdin,
    /// A text in memory, which has to be a workflow, and the folder of the files that it names.
    Given(Vec<u8>, PathBuf),
}

/// The files of a run, sorted, each once.
#[derive(Debug, Default)]
pub(crate) struct CollectedInputs {
    pub inputs: Vec<Input>,
    /// The paths that could not be searched.
    pub failures: Vec<Failure>,
}

/// The result of reading one input.
#[derive(Debug)]
pub(crate) enum ReadInput {
    Text(Source),
    /// It is not a text of a size that a workflow may have; what could be read of it, and what to say.
    NotText(Source, Box<Diagnostic>),
    /// It cannot be read; an empty source, and what to say.
    Unreadable(Source, Box<Diagnostic>),
}

/// Finds the files that these paths name; `-` is standard input and is called `stdin_name`.
pub(crate) fn collect(paths: &[PathBuf], stdin_name: Option<&str>) -> CollectedInputs {
    let mut collected = CollectedInputs::default();
    for path in paths {
        if path.as_os_str() == "-" {
            let shown = stdin_name.unwrap_or("<stdin>").to_owned();
            collected.inputs.push(Input { shown, origin: Origin::Stdin });
        } else {
            collected.add(path);
        }
    }
    if stdin_name.is_some() && paths.iter().all(|it| it.as_os_str() != "-") {
        collected
            .failures
            .push(Failure::new("--stdin-name names `-`, which is none of the paths", "add `-`"));
    }
    if paths.len() > 1 {
        // A file that an argument names has to be a workflow, wherever else it is found; its first name is the one that is shown.
        collected.inputs.sort_by_key(|it| matches!(it.origin, Origin::Found(_)));
        let mut seen = BTreeSet::new();
        collected.inputs.retain(|input| seen.insert(input.identity()));
    }
    collected.inputs.sort();
    collected
}

impl CollectedInputs {
    fn add(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => self.search(path),
            Ok(_) => self.inputs.push(Input { shown: shown(path), origin: Origin::Named(path.to_owned()) }),
            Err(error) => self.failures.push(cannot_find(path, &error)),
        }
    }

    /// Looks through a folder and its folders; hidden ones and caches have no sources.
    fn search(&mut self, folder: &Path) {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            match entries(&folder) {
                Ok(entries) => {
                    for (path, is_folder) in entries {
                        if is_folder && is_searched(&path) {
                            folders.push(path);
                        } else if !is_folder && has_workflow_extension(&path) && !is_scenario_file(&path) {
                            self.inputs.push(Input { shown: shown(&path), origin: Origin::Found(path) });
                        }
                    }
                }
                Err(error) => self.failures.push(cannot_search(&folder, &error)),
            }
        }
    }
}

/// The files below a folder that are wanted; hidden folders and caches have no sources.
///
/// # Errors
///
/// A folder that cannot be read.
pub(crate) fn files_below(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for (path, is_folder) in entries(&folder).map_err(|error| cannot_search(&folder, &error))? {
            if is_folder && is_searched(&path) {
                folders.push(path);
            } else if !is_folder && wanted(&path) {
                found.push(path);
            }
        }
    }
    Ok(found)
}

impl Input {
    /// The one file that a command is for; `-` is standard input.
    ///
    /// # Errors
    ///
    /// There is no such file, or it is a folder.
    pub(crate) fn named(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Self { shown: "<stdin>".to_owned(), origin: Origin::Stdin });
        }
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                Err(Failure::new(format!("{} is a folder", shown(path)), "name one workflow file in it"))
            }
            Ok(_) => Ok(Self { shown: shown(path), origin: Origin::Named(path.to_owned()) }),
            Err(error) => Err(cannot_find(path, &error)),
        }
    }

    /// A copy of the input that has this text, in memory.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        let origin = Origin::Given(text.as_bytes().to_owned(), self.files());
        Self { shown: self.shown.clone(), origin }
    }

    /// Reads standard input into memory, since it can be read only once.
    pub(crate) fn hold(&mut self) -> io::Result<()> {
        if self.origin == Origin::Stdin {
            self.origin = Origin::Given(up_to_limit(io::stdin().lock(), 0)?, self.files());
        }
        Ok(())
    }

    /// Reads the text, and no more of it than a workflow may have.
    pub(crate) fn read(&self) -> ReadInput {
        let read = match &self.origin {
            Origin::Named(path) => fs::File::open(path).and_then(read_file),
            Origin::Found(path) => open_regular(path).and_then(read_file),
            Origin::Stdin => up_to_limit(io::stdin().lock(), 0),
            Origin::Given(bytes, _) => Ok(bytes.clone()),
        };
        match read {
            Ok(bytes) if bytes.len() > limits::MAX_BYTES => self.too_large(&bytes),
            Ok(bytes) => self.decode(bytes),
            Err(error) => self.unreadable(&error),
        }
    }

    fn decode(&self, bytes: Vec<u8>) -> ReadInput {
        match String::from_utf8(bytes) {
            Ok(text) => ReadInput::Text(self.source(text)),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let byte = error.as_bytes()[valid];
                let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned() + "\u{fffd}";
                let span = Span::new(valid as u32, text.len() as u32);
                let message = format!("not UTF-8 text: there is a byte 0x{byte:02x}");
                let finding = Diagnostic::new(&S08, span, message)
                    .label(span, "not UTF-8 from here on")
                    .help("save the file as UTF-8, or name a workflow in YAML or TOML");
                ReadInput::NotText(self.source(text), Box::new(finding))
            }
        }
    }

    fn too_large(&self, bytes: &[u8]) -> ReadInput {
        let text = String::from_utf8_lossy(bytes).into_owned();
        ReadInput::NotText(self.source(text), Box::new(limits::too_large()))
    }

    fn unreadable(&self, error: &io::Error) -> ReadInput {
        let message = format!("the file cannot be read: {error}");
        let finding = Diagnostic::new(&S08, Span::default(), message)
            .help("see whether it is a file that you may read, or leave it out");
        ReadInput::Unreadable(self.source(String::new()), Box::new(finding))
    }

    fn source(&self, text: String) -> Source {
        Source::new(&self.shown, text).with_files(PromptFiles::Folder(self.files()))
    }

    /// The folder of the files that it names.
    fn files(&self) -> PathBuf {
        match &self.origin {
            Origin::Named(path) | Origin::Found(path) => prompt_files::folder_of(path),
            Origin::Stdin => PathBuf::from("."),
            Origin::Given(_, folder) => folder.clone(),
        }
    }

    /// The canonical path of its file, one for all paths that lead there; none where the text is not read from a path.
    fn identity(&self) -> Option<PathBuf> {
        match &self.origin {
            Origin::Named(path) | Origin::Found(path) => {
                Some(path.canonicalize().unwrap_or_else(|_| path.clone()))
            }
            Origin::Stdin | Origin::Given(..) => None,
        }
    }
}

/// A folder and those below it that a search looks through, as far as they can be read.
pub(crate) fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = entries(&folder).unwrap_or_default().into_iter();
        folders.extend(entries.filter(|(path, is_folder)| *is_folder && is_searched(path)).map(|it| it.0));
        found.push(folder);
    }
    found
}

/// Standard input has one text, and only the first reader gets it.
///
/// # Errors
///
/// Both are to come from there.
pub(crate) fn not_both_from_stdin(one: &Path, other: &Path) -> Result<(), Failure> {
    if one.as_os_str() == "-" && other.as_os_str() == "-" {
        return Err(Failure::new(
            "two things are to be read from standard input",
            "name a file for one of them",
        ));
    }
    Ok(())
}

fn cannot_search(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format!("cannot search {}: {error}", shown(folder)),
        "make the folder readable, or name the files in it",
    )
}

fn cannot_find(path: &Path, error: &io::Error) -> Failure {
    let shown = shown(path);
    if error.kind() == io::ErrorKind::NotFound {
        Failure::new(format!("no such file or folder: {shown}"), "see whether the path is spelled right")
    } else {
        Failure::new(format!("cannot look at {shown}: {error}"), "see whether you may read it")
    }
}

/// The entries of a folder, sorted, and whether each is a folder itself. A link is none, since it may lead back to its own folder.
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let entries = fs::read_dir(folder)?;
    let entries = entries.map(|entry| entry.and_then(|it| Ok((it.path(), it.file_type()?.is_dir()))));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// Opens what a search found, unless reading it could wait for ever, as with a pipe.
fn open_regular(path: &Path) -> io::Result<fs::File> {
    if fs::metadata(path)?.is_file() {
        fs::File::open(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

fn read_file(file: fs::File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    up_to_limit(file, length)
}

fn up_to_limit(stream: impl Read, expected: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected.min(limits::MAX_BYTES as u64) as usize + 1);
    stream.take(limits::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_searched(folder: &Path) -> bool {
    !is_hidden(folder) && !is_cache(folder)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// True if a program marked the folder as its cache: <https://bford.info/cachedir/>. Cargo does.
fn is_cache(path: &Path) -> bool {
    path.join("CACHEDIR.TAG").exists()
}

fn has_workflow_extension(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "yml" || it == "yaml" || it == "toml") && !is_config(path)
}

fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == crate::config::NAME)
}

/// The path without a leading `./`.
fn shown(path: &Path) -> String {
    let typed: PathBuf = path.components().filter(|it| *it != Component::CurDir).collect();
    if typed.as_os_str().is_empty() { ".".to_owned() } else { typed.display().to_string() }
}
