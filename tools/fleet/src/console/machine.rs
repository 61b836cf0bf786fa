//! The tasks and missions of this machine: everything that is known of them comes from `orange … --json`, and everything that is done to
//! them is done by it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use orange_api::{Error, ErrorKind, ListedMission, ListedTask, Need, NeedAction, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::crab::program::WantedCall;

/// Time limit of a question.
const ANSWER: Duration = Duration::from_secs(25);

/// Time limit of an action that changes something: a merge waits for a remote.
const DEED: Duration = Duration::from_secs(600);

/// Number of keys of forms that are remembered.
const KEYS: usize = 512;

/// The `orange` of this machine, with one home.
#[derive(Debug)]
pub struct LocalMachine {
    program: PathBuf,
    home: PathBuf,
    keys: Mutex<VecDeque<String>>,
}

/// A task or a mission that is not over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenWork {
    /// Id of the task or mission.
    pub id: String,
    /// Name of its project.
    pub project: String,
    /// Branch of its work; empty where it cannot be read.
    pub branch: String,
    /// Status by its workflow.
    pub status: String,
    /// Name of its workflow.
    pub workflow: String,
    /// First line of its task.
    pub summary: String,
    /// The step of a mission.
    pub step: Option<String>,
    /// Need, with the actions that meet it.
    pub need: Option<Need>,
    /// The address of its pull request.
    pub pull_request: Option<String>,
    /// The message of the error where it cannot be read.
    pub error: Option<String>,
}

/// Request that a person sends with a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Idempotency key of the form.
    pub key: String,
    /// The task or mission.
    pub id: String,
    /// The words behind `orange`, as the form showed them.
    pub command: Vec<String>,
    /// Text that the person has written.
    pub text: String,
}

/// True for an action that changes something: what shows something needs the terminal or the browser of this machine.
pub fn is_for_pages(action: &NeedAction) -> bool {
    action.shows.is_none()
}

impl OpenWork {
    fn of_task(listed: ListedTask<'_>) -> OpenWork {
        match listed {
            ListedTask::Readable(row) => OpenWork {
                id: row.id.into_owned(),
                project: row.project.into_owned(),
                branch: row.branch.into_owned(),
                status: row.status.into_owned(),
                workflow: row.workflow.into_owned(),
                summary: row.summary.into_owned(),
                step: None,
                need: row.need,
                pull_request: row.pr.flatten().map(|pr| pr.url),
                error: None,
            },
            ListedTask::Unreadable { id, project, error } => {
                let error = Some(error.message.clone());
                OpenWork { id: id.into_owned(), project: project.into_owned(), error, ..OpenWork::default() }
            }
        }
    }

    fn of_mission(listed: ListedMission) -> OpenWork {
        match listed {
            ListedMission::Readable(row) => OpenWork {
                id: row.id,
                project: row.project,
                branch: row.branch,
                status: row.status.as_str().to_owned(),
                workflow: row.workflow,
                summary: row.summary,
                step: row.step,
                need: row.need,
                pull_request: None,
                error: None,
            },
            ListedMission::Unreadable { id, project, branch, error } => {
                let branch = branch.unwrap_or_default();
                OpenWork { id, project, branch, error: Some(error.message), ..OpenWork::default() }
            }
        }
    }

    /// True if it needs a person. Work that cannot be read does.
    pub fn needs_person(&self) -> bool {
        self.error.is_some() || self.need.as_ref().is_some_and(|it| it.person)
    }
}

impl LocalMachine {
    /// The machine, as this program and this home know it.
    ///
    /// # Errors
    /// `not_found` without the folder.
    pub fn new(program: PathBuf, home: PathBuf) -> Result<LocalMachine> {
        if !home.is_dir() {
            let message = format!("there is no home {}", home.display());
            return Err(Error::new(ErrorKind::NotFound, message)
                .help("name the folder that `orange doctor` shows as the home"));
        }
        let home = std::path::absolute(&home).unwrap_or(home);
        Ok(LocalMachine { program, home, keys: Mutex::default() })
    }

    /// Every task and mission that is not over, first those that need a person.
    ///
    /// # Errors
    /// `orange` cannot be run, or fails.
    pub fn work(&self) -> Result<Vec<OpenWork>> {
        let tasks: Vec<ListedTask<'_>> = self.ask(&["task", "list", "--all-projects"], "", ANSWER)?;
        let missions: Vec<ListedMission> = self.ask(&["mission", "list", "--all-projects"], "", ANSWER)?;
        let tasks = tasks.into_iter().map(OpenWork::of_task);
        let mut work: Vec<OpenWork> = tasks.chain(missions.into_iter().map(OpenWork::of_mission)).collect();
        work.sort_by_key(|it| !it.needs_person());
        Ok(work)
    }

    /// Does what a person has chosen, if it is offered still; once for each key.
    ///
    /// # Errors
    /// `refused` when it is not offered any more; those of `orange`.
    pub fn act(&self, chosen: &Chosen) -> Result<()> {
        if !self.is_first(&chosen.key) {
            return Ok(());
        }
        let done = self.do_once(chosen);
        if done.is_err() {
            self.keys().retain(|it| *it != chosen.key);
        }
        done
    }

    fn do_once(&self, chosen: &Chosen) -> Result<()> {
        let work = self.work()?;
        let need = work.iter().find(|it| it.id == chosen.id).and_then(|it| it.need.as_ref());
        let offers = need.map(|it| it.actions.as_slice()).unwrap_or_default();
        let offer = offers.iter().find(|it| is_for_pages(it) && it.is_open() && it.command == chosen.command);
        let offer = offer.ok_or_else(|| {
            let gone = "this is not offered any more: somebody else has answered, or the work has gone on";
            Error::new(ErrorKind::Refused, gone).help("look at it as it is now")
        })?;
        if offer.text && chosen.text.trim().is_empty() {
            return Err(Error::new(ErrorKind::Usage, "the message is empty")
                .help("write something, and send it again"));
        }
        let text = if offer.takes_text() { chosen.text.trim() } else { "" };
        let words = offer.arguments(!text.is_empty());
        self.ask::<Value>(&words.iter().map(String::as_str).collect::<Vec<_>>(), text, DEED).map(drop)
    }

    /// True if this key was not sent before.
    fn is_first(&self, key: &str) -> bool {
        let mut keys = self.keys();
        if keys.iter().any(|it| it == key) {
            return false;
        }
        keys.push_back(key.to_owned());
        if keys.len() > KEYS {
            keys.pop_front();
        }
        true
    }

    fn keys(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T: DeserializeOwned>(&self, words: &[&str], input: &str, limit: Duration) -> Result<T> {
        let call = WantedCall::new(&self.program).args(["--json"]).args(words.iter().copied()).input(input);
        call.env("ORANGE_HOME", &self.home).limit(limit).json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_is_not_there_is_an_error() {
        let error = LocalMachine::new(PathBuf::from("orange"), PathBuf::from("/no/such/home")).unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::NotFound, "there is no home /no/such/home")
        );
    }
}
