//! `setup.json`: what a person has agreed to, and what was changed in files of theirs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::members::{self, Members, Object};
use crate::store::{Home, atomic};
use crate::{Error, Kind, Result, nofollow};

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// What was agreed to.
    pub agreed: Vec<Agreed>,
    /// What was changed, in this order.
    pub edits: Vec<Edit>,
}

/// A harness may work in a repository without asking what it asks in its first dialogs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Agreed {
    /// Its name.
    pub harness: String,
    /// The main checkout.
    pub repo: PathBuf,
    /// When that was.
    pub at: String,
}

/// A value that was set in a JSON file of a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Edit {
    /// The harness whose file it is.
    pub harness: String,
    /// The repository that it was for; empty where it is for all.
    pub repo: PathBuf,
    /// The file.
    pub file: PathBuf,
    /// The names of the members on the way to the value.
    pub path: Vec<String>,
    /// How many of these were there before; all of them where another value was replaced.
    pub depth: usize,
    /// Whether the file was made for it.
    pub created: bool,
    /// What was there before, or null.
    pub before: Value,
    /// What was set.
    pub after: Value,
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Record, D::Error> {
        members::deserialize(from)
    }
}

impl Object for Record {
    fn take(from: &mut Members) -> Record {
        Record { agreed: from.optional("agreed"), edits: from.optional("edits") }
    }
}

impl Object for Agreed {
    fn take(from: &mut Members) -> Agreed {
        Agreed { harness: from.required("harness"), repo: from.required("repo"), at: from.optional("at") }
    }
}

impl Object for Edit {
    fn take(from: &mut Members) -> Edit {
        Edit {
            harness: from.required("harness"),
            repo: from.optional("repo"),
            file: from.required("file"),
            path: from.required("path"),
            depth: from.required("depth"),
            created: from.optional("created"),
            before: from.optional("before"),
            after: from.optional("after"),
        }
    }
}

impl Record {
    /// Reads it; an empty one where there is none yet.
    ///
    /// # Errors
    /// `environment` when it cannot be read; `corrupt` when it is not what `orange setup` wrote.
    pub fn read(home: &Home) -> Result<Record> {
        let path = home.setup_json();
        match nofollow::read(&path, nofollow::LONGEST) {
            Ok(text) => serde_json::from_slice(&text).map_err(|cause| {
                Error::new(Kind::Corrupt, format!("{}: {cause}", path.display()))
                    .help("mend it, or remove it and run `orange setup` again")
            }),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Record::default()),
            Err(cause) => Err(Error::io("read", &path, &cause)),
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// `environment` when it cannot be written.
    pub fn write(&self, home: &Home) -> Result<()> {
        let path = home.setup_json();
        let text = serde_json::to_vec_pretty(self).map_err(|cause| {
            Error::new(Kind::Environment, format!("cannot write {}: {cause}", path.display()))
        })?;
        home.prepare()?;
        atomic::write(&path, &text)
    }

    /// Whether this harness may work in this repository.
    pub fn has(&self, harness: &str, repo: &Path) -> bool {
        self.agreed.iter().any(|agreed| agreed.harness == harness && agreed.repo == repo)
    }
}
