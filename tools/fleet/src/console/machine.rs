//! The tasks and missions of this machine: everything that is known of them comes from `orange … --json`, and everything that is done to
//! them is done by it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use orange_api::{Error, Kind, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::crab::program::Call;

/// How long a question may take.
const ANSWER: Duration = Duration::from_secs(25);

/// How long something that is done may take: a merge waits for a remote.
const DEED: Duration = Duration::from_secs(600);

/// How many keys of forms are remembered.
const KEYS: usize = 512;

/// What can be done at a terminal alone, or is a page of its own here.
const NOT_HERE: [&str; 3] = ["attach", "logs", "open"];

/// The `orange` of this machine, with one home.
#[derive(Debug)]
pub struct Machine {
    program: PathBuf,
    home: PathBuf,
    keys: Mutex<VecDeque<String>>,
}

/// A task or a mission that is not over.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Its id.
    pub id: String,
    /// Its project.
    pub project: String,
    /// Its branch.
    pub branch: String,
    /// Its status.
    pub status: String,
    /// Its workflow.
    pub workflow: String,
    /// The first line of what is to be done.
    pub summary: String,
    /// The step of a mission that runs, comes next or is asked about.
    pub step: Option<String>,
    /// What it needs.
    pub need: Option<Need>,
    /// Its pull request.
    pub pr: Option<PullRequest>,
    /// Why it cannot be read.
    pub error: Option<Failure>,
}

/// What a task or a mission needs next.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Need {
    /// Its kind, in a word.
    pub kind: String,
    /// Whether it needs a person.
    pub person: bool,
    /// Since when, RFC 3339 UTC.
    pub since: Option<String>,
    /// A sentence about it.
    pub why: String,
    /// The tool that an agent wants to use.
    pub tool: Option<String>,
    /// The argument of that tool, or the question.
    pub argument: Option<String>,
    /// The verdict of a review.
    pub verdict: Option<String>,
    /// What a person may do now, the most likely first.
    pub actions: Vec<Offer>,
}

/// Something that a person may do now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// The words behind `orange`.
    pub command: Vec<String>,
    /// Whether a text of the person is its last word.
    pub text: bool,
    /// The status that it leads to.
    pub to: Option<String>,
    /// Whether it gives judged work back to the worker.
    pub returns: bool,
}

/// A pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PullRequest {
    /// Its address.
    pub url: String,
}

/// Why something has failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// What has failed.
    pub message: String,
}

/// What a person asks for with a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// What makes two forms the same one.
    pub key: String,
    /// The task or mission.
    pub id: String,
    /// The words behind `orange`, as this page showed them.
    pub command: Vec<String>,
    /// What the person has written.
    pub text: String,
}

impl Offer {
    /// Whether a page can do it.
    pub fn is_possible(&self) -> bool {
        !NOT_HERE.contains(&self.name.as_str())
    }

    /// Whether a person writes something with it: a message, or, if they like, why work goes back.
    pub fn takes_text(&self) -> bool {
        self.text || self.returns
    }

    /// The words behind `orange`, with the answer to the question that the command would ask. A text comes on the standard input.
    fn words(&self, has_text: bool) -> Vec<String> {
        let mut words = self.command.clone();
        if matches!(self.name.as_str(), "merge" | "cancel") && !words.iter().any(|it| it == "--yes") {
            words.push("--yes".to_owned());
        }
        if has_text {
            words.push(if self.returns { "--feedback=-" } else { "-" }.to_owned());
        }
        words
    }
}

impl Work {
    /// Whether it needs a person. Work that cannot be read does.
    pub fn needs_person(&self) -> bool {
        self.error.is_some() || self.need.as_ref().is_some_and(|it| it.person)
    }
}

impl Machine {
    /// The machine, as this program and this home know it.
    ///
    /// # Errors
    /// `not_found` without the folder.
    pub fn new(program: PathBuf, home: PathBuf) -> Result<Machine> {
        if !home.is_dir() {
            let message = format!("there is no home {}", home.display());
            return Err(Error::new(Kind::NotFound, message)
                .help("name the folder that `orange doctor` shows as the home"));
        }
        let home = std::path::absolute(&home).unwrap_or(home);
        Ok(Machine { program, home, keys: Mutex::default() })
    }

    /// Every task and mission that is not over, first those that need a person.
    ///
    /// # Errors
    /// `orange` cannot be run, or fails.
    pub fn work(&self) -> Result<Vec<Work>> {
        let tasks: Vec<Work> = self.ask(&["task", "list", "--all-projects"], "", ANSWER)?;
        let missions: Vec<Work> = self.ask(&["mission", "list", "--all-projects"], "", ANSWER)?;
        let mut work: Vec<Work> = tasks.into_iter().chain(missions).collect();
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
        let offer = offers.iter().find(|it| it.is_possible() && it.command == chosen.command);
        let offer = offer.ok_or_else(|| {
            let gone = "this is not offered any more: somebody else has answered, or the work has gone on";
            Error::new(Kind::Refused, gone).help("look at it as it is now")
        })?;
        if offer.text && chosen.text.trim().is_empty() {
            return Err(
                Error::new(Kind::Usage, "the message is empty").help("write something, and send it again")
            );
        }
        let text = if offer.takes_text() { chosen.text.trim() } else { "" };
        let words = offer.words(!text.is_empty());
        self.ask::<Value>(&words.iter().map(String::as_str).collect::<Vec<_>>(), text, DEED).map(drop)
    }

    /// Whether nobody has sent this key before.
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
        let call = Call::new(&self.program).args(["--json"]).args(words.iter().copied()).input(input);
        call.env("ORANGE_HOME", &self.home).limit(limit).json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_becomes_words_that_ask_nothing() {
        let offer = |name: &str, command: &[&str]| {
            let command = command.iter().map(|it| (*it).to_owned()).collect();
            Offer { name: name.to_owned(), command, ..Offer::default() }
        };
        let merge = offer("merge", &["task", "merge", "t1"]);
        assert_eq!(merge.words(false), ["task", "merge", "t1", "--yes"]);
        let cancel = offer("cancel", &["task", "cancel", "t1", "--yes"]);
        assert_eq!(cancel.words(false), cancel.command);
        let send = Offer { text: true, ..offer("send", &["task", "send", "t1"]) };
        assert_eq!(send.words(true), ["task", "send", "t1", "-"]);
        let back =
            Offer { returns: true, ..offer("status", &["task", "update", "t1", "--status", "working"]) };
        assert_eq!(back.words(false), back.command);
        assert_eq!(back.words(true).last().map(String::as_str), Some("--feedback=-"));
    }

    #[test]
    fn a_home_that_is_not_there_is_an_error() {
        let error = Machine::new(PathBuf::from("orange"), PathBuf::from("/no/such/home")).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Kind::NotFound, "there is no home /no/such/home"));
    }
}
