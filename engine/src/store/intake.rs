//! `intake/<project>.jsonl`: the issues that became tasks, those that wait for a person, and what has happened to them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use orange_core::intake::{self, IntakeEnd, IntakeVerdict, Source};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::store::lock::{self, Lock, LockRank};
use crate::store::projects::Project;
use crate::store::{Home, home, jsonl};
use orange_system::{clock, fault};

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntakeRecord {
    /// Time of the event, RFC 3339 UTC.
    pub at: String,
    /// The event.
    #[serde(flatten)]
    pub event: IntakeEvent,
}

/// An event of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum IntakeEvent {
    /// A task is about to be made.
    Taking {
        source: String,
        label: String,
        /// The account that added the label.
        by: Option<String>,
    },
    /// The task was made.
    Taken { source: String, task: String },
    /// The task could not be made.
    Failed { source: String, error: String },
    /// Its agent was started, or waits for its turn like that of any other task.
    Started { source: String },
    /// The issue has a comment about the task.
    Commented { source: String },
    /// The issue was closed while its task was open, and a person was called.
    Closed { source: String },
    /// The task has ended; `done` unless it was cancelled.
    Ended { source: String, done: bool },
    /// The issue waits for a person.
    Waits(WaitingIssue),
    /// The issue waits no longer.
    Moves { number: u64 },
    /// A person has asked to take the issue again.
    Retried { number: u64 },
    /// An event of a newer version.
    #[serde(other)]
    Unknown,
}

/// An issue that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingIssue {
    pub number: u64,
    pub title: String,
    pub url: String,
    pub label: String,
    /// The word of an [`IntakeVerdict`].
    pub verdict: String,
    /// The issue and the event of its label; `None` if the forge does not show that event.
    #[serde(default)]
    pub source: Option<String>,
}

impl WaitingIssue {
    /// The issues that wait, of all projects or of one, each with its project, and the errors of files that cannot be read.
    pub fn of_projects(
        projects: &[Project],
        home: &Home,
        project: Option<&str>,
    ) -> Vec<Result<(String, WaitingIssue)>> {
        let mut issues = Vec::new();
        for Project { name, .. } in projects.iter().filter(|it| project.is_none_or(|name| name == it.name)) {
            match IntakeBook::read(home, name) {
                Ok(book) => issues.extend(book.waiting.into_values().map(|issue| Ok((name.clone(), issue)))),
                Err(error) => issues.push(Err(error)),
            }
        }
        issues
    }

    /// Reason for the wait, in words.
    pub fn rule(&self) -> &'static str {
        let known = IntakeVerdict::ALL.into_iter().find(|verdict| verdict.as_str() == self.verdict);
        known.map_or("a newer version of Orange knows why", IntakeVerdict::rule)
    }
}

/// An issue that was taken by one event of its label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenIssue {
    pub source: String,
    pub label: String,
    /// The account that added the label.
    pub by: Option<String>,
    /// Time at which its task was about to be made, RFC 3339 UTC.
    pub at: String,
    /// Id of the task; `None` until it was made.
    pub task: Option<String>,
    pub is_started: bool,
    pub is_commented: bool,
    pub is_closed: bool,
    /// End of its task on record.
    pub end: Option<IntakeEnd>,
    /// Last error with which no task could be made.
    pub error: Option<String>,
}

impl TakenIssue {
    /// Number of the issue, unless the source cannot be read.
    pub fn number(&self) -> Option<u64> {
        match Source::parse(&self.source)? {
            Source::Issue { number, .. } => Some(number),
            Source::Slot { .. } => None,
        }
    }
}

/// Ends of attempts of an issue, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Attempt {
    /// The end of the task with this place among the taken issues, whatever it is by now.
    OfTask(usize),
    Known(IntakeEnd),
}

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntakeBook {
    /// The taken issues, the oldest first.
    pub taken: Vec<TakenIssue>,
    /// The issues that wait for a person, by their numbers.
    pub waiting: BTreeMap<u64, WaitingIssue>,
    attempts: BTreeMap<u64, Vec<Attempt>>,
}

