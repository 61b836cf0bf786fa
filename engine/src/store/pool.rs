//! `.pool.json`: which task or mission holds which worktree. Their journals decide; the file adds what they do not say: free
//! worktrees, and those of tasks that are about to get one. The pool does not look into worktrees.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::store::list::{self, KnownTask};
use crate::store::lock::{self, Lock, LockRank};
use crate::store::{Home, Name, WorkItem, WorkItemDir, WorkItemKind, home, id};
use crate::{Error, ErrorKind, Result};
use orange_system::files::if_found;
use orange_system::{atomic, nofollow};

/// The locked pool. Its lock comes after that of a task.
#[derive(Debug)]
pub struct Pool {
    home: Home,
    file: PoolFile,
    _lock: Lock,
}

/// One worktree of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// `<project>--<n>`, which is also its folder's name.
    #[serde(deserialize_with = "name")]
    pub name: String,
    #[serde(deserialize_with = "name")]
    pub project: String,
    /// The id of the task or mission that holds it.
    #[serde(default, deserialize_with = "name_or_none")]
    pub task: Option<String>,
    /// Members of newer versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PoolFile {
    slots: Vec<Slot>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Reads a name, since it becomes part of a path.
fn name<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<String, D::Error> {
    Name::deserialize(from).map(|name| name.to_string())
}

fn name_or_none<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<String>, D::Error> {
    Option::<Name>::deserialize(from).map(|name| name.map(|name| name.to_string()))
}

/// Every slot, without the lock.
pub fn read(home: &Home) -> Result<Vec<Slot>> {
    let saved = SavedPool::read(home)?;
    saved.slots(&list::journals(home, &WorkItemKind::ALL, None, &|_, _| false)?)
}

/// The pool by its file, which is read before the journals: a task that releases a worktree writes its journal before the
/// worktree can go to another task.
#[derive(Debug)]
pub struct SavedPool(Option<PoolFile>);

impl SavedPool {
    /// The file, without the lock.
    pub fn read(home: &Home) -> Result<SavedPool> {
        saved(home).map(SavedPool)
    }

    /// Every slot, by these journals and this file: correct for a project if all of its tasks and missions that are not idle are among
    /// them.
    pub fn slots(self, known: &[KnownTask]) -> Result<Vec<Slot>> {
        right(self.0, known).map(|file| file.slots)
    }
}

/// The ids of the tasks and missions that hold a slot by the file alone.
pub fn holders_by_file(home: &Home) -> Result<BTreeSet<String>> {
    let slots = saved(home)?.map(|file| file.slots).unwrap_or_default();
    Ok(slots.into_iter().filter_map(|slot| slot.task).collect())
}

/// Every slot by the file alone.
pub fn by_file(home: &Home) -> Result<Vec<Slot>> {
    Ok(saved(home)?.map(|file| file.slots).unwrap_or_default())
}

/// True if the file gives the task a slot. It reads no journal; the file is never the only record of a task's slot.
pub fn has_slot_of(home: &Home, task: &str) -> Result<bool> {
    Ok(saved(home)?.is_some_and(|file| slot_of(&file.slots, task).is_some()))
}

/// The task or mission that holds the worktree or the folder of this name, without the lock. If the file and the journal of its task agree, no other
/// journal is read.
pub fn holder(home: &Home, name: &str) -> Result<Option<WorkItemDir>> {
    if let Some(dir) = folder_of(home, name)? {
        return Ok(Some(dir));
    }
    let held_by = |slots: Vec<Slot>| {
        let slot = slots.into_iter().find(|slot| slot.name == name)?;
        slot.task.map(|task| home.either(&slot.project, &task))
    };
    let named = saved(home)?.and_then(|file| held_by(file.slots));
    match named {
        Some(dir) if list::workspace_of(&dir).is_ok_and(|held| held.is_some_and(|held| held == *name)) => {
            Ok(Some(dir))
        }
        Some(_) | None => Ok(held_by(read(home)?)),
    }
}

