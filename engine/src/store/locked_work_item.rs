//! A locked task: the only means to change one.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use orange_core::{Workspace, closing_line};

use crate::store::copy::{self, CopyState, Published, WorktreeCopy};
use crate::store::frontmatter::Document;
use crate::store::history::WorkItemHistory;
use crate::store::index::idle;
use crate::store::lock::{self, Lock, LockRank};
use crate::store::scalar::Value;
use crate::store::work_item::{self, WorkItem};
use crate::store::{Event, Home, Set, WorkItemDir, edit, home, journal, late_write, pool};
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, clock, fault};

/// A locked task. Dropping it releases the lock.
#[derive(Debug)]
pub struct LockedWorkItem {
    home: Home,
    dir: WorkItemDir,
    task: WorkItem,
    text: Document,
    /// True if the worktree may lack a part of the text.
    is_ahead: bool,
    history: WorkItemHistory,
    repairs: Vec<Event>,
    _lock: Lock,
}

impl LockedWorkItem {
    /// Locks the task, loads it, merges what was saved in its worktree, and repairs what differs from the journal: an
    /// incomplete last line, engine-owned values in the frontmatter. A `corrupt` error changes nothing.
    ///
    /// The caller decides about an open transition: see [`WorkItemHistory::transition`].
    pub fn lock(home: &Home, dir: &WorkItemDir) -> Result<LockedWorkItem> {
        work_item::exists(dir)?;
        let lock = lock::acquire(home, &dir.lock_file(), LockRank::Task, &dir.shown())?;
        atomic::sweep(&dir.path);
        let path = dir.task_md();
        late_write::forget(&path, fault::now())?;

        let journal = work_item::read_journal_last(dir, 0)?;
        let history = journal.history();
        idle::forget(home, dir, &history)?;
        let worktree = history.owned.workspace.as_ref().map(|name| home.workspace(name));
        let copy = worktree.map_or(Ok(None), |worktree| WorktreeCopy::look(dir, &history, &worktree))?;
        let document = work_item::document(dir, &history)?;
        let mut repairs = repairs(dir, &document, &history, &journal);
        if late_write::carried(&late_write::found(&path)?, document.body()).is_some() {
            repairs.push(repaired(
                dir.kind.file(),
                "what was written into a version that had been replaced",
                "the same",
            ));
        }
        let task = WorkItem::of(dir, document.clone(), &history)?;

        journal::mend(&dir.history(), &journal)?;
        let mut locked = LockedWorkItem {
            home: home.clone(),
            dir: dir.clone(),
            task,
            text: document,
            is_ahead: false,
            history,
            repairs: Vec::new(),
            _lock: lock,
        };
        locked.tell(repairs)?;
        let mut copy = copy.filter(|copy| !locked.is_another_tasks(copy));
        // Late writes come after what was saved in the worktree.
        copy.as_mut().map_or(Ok(()), |copy| locked.merge_copy(copy))?;
        if !locked.repairs.is_empty() {
            locked.write(|_| Ok(()))?;
        }
        copy.map_or(Ok(()), |copy| locked.publish(copy))?;
        Ok(locked)
    }

    pub fn dir(&self) -> &WorkItemDir {
        &self.dir
    }

    /// The folder in which its agents work: its worktree, or its plain folder.
    pub fn workspace(&self) -> Option<PathBuf> {
        self.history.owned.workspace.as_ref().map(|name| self.home.workspace(name))
    }

    /// The worktree that it holds.
    pub fn worktree(&self) -> Option<PathBuf> {
        self.workspace().filter(|_| self.task.holds() == Some(Workspace::Worktree))
    }

    /// The task as it was last read or written.
    pub fn task(&self) -> &WorkItem {
        &self.task
    }

    /// The state that the journal folds to, including the events of this lock.
    pub fn history(&self) -> &WorkItemHistory {
        &self.history
    }

    /// Repairs that were made when it was locked: `task.repaired` events that are in the journal.
    #[cfg(test)]
    pub fn repairs(&self) -> &[Event] {
        &self.repairs
    }

    /// Journals an event and the engine-owned values that it changes, then writes these into the frontmatter.
    pub fn append(&mut self, event: Event, set: Set) -> Result<()> {
        self.append_many(vec![(event, set)])
    }

