//! What a coding agent asks before its first work, settled before it is started: by a person's own answers, or by consent.
//!
//! Nobody sits before an agent that is started, so a dialog would hang it. Consent is recorded in `setup.json`. What an argument
//! can say is said per spawn; a person's file is changed only where there is no other way, and `undo` takes that back.

mod apply;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod json;
mod record;
pub mod skill;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use apply::{agree, undo};
pub use record::Record;

use crate::around::Around;
use crate::store::Home;
use crate::{Error, Kind, Result, nofollow};

/// One thing that a harness asks, or needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Matter {
    /// `login`, `key`, `trust`, `bypass` or `root`.
    pub name: &'static str,
    /// What the harness may do once it is settled.
    pub allows: String,
    /// Whether nothing is to be done about it.
    pub is_settled: bool,
    /// Whether it concerns agents with full permissions alone.
    pub is_for_full: bool,
    /// Whether an agent would hang or end with it open.
    pub blocks: bool,
    /// What settles it.
    pub remedy: Remedy,
}

/// What settles a matter.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// Consent: an argument of each spawn says it.
    Argument,
    /// Consent: this value in a person's file.
    File {
        /// The file.
        file: PathBuf,
        /// The members on the way to the value.
        path: Vec<String>,
        /// The value.
        value: Value,
        /// What is there now, or null.
        before: Value,
    },
    /// A person has to do it.
    Person(String),
}

impl Matter {
    /// Whether consent settles it.
    pub fn is_ours(&self) -> bool {
        !matches!(self.remedy, Remedy::Person(_))
    }
}

/// What this harness asks before it works in this repository. A harness of one's own asks nothing that is known here.
pub fn matters(harness: &str, repo: &Path, record: &Record, around: &Around) -> Result<Vec<Matter>> {
    let agreed = record.has(harness, repo);
    match harness {
        "claude" => claude::matters(repo, agreed, around),
        "codex" => codex::matters(repo, agreed, around),
        "gemini" => Ok(gemini::matters(repo, agreed, around)),
        "copilot" => Ok(copilot::matters(repo, around)),
        _ => Ok(Vec::new()),
    }
}

/// Refuses an agent that a dialog would hang.
pub fn check(home: &Home, around: &Around, harness: &str, repo: &Path, full: bool) -> Result<()> {
    let matters = matters(harness, repo, &Record::read(home)?, around)?;
    let open =
        matters.iter().find(|matter| !matter.is_settled && matter.blocks && (full || !matter.is_for_full));
    let Some(matter) = open else { return Ok(()) };
    let help = match &matter.remedy {
        Remedy::Person(help) => help.clone(),
        Remedy::Argument | Remedy::File { .. } => format!(
            "`orange setup --harness {harness} --yes` agrees to it, and `orange setup` shows what that is"
        ),
    };
    let message =
        format!("{harness} would ask before it works ({}), and nobody is there to answer", matter.name);
    Err(Error::new(Kind::Environment, message).help(help))
}

fn read_json(file: &Path) -> Result<Value> {
    match nofollow::read_linked(file, nofollow::LONGEST) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| {
            Error::new(Kind::Corrupt, format!("{}: {cause}", file.display()))
                .help("mend that file: its own program cannot read it either")
        }),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Value::Null),
        Err(cause) => Err(Error::io("read", file, &cause)),
    }
}
