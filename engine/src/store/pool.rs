//! `.pool.json`: which task holds which worktree. What is in the worktrees is not its business.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::members::{self, Members, Object};
use crate::store::lock::{self, Lock, Rank};
use crate::store::{Home, Task, TaskDir, atomic, home, list, task};
use crate::{Error, Kind, Result};

/// The pool, locked. Take a task's lock before it, never after.
#[derive(Debug)]
pub struct Pool {
    home: Home,
    file: PoolFile,
    _lock: Lock,
}

/// One worktree of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Slot {
    /// `<project>--<n>`, which is also its folder's name.
    pub name: String,
    /// The project.
    pub project: String,
    /// The id of the task that holds it.
    pub task: Option<String>,
    /// What a newer version wrote beside these.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct PoolFile {
    slots: Vec<Slot>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl<'de> Deserialize<'de> for PoolFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<PoolFile, D::Error> {
        members::deserialize(from)
    }
}

impl Object for PoolFile {
    fn take(from: &mut Members) -> PoolFile {
        PoolFile { slots: from.must("slots"), other: from.rest() }
    }
}

impl Object for Slot {
    fn take(from: &mut Members) -> Slot {
        Slot {
            name: from.must("name"),
            project: from.must("project"),
            task: from.may("task"),
            other: from.rest(),
        }
    }
}

/// Every slot, without the lock.
///
/// # Errors
/// `corrupt` when the file cannot be understood; `environment`.
pub fn read(home: &Home) -> Result<Vec<Slot>> {
    match saved(home)? {
        Some(file) => Ok(file.slots),
        None => rebuilt(home).map(|file| file.slots),
    }
}

/// Whether the pool says that the task has a slot, without the lock. One that is lost says so of no task whose journal
/// doesn't, and no other's journal is read to find that out.
///
/// # Errors
/// As [`read`].
pub fn has_slot_of(home: &Home, task: &str) -> Result<bool> {
    Ok(saved(home)?.is_some_and(|file| slot_of(&file.slots, task).is_some()))
}

/// The slot that the task holds.
pub fn slot_of<'s>(slots: &'s [Slot], task: &str) -> Option<&'s Slot> {
    slots.iter().find(|slot| slot.task.as_deref() == Some(task))
}

/// Refuses when there is no room for one more: every slot that the project may have, by its name and the size of its pool,
/// is held, and none of them by this task.
///
/// # Errors
/// `refused`, naming who holds them.
pub fn check_room(home: &Home, slots: &[Slot], (project, pool_size): (&str, u32), task: &str) -> Result<()> {
    let taken = of(slots, project).filter(|slot| slot.task.is_some()).count();
    let is_full = taken >= usize::try_from(pool_size).unwrap_or(usize::MAX);
    if is_full && slot_of(slots, task).is_none() {
        return Err(exhausted(home, slots, project, pool_size));
    }
    Ok(())
}

impl Pool {
    /// Locks the pool and loads it. A lost one is built again and written, so that this is done once.
    ///
    /// # Errors
    /// `locked`, `corrupt`, `environment`.
    pub fn lock(home: &Home) -> Result<Pool> {
        home.prepare()?;
        home::make_folder(&home.workspaces())?;
        let path = home.pool_json();
        let lock = lock::acquire(home, &path.with_file_name(".pool.lock"), Rank::Pool, "the workspace pool")?;
        atomic::sweep(&home.workspaces());
        let pool = |file| Pool { file, home: home.clone(), _lock: lock };
        match saved(home)? {
            Some(file) => Ok(pool(file)),
            None => {
                let pool = pool(rebuilt(home)?);
                pool.save().map(|()| pool)
            }
        }
    }

    /// Every slot.
    pub fn slots(&self) -> &[Slot] {
        &self.file.slots
    }

    /// Gives the task a slot and returns its name: the one it has, else a free one, else a new one while the project
    /// has fewer than `pool_size`.
    ///
    /// # Errors
    /// `refused` when the pool is exhausted, naming who holds the slots; `environment`.
    pub fn bind(&mut self, project: &str, pool_size: u32, task: &str) -> Result<String> {
        check_room(&self.home, self.slots(), (project, pool_size), task)?;
        if let Some(held) = slot_of(self.slots(), task) {
            return Ok(held.name.clone());
        }
        let name = self.ensure_free(project);
        for slot in self.file.slots.iter_mut().filter(|slot| slot.name == name) {
            slot.task = Some(task.to_owned());
        }
        self.save()?;
        Ok(name)
    }

    /// Takes the task's slot away, and returns its name; `None` when it has none.
    ///
    /// # Errors
    /// `environment`.
    pub fn unbind(&mut self, task: &str) -> Result<Option<String>> {
        let Some(slot) = self.file.slots.iter_mut().find(|slot| slot.task.as_deref() == Some(task)) else {
            return Ok(None);
        };
        slot.task = None;
        let name = slot.name.clone();
        self.save()?;
        Ok(Some(name))
    }