/// The task whose plain folder has this name, which is its id: it is not a slot of the pool.
pub fn folder_of(home: &Home, name: &str) -> Result<Option<WorkItemDir>> {
    Ok(if id::is_prefix(name) { list::with_id(home, &[WorkItemKind::Task], None, name)?.pop() } else { None })
}

/// The worktree of a task or mission, without the lock: by its journal, or else by the file.
pub fn worktree_of(home: &Home, task: &str) -> Result<Option<String>> {
    let dirs = list::with_id(home, &WorkItemKind::ALL, None, task)?;
    // The file replaces a journal that cannot be read.
    if let Some(name) = dirs.first().and_then(|dir| list::workspace_of(dir).ok().flatten()) {
        return Ok(Some(name.to_string()));
    }
    Ok(saved(home)?.and_then(|file| slot_of(&file.slots, task).map(|slot| slot.name.clone())))
}

/// The slot that the task holds.
pub fn slot_of<'s>(slots: &'s [Slot], task: &str) -> Option<&'s Slot> {
    slots.iter().find(|slot| slot.task.as_deref() == Some(task))
}

/// Refuses if the pool of the project (its name and size) is full and this task holds none of its slots; the error names the
/// holders.
pub fn check_room(home: &Home, slots: &[Slot], (project, pool_size): (&str, u32), task: &str) -> Result<()> {
    let taken = of(slots, project).filter(|slot| slot.task.is_some()).count();
    let is_full = taken >= usize::try_from(pool_size).unwrap_or(usize::MAX);
    if is_full && slot_of(slots, task).is_none() {
        return Err(exhausted(home, slots, project, pool_size));
    }
    Ok(())
}

impl Pool {
    /// Locks the pool and loads it. If the file differs from the journals, it is corrected and written.
    pub fn lock(home: &Home) -> Result<Pool> {
        home.prepare()?;
        home::make_folder(&home.workspaces())?;
        let path = home.pool_json();
        let lock =
            lock::acquire(home, &path.with_file_name(".pool.lock"), LockRank::Pool, "the workspace pool")?;
        atomic::sweep(&home.workspaces());
        let saved = saved(home)?;
        let file = right(saved.clone(), &list::journals(home, &WorkItemKind::ALL, None, &|_, _| false)?)?;
        let is_right = saved.as_ref() == Some(&file);
        let pool = Pool { file, home: home.clone(), _lock: lock };
        if !is_right {
            pool.save()?;
        }
        Ok(pool)
    }

    pub fn slots(&self) -> &[Slot] {
        &self.file.slots
    }

    /// Gives the task a slot and returns its name: its own, else a free one, else a new one, as long as tasks hold fewer than
    /// `pool_size` of the project. A slot whose folder is not usable, because it is somebody else's, is skipped.
    pub fn bind(
        &mut self,
        project: &str,
        pool_size: u32,
        task: &str,
        is_usable: impl Fn(&Path) -> Result<bool>,
    ) -> Result<String> {
        check_room(&self.home, self.slots(), (project, pool_size), task)?;
        if let Some(held) = slot_of(self.slots(), task) {
            return Ok(held.name.clone());
        }
        let name = self.ensure_free(project, is_usable)?;
        for slot in self.file.slots.iter_mut().filter(|slot| slot.name == name) {
            slot.task = Some(task.to_owned());
        }
        self.save()?;
        Ok(name)
    }

    /// Takes the task's slot away and returns its name; `None` if it has none.
    pub fn unbind(&mut self, task: &str) -> Result<Option<String>> {
        let Some(slot) = self.file.slots.iter_mut().find(|slot| slot.task.as_deref() == Some(task)) else {
            return Ok(None);
        };
        slot.task = None;
        let name = slot.name.clone();
        self.save()?;
        Ok(Some(name))
    }