    /// As `append`, for several events in one write: all of them are journaled, or none. If the frontmatter cannot be written
    /// after the journal, the next process that locks the task does that.
    pub fn append_many(&mut self, mut events: Vec<(Event, Set)>) -> Result<()> {
        if self.history.owned.waiting_until.is_some() {
            let ending = events.iter_mut().filter(|(event, _)| event.ends_waiting());
            ending.for_each(|(_, set)| *set = std::mem::take(set).waiting_until(None));
        }
        if self.history.owned.stopped_at.is_some() {
            let ending = events.iter_mut().filter(|(event, _)| event.ends_stop());
            ending.for_each(|(_, set)| *set = std::mem::take(set).stopped_at(None));
        }
        if self.history.owned.held {
            let starting = events.iter_mut().filter(|(event, _)| event.ends_stop());
            starting.for_each(|(_, set)| *set = std::mem::take(set).released());
        }
        if self.history.owned.hooks_wait.is_some() {
            let ending = events.iter_mut().filter(|(event, _)| event.ends_hooks_wait());
            ending.for_each(|(_, set)| *set = std::mem::take(set).hooks_wait(None));
        }
        let changes = events.iter().any(|(_, set)| !set.is_empty());
        if changes {
            work_item::document(&self.dir, &self.history)?;
        }
        let records = journal::records(self.history.last_seq, events);
        journal::append(&self.dir.history(), &records)?;
        for record in &records {
            self.history.apply(record);
        }
        if changes { self.write(|_| Ok(())).map_err(already_journaled) } else { Ok(()) }
    }

    /// Changes keys of the frontmatter that people own, such as `summary`, `branch`, `attention`, `pr_url`; it refuses others.
    pub fn edit(&mut self, changes: &[(&str, Value)]) -> Result<()> {
        if let Some((key, _)) = changes.iter().find(|(key, _)| self.history.owned.owns(key)) {
            return Err(Error::new(ErrorKind::Refused, format!("`{key}` is kept by the engine"))
                .help("it changes with transitions only: `orange task next` shows them"));
        }
        let (dir, history) = (self.dir.clone(), self.history.clone());
        self.write(|document| {
            changes
                .iter()
                .try_for_each(|(key, value)| document.set(key, *value))
                .map_err(|flaw| work_item::corrupt(&dir, &flaw, &history))
        })
    }

    /// Adds a section to the end of the task's body. Of several with one heading, the last one counts. A code block or comment in which the
    /// body ends is closed: it would hide the section.
    pub fn append_section(&mut self, heading: &str, text: &str) -> Result<()> {
        self.write(|document| {
            let before = document.body().trim_end();
            let closing = closing_line(before).map(|line| format!("\n{line}")).unwrap_or_default();
            let body = format!("{before}{closing}\n\n{heading}\n\n{}\n", text.trim());
            document.set_body(&body);
            Ok(())
        })
    }

    /// Adds a reason to the task's attention, unless it is there.
    pub fn call_attention(&mut self, what: &str) -> Result<()> {
        let text = match &self.task.attention {
            Some(before) if before.contains(what) => return Ok(()),
            Some(before) => format!("{what}; {before}"),
            None => what.to_owned(),
        };
        self.edit(&[("attention", Value::Text(&text))])
    }

    /// Clears the task's attention.
    pub fn clear_attention(&mut self) -> Result<()> {
        if self.task.attention.is_some() { self.edit(&[("attention", Value::Null)]) } else { Ok(()) }
    }

    /// Saves the prompt for the agent of this spawn.
    pub fn write_prompt(&self, spawn: u32, text: &str) -> Result<()> {
        let path = self.dir.prompt(spawn);
        home::make_folder(path.parent().unwrap_or(&path))?;
        atomic::write(&path, text.as_bytes())
    }

    /// Merges the worktree's `TASK.md` and the task's text, and writes both.
    pub fn sync(&mut self) -> Result<()> {
        let Some(worktree) = self.workspace() else { return Ok(()) };
        let Some(mut copy) = WorktreeCopy::look(&self.dir, &self.history, &worktree)? else { return Ok(()) };
        if self.is_another_tasks(&copy) {
            return Ok(());
        }
        self.merge_copy(&mut copy)?;
        self.publish(copy)
    }

    /// Merges what was last saved in a worktree, and removes its `TASK.md`, unless that is not a regular file.
    pub fn withdraw(&mut self, worktree: &Path) -> Result<()> {
        let Some(mut copy) = WorktreeCopy::look(&self.dir, &self.history, worktree)? else { return Ok(()) };
        self.merge_copy(&mut copy)?;
        while copy.withdraw(&self.dir, &self.history)? == Published::MergeFirst {
            self.merge_copy(&mut copy)?;
        }
        self.is_ahead = false;
        Ok(())
    }

    /// Writes the text to the worktree, and merges what is saved there meanwhile.
    fn publish(&mut self, mut copy: WorktreeCopy) -> Result<()> {
        const ATTEMPTS: usize = 50;
        for _ in 0..ATTEMPTS {
            if copy.publish(&self.dir, &self.history, &self.text)? == Published::Yes {
                self.is_ahead = false;
                return Ok(());
            }
            self.merge_copy(&mut copy)?;
        }
        let worktree = self.workspace().unwrap_or_default();
        let message = format!("TASK.md in {} is being written all the time", worktree.display());
        Err(Error::new(ErrorKind::Environment, message)
            .help("something rewrites this file in a loop: stop it and try again"))
    }

