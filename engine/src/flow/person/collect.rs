//! Makes worktrees before they are needed; cleans and removes those that no task holds, after everything in them is backed up.

use std::collections::BTreeSet;
use std::path::PathBuf;

use orange_core::mission::MissionStatus;

use crate::app::App;
use crate::drive::git::{Backup, BackupContext, Git, SavedWork};
use crate::flow::mission::advance::leave_as;
use crate::flow::mission::answer::backed_up_since;
use crate::flow::watch::interrupted_reclaim;
use crate::flow::{cancel, lock_recovered};
use crate::hooks::{given, workspace};
use crate::store::pool::{self, Slot};
use crate::store::projects::{self, Project};
use crate::store::{LockedWorkItem, Pool, WorkItem, WorkItemDir, WorkItemKind};
use crate::{Error, ErrorKind, Result};
use orange_system::files::{entries, is_empty, is_same};

/// Result for one worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectResult {
    pub name: String,
    /// Treatment of the worktree; in a dry run, the planned one.
    pub fate: WorktreeFate,
    /// The refs and folders with backups of its contents.
    pub kept: Vec<String>,
    /// Reason for the failure, which leaves everything as it was.
    pub failure: Option<Error>,
}

/// Treatment of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeFate {
    /// Released by a finished task.
    GiveBack,
    /// Reclaimed or restored, as a killed process had begun.
    Finish,
    /// Cleaned for the next task, since its own no longer exists.
    Clean,
    /// Removed, since its project has too many or is gone, or it is unknown.
    Remove,
    /// Left alone, for this reason: it may not be ours.
    Leave(String),
}

/// Facts about a worktree that no living task holds.
#[derive(Clone, Copy, Debug)]
struct WorktreeFacts {
    has_slot: bool,
    has_holder: bool,
    has_folder: bool,
    /// True if its repository, if known, lists it as a worktree.
    is_registered: bool,
    /// True if its project is gone or has more worktrees than it may.
    is_surplus: bool,
}

/// Makes every worktree of the project's pool that no task holds, detached at the default branch; returns the names of
/// all.
pub fn make(app: &App, project: &Project) -> Result<Vec<String>> {
    let git = Git::at(&project.path);
    git.check()?;
    let mut pool = Pool::lock(&app.home)?;
    let names = pool.grow(&project.name, project.pool_size)?;
    for slot in pool.slots().iter().filter(|slot| slot.project == project.name && slot.task.is_none()) {
        git.prepare(&app.home.workspace(&slot.name), &project.default_branch)?;
    }
    Ok(names)
}

/// Checks every worktree of every project, and cleans or removes those that no task holds and none needs. Worktrees that are
/// not ours or that a living task holds are left alone. With `dry_run`, nothing is done.
pub fn collect(app: &App, dry_run: bool) -> Result<Vec<CollectResult>> {
    if dry_run {
        return plan(app, &pool::read(&app.home)?, &projects::read(&app.home)?);
    }
    let mut done = Vec::new();
    for (slot, dir) in interrupted(app, &pool::read(&app.home)?)? {
        let outcome = interrupted_reclaim::finish(app, &dir).map(|_| Vec::new());
        done.push(CollectResult::of(&slot.name, WorktreeFate::Finish, outcome));
    }
    for (slot, dir) in finished(app, &pool::read(&app.home)?) {
        let outcome = give_back(app, &dir);
        done.push(CollectResult::of(&slot.name, WorktreeFate::GiveBack, outcome));
    }
    let mut pool = Pool::lock(&app.home)?;
    let projects = projects::read(&app.home)?;
    for (place, fate) in unheld(app, pool.slots(), &projects)? {
        let outcome = place.carry_out(app, &mut pool, &fate);
        done.push(CollectResult::of(&place.name, fate, outcome));
    }
    Ok(done)
}

/// Dry run of a collection, for this pool and these projects.
pub fn plan(app: &App, slots: &[Slot], projects: &[Project]) -> Result<Vec<CollectResult>> {
    let finished = finished(app, slots).into_iter().map(|(slot, _)| (slot.name, WorktreeFate::GiveBack));
    let interrupted = interrupted(app, slots)?.into_iter().map(|(slot, _)| (slot.name, WorktreeFate::Finish));
    let unheld = unheld(app, slots, projects)?.into_iter().map(|(place, fate)| (place.name, fate));
    Ok(interrupted
        .chain(finished)
        .chain(unheld)
        .map(|(name, fate)| CollectResult::of(&name, fate, Ok(Vec::new())))
        .collect())
}

