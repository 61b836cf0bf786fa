//! A source: the text of one workflow file, and which language it is in.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::catalogue::S08;
use crate::diag::Diagnostic;
use crate::prompt_files::PromptFiles;
use crate::span::Span;
use crate::syntax::limits::{self, MAX_BYTES};

/// The end of the name of a file of scenarios; before it stands the stem of the workflow's file.
pub const SCENARIOS: &str = ".test.yml";

/// The text of one workflow file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path to show people; need not exist.
    pub path: String,
    /// The whole text, a byte order mark included.
    pub text: String,
    /// The language it is in.
    pub format: Format,
    /// Place of the files that it names.
    pub prompt_files: PromptFiles,
}

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2.
    Yaml,
    /// TOML 1.0.
    Toml,
}

/// True if a file holds scenarios and no workflow, which its name says.
pub fn is_scenario_file(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it.to_string_lossy().ends_with(SCENARIOS))
}

impl Source {
    /// A source with the format that its path's extension names, YAML for any other. It is not a file: the files that it names
    /// are not there.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let path = path.into();
        let format = Format::of_path(&path).unwrap_or(Format::Yaml);
        Self { path, text: text.into(), format, prompt_files: PromptFiles::Nowhere }
    }

    /// Sets the files that it names.
    pub fn with_files(self, prompt_files: PromptFiles) -> Self {
        Self { prompt_files, ..self }
    }

    /// Reads a file. It refuses what cannot be a workflow before reading it: a folder, a file of another kind, one
    /// over 16 MiB.
    ///
    /// # Errors
    /// One finding, S08 or S10, that names the file; its span means nothing.
    pub fn read(path: &Path) -> Result<Self, Box<Diagnostic>> {
        let shown = path.display().to_string();
        if Format::of_path(&shown).is_none() {
            let message =
                format!("{shown} is not a workflow: its name ends in none of .yml, .yaml and .toml");
            return Err(unreadable(message, "give the file one of these endings, if it is a workflow"));
        }
        let metadata = fs::metadata(path).map_err(|error| {
            unreadable(
                format!("{shown} cannot be read: {error}"),
                "check the path, and who may read the file",
            )
        })?;
        if !metadata.is_file() {
            return Err(unreadable(format!("{shown} is not a file"), "give the workflow files in it"));
        }
        if metadata.len() > MAX_BYTES as u64 {
            return Err(Box::new(limits::too_large()));
        }
        let file = File::open(path).map_err(|error| {
            unreadable(format!("{shown} cannot be read: {error}"), "check who may read the file")
        })?;
        Ok(Self::from_reader(shown, file)?.with_files(PromptFiles::beside(path)))
    }

    /// Reads a source from anything, up to 16 MiB; `path` names it and gives its format, YAML by default.
    pub fn from_reader(path: impl Into<String>, reader: impl Read) -> Result<Self, Box<Diagnostic>> {
        let path = path.into();
        let mut bytes = Vec::new();
        reader
            .take(MAX_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(format!("{path} cannot be read: {error}"), "try again"))?;
        if bytes.len() > MAX_BYTES {
            return Err(Box::new(limits::too_large()));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            let message =
                format!("{path} is not a UTF-8 text: byte {valid}, in line {line}, begins no character");
            unreadable(message, "save the file as UTF-8")
        })?;
        Ok(Self::new(path, text))
    }
}

fn unreadable(message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(&S08, Span::at(0), message).help(help))
}

impl Format {
    /// The format that a path's extension names: `.yml` and `.yaml`, or `.toml`.
    pub fn of_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension {
            "yml" | "yaml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}
