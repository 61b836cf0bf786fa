//! A task that is locked: the one way to change it.

use std::path::{Path, PathBuf};

use crate::store::fold::Log;
use crate::store::frontmatter::Document;
use crate::store::link::{self, Replacement};
use crate::store::lock::{self, Lock, Rank};
use crate::store::scalar::Value;
use crate::store::task::{self, Task};
use crate::store::{Event, Home, Set, TaskDir, atomic, clock, edit, home, journal, late};
use crate::{Error, Kind, Result};

/// A locked task. Dropping it releases the lock.
#[derive(Debug)]
pub struct Open {
    home: Home,
    dir: TaskDir,
    task: Task,
    log: Log,
    repairs: Vec<Event>,
    _lock: Lock,
}

impl Open {
    /// Locks the task, loads it, and sets right what is not as the journal has it: a torn last line, engine-owned
    /// values in the frontmatter, a file in the place of the worktree's link.
    ///
    /// An open transition is left to the caller: see [`Log::open`].
    ///
    /// # Errors
    /// `not_found`; `locked` when the home's patience is over; `corrupt`, nothing being changed; `environment`.
    pub fn lock(home: &Home, dir: &TaskDir) -> Result<Open> {
        task::exists(dir)?;
        let lock = lock::acquire(home, &dir.lock_file(), Rank::Task, &format!("task {}", dir.id))?;
        atomic::sweep(&dir.path);
        let path = atomic::target_of(&dir.task_md())?;
        late::forget(&path)?;

        let journal = task::read_journal(dir)?;
        let log = journal.log();
        let worktree = log.owned.workspace.as_ref().map(|name| home.workspace(name));
        let replaced = worktree.as_ref().map_or(Ok(None), |worktree| link::replacement(dir, worktree))?;
        let document = task::document(dir, &log)?;
        let mut repairs = repairs(dir, &document, &log, &journal);
        if late::carried(&late::found(&path)?, document.body()).is_some() {
            repairs.push(repaired(
                "TASK.md",
                "what was written into a version that had been replaced",
                "the same",
            ));
        }
        let task = Task::of(dir, document, &log)?;

        journal::mend(&dir.history(), &journal)?;
        let mut open =
            Open { home: home.clone(), dir: dir.clone(), task, log, repairs: Vec::new(), _lock: lock };
        open.tell(repairs)?;
        match (replaced, worktree) {
            (Some(replaced), _) => open.take(&replaced)?,
            (None, Some(worktree)) => link::make_again(dir, &worktree)?,
            (None, None) => {}
        }
        if open.repairs.is_empty() { Ok(open) } else { open.write(|_| Ok(())).map(|()| open) }
    }

    /// Where it is.
    pub fn dir(&self) -> &TaskDir {
        &self.dir
    }

    /// The folder of the worktree that it holds, if it holds one.
    pub fn worktree(&self) -> Option<PathBuf> {
        self.log.owned.workspace.as_ref().map(|name| self.home.workspace(name))
    }

    /// The task as it was when it was last read or written.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The journal, added up, this guard's own events included.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What was set right when it was opened: `task.repaired` events, already journaled.
    pub fn repairs(&self) -> &[Event] {
        &self.repairs
    }

    /// Journals an event and the engine-owned values that it changes, then writes these into the frontmatter.
    ///
    /// # Errors
    /// As `append_many`.
    pub fn append(&mut self, event: Event, set: Set) -> Result<()> {
        self.append_many(vec![(event, set)])
    }

    /// As `append`, for several events with one wait for the disk: all of them are journaled, or none.
    ///
    /// # Errors
    /// `corrupt` when `TASK.md` has become unreadable meanwhile, nothing being changed; `environment`. When the
    /// journal was written and the frontmatter was not, the next one to open the task finishes it.
    pub fn append_many(&mut self, mut events: Vec<(Event, Set)>) -> Result<()> {
        if self.log.owned.waiting_until.is_some() {
            let ending = events.iter_mut().filter(|(event, _)| event.ends_waiting());
            ending.for_each(|(_, set)| *set = std::mem::take(set).waiting_until(None));
        }
        let changes = events.iter().any(|(_, set)| !set.is_empty());
        if changes {
            task::document(&self.dir, &self.log)?;
        }
        let records = journal::records(self.log.last_seq, events);
        journal::append(&self.dir.history(), &records)?;
        for record in &records {
            self.log.apply(record);
        }
        if changes { self.write(|_| Ok(())).map_err(but_on_record) } else { Ok(()) }
    }

    /// Changes keys of the frontmatter that are not the engine's, such as `summary`, `branch`, `attention`, `pr_url`.
    ///
    /// # Errors
    /// `refused` for a key that the engine owns; `corrupt`, `environment`.
    pub fn edit(&mut self, changes: &[(&str, Value)]) -> Result<()> {
        if let Some((key, _)) = changes.iter().find(|(key, _)| self.log.owned.owns(key)) {
            return Err(Error::new(Kind::Refused, format!("`{key}` is kept by the engine"))
                .help("it changes with transitions only: `orange task next` shows them"));
        }
        let (dir, log) = (self.dir.clone(), self.log.clone());
        self.write(|document| {
            changes
                .iter()
                .try_for_each(|(key, value)| document.set(key, *value))
                .map_err(|flaw| task::corrupt(&dir, &flaw, &log))
        })
    }

