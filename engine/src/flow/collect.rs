//! Giving back and removing worktrees that no task holds, after everything in them is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::drive::git::{Backup, Git, Keeper, Kept};
use crate::flow::{cancel, settled};
use crate::hooks::workspace;
use crate::orange::Orange;
use crate::store::pool::{self, Slot};
use crate::store::projects::{self, Project};
use crate::store::{Pool, Task, TaskDir};
use crate::{Error, Kind, Result};

/// What became of one worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Its name.
    pub name: String,
    /// What was done; with a dry run, what would be.
    pub fate: Fate,
    /// The refs and folders that keep what was in it.
    pub kept: Vec<String>,
    /// Why it could not be done; everything is as it was then.
    pub failure: Option<Error>,
}

/// What is to become of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A task that is over gives it back.
    GiveBack,
    /// Cleaned for the next task: the one that held it is gone.
    Clean,
    /// Removed: its project has more than it may have, or is gone, or nobody knows of it.
    Remove,
    /// Left alone, for this reason: it is not known to be ours.
    Leave(String),
}

/// What is known of a worktree that no living task holds.
#[derive(Clone, Copy, Debug)]
struct Facts {
    has_slot: bool,
    has_holder: bool,
    has_folder: bool,
    /// Its repository, if that is known, lists it as a worktree.
    is_registered: bool,
    /// Its project is gone, or may not have so many.
    is_surplus: bool,
}

/// Looks at every worktree of every project, and gives back or removes those that nobody holds and nobody needs. What
/// is not a worktree of ours, and what a living task holds, is left alone. With `dry_run`, nothing is done.
///
/// # Errors
/// `corrupt` or `environment` when the pool, the projects or the folder of the worktrees cannot be read; `locked`. What
/// fails for one worktree is in its answer.
pub fn collect(orange: &Orange, dry_run: bool) -> Result<Vec<Collected>> {
    let mut done = give_back_finished(orange, dry_run)?;
    let mut pool = Pool::lock(&orange.home)?;
    let projects = projects::read(&orange.home)?;
    for name in names(orange, &pool, &projects)? {
        let slot = pool.slots().iter().find(|slot| slot.name == name).cloned().unwrap_or_default();
        if is_held(orange, &slot) || done.iter().any(|one| one.name == name) {
            continue;
        }
        let place = Place::of(orange, &name, &slot, &projects);
        let Some(fate) = place.facts(&pool).fate() else { continue };
        let mut kept = Vec::new();
        let outcome = if dry_run { Ok(()) } else { place.carry_out(orange, &mut pool, &fate, &mut kept) };
        done.push(Collected { name, fate, kept, failure: outcome.err() });
    }
    Ok(done)
}

impl Facts {
    /// What is to be done; nothing with a free worktree that its project may have.
    fn fate(self) -> Option<Fate> {
        if self.has_folder && !self.is_registered {
            let why = "its repository does not know it as a worktree: move that folder away";
            return Some(Fate::Leave(why.to_owned()));
        }
        match (self.has_slot, self.is_surplus) {
            (true, true) | (false, _) => Some(Fate::Remove),
            (true, false) if self.has_holder => Some(Fate::Clean),
            (true, false) if self.is_registered && !self.has_folder => Some(Fate::Remove),
            (true, false) => None,
        }
    }
}

/// A worktree that no living task holds, and the repository it belongs to.
struct Place<'p> {
    slot: Slot,
    folder: PathBuf,
    project: Option<&'p Project>,
    git: Option<Git>,
}