    /// Adds slots until the project has `pool_size`, and returns the names of all.
    pub fn grow(&mut self, project: &str, pool_size: u32) -> Result<Vec<String>> {
        while u32::try_from(self.of(project).count()).is_ok_and(|count| count < pool_size) {
            self.push_new(project);
        }
        self.save()?;
        Ok(self.of(project).map(|slot| slot.name.clone()).collect())
    }

    /// Removes a slot from the pool and returns whether it existed; refuses if a task holds it.
    pub fn forget(&mut self, name: &str) -> Result<bool> {
        let Some(index) = self.file.slots.iter().position(|slot| slot.name == name) else { return Ok(false) };
        let Slot { project, task, .. } = &self.file.slots[index];
        if let Some(task) = task {
            let dir = self.home.either(project, task);
            return Err(Error::new(ErrorKind::Refused, format!("{} holds workspace {name}", dir.shown()))
                .help(format!("finish or cancel the {} first", dir.kind.word())));
        }
        self.file.slots.remove(index);
        self.save().map(|()| true)
    }

    fn of<'a>(&'a self, project: &'a str) -> impl Iterator<Item = &'a Slot> {
        of(self.slots(), project)
    }

    /// The free slot with the lowest number, or a new one.
    fn ensure_free(&mut self, project: &str, is_usable: impl Fn(&Path) -> Result<bool>) -> Result<String> {
        const ATTEMPTS: usize = 100;
        let mut free: Vec<&Slot> = self.of(project).filter(|slot| slot.task.is_none()).collect();
        free.sort_by_key(|slot| number(slot));
        for slot in free {
            if is_usable(&self.home.workspace(&slot.name))? {
                return Ok(slot.name.clone());
            }
        }
        let new: Vec<String> = self.new_names(project).take(ATTEMPTS).collect();
        for name in new {
            if is_usable(&self.home.workspace(&name))? {
                self.push(project, &name);
                return Ok(name);
            }
        }
        let folder = self.home.workspaces();
        Err(Error::new(
            ErrorKind::Refused,
            format!("no folder in {} can be a worktree of {project}", folder.display()),
        )
        .help("`orange doctor` says what stands there: move it away"))
    }

    fn push_new(&mut self, project: &str) {
        if let Some(name) = self.new_names(project).next() {
            self.push(project, &name);
        }
    }

    fn push(&mut self, project: &str, name: &str) {
        self.file.slots.push(Slot { name: name.to_owned(), project: project.to_owned(), ..Slot::default() });
    }

    /// Names that no slot of the project has, the lowest first.
    fn new_names(&self, project: &str) -> impl Iterator<Item = String> + use<> {
        let taken: Vec<u32> = self.of(project).map(number).collect();
        (1..u32::MAX).filter(move |n| !taken.contains(n)).map({
            let project = project.to_owned();
            move |n| format!("{project}--{n}")
        })
    }

    fn save(&self) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(&self.file).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("the pool cannot be written down: {cause}"))
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
        let known = WorkItem::read(home, &home.either(project, task));
        let branch = known.map_or_else(|_| "unreadable".to_owned(), |(task, _)| task.branch);
        Some(format!("{} by {task} ({branch})", slot.name))
    };
    let holders: Vec<String> = of(slots, project).filter_map(holder).collect();
    let message = match pool_size {
        0 => format!("project {project} may have no workspaces: its pool size is 0"),
        _ => format!("all workspaces of {project} are taken: {}", holders.join(", ")),
    };
    Error::new(ErrorKind::Refused, message).help(format!(
        "finish or cancel one of these, or allow more: `orange project update {project} --pool-size {}`",
        pool_size.max(holders.len().try_into().unwrap_or(u32::MAX)).saturating_add(1)
    ))
}

/// The pool by its file; `None` if there is no file.
fn saved(home: &Home) -> Result<Option<PoolFile>> {
    let path = home.pool_json();
    let bytes = if_found(&path, nofollow::read(&path, nofollow::LONGEST))?;
    bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(|cause| corrupt(&path, &cause))).transpose()
}

