//! The questions that a coding agent asks at its first start, answered before it is started: by the person, or by consent.
//!
//! A dialog would hang an agent that nobody watches. Consent is recorded in `setup.json`. Where an argument suffices, each start has
//! it; a person's file is changed only if no argument does the same, and `undo` reverses that.

mod apply;
mod beside;
mod claude;
mod codex;
mod copilot;
pub mod dashboard;
mod gemini;
mod json;
pub mod mcp;
mod record;
pub mod skill;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use apply::{agree, undo};
pub use record::SetupRecord;

use crate::app::App;
use crate::around::Around;
use crate::drive::harness::{Harness, built_in};
use crate::store::Home;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::find_on_path;
use orange_system::nofollow;

/// A question or a requirement of a harness.
#[derive(Clone, Debug, PartialEq)]
pub struct Matter {
    /// `login`, `key`, `trust`, `bypass` or `root`.
    pub name: &'static str,
    /// Permission that the harness has after an answer, in words.
    pub allows: String,
    /// True if it has an answer.
    pub is_answered: bool,
    /// True if it concerns only agents with full permissions.
    pub is_for_full: bool,
    /// True if an agent would hang or end without an answer.
    pub blocks: bool,
    pub remedy: Remedy,
}

/// Means of answering a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// Consent, by an argument of each start.
    Argument,
    /// Consent, by this value in a person's file.
    File {
        file: PathBuf,
        /// The names of the members that lead to the value.
        path: Vec<String>,
        value: Value,
        /// The present value, or null.
        before: Value,
    },
    /// A person's action.
    Person(String),
}

impl Matter {
    /// True if consent answers it.
    pub fn is_ours(&self) -> bool {
        !matches!(self.remedy, Remedy::Person(_))
    }
}

/// The names of the built-in harnesses whose programs are there.
fn installed(app: &App) -> Vec<String> {
    let there = |harness: &Harness| find_on_path(&harness.binary, app.path()).is_some();
    built_in().into_iter().filter(there).map(|harness| harness.name).collect()
}

/// The harness that is named, or those whose programs are there.
pub fn chosen(app: &App, named: Option<&str>) -> Result<Vec<String>> {
    let Some(name) = named else { return Ok(installed(app)) };
    let name = app.harness(name)?.name;
    if built_in().iter().any(|harness| harness.name == name) {
        return Ok(vec![name]);
    }
    Err(Error::new(ErrorKind::Refused, format!("what {name} asks before it works is not known"))
        .help("run it once in the repository, and answer what it asks"))
}

/// The questions of this harness in this repository. A user's own harness has none that are known.
pub fn matters(harness: &str, repo: &Path, record: &SetupRecord, around: &Around) -> Result<Vec<Matter>> {
    let agreed = record.has(harness, repo);
    match harness {
        "claude" => claude::matters(repo, agreed, around),
        "codex" => codex::matters(repo, agreed, around),
        "gemini" => Ok(gemini::matters(repo, agreed, around)),
        "copilot" => Ok(copilot::matters(repo, around)),
        _ => Ok(Vec::new()),
    }
}

/// Refuses to start an agent that a dialog would hang.
pub fn check(home: &Home, around: &Around, harness: &str, repo: &Path, full: bool) -> Result<()> {
    let matters = matters(harness, repo, &SetupRecord::read(home)?, around)?;
    let open =
        matters.iter().find(|matter| !matter.is_answered && matter.blocks && (full || !matter.is_for_full));
    let Some(matter) = open else { return Ok(()) };
    let help = match &matter.remedy {
        Remedy::Person(help) => help.clone(),
        Remedy::Argument | Remedy::File { .. } => format!(
            "`orange setup --harness {harness} --yes` agrees to it, and `orange setup` shows what that is"
        ),
    };
    let message = match matter.name {
        "login" => format!("{harness} is not logged in, and would wait at its first dialog"),
        "root" => format!("{harness} does not work as root with full permissions"),
        name => format!("{harness} would ask a question before it works ({name}), and hang"),
    };
    Err(Error::new(ErrorKind::Environment, message).help(help))
}

/// Refuses to start an agent in a plain folder that its harness would ask about: it does not lie in the repository that the person
/// trusts. An argument of each start covers it, or the trust in a folder around it.
pub fn check_folder(home: &Home, around: &Around, harness: &str, folder: &Path) -> Result<()> {
    let record = SetupRecord::read(home)?;
    let trust = |place: &Path| {
        let matters = matters(harness, place, &record, around)?;
        Ok(matters.into_iter().find(|matter| matter.name == "trust" && matter.remedy != Remedy::Argument))
    };
    for place in folder.ancestors() {
        if trust(place)?.is_none_or(|matter| matter.is_answered) {
            return Ok(());
        }
    }
    let (place, message) = (folder.display(), "would ask whether it may trust the task's folder, and hang");
    Err(Error::new(ErrorKind::Environment, format!("{harness} {message}"))
        .help(format!("run `{harness}` once in {place} and agree: tasks without a worktree work there")))
}

fn read_json(file: &Path) -> Result<Value> {
    match nofollow::read_linked(file, nofollow::LONGEST) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| {
            Error::new(ErrorKind::Corrupt, format!("{}: {cause}", file.display()))
                .help("mend that file: its own program cannot read it either")
        }),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
        Err(cause) => Err(Error::io("read", file, &cause)),
    }
}