impl IntakeBook {
    /// Reads the file of a project.
    ///
    /// # Errors
    /// `corrupt` for a line without a meaning; `environment` when it cannot be read.
    pub fn read(home: &Home, project: &str) -> Result<IntakeBook> {
        let mut book = IntakeBook::default();
        jsonl::read(&path(home, project))?.into_iter().for_each(|record| book.add(record));
        Ok(book)
    }

    /// Adds an event.
    pub fn add(&mut self, IntakeRecord { at, event }: IntakeRecord) {
        match event {
            IntakeEvent::Taking { source, label, by } => match self.find_mut(&source) {
                Some(known) => (known.label, known.by, known.at, known.error) = (label, by, at, None),
                None => self.taken.push(TakenIssue { source, label, by, at, ..TakenIssue::default() }),
            },
            IntakeEvent::Taken { source, task } => {
                let known = self.taken.iter_mut().enumerate().find(|(_, it)| it.source == source);
                let Some((place, known)) = known else { return };
                (known.task, known.error) = (Some(task), None);
                let Some(number) = known.number() else { return };
                self.attempts.entry(number).or_default().push(Attempt::OfTask(place));
            }
            IntakeEvent::Failed { source, error } => {
                let Some(known) = self.find_mut(&source) else { return };
                known.error = Some(error);
                let Some(number) = known.number() else { return };
                self.attempts.entry(number).or_default().push(Attempt::Known(IntakeEnd::Failed));
            }
            IntakeEvent::Started { source } => self.change(&source, |it| it.is_started = true),
            IntakeEvent::Commented { source } => self.change(&source, |it| it.is_commented = true),
            IntakeEvent::Closed { source } => self.change(&source, |it| it.is_closed = true),
            IntakeEvent::Ended { source, done } => {
                let end = if done { IntakeEnd::Done } else { IntakeEnd::Failed };
                self.change(&source, |it| it.end = Some(end));
            }
            IntakeEvent::Waits(issue) => drop(self.waiting.insert(issue.number, issue)),
            IntakeEvent::Moves { number } => drop(self.waiting.remove(&number)),
            IntakeEvent::Retried { number } => {
                self.waiting.remove(&number);
                self.attempts.entry(number).or_default().push(Attempt::Known(IntakeEnd::Retried));
            }
            IntakeEvent::Unknown => {}
        }
    }

    /// The taken issue of a source.
    pub fn find(&self, source: &str) -> Option<&TakenIssue> {
        self.taken.iter().find(|it| it.source == source)
    }

    fn find_mut(&mut self, source: &str) -> Option<&mut TakenIssue> {
        self.taken.iter_mut().find(|it| it.source == source)
    }

    fn change(&mut self, source: &str, change: impl FnOnce(&mut TakenIssue)) {
        if let Some(taken) = self.find_mut(source) {
            change(taken);
        }
    }

    /// True if an issue was taken, or waits for a person.
    pub fn knows(&self, number: u64) -> bool {
        self.attempts.contains_key(&number) || self.waiting.contains_key(&number)
    }

    /// The failures of an issue in a row. `end` is what has become of a task; an open one is not an end.
    pub fn failures(&self, number: u64, end: impl Fn(&TakenIssue) -> Option<IntakeEnd>) -> u32 {
        let attempts = self.attempts.get(&number).into_iter().flatten();
        intake::failures(attempts.filter_map(|attempt| match attempt {
            Attempt::OfTask(place) => self.taken.get(*place).and_then(&end),
            Attempt::Known(end) => Some(*end),
        }))
    }
}

/// The book of a project, which no other process changes meanwhile.
#[derive(Debug)]
pub struct OpenBook {
    pub book: IntakeBook,
    path: PathBuf,
    _lock: Lock,
}

impl OpenBook {
    /// Locks and reads the book; `None` if another process holds it.
    ///
    /// # Errors
    /// Those of [`IntakeBook::read`].
    pub fn at_once(home: &Home, project: &str) -> Result<Option<OpenBook>> {
        let path = prepared(home, project)?;
        let lock = lock::acquire_at_once(home, &lock_path(home, project), LockRank::Intake)?;
        lock.map(|lock| OpenBook::read(home, project, path, lock)).transpose()
    }