    /// Adds to what a person should look at, unless it is there already.
    ///
    /// # Errors
    /// As `edit`.
    pub fn call_attention(&mut self, what: &str) -> Result<()> {
        let text = match &self.task.attention {
            Some(before) if before.contains(what) => return Ok(()),
            Some(before) => format!("{what}; {before}"),
            None => what.to_owned(),
        };
        self.edit(&[("attention", Value::Text(&text))])
    }

    /// Takes away what a person should have looked at.
    ///
    /// # Errors
    /// As `edit`.
    pub fn clear_attention(&mut self) -> Result<()> {
        if self.task.attention.is_some() { self.edit(&[("attention", Value::Null)]) } else { Ok(()) }
    }

    /// Keeps the prompt that the agent of this spawn is going to read.
    ///
    /// # Errors
    /// `environment`.
    pub fn write_prompt(&self, spawn: u32, text: &str) -> Result<()> {
        let path = self.dir.prompt(spawn);
        home::make_folder(path.parent().unwrap_or(&path))?;
        atomic::write(&path, text.as_bytes())
    }

    /// Puts the link to `TASK.md` into a worktree; call it before the event that binds the workspace.
    ///
    /// # Errors
    /// `refused` when the project has a `TASK.md` of its own there; `environment`.
    pub fn link_into(&self, worktree: &Path) -> Result<()> {
        link::make(&self.dir, worktree)
    }

    /// Takes the body of a file that stands where the worktree's link was, and puts the link back. Says whether there
    /// was one.
    ///
    /// # Errors
    /// `corrupt` when that file cannot be understood; `environment`.
    pub fn take_back(&mut self, worktree: &Path) -> Result<bool> {
        match link::replacement(&self.dir, worktree)? {
            Some(replaced) => self.take(&replaced).map(|()| true),
            None => Ok(false),
        }
    }

    fn take(&mut self, replaced: &Replacement) -> Result<()> {
        let dir = self.dir.clone();
        self.write(|document| {
            let body = replaced.body_over(&dir, document.body());
            document.set_body(&body);
            Ok(())
        })?;
        link::restore(&self.dir, replaced)?;
        self.tell(vec![repaired("TASK.md", "a file in the place of the worktree's link", "its text")])?;
        // What came into that file after it was read is late now.
        self.write(|_| Ok(()))
    }

    fn tell(&mut self, repairs: Vec<Event>) -> Result<()> {
        if !repairs.is_empty() {
            self.append_many(repairs.iter().cloned().map(Into::into).collect())?;
            self.repairs.extend(repairs);
        }
        Ok(())
    }

    /// Writes the engine-owned values and this change into the file as it is now, whoever wrote it last.
    fn write(&mut self, change: impl Fn(&mut Document) -> Result<()>) -> Result<()> {
        let Open { dir, log, .. } = &*self;
        let document = edit::edit(dir, log, |before, after| {
            change(after)?;
            let mut fields = task::fields(dir, &log.owned);
            if !log.created_at.is_empty() && before.get("created_at").is_ok_and(|found| found.is_none()) {
                fields.push(("created_at", Value::Plain(&log.created_at)));
            }
            let now = clock::now();
            if differs(before, after, &fields) {
                fields.push(("updated_at", Value::Plain(&now)));
            }
            let set = fields.into_iter().try_for_each(|(key, value)| after.set(key, value));
            set.map_err(|flaw| task::corrupt(dir, &flaw, log))
        })?;
        self.task = Task::of(&self.dir, document, &self.log)?;
        Ok(())
    }
}

/// What failed after the journal was written is no reason to ask again.
fn but_on_record(error: Error) -> Error {
    let advice = error.help.replace("; nothing was changed", "");
    error.help(format!(
        "{advice}; the change is on record, and the next command that changes the task finishes it"
    ))
}

/// Whether the edit or the engine-owned values change anything.
fn differs(original: &Document, edited: &Document, fields: &[(&str, Value)]) -> bool {
    let is_set = |(key, value): &(&str, Value)| {
        original.get(key).is_ok_and(|found| found.as_deref() == value.decoded().as_deref())
    };
    original != edited || !fields.iter().all(is_set)
}

fn repaired(field: &str, found: &str, kept: &str) -> Event {
    Event::TaskRepaired {
        field: field.to_owned(),
        found: Some(found.to_owned()),
        kept: Some(kept.to_owned()),
    }
}

/// Everything that is not as the journal has it.
fn repairs(dir: &TaskDir, document: &Document, log: &Log, journal: &journal::Journal) -> Vec<Event> {
    const SHOWN: usize = 200;
    let cut = journal.torn.as_ref().map(|torn| Event::TaskRepaired {
        field: "history.jsonl".to_owned(),
        found: Some(torn.text.chars().take(SHOWN).collect()),
        kept: None,
    });
    cut.into_iter().chain(task::differences(dir, document, &log.owned)).collect()
}