impl CollectResult {
    fn of(name: &str, fate: WorktreeFate, outcome: Result<Vec<String>>) -> CollectResult {
        let (kept, failure) = match outcome {
            Ok(kept) => (kept, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        CollectResult { name: name.to_owned(), fate, kept, failure }
    }
}

/// The worktrees that no task holds, with what to do.
fn unheld<'p>(
    app: &App,
    slots: &[Slot],
    projects: &'p [Project],
) -> Result<Vec<(UnheldWorktree<'p>, WorktreeFate)>> {
    let mut unheld = Vec::new();
    for name in names(app, slots, projects)? {
        let slot = slots.iter().find(|slot| slot.name == name).cloned();
        if slot.as_ref().and_then(|slot| holder(app, slot)).is_none() {
            let place = UnheldWorktree::of(app, name, slot, projects);
            let fate = place.fate(slots);
            unheld.extend(fate.map(|fate| (place, fate)));
        }
    }
    Ok(unheld)
}

impl WorktreeFacts {
    /// Treatment of the worktree; `None` for a free one that its project may have.
    fn fate(self) -> Option<WorktreeFate> {
        if self.has_folder && !self.is_registered {
            let why = "its repository does not know it as a worktree: move that folder away";
            return Some(WorktreeFate::Leave(why.to_owned()));
        }
        match (self.has_slot, self.is_surplus) {
            (true, true) | (false, _) => Some(WorktreeFate::Remove),
            (true, false) if self.has_holder => Some(WorktreeFate::Clean),
            (true, false) if self.is_registered && !self.has_folder => Some(WorktreeFate::Remove),
            (true, false) => None,
        }
    }
}

/// A worktree that no living task holds, and its repository.
struct UnheldWorktree<'p> {
    name: String,
    /// Its slot, if the pool has one.
    slot: Option<Slot>,
    folder: PathBuf,
    project: Option<&'p Project>,
    git: Option<Git>,
}