    /// Waits for the lock, and reads the book.
    ///
    /// # Errors
    /// Those of [`IntakeBook::read`]; `locked` if another process holds it for long.
    pub fn wait(home: &Home, project: &str) -> Result<OpenBook> {
        let path = prepared(home, project)?;
        let what = format!("the intake of {project}");
        let lock = lock::acquire(home, &lock_path(home, project), LockRank::Intake, &what)?;
        OpenBook::read(home, project, path, lock)
    }

    fn read(home: &Home, project: &str, path: PathBuf, lock: Lock) -> Result<OpenBook> {
        Ok(OpenBook { book: IntakeBook::read(home, project)?, path, _lock: lock })
    }

    /// Writes an event down.
    ///
    /// # Errors
    /// `environment` when the file cannot be written.
    pub fn append(&mut self, event: IntakeEvent) -> Result<()> {
        let record = IntakeRecord { at: clock::rfc3339(fault::now()), event };
        jsonl::append(&self.path, &record)?;
        self.book.add(record);
        Ok(())
    }
}

fn prepared(home: &Home, project: &str) -> Result<PathBuf> {
    home.prepare()?;
    home::make_folder(&home.intake())?;
    Ok(path(home, project))
}

fn path(home: &Home, project: &str) -> PathBuf {
    home.intake().join(format!("{project}.jsonl"))
}

fn lock_path(home: &Home, project: &str) -> PathBuf {
    home.intake().join(format!(".{project}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests;

    fn open_end(_: &TakenIssue) -> Option<IntakeEnd> {
        None
    }

    #[test]
    fn a_book_is_what_its_lines_say() {
        let (_folder, home) = tests::home();
        let source = |event: &str| format!("github.com/o/r#42@{event}");
        let mut open = OpenBook::wait(&home, "toy").unwrap();
        let taking = |event| IntakeEvent::Taking {
            source: source(event),
            label: "agent".to_owned(),
            by: Some("ada".to_owned()),
        };
        open.append(taking("LE_1")).unwrap();
        open.append(IntakeEvent::Failed { source: source("LE_1"), error: "no such workflow".to_owned() })
            .unwrap();
        assert_eq!(open.book.failures(42, open_end), 1);
        open.append(taking("LE_1")).unwrap();
        open.append(IntakeEvent::Taken { source: source("LE_1"), task: "t1".to_owned() }).unwrap();
        open.append(IntakeEvent::Commented { source: source("LE_1") }).unwrap();
        let waiting = WaitingIssue {
            number: 7,
            title: "Seven".to_owned(),
            url: "https://github.com/o/r/issues/7".to_owned(),
            label: "agent".to_owned(),
            verdict: "edited".to_owned(),
            source: Some("github.com/o/r#7@LE_7".to_owned()),
        };
        open.append(IntakeEvent::Waits(waiting.clone())).unwrap();
        let book = IntakeBook::read(&home, "toy").unwrap();
        assert_eq!(book, open.book);
        let taken = book.find(&source("LE_1")).unwrap();
        assert!(taken.is_commented && !taken.is_closed && taken.error.is_none());
        assert_eq!((taken.task.as_deref(), taken.number(), book.taken.len()), (Some("t1"), Some(42), 1));
        let failed = |_: &TakenIssue| Some(IntakeEnd::Failed);
        assert_eq!((book.failures(42, failed), book.failures(7, failed)), (2, 0));
        assert_eq!((book.waiting.get(&7), book.knows(7), book.knows(8)), (Some(&waiting), true, false));
        open.append(IntakeEvent::Retried { number: 42 }).unwrap();
        open.append(IntakeEvent::Moves { number: 7 }).unwrap();
        assert_eq!((open.book.failures(42, failed), open.book.waiting.len()), (0, 0));
    }

    #[test]
    fn a_line_of_a_newer_version_changes_nothing() {
        let line = r#"{"at":"2026-11-27T07:00:00Z","type":"dreamt","source":"x"}"#;
        let record: IntakeRecord = serde_json::from_str(line).unwrap();
        assert_eq!(record.event, IntakeEvent::Unknown);
        let mut book = IntakeBook::default();
        book.add(record);
        assert_eq!(book, IntakeBook::default());
    }
}
