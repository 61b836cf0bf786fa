//! `setup.json`: a person's consents, and the changes in their files.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::Home;
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, nofollow};

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SetupRecord {
    /// The consents.
    pub agreed: Vec<SetupConsent>,
    /// The changes, in order.
    pub edits: Vec<RecordedEdit>,
    /// Members of newer versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A consent: a harness may work in a repository without asking at its first start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupConsent {
    pub harness: String,
    /// The main checkout.
    pub repo: PathBuf,
    /// The time of the consent.
    #[serde(default)]
    pub at: String,
    /// Members of newer versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A value that was set in a JSON file of a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedEdit {
    /// The harness whose file it is.
    pub harness: String,
    /// The repository; empty for all.
    #[serde(default)]
    pub repo: PathBuf,
    pub file: PathBuf,
    /// The names of the members that lead to the value.
    pub path: Vec<String>,
    /// Number of these that existed before; all of them if another value was replaced.
    pub depth: usize,
    /// True if the file was created for it.
    #[serde(default)]
    pub created: bool,
    /// The value before, or null.
    #[serde(default)]
    pub before: Value,
    /// The new value.
    #[serde(default)]
    pub after: Value,
    /// Members of newer versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl SetupRecord {
    /// Reads the file; empty if there is none.
    pub fn read(home: &Home) -> Result<SetupRecord> {
        let path = home.setup_json();
        match nofollow::read(&path, nofollow::LONGEST) {
            Ok(text) => serde_json::from_slice(&text).map_err(|cause| {
                Error::new(ErrorKind::Corrupt, format!("{}: {cause}", path.display()))
                    .help("mend it, or remove it and run `orange setup` again")
            }),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(SetupRecord::default()),
            Err(cause) => Err(Error::io("read", &path, &cause)),
        }
    }

    pub fn write(&self, home: &Home) -> Result<()> {
        let path = home.setup_json();
        let text = serde_json::to_vec_pretty(self).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("cannot write {}: {cause}", path.display()))
        })?;
        home.prepare()?;
        atomic::write(&path, &text)
    }

    /// True if this harness may work in this repository.
    pub fn has(&self, harness: &str, repo: &Path) -> bool {
        self.agreed.iter().any(|agreed| agreed.harness == harness && agreed.repo == repo)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_newer_versions_wrote_is_kept_and_a_flaw_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare().unwrap();
        let text = r#"{"agreed":[{"harness":"claude","repo":"/r","by":"me"}],"edits":[],"version":2}"#;
        fs::write(home.setup_json(), text).unwrap();
        SetupRecord::read(&home).unwrap().write(&home).unwrap();
        let written = fs::read_to_string(home.setup_json()).unwrap();
        assert!(written.contains("\"by\": \"me\"") && written.contains("\"version\": 2"), "{written}");
        fs::write(home.setup_json(), "{\"agreed\":\n[{\"harness\": 1}]}").unwrap();
        let error = SetupRecord::read(&home).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt);
        assert!(error.message.contains("expected a string at line 2"), "{error}");
    }
}