impl<'p> UnheldWorktree<'p> {
    fn of(app: &App, name: String, slot: Option<Slot>, projects: &'p [Project]) -> UnheldWorktree<'p> {
        let folder = app.home.workspace(&name);
        let (of, number) = name.rsplit_once("--").unwrap_or_default();
        let is_it = |project: &&Project| project.name == of && number.parse::<u32>().is_ok();
        let project = projects.iter().find(is_it);
        let git = match project {
            Some(project) => Some(Git::at(&project.path)),
            // Without its project, only a worktree of the pool is asked for its repository.
            None if slot.is_some() => Git::at(&folder).main_checkout().ok().map(Git::at),
            None => None,
        };
        UnheldWorktree { name, slot, folder, project, git }
    }

    /// Treatment of the worktree. Nothing is known of the worktrees of a repository that was moved.
    fn fate(&self, slots: &[Slot]) -> Option<WorktreeFate> {
        let facts = self.facts(slots);
        let Some(project) = self.project.filter(|project| !project.path.is_dir()) else {
            return facts.fate();
        };
        let (name, path) = (&project.name, project.path.display());
        let why = format!(
            "its repository is not at {path} any more: `orange project update {name} --path PATH` says where it is"
        );
        facts.has_folder.then_some(WorktreeFate::Leave(why))
    }

    fn facts(&self, slots: &[Slot]) -> WorktreeFacts {
        // If the repository cannot be asked, its worktree is left alone.
        let is_registered = |git: &Git| git.has_worktree(&self.folder).unwrap_or(false);
        let is_surplus = |slot| self.project.is_none_or(|project| is_surplus(slots, project, slot));
        WorktreeFacts {
            has_slot: self.slot.is_some(),
            has_holder: self.holder().is_some(),
            has_folder: !is_empty(&self.folder),
            is_registered: self.git.as_ref().is_some_and(is_registered),
            is_surplus: self.slot.as_ref().is_none_or(is_surplus),
        }
    }

    /// The task that holds it by the pool, whether it exists or not.
    fn holder(&self) -> Option<&str> {
        self.slot.as_ref()?.task.as_deref()
    }

    /// Carries it out, and returns the refs and folders with backups of the worktree's contents.
    fn carry_out(&self, app: &App, pool: &mut Pool, fate: &WorktreeFate) -> Result<Vec<String>> {
        // Without a task, the refs are named after the worktree.
        let task = self.holder().unwrap_or(&self.name);
        let aside = app.home.set_aside(task);
        let mut kept = Vec::new();
        let mut note = |what| {
            kept.push(match what {
                SavedWork::Commit(Backup { reference, .. }) => reference,
                SavedWork::Aside(folder) => folder.to_string_lossy().into_owned(),
            });
            Ok(())
        };
        let default_branch = match (self.project, &self.git) {
            (Some(project), _) => project.default_branch.clone(),
            (None, Some(git)) => git.default_branch()?,
            (None, None) => String::new(),
        };
        let mut context =
            BackupContext { task, default_branch: &default_branch, aside: &aside, note: &mut note };
        if let (WorktreeFate::Clean | WorktreeFate::Remove, Some(git)) = (fate, &self.git) {
            given::decide_given(&app.home, git.folder(), &self.name, Vec::new())?;
        }
        match (fate, &self.git) {
            (WorktreeFate::Clean, Some(git)) => git.release(&self.folder, &mut context)?,
            (WorktreeFate::Remove, Some(git)) => git.remove(&self.folder, &mut context)?,
            (WorktreeFate::Clean | WorktreeFate::Remove, None) => {}
            (WorktreeFate::GiveBack | WorktreeFate::Finish | WorktreeFate::Leave(_), _) => return Ok(kept),
        }
        if let Some(task) = self.holder() {
            pool.unbind(task)?;
        }
        if let (WorktreeFate::Clean | WorktreeFate::Remove, Some(git)) = (fate, &self.git) {
            given::take_all(&app.home, git.folder(), &self.name)?;
        }
        if *fate == WorktreeFate::Remove {
            pool.forget(&self.name)?;
        }
        Ok(kept)
    }
}

/// The worktrees of finished tasks and missions, with these.
fn finished(app: &App, slots: &[Slot]) -> Vec<(Slot, WorkItemDir)> {
    let is_done = |dir: &WorkItemDir| {
        WorkItem::read(&app.home, dir).is_ok_and(|(task, _)| app.is_done_with_worktree(&task))
    };
    let held = slots.iter().filter_map(|slot| Some((slot.clone(), holder(app, slot)?)));
    held.filter(|(_, dir)| is_done(dir)).collect()
}

/// The worktrees whose reclaim a kill has interrupted, with their tasks.
fn interrupted(app: &App, slots: &[Slot]) -> Result<Vec<(Slot, WorkItemDir)>> {
    let mut found = Vec::new();
    for slot in slots {
        let Some(dir) = holder(app, slot).filter(|dir| dir.kind == WorkItemKind::Task) else { continue };
        if interrupted_reclaim::is_unfinished(app, &dir)? {
            found.push((slot.clone(), dir));
        }
    }
    Ok(found)
}

/// Releases what a finished task or mission still holds, because a hook failed or was killed.
fn give_back(app: &App, dir: &WorkItemDir) -> Result<Vec<String>> {
    if dir.kind == WorkItemKind::Mission {
        return give_back_of_mission(app, dir);
    }
    let open = lock_recovered(app, dir)?;
    if open.task().owned.workspace.is_none() {
        return workspace::give_back(app, open.task()).map(|()| Vec::new());
    }
    drop(open);
    let result = cancel(app, dir)?;
    match result.hook_errors.first() {
        Some(error) => Err(Error::new(ErrorKind::Environment, error)),
        None => Ok(result.backed_up),
    }
}

fn give_back_of_mission(app: &App, dir: &WorkItemDir) -> Result<Vec<String>> {
    let mut locked = LockedWorkItem::lock(&app.home, dir)?;
    // It may have been started again since the pool was read.
    let is_done = app.is_done_with_worktree(locked.task());
    let status = MissionStatus::from_name(locked.task().status()).filter(|_| is_done);
    let Some(status) = status else { return Ok(Vec::new()) };
    let before = locked.history().last_seq;
    leave_as(app, &mut locked, status)?;
    if let Some(error) = &locked.task().attention
        && locked.task().owned.workspace.is_some()
    {
        return Err(Error::new(ErrorKind::Environment, error));
    }
    locked.clear_attention()?;
    backed_up_since(dir, before)
}

/// The folder of the task or mission that has the slot, if it exists.
fn holder(app: &App, slot: &Slot) -> Option<WorkItemDir> {
    let dir = slot.task.as_ref().map(|task| app.home.either(&slot.project, task));
    dir.filter(|dir| dir.path.is_dir())
}

/// Every worktree that the pool, the folder or a repository knows of.
fn names(app: &App, slots: &[Slot], projects: &[Project]) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    names.extend(slots.iter().map(|slot| slot.name.clone()));
    let folder = app.home.workspaces();
    let there = entries(&folder)?.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
    // The folder of a task goes with it.
    let is_ours = |name: &String| !pool::folder_of(&app.home, name).is_ok_and(|task| task.is_some());
    names.extend(there.filter(|name| !name.starts_with('.')).filter(is_ours));
    for project in projects.iter().filter(|project| project.path.is_dir()) {
        let known = Git::at(&project.path).worktrees()?.into_iter().map(|one| one.path);
        let ours = known.filter(|path| path.parent().is_some_and(|parent| is_same(parent, &folder)));
        names.extend(ours.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
    }
    Ok(names)
}

/// True if the project has too many worktrees to keep this free one: the held ones, and the free ones with lower numbers, fill its
/// pool.
fn is_surplus(slots: &[Slot], project: &Project, slot: &Slot) -> bool {
    let others = slots.iter().filter(|other| other.project == project.name && other.name != slot.name);
    let is_before = |other: &&Slot| other.task.is_some() || pool::number(other) < pool::number(slot);
    let before = others.filter(is_before).count();
    before >= usize::try_from(project.pool_size).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::hooks::workspace::tests::WorkspaceLab;
    use crate::store::{Event, Set, tests};

    /// A mission in this status that holds a worktree with an idea in it, and what is done about that worktree.
    fn collected(status: &str) -> (WorkspaceLab, WorkItemDir, Vec<CollectResult>) {
        let lab = WorkspaceLab::new(None);
        let mut locked = tests::mission(lab.home(), "brew");
        lab.acquire(&mut locked).unwrap();
        fs::write(lab.worktree().join("idea"), "half\n").unwrap();
        locked.append(Event::Unknown, Set::new().status(status)).unwrap();
        let dir = locked.dir().clone();
        drop(locked);
        let planned: Vec<_> = collect(&lab.app, true).unwrap().into_iter().map(|one| one.fate).collect();
        let done = collect(&lab.app, false).unwrap();
        assert_eq!(done.iter().map(|one| one.fate.clone()).collect::<Vec<_>>(), planned);
        (lab, dir, done)
    }

    #[test]
    fn a_mission_that_goes_on_keeps_its_worktree() {
        for status in ["running", "paused", "failed"] {
            let (lab, _, done) = collected(status);
            assert_eq!(done, [], "{status}");
            assert!(lab.worktree().join("idea").exists());
        }
    }

    #[test]
    fn a_finished_mission_whose_release_fails_keeps_its_worktree() {
        let lab = WorkspaceLab::new(None);
        let mut locked = tests::mission(lab.home(), "brew");
        lab.acquire(&mut locked).unwrap();
        locked.append(Event::Unknown, Set::new().status("completed")).unwrap();
        let dir = locked.dir().clone();
        drop(locked);
        let link = lab.worktree().join(".git");
        let text = fs::read(&link).unwrap();
        fs::remove_file(&link).unwrap();
        let failed = collect(&lab.app, false).unwrap().remove(0);
        let task = || WorkItem::read(lab.home(), &dir).unwrap().0;
        assert!(failed.failure.is_some() && task().attention.is_some() && task().owned.workspace.is_some());
        fs::write(&link, text).unwrap();
        assert_eq!(collect(&lab.app, false).unwrap().remove(0).failure, None);
        assert_eq!((task().attention, task().owned.workspace), (None, None));
    }

    #[test]
    fn the_worktree_of_a_finished_mission_is_released() {
        for status in ["completed", "cancelled"] {
            let (lab, dir, done) = collected(status);
            let [CollectResult { fate: WorktreeFate::GiveBack, kept, failure: None, .. }] = &done[..] else {
                panic!("{done:?}");
            };
            assert_eq!(*kept, [format!("refs/orange/backup/{}/1", dir.id)]);
            assert!(!lab.worktree().join("idea").exists());
            assert_eq!(WorkItem::read(lab.home(), &dir).unwrap().0.owned.workspace, None);
            assert_eq!(pool::slot_of(&pool::read(lab.home()).unwrap(), &dir.id), None);
            assert_eq!(collect(&lab.app, false).unwrap(), []);
        }
    }

    fn fate(facts: &str) -> Option<WorktreeFate> {
        let has = |word: &str| facts.split(' ').any(|fact| fact == word);
        let facts = WorktreeFacts {
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
        assert_eq!(fate("slot folder registered surplus"), Some(WorktreeFate::Remove));
        assert_eq!(fate("slot surplus"), Some(WorktreeFate::Remove));
        assert_eq!(fate("slot folder registered holder"), Some(WorktreeFate::Clean));
        assert_eq!(fate("slot folder registered holder surplus"), Some(WorktreeFate::Remove));
        assert_eq!(fate("slot registered"), Some(WorktreeFate::Remove));
        assert_eq!(fate("folder registered"), Some(WorktreeFate::Remove));
        assert_eq!(fate("registered"), Some(WorktreeFate::Remove));
        for facts in ["folder", "slot folder", "slot folder surplus", "slot folder holder"] {
            assert!(matches!(fate(facts), Some(WorktreeFate::Leave(_))), "{facts}");
        }
    }
}