/// The pool by the tasks' journals, with what only the file knows. The file replaces a journal that cannot be read; without
/// a file that is an error, since another task could get the worktree.
fn right(saved: Option<PoolFile>, known: &[KnownTask]) -> Result<PoolFile> {
    let mut holders = Vec::new();
    for task in known {
        match task.workspace() {
            Ok(held) => {
                holders.extend(held.filter(|name| task.dir.id != *name).map(|name| (&task.dir, name)))
            }
            Err(_) if saved.is_some() => {}
            Err(error) => return Err(error),
        }
    }
    holders.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
    let mut file = saved.unwrap_or_default();
    file.put_right(&holders);
    Ok(file)
}

impl PoolFile {
    /// Gives each worktree to the task whose journal has it. If several have it, the file decides among them.
    fn put_right(&mut self, holders: &[(&WorkItemDir, Name)]) {
        self.drop_repeated();
        for (dir, name) in holders {
            let is_own = |slot: &Slot| slot.task.as_ref() == Some(&dir.id);
            self.slots
                .iter_mut()
                .filter(|slot| is_own(slot) && slot.name != *name)
                .for_each(|slot| slot.task = None);
            let has_it =
                |task: &String| holders.iter().any(|(other, held)| other.id == *task && held == name);
            match self.slots.iter_mut().find(|slot| slot.name == *name) {
                Some(slot) if slot.task.as_ref().is_some_and(has_it) => {}
                Some(slot) => {
                    slot.task = Some(dir.id.clone());
                    slot.project.clone_from(&dir.project);
                }
                None => self.slots.push(Slot {
                    name: name.to_string(),
                    project: dir.project.clone(),
                    task: Some(dir.id.clone()),
                    ..Slot::default()
                }),
            }
        }
    }

    /// Of slots with one name, keeps one that a task holds.
    fn drop_repeated(&mut self) {
        let held: BTreeSet<String> =
            self.slots.iter().filter(|slot| slot.task.is_some()).map(|slot| slot.name.clone()).collect();
        let mut seen = BTreeSet::new();
        self.slots.retain(|slot| {
            (slot.task.is_some() || !held.contains(&slot.name)) && seen.insert(slot.name.clone())
        });
    }
}

/// Its number among the worktrees of its project.
pub fn number(slot: &Slot) -> u32 {
    number_of(&slot.name)
}

/// The number in the name of a worktree.
pub fn number_of(name: &str) -> u32 {
    name.rsplit_once("--").and_then(|(_, number)| number.parse().ok()).unwrap_or(u32::MAX)
}