    /// True if the copy belongs to another task, to which the pool has given the worktree.
    fn is_another_tasks(&self, copy: &WorktreeCopy) -> bool {
        let CopyState::Unfit { .. } = copy.state() else { return false };
        // Where the pool cannot be read, no worktree is given to anybody.
        let slots = pool::read(&self.home).unwrap_or_default();
        let own = slots.iter().find(|slot| Some(&*slot.name) == self.history.owned.workspace.as_deref());
        own.is_some_and(|slot| slot.task.as_ref().is_some_and(|task| *task != self.dir.id))
    }

    /// Merges what was saved in the worktree.
    fn merge_copy(&mut self, copy: &mut WorktreeCopy) -> Result<()> {
        let kept = match copy.state() {
            CopyState::Unchanged => return Ok(()),
            CopyState::Unfit { why, text } => return self.set_aside(why, text),
            CopyState::Saved(_) => match copy.merged_into(&self.dir, &self.history, &self.text)? {
                Some(merged) if merged.loses => Some(copy::keep(&self.dir, self.text.text().as_bytes())?),
                Some(_) | None => None,
            },
        };
        let mut repairs = copy.forged(&self.dir, &self.history);
        repairs.extend(kept.as_deref().map(clash));
        self.tell(repairs)?;
        let late = RefCell::new(None);
        let saved = &*copy;
        let (dir, history) = (self.dir.clone(), self.history.clone());
        self.write(|document| {
            let Some(merged) = saved.merged_into(&dir, &history, document)? else { return Ok(()) };
            if merged.loses {
                // The store's text may have changed since it was read.
                late.replace(Some(copy::keep(&dir, document.text().as_bytes())?));
            }
            saved.announce(&dir, &merged.text)?;
            *document = merged.text;
            Ok(())
        })?;
        copy.note_merged();
        let late = late.into_inner().filter(|late| kept.as_ref() != Some(late));
        self.tell(late.as_deref().map(clash).into_iter().collect())?;
        late.or(kept).map_or(Ok(()), |kept| {
            let shown = kept.display();
            self.call_attention(&format!(
                "TASK.md was changed on both sides; the replaced lines are in {shown}"
            ))
        })
    }

    /// Saves what is at the path of the worktree's copy and is not a copy.
    fn set_aside(&mut self, why: &str, text: &[u8]) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let kept = copy::keep(&self.dir, text)?;
        self.tell(vec![repaired("TASK.md", why, &kept.display().to_string())])
    }

    fn tell(&mut self, repairs: Vec<Event>) -> Result<()> {
        if !repairs.is_empty() {
            self.append_many(repairs.iter().cloned().map(Into::into).collect())?;
            self.repairs.extend(repairs);
        }
        Ok(())
    }

    /// Writes the engine-owned values and this change into the current file, even if another process wrote it last.
    fn write(&mut self, change: impl Fn(&mut Document) -> Result<()>) -> Result<()> {
        let LockedWorkItem { dir, history, .. } = &*self;
        let document = edit::edit(dir, history, |before, after| {
            change(after)?;
            let mut fields = work_item::fields(dir, &history.owned);
            if !history.created_at.is_empty() && before.get("created_at").is_ok_and(|found| found.is_none()) {
                fields.push(("created_at", Value::Plain(&history.created_at)));
            }
            let now = clock::now();
            if differs(before, after, &fields) {
                fields.push(("updated_at", Value::Plain(&now)));
            }
            let set = fields.into_iter().try_for_each(|(key, value)| after.set(key, value));
            set.map_err(|flaw| work_item::corrupt(dir, &flaw, history))
        })?;
        self.is_ahead |= document != self.text;
        self.task = WorkItem::of(&self.dir, document.clone(), &self.history)?;
        self.text = document;
        Ok(())
    }
}

impl Drop for LockedWorkItem {
    fn drop(&mut self) {
        if self.is_ahead {
            // The next process that locks the task tries again, and reports the failure.
            self.sync().unwrap_or_default();
        }
    }
}

/// The event for two texts that clashed.
fn clash(kept: &Path) -> Event {
    repaired("TASK.md", "changes that clash with those in the worktree", &kept.display().to_string())
}

/// The change is in the journal, so the caller need not ask again.
fn already_journaled(error: Error) -> Error {
    let advice = error.help.replace("; nothing was changed", "");
    error.help(format!(
        "{advice}; the journal has the change, and the next command that changes the task finishes it"
    ))
}

/// True if the edit or the engine-owned values change anything.
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

/// Everything that differs from the journal.
fn repairs(
    dir: &WorkItemDir,
    document: &Document,
    history: &WorkItemHistory,
    journal: &journal::Journal,
) -> Vec<Event> {
    const SHOWN: usize = 200;
    let cut = journal.torn.as_ref().map(|torn| Event::TaskRepaired {
        field: "history.jsonl".to_owned(),
        found: Some(torn.text.chars().take(SHOWN).collect()),
        kept: None,
    });
    cut.into_iter().chain(work_item::differences(dir, document, &history.owned)).collect()
}