    /// Makes sure that the project has this many slots, and returns the names of all it has.
    ///
    /// # Errors
    /// `environment`.
    pub fn grow(&mut self, project: &str, pool_size: u32) -> Result<Vec<String>> {
        while u32::try_from(self.of(project).count()).is_ok_and(|count| count < pool_size) {
            self.push_new(project);
        }
        self.save()?;
        Ok(self.of(project).map(|slot| slot.name.clone()).collect())
    }

    /// Forgets a slot that no task holds; says whether there was one.
    ///
    /// # Errors
    /// `refused` when a task holds it; `environment`.
    pub fn forget(&mut self, name: &str) -> Result<bool> {
        let Some(index) = self.file.slots.iter().position(|slot| slot.name == name) else { return Ok(false) };
        if let Some(task) = &self.file.slots[index].task {
            return Err(Error::new(Kind::Refused, format!("task {task} holds workspace {name}"))
                .help("finish or cancel the task first"));
        }
        self.file.slots.remove(index);
        self.save().map(|()| true)
    }

    fn of<'a>(&'a self, project: &'a str) -> impl Iterator<Item = &'a Slot> {
        of(self.slots(), project)
    }

    /// The free slot with the lowest number, or a new one.
    fn ensure_free(&mut self, project: &str) -> String {
        let free = self.of(project).filter(|slot| slot.task.is_none()).min_by_key(|slot| number(slot));
        match free {
            Some(slot) => slot.name.clone(),
            None => self.push_new(project),
        }
    }

    fn push_new(&mut self, project: &str) -> String {
        let taken: Vec<u32> = self.of(project).map(number).collect();
        let lowest = (1..).find(|n| !taken.contains(n)).unwrap_or(1);
        let name = format!("{project}--{lowest}");
        self.file.slots.push(Slot { name: name.clone(), project: project.to_owned(), ..Slot::default() });
        name
    }

    fn save(&self) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(&self.file).map_err(|cause| {
            Error::new(Kind::Environment, format!("the pool cannot be written down: {cause}"))
        })?;
        text.push(b'\n');
        atomic::write(&self.home.pool_json(), &text)
    }
}

fn of<'s>(slots: &'s [Slot], project: &'s str) -> impl Iterator<Item = &'s Slot> {
    slots.iter().filter(move |slot| slot.project == project)
}

fn exhausted(home: &Home, slots: &[Slot], project: &str, pool_size: u32) -> Error {
    let holder = |slot: &Slot| {
        let task = slot.task.as_deref()?;
        let known = Task::read(home, &home.task(project, task));
        let branch = known.map_or_else(|_| "unreadable".to_owned(), |(task, _)| task.branch);
        Some(format!("{} by {task} ({branch})", slot.name))
    };
    let holders: Vec<String> = of(slots, project).filter_map(holder).collect();
    let message = match pool_size {
        0 => format!("project {project} may have no workspaces: its pool size is 0"),
        _ => format!("all workspaces of {project} are taken: {}", holders.join(", ")),
    };
    Error::new(Kind::Refused, message).help(format!(
        "finish or cancel one of these tasks, or allow more: `orange project update {project} --pool-size {}`",
        pool_size.max(holders.len().try_into().unwrap_or(u32::MAX)).saturating_add(1)
    ))
}

/// The pool as its file has it; `None` when that is gone, or was never needed.
fn saved(home: &Home) -> Result<Option<PoolFile>> {
    let path = home.pool_json();
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|cause| corrupt(&path, &cause)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::io("read", &path, &cause)),
    }
}

/// The pool as the tasks' journals have it, when its own file is gone. A journal that cannot be read is an error: its task's
/// worktree would be another one's.
fn rebuilt(home: &Home) -> Result<PoolFile> {
    let mut slots = Vec::new();
    for TaskDir { project, id, .. } in list::dirs(home, None)? {
        let log = task::read_journal(&home.task(&project, &id))?.log();
        let slot = |name| Slot { name, project, task: Some(id), ..Slot::default() };
        slots.extend(log.owned.workspace.map(slot));
    }
    Ok(PoolFile { slots, ..PoolFile::default() })
}

/// Its number among the worktrees of its project.
pub fn number(slot: &Slot) -> u32 {
    slot.name.rsplit_once("--").and_then(|(_, number)| number.parse().ok()).unwrap_or(u32::MAX)
}

