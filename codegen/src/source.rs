//! A source: the text of one workflow file, and which language it is in.

use crate::diag::Diagnostic;

/// The text of one workflow file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path to show people; need not exist.
    pub path: String,
    /// The whole text, a byte order mark included.
    pub text: String,
    /// The language it is in.
    pub format: Format,
}

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2.
    Yaml,
    /// TOML 1.0.
    Toml,
}

impl Source {
    /// A source with the format that its path's extension names, YAML for any other.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let path = path.into();
        let format = Format::of_path(&path).unwrap_or(Format::Yaml);
        Self { path, text: text.into(), format }
    }
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

/// What compiling one source gave: everything that was found, and the workflow when nothing was wrong.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// Every finding, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The checked workflow; absent when there is a finding at level `error`.
    pub checked: Option<crate::Checked>,
}