fn corrupt(path: &Path, cause: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Corrupt, format!("{}:{}: {cause}", path.display(), cause.line())).help(
        "mend that line, or remove the file: it is built again from the tasks' histories; nothing was changed",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::tests::{home, task, usable};
    use crate::store::{Event, Set};

    #[test]
    fn slots_are_bound_once_and_given_back() {
        let (_folder, home) = home();
        let mut pool = Pool::lock(&home).unwrap();
        assert_eq!(pool.bind("coffee", 2, "a", usable).unwrap(), "coffee--1");
        assert_eq!(pool.bind("coffee", 2, "a", usable).unwrap(), "coffee--1");
        assert_eq!(pool.bind("coffee", 2, "b", usable).unwrap(), "coffee--2");
        assert_eq!(pool.bind("tea", 1, "c", usable).unwrap(), "tea--1");
        assert_eq!(pool.unbind("a").unwrap().as_deref(), Some("coffee--1"));
        assert_eq!(pool.unbind("a").unwrap(), None);
        assert_eq!(pool.bind("coffee", 2, "d", usable).unwrap(), "coffee--1");
        drop(pool);
        let slots = read(&home).unwrap();
        let bound: Vec<_> = slots.iter().map(|slot| (slot.name.as_str(), slot.task.as_deref())).collect();
        assert_eq!(bound, [("coffee--1", Some("d")), ("coffee--2", Some("b")), ("tea--1", Some("c"))]);
    }

    #[test]
    fn a_slot_whose_place_is_somebody_else_s_is_passed_over() {
        let (_folder, home) = home();
        let mut pool = Pool::lock(&home).unwrap();
        pool.grow("coffee", 2).unwrap();
        let but =
            |taken: &'static [&str]| move |path: &Path| Ok(!taken.iter().any(|name| path.ends_with(name)));
        assert_eq!(pool.bind("coffee", 2, "a", but(&["coffee--1"])).unwrap(), "coffee--2");
        let both = but(&["coffee--1", "coffee--3"]);
        assert_eq!(pool.bind("coffee", 2, "b", both).unwrap(), "coffee--4");
        assert_eq!(pool.bind("coffee", 3, "c", |_| Ok(false)).unwrap_err().kind, ErrorKind::Refused);
        let broken = |_: &Path| Err(Error::new(ErrorKind::Environment, "no git"));
        assert_eq!(pool.bind("coffee", 3, "c", broken).unwrap_err().kind, ErrorKind::Environment);
        assert_eq!(pool.bind("coffee", 3, "c", usable).unwrap(), "coffee--1");
    }

    #[test]
    fn an_exhausted_pool_says_who_holds_it() {
        let (_folder, home) = home();
        let id = task(&home, "fix").dir().id.clone();
        let mut pool = Pool::lock(&home).unwrap();
        pool.bind("coffee", 2, &id, usable).unwrap();
        pool.bind("coffee", 2, "gone", usable).unwrap();
        let error = pool.bind("coffee", 2, "more", usable).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        let holders = format!("coffee--1 by {id} (fix), coffee--2 by gone (unreadable)");
        assert_eq!(error.message, format!("all workspaces of coffee are taken: {holders}"));
        assert!(error.help.ends_with("`orange project update coffee --pool-size 3`"), "{}", error.help);
        let shrunk = pool.bind("coffee", 1, "more", usable).unwrap_err();
        assert_eq!(shrunk.help, error.help, "room for one more than there are now");
        assert_eq!(pool.bind("coffee", 0, "more", usable).unwrap_err().kind, ErrorKind::Refused);
    }

    #[test]
    fn slots_are_made_and_forgotten_beforehand() {
        let (_folder, home) = home();
        let mut pool = Pool::lock(&home).unwrap();
        assert_eq!(pool.grow("coffee", 2).unwrap(), ["coffee--1", "coffee--2"]);
        assert_eq!(pool.grow("coffee", 1).unwrap().len(), 2);
        pool.bind("coffee", 2, "a", usable).unwrap();
        assert_eq!(pool.forget("coffee--1").unwrap_err().kind, ErrorKind::Refused);
        assert!(pool.forget("coffee--2").unwrap());
        assert!(!pool.forget("coffee--2").unwrap());
    }

    #[test]
    fn a_lost_file_is_built_again_and_a_broken_one_is_not_touched() {
        let (_folder, home) = home();
        let mut open = task(&home, "fix");
        open.append(Event::Unknown, Set::new().workspace(Some("coffee--3"))).unwrap();
        let mut pool = Pool::lock(&home).unwrap();
        assert_eq!(pool.bind("coffee", 2, &open.dir().id, usable).unwrap(), "coffee--3");
        assert_eq!(pool.bind("coffee", 2, "other", usable).unwrap(), "coffee--1");
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
        assert_eq!(Pool::lock(&home).unwrap_err().kind, ErrorKind::Corrupt);
        assert!(!home.pool_json().exists());
        fs::write(home.pool_json(), "{\"slots\": [").unwrap();
        assert_eq!(Pool::lock(&home).unwrap_err().kind, ErrorKind::Corrupt);
        assert_eq!(fs::read_to_string(home.pool_json()).unwrap(), "{\"slots\": [");
    }

    #[test]
    fn a_stale_file_is_put_right_by_the_journals() {
        let (_folder, home) = home();
        let holder = {
            let mut open = task(&home, "fix");
            open.append(Event::Unknown, Set::new().workspace(Some("coffee--1"))).unwrap();
            open.dir().clone()
        };
        let waiting = task(&home, "other").dir().clone();
        home::make_folder(&home.workspaces()).unwrap();
        let slot =
            |name: &str, task: &str| format!(r#"{{"name": "{name}", "project": "coffee", "task": {task}}}"#);
        let (own, others) = (format!("\"{}\"", holder.id), format!("\"{}\"", waiting.id));
        for stale in [
            vec![],
            vec![slot("coffee--1", "null")],
            vec![slot("coffee--1", &others)],
            vec![slot("coffee--1", "\"gone\"")],
            vec![slot("coffee--2", &own), slot("coffee--1", "null")],
            vec![slot("coffee--1", "null"), slot("coffee--1", &own)],
        ] {
            fs::write(home.pool_json(), format!(r#"{{"slots": [{}]}}"#, stale.join(", "))).unwrap();
            let held = |slots: &[Slot]| -> Vec<_> {
                let held = slots.iter().filter(|slot| slot.task.is_some());
                held.map(|slot| (slot.name.clone(), slot.task.clone().unwrap())).collect()
            };
            let expect = [("coffee--1".to_owned(), holder.id.clone())];
            assert_eq!(held(&read(&home).unwrap()), expect, "{stale:?}");
            assert_eq!(super::holder(&home, "coffee--1").unwrap(), Some(holder.clone()), "{stale:?}");
            assert_eq!(worktree_of(&home, &holder.id).unwrap().as_deref(), Some("coffee--1"), "{stale:?}");
            let mut pool = Pool::lock(&home).unwrap();
            assert_eq!(held(&saved(&home).unwrap().unwrap().slots), expect, "{stale:?}");
            assert_eq!(pool.bind("coffee", 2, &waiting.id, usable).unwrap(), "coffee--2", "{stale:?}");
            drop(pool);
            assert_eq!(worktree_of(&home, &waiting.id).unwrap().as_deref(), Some("coffee--2"), "{stale:?}");
        }
        // The file stands for a journal that cannot be read.
        fs::write(holder.history(), "no event\n").unwrap();
        assert_eq!(Pool::lock(&home).unwrap().slots()[0].task.as_ref(), Some(&holder.id));
    }

    #[test]
    fn of_two_that_have_one_worktree_the_file_decides() {
        let (_folder, home) = home();
        let ids = ["fix", "other"].map(|branch| {
            let mut open = task(&home, branch);
            open.append(Event::Unknown, Set::new().workspace(Some("coffee--1"))).unwrap();
            open.dir().id.clone()
        });
        home::make_folder(&home.workspaces()).unwrap();
        for id in &ids {
            let text =
                format!(r#"{{"slots": [{{"name": "coffee--1", "project": "coffee", "task": "{id}"}}]}}"#);
            fs::write(home.pool_json(), text).unwrap();
            assert_eq!(Pool::lock(&home).unwrap().slots()[0].task.as_ref(), Some(id));
        }
    }

    #[test]
    fn what_newer_versions_wrote_is_kept() {
        let (_folder, home) = home();
        home::make_folder(&home.workspaces()).unwrap();
        let text =
            r#"{"slots": [{"name": "a--1", "project": "a", "task": null, "colour": "red"}], "version": 2}"#;
        fs::write(home.pool_json(), text).unwrap();
        Pool::lock(&home).unwrap().bind("a", 1, "x", usable).unwrap();
        let text = fs::read_to_string(home.pool_json()).unwrap();
        assert!(text.contains("\"colour\": \"red\"") && text.contains("\"version\": 2"), "{text}");
    }
}