fn corrupt(path: &Path, cause: &serde_json::Error) -> Error {
    Error::new(Kind::Corrupt, format!("{}:{}: {cause}", path.display(), cause.line())).help(
        "mend that line, or remove the file: it is built again from the tasks' histories; nothing was changed",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{home, task};
    use crate::store::{Event, Set};

    #[test]
    fn slots_are_bound_once_and_given_back() {
        let (_folder, home) = home();
        let mut pool = Pool::lock(&home).unwrap();
        assert_eq!(pool.bind("coffee", 2, "a").unwrap(), "coffee--1");
        assert_eq!(pool.bind("coffee", 2, "a").unwrap(), "coffee--1");
        assert_eq!(pool.bind("coffee", 2, "b").unwrap(), "coffee--2");
        assert_eq!(pool.bind("tea", 1, "c").unwrap(), "tea--1");
        assert_eq!(pool.unbind("a").unwrap().as_deref(), Some("coffee--1"));
        assert_eq!(pool.unbind("a").unwrap(), None);
        assert_eq!(pool.bind("coffee", 2, "d").unwrap(), "coffee--1");
        drop(pool);
        let slots = read(&home).unwrap();
        let bound: Vec<_> = slots.iter().map(|slot| (slot.name.as_str(), slot.task.as_deref())).collect();
        assert_eq!(bound, [("coffee--1", Some("d")), ("coffee--2", Some("b")), ("tea--1", Some("c"))]);
    }

    #[test]
    fn an_exhausted_pool_says_who_holds_it() {
        let (_folder, home) = home();
        let id = task(&home, "fix").dir().id.clone();
        let mut pool = Pool::lock(&home).unwrap();
        pool.bind("coffee", 2, &id).unwrap();
        pool.bind("coffee", 2, "gone").unwrap();
        let error = pool.bind("coffee", 2, "more").unwrap_err();
        assert_eq!(error.kind, Kind::Refused);
        let holders = format!("coffee--1 by {id} (fix), coffee--2 by gone (unreadable)");
        assert_eq!(error.message, format!("all workspaces of coffee are taken: {holders}"));
        assert!(error.help.ends_with("`orange project update coffee --pool-size 3`"), "{}", error.help);
        let shrunk = pool.bind("coffee", 1, "more").unwrap_err();
        assert_eq!(shrunk.help, error.help, "room for one more than there are now");
        assert_eq!(pool.bind("coffee", 0, "more").unwrap_err().kind, Kind::Refused);
    }

    #[test]
    fn slots_are_made_and_forgotten_beforehand() {
        let (_folder, home) = home();
        let mut pool = Pool::lock(&home).unwrap();
        assert_eq!(pool.grow("coffee", 2).unwrap(), ["coffee--1", "coffee--2"]);
        assert_eq!(pool.grow("coffee", 1).unwrap().len(), 2);
        pool.bind("coffee", 2, "a").unwrap();
        assert_eq!(pool.forget("coffee--1").unwrap_err().kind, Kind::Refused);
        assert!(pool.forget("coffee--2").unwrap());
        assert!(!pool.forget("coffee--2").unwrap());
    }

    #[test]
    fn a_lost_file_is_built_again_and_a_broken_one_is_not_touched() {
        let (_folder, home) = home();
        let mut open = task(&home, "fix");
        open.append(Event::Unknown, Set::new().workspace(Some("coffee--3"))).unwrap();
        let mut pool = Pool::lock(&home).unwrap();
        assert_eq!(pool.bind("coffee", 2, &open.dir().id).unwrap(), "coffee--3");
        assert_eq!(pool.bind("coffee", 2, "other").unwrap(), "coffee--1");
        drop(pool);
        fs::remove_file(home.pool_json()).unwrap();
        fs::write(open.dir().task_md(), "half of a fi").unwrap();
        let holder = Some(&open.dir().id);
        assert_eq!(read(&home).unwrap()[0].task.as_ref(), holder);
        assert_eq!(Pool::lock(&home).unwrap().slots()[0].task.as_ref(), holder);
        assert_eq!(
            saved(&home).unwrap().unwrap().slots[0].task.as_ref(),
            holder,
            "it is there for everybody"
        );
        fs::remove_file(home.pool_json()).unwrap();
        fs::write(open.dir().history(), "no event\n").unwrap();
        assert_eq!(Pool::lock(&home).unwrap_err().kind, Kind::Corrupt);
        assert!(!home.pool_json().exists());
        fs::write(home.pool_json(), "{\"slots\": [").unwrap();
        assert_eq!(Pool::lock(&home).unwrap_err().kind, Kind::Corrupt);
        assert_eq!(fs::read_to_string(home.pool_json()).unwrap(), "{\"slots\": [");
    }

    #[test]
    fn what_newer_versions_wrote_is_kept() {
        let (_folder, home) = home();
        home::make_folder(&home.workspaces()).unwrap();
        let text =
            r#"{"slots": [{"name": "a--1", "project": "a", "task": null, "colour": "red"}], "version": 2}"#;
        fs::write(home.pool_json(), text).unwrap();
        Pool::lock(&home).unwrap().bind("a", 1, "x").unwrap();
        let text = fs::read_to_string(home.pool_json()).unwrap();
        assert!(text.contains("\"colour\": \"red\"") && text.contains("\"version\": 2"), "{text}");
    }
}