impl<'p> Place<'p> {
    fn of(orange: &Orange, name: &str, slot: &Slot, projects: &'p [Project]) -> Place<'p> {
        let folder = orange.home.workspace(name);
        let (of, number) = name.rsplit_once("--").unwrap_or_default();
        let is_it = |project: &&Project| project.name == of && number.parse::<u32>().is_ok();
        let project = projects.iter().find(is_it);
        let has_slot = !slot.name.is_empty();
        let git = match project {
            Some(project) => Some(Git::at(&project.path)),
            // Without its project, only a worktree that was ours says where its repository is.
            None if has_slot => Git::at(&folder).main_checkout().ok().map(Git::at),
            None => None,
        };
        Place { slot: slot.clone(), folder, project, git }
    }

    fn facts(&self, pool: &Pool) -> Facts {
        let is_registered = |git: &Git| git.has_worktree(&self.folder).unwrap_or(false);
        Facts {
            has_slot: !self.slot.name.is_empty(),
            has_holder: self.slot.task.is_some(),
            has_folder: !is_empty(&self.folder),
            is_registered: self.git.as_ref().is_some_and(is_registered),
            is_surplus: self.project.is_none_or(|project| is_surplus(pool, project, &self.slot)),
        }
    }

    fn carry_out(&self, orange: &Orange, pool: &mut Pool, fate: &Fate, kept: &mut Vec<String>) -> Result<()> {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        // Without a task to name, the refs have the worktree's name.
        let task = self.slot.task.as_deref().unwrap_or(&name);
        let aside = orange.home.set_aside(task);
        let mut note = |what| {
            kept.push(match what {
                Kept::Work(Backup { reference, .. }) => reference,
                Kept::Repository(folder) => folder.to_string_lossy().into_owned(),
            });
            Ok(())
        };
        let default_branch = self.project.map_or("main", |project| &project.default_branch);
        let mut keeper = Keeper { task, default_branch, aside: &aside, note: &mut note };
        match (fate, &self.git) {
            (Fate::Clean, Some(git)) => git.release(&self.folder, &mut keeper)?,
            (Fate::Remove, Some(git)) => git.remove(&self.folder, &mut keeper)?,
            (Fate::Clean | Fate::Remove, None) => {}
            (Fate::GiveBack | Fate::Leave(_), _) => return Ok(()),
        }
        if let Some(task) = &self.slot.task {
            pool.unbind(task)?;
        }
        match fate {
            Fate::Remove => pool.forget(&self.slot.name).map(drop),
            Fate::Clean | Fate::GiveBack | Fate::Leave(_) => Ok(()),
        }
    }
}

/// Has finished tasks give back what they still hold because a hook has failed.
fn give_back_finished(orange: &Orange, dry_run: bool) -> Result<Vec<Collected>> {
    let mut done = Vec::new();
    for slot in pool::read(&orange.home)? {
        let Some(dir) = holder(orange, &slot).filter(|dir| dir.path.is_dir()) else { continue };
        let outcome = match Task::read(&orange.home, &dir) {
            Ok((task, _)) if !orange.is_over(&task) => continue,
            Ok(_) if dry_run => Ok(Vec::new()),
            Ok((task, _)) if task.owned.workspace.is_none() => forget_held(orange, &dir).map(|()| Vec::new()),
            Ok(_) => cancel(orange, &dir).and_then(|moved| match moved.hook_errors.first() {
                Some(error) => Err(Error::new(Kind::Environment, error)),
                None => Ok(moved.backed_up),
            }),
            Err(error) => Err(error),
        };
        let (kept, failure) = match outcome {
            Ok(kept) => (kept, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        done.push(Collected { name: slot.name, fate: Fate::GiveBack, kept, failure });
    }
    Ok(done)
}

/// A kill came after the journal said that the task holds nothing any more.
fn forget_held(orange: &Orange, dir: &TaskDir) -> Result<()> {
    workspace::give_back(orange, settled(orange, dir)?.task())
}

/// The folder of the task that has the slot.
fn holder(orange: &Orange, slot: &Slot) -> Option<TaskDir> {
    slot.task.as_ref().map(|task| orange.home.task(&slot.project, task))
}

/// Whether there is a task that has the slot.
fn is_held(orange: &Orange, slot: &Slot) -> bool {
    holder(orange, slot).is_some_and(|dir| dir.path.is_dir())
}

/// Every worktree that the pool, the folder or a repository knows of.
fn names(orange: &Orange, pool: &Pool, projects: &[Project]) -> Result<BTreeSet<String>> {
    let mut names: BTreeSet<String> = pool.slots().iter().map(|slot| slot.name.clone()).collect();
    let folder = orange.home.workspaces();
    let entries = fs::read_dir(&folder).map_err(|cause| Error::io("read the folder", &folder, &cause))?;
    let visible = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.extend(visible.filter(|name| !name.starts_with('.')));
    for project in projects.iter().filter(|project| project.path.is_dir()) {
        let known = Git::at(&project.path).worktrees()?.into_iter().map(|one| one.path);
        let ours = known.filter(|path| path.parent().is_some_and(|parent| is_same(parent, &folder)));
        names.extend(ours.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
    }
    Ok(names)
}

/// Whether the project may not have this free worktree: those that are held, and the free ones with lower numbers, are as
/// many as it may have.
fn is_surplus(pool: &Pool, project: &Project, slot: &Slot) -> bool {
    let mut before = BTreeMap::new();
    for other in pool.slots().iter().filter(|other| other.project == project.name) {
        let is_before = other.task.is_some() || pool::number(other) < pool::number(slot);
        before.insert(&other.name, is_before && other.name != slot.name);
    }
    let before = before.values().filter(|is_before| **is_before).count();
    before >= usize::try_from(project.pool_size).unwrap_or(usize::MAX)
}

fn is_same(one: &Path, other: &Path) -> bool {
    projects::real(one) == projects::real(other)
}

fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => fs::symlink_metadata(folder).is_err(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(facts: &str) -> Option<Fate> {
        let has = |word: &str| facts.split(' ').any(|fact| fact == word);
        let facts = Facts {
            has_slot: has("slot"),
            has_holder: has("holder"),
            has_folder: has("folder"),
            is_registered: has("registered"),
            is_surplus: has("surplus"),
        };
        facts.fate()
    }

    #[test]
    fn only_what_is_ours_and_nobodys_goes() {
        assert_eq!(fate("slot folder registered"), None);
        assert_eq!(fate("slot"), None);
        assert_eq!(fate("slot folder registered surplus"), Some(Fate::Remove));
        assert_eq!(fate("slot surplus"), Some(Fate::Remove));
        assert_eq!(fate("slot folder registered holder"), Some(Fate::Clean));
        assert_eq!(fate("slot folder registered holder surplus"), Some(Fate::Remove));
        assert_eq!(fate("slot registered"), Some(Fate::Remove));
        assert_eq!(fate("folder registered"), Some(Fate::Remove));
        assert_eq!(fate("registered"), Some(Fate::Remove));
        for facts in ["folder", "slot folder", "slot folder surplus", "slot folder holder"] {
            assert!(matches!(fate(facts), Some(Fate::Leave(_))), "{facts}");
        }
    }
}
