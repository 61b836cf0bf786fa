//! A TOML file of a person, whose errors name the line.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::{Error, ErrorKind, Result};

/// A file, with the lines for error messages.
#[derive(Clone, Copy, Debug)]
pub struct TomlText<'t> {
    path: &'t Path,
    text: &'t str,
}

impl<'t> TomlText<'t> {
    /// The file at this path with these bytes.
    ///
    /// # Errors
    /// `corrupt` if they are not UTF-8.
    pub fn new(path: &'t Path, bytes: &'t [u8]) -> Result<TomlText<'t>> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(TomlText { path, text }),
            Err(cause) => {
                let line = lines(&bytes[..cause.valid_up_to()]);
                Err(TomlText { path, text: "" }.broken_in(line, "this is not a UTF-8 text"))
            }
        }
    }

    /// Its tables and keys.
    ///
    /// # Errors
    /// `corrupt` with the first place that is not TOML.
    pub fn table(&self) -> Result<Spanned<DeTable<'t>>> {
        // Later errors follow from the first one, which the parser need not find first.
        let (table, errors) = DeTable::parse_recoverable(self.text);
        let at = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        match errors.iter().min_by_key(|error| at(error)) {
            Some(error) => Err(self.broken(at(error), error.message())),
            None => Ok(table),
        }
    }

    /// The error about the text at this byte.
    pub fn broken(&self, at: usize, what: &str) -> Error {
        self.broken_in(lines(&self.text.as_bytes()[..at.min(self.text.len())]), what)
    }

    fn broken_in(&self, line: usize, what: &str) -> Error {
        Error::new(ErrorKind::Corrupt, format!("{}:{line}: {what}", self.path.display()))
            .help("mend that line, or remove the file; nothing was changed")
    }
}

/// The entries of a table, in the order of the file.
pub fn in_order<'t>(table: &'t DeTable<'t>) -> Vec<(&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

/// The line number at the end of these bytes.
fn lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count()
}
