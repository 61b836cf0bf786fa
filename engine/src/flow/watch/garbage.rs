//! Leftovers of finished tasks, and files that are no longer needed. A person's command or, as far as the project allows, the
//! monitor removes them; never the last copy of anything that is not merged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::app::App;
use crate::drive::git::{Backup, Git};
use crate::store::list::{BriefTask, ListedTask, SortedTasks};
use crate::store::projects::{self, Project};
use crate::store::{
    Home, Owned, WorkItem, WorkItemDir, WorkItemEntry, WorkItemHistory, WorkItemKind, home, list,
};
use crate::{Error, Result};
use orange_system::files::{bytes_in, size};
use orange_system::many::in_order;
use orange_system::{atomic, fault, nofollow};

const A_DAY: Duration = Duration::from_secs(86_400);

/// The kind of a leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftoverKind {
    /// A ref with a backup of a finished task whose content is part of the default branch.
    Backup,
    /// A branch that was created for a finished task, and is part of the default branch.
    Branch,
    /// A deleted task or mission without a backup.
    Trash,
    /// A definition of a custom workflow that no task follows.
    Definition,
    /// A temporary file of a process that is dead.
    Temporary,
}

/// The selection.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftoverSelection<'w> {
    /// Only leftovers of this project.
    pub project: Option<&'w str>,
    /// Only this kind.
    pub kind: Option<LeftoverKind>,
    /// Only leftovers older than so many days, whatever the project says.
    pub days: Option<u32>,
    /// Only kinds for which the project sets an age, or that need none.
    pub is_automatic: bool,
}

/// One leftover.
#[derive(Clone, Debug)]
pub struct Garbage {
    pub kind: LeftoverKind,
    /// Its project; `None` for what belongs to the whole home.
    pub project: Option<String>,
    /// Its ref or its path.
    pub name: String,
    pub age: Duration,
    /// Its size in the home.
    pub bytes: u64,
    place: Removable,
}

#[derive(Clone, Debug)]
enum Removable {
    Backup(Git, Backup, String),
    Branch(Git, String, String),
    Deleted(WorkItemDir),
    Definition(PathBuf),
    File(PathBuf),
}

/// Facts about all tasks.
#[derive(Debug, Default)]
struct KnownTasks {
    /// Tasks and missions that are over or deleted.
    over: Vec<Over>,
    /// The ids of all other tasks, including unreadable ones.
    live: BTreeSet<String>,
    /// The projects and branches of unfinished tasks.
    branches: BTreeSet<(String, String)>,
    /// The definitions that tasks follow.
    definitions: BTreeSet<String>,
    /// True if every task could be read.
    is_whole: bool,
}

#[derive(Debug)]
struct Over {
    dir: WorkItemDir,
    branch: String,
    /// True if the branch was created for the task; `None` if only its journal says that.
    is_own_branch: Option<bool>,
    is_deleted: bool,
}

impl Over {
    fn age(&self) -> Duration {
        age_of(&self.dir.history())
    }

    /// True if it is over and holds nothing, and its branch was created for it. What a list says is compared with the files.
    fn owns_branch(&self, app: &App) -> bool {
        self.is_own_branch.unwrap_or_else(|| {
            self.seen(app).is_some_and(|(task, history)| {
                task.branch == self.branch && history.branch.made.contains_key(&self.branch)
            })
        })
    }

    /// True if it is over and holds nothing by its files.
    fn is_over(&self, app: &App) -> bool {
        self.is_own_branch.is_some() || self.seen(app).is_some()
    }

    fn seen(&self, app: &App) -> Option<(WorkItem, WorkItemHistory)> {
        let (task, journal) = WorkItem::read_last(&app.home, &self.dir, 0).ok()?;
        (app.is_over(&task) && !holds_something(&task)).then(|| (task, journal.history()))
    }
}

fn holds_something(task: &WorkItem) -> bool {
    task.owned.workspace.is_some() || task.owned.tmux_session.is_some()
}

impl LeftoverKind {
    /// The names of all kinds.
    pub const NAMES: [&'static str; 5] = ["backup", "branch", "trash", "definition", "temporary"];

    const ALL: [LeftoverKind; 5] = [
        LeftoverKind::Backup,
        LeftoverKind::Branch,
        LeftoverKind::Trash,
        LeftoverKind::Definition,
        LeftoverKind::Temporary,
    ];

    pub fn name(self) -> &'static str {
        match self {
            LeftoverKind::Backup => "backup",
            LeftoverKind::Branch => "branch",
            LeftoverKind::Trash => "trash",
            LeftoverKind::Definition => "definition",
            LeftoverKind::Temporary => "temporary",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<LeftoverKind> {
        LeftoverKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The default age in days.
    fn default_days(self) -> u32 {
        match self {
            LeftoverKind::Backup | LeftoverKind::Branch | LeftoverKind::Definition => 30,
            LeftoverKind::Trash => 90,
            LeftoverKind::Temporary => 0,
        }
    }

    fn set_by(self, project: &Project) -> Option<u32> {
        match self {
            LeftoverKind::Backup => project.backup_days,
            LeftoverKind::Branch => project.branch_days,
            LeftoverKind::Trash => project.trash_days,
            LeftoverKind::Definition | LeftoverKind::Temporary => None,
        }
    }
}

impl LeftoverSelection<'_> {
    /// The minimum age of this kind; `None` if it stays.
    fn age(&self, kind: LeftoverKind, project: Option<&Project>) -> Option<Duration> {
        let is_wanted = self.kind.is_none_or(|wanted| wanted == kind)
            && self.project.is_none_or(|name| project.is_some_and(|project| project.name == name));
        let set = project.and_then(|project| kind.set_by(project));
        let days = match self.days.or(set) {
            None if self.is_automatic && kind.default_days() > 0 => None,
            days => Some(days.unwrap_or(kind.default_days())),
        };
        days.filter(|_| is_wanted).map(|days| A_DAY * days)
    }
}

/// Every selected leftover. Nothing is changed.
pub fn find(app: &App, wanted: &LeftoverSelection<'_>) -> Result<Vec<Garbage>> {
    find_with(app, wanted, || leftovers(&app.home))
}

/// Every selected leftover, for a caller that has the [`leftovers`].
pub fn find_with(
    app: &App,
    wanted: &LeftoverSelection<'_>,
    leftovers: impl FnOnce() -> Result<Vec<PathBuf>>,
) -> Result<Vec<Garbage>> {
    let projects = projects::read(&app.home)?;
    let of_tasks = [LeftoverKind::Backup, LeftoverKind::Branch, LeftoverKind::Trash];
    let is_asked =
        |project: &&Project| of_tasks.iter().any(|kind| wanted.age(*kind, Some(project)).is_some());
    let projects: Vec<&Project> = projects.iter().filter(is_asked).collect();
    let of_definitions = wanted.age(LeftoverKind::Definition, None);
    let mut found = Vec::new();
    if !projects.is_empty() || of_definitions.is_some() {
        let known = KnownTasks::of(app)?;
        for project in projects.into_iter().filter(|project| project.path.is_dir()) {
            found.extend(of_project(app, wanted, project, &known)?);
        }
        if let Some(age) = of_definitions.filter(|_| known.is_whole) {
            found.extend(definitions(app, age, &known)?);
        }
    }
    if wanted.age(LeftoverKind::Temporary, None).is_some() {
        found.extend(leftovers()?.into_iter().map(temporary));
    }
    Ok(found)
}

/// Removes a leftover, after checking again that it still is one.
pub fn remove(app: &App, garbage: &Garbage) -> Result<()> {
    fault::step("remove", &garbage.name);
    match &garbage.place {
        Removable::Backup(git, backup, default_branch) => {
            if git.is_backup_merged(backup, default_branch)? {
                git.remove_ref(&backup.reference, &backup.commit)?;
            }
            Ok(())
        }
        Removable::Branch(git, branch, commit) => git.remove_ref(&format!("refs/heads/{branch}"), commit),
        Removable::Deleted(dir) => remove_deleted(&app.home, dir),
        Removable::Definition(folder) => remove_folder(folder),
        Removable::File(file) => nofollow::remove(file).map_err(|cause| Error::io("remove", file, &cause)),
    }
}

/// Removes what the projects allow, and what needs no age. Returns what was done and what failed, each with the project.
pub fn sweep(app: &App) -> Vec<(String, Result<String>)> {
    let wanted = LeftoverSelection { is_automatic: true, ..LeftoverSelection::default() };
    let found = match find(app, &wanted) {
        Ok(found) => found,
        Err(error) => return vec![("gc".to_owned(), Err(error))],
    };
    let each = found.into_iter().map(|garbage| {
        let outcome = remove(app, &garbage);
        let story = outcome.map(|()| format!("removed {} {}", garbage.kind.name(), garbage.name));
        (garbage.project.unwrap_or_else(|| "gc".to_owned()), story)
    });
    each.collect()
}

/// The number of each kind, such as `2 backup, 1 trash (3 MiB)`; `None` for nothing.
pub fn summary(found: &[Garbage]) -> Option<String> {
    let counts = LeftoverKind::ALL.into_iter().filter_map(|kind| {
        let count = found.iter().filter(|garbage| garbage.kind == kind).count();
        (count > 0).then(|| format!("{count} {}", kind.name()))
    });
    let counts: Vec<String> = counts.collect();
    let bytes = found.iter().map(|garbage| garbage.bytes).sum();
    (!counts.is_empty()).then(|| format!("{} ({})", counts.join(", "), size(bytes)))
}

/// Temporary files of dead processes.
pub fn leftovers(home: &Home) -> Result<Vec<PathBuf>> {
    Ok(leftovers_in(home, &list::dirs(home, &WorkItemKind::ALL, None)?))
}

/// Temporary files of dead processes in the home and in these folders of tasks.
pub fn leftovers_in(home: &Home, dirs: &[WorkItemDir]) -> Vec<PathBuf> {
    let mut folders = vec![home.root().to_owned(), home.workspaces()];
    folders.extend(dirs.iter().filter_map(|dir| dir.path.parent()).map(Path::to_owned));
    folders.dedup();
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| atomic::leftovers(folder)).collect();
    for left in in_order(dirs, &|dir, _| atomic::leftovers_with(&dir.path, "prompts")) {
        found.extend(left);
    }
    found
}

impl KnownTasks {
    fn of(app: &App) -> Result<KnownTasks> {
        let mut known = KnownTasks { is_whole: true, ..KnownTasks::default() };
        let is_over = |kind, owned: &Owned| app.is_end(kind, owned);
        let SortedTasks { over, waiting, mut others } = list::sorted(&app.home, &is_over)?;
        for ListedTask { dir, owned, branch } in over {
            if !known.definitions.contains(&owned.definition) {
                known.definitions.insert(owned.definition.clone());
            }
            known.over.push(Over { dir, branch, is_own_branch: None, is_deleted: false });
        }
        others.extend(waiting.into_iter().map(|task| task.dir));
        let journals = list::checked_journals(others);
        let brief = |listed: BriefTask| Some(listed.into_entry());
        for (WorkItemEntry { dir, task }, idle) in
            list::each_briefly(journals, is_over, brief, |listed| Some((listed, None)))
        {
            match (task, idle.and_then(|idle| idle.last())) {
                (Ok(task), Some(last)) => {
                    known.add_over(dir, task, |branch| last.made.iter().any(|it| it == branch), false);
                }
                (Ok(_) | Err(_), _) => known.add(app, dir, false),
            }
        }
        for dir in list::deleted(&app.home, &WorkItemKind::ALL)? {
            known.add(app, dir, true);
        }
        Ok(known)
    }

    fn add(&mut self, app: &App, dir: WorkItemDir, is_deleted: bool) {
        let Ok((task, journal)) = WorkItem::read_last(&app.home, &dir, 0) else {
            self.is_whole = false;
            self.live.insert(dir.id);
            return;
        };
        if holds_something(&task) || !is_deleted && !app.is_over(&task) {
            self.definitions.insert(task.owned.definition);
            self.branches.insert((dir.project, task.branch));
            self.live.insert(dir.id);
            return;
        }
        let made = journal.history().branch.made;
        self.add_over(dir, task, |branch| made.contains_key(branch), is_deleted);
    }

    fn add_over(
        &mut self,
        dir: WorkItemDir,
        task: WorkItem,
        is_made: impl Fn(&str) -> bool,
        is_deleted: bool,
    ) {
        self.definitions.insert(task.owned.definition);
        let is_own_branch = Some(is_made(&task.branch));
        self.over.push(Over { dir, branch: task.branch, is_own_branch, is_deleted });
    }
}

/// The leftovers of one project's tasks.
fn of_project(
    app: &App,
    wanted: &LeftoverSelection<'_>,
    project: &Project,
    known: &KnownTasks,
) -> Result<Vec<Garbage>> {
    let git = Git::at(&project.path);
    let of = |kind, name: &str, age, bytes, place| Garbage {
        kind,
        project: Some(project.name.clone()),
        name: name.to_owned(),
        age,
        bytes,
        place,
    };
    let over: Vec<&Over> = known.over.iter().filter(|over| over.dir.project == project.name).collect();
    let (mut found, mut staying) = (Vec::new(), BTreeSet::new());
    for backup in git.all_backups()? {
        let own = over.iter().find(|over| over.dir.id == backup.task());
        let age = match own {
            Some(over) => over.age(),
            None => git.age_of(&backup.commit)?,
        };
        let is_old = wanted.age(LeftoverKind::Backup, Some(project)).is_some_and(|wanted| age >= wanted);
        let is_over = || own.is_none_or(|over| over.is_over(app));
        let may_go = is_old && !known.live.contains(backup.task()) && is_over();
        if may_go && git.is_backup_merged(&backup, &project.default_branch)? {
            let name = backup.reference.clone();
            let place = Removable::Backup(git.clone(), backup, project.default_branch.clone());
            found.push(of(LeftoverKind::Backup, &name, age, 0, place));
        } else {
            staying.insert(backup.task().to_owned());
        }
    }
    let (existing, mut branches) = (git.branches()?, BTreeSet::new());
    for over in over.iter().filter(|over| existing.contains(&over.branch)) {
        let age = over.age();
        let is_old = wanted.age(LeftoverKind::Branch, Some(project)).is_some_and(|wanted| age >= wanted);
        let is_used = known.branches.contains(&(project.name.clone(), over.branch.clone()));
        let may_go = is_old && !is_used && over.owns_branch(app) && branches.insert(&over.branch);
        if may_go && let Some(commit) = git.merged_branch(&over.branch, &project.default_branch)? {
            let place = Removable::Branch(git.clone(), over.branch.clone(), commit);
            found.push(of(LeftoverKind::Branch, &over.branch, age, 0, place));
        }
    }
    for over in over.iter().filter(|over| over.is_deleted) {
        let age = over.age();
        let is_old = wanted.age(LeftoverKind::Trash, Some(project)).is_some_and(|wanted| age >= wanted);
        let has_work = staying.contains(&over.dir.id) || app.home.set_aside(&over.dir.id).exists();
        if is_old && !has_work {
            let name = over.dir.path.display().to_string();
            let place = Removable::Deleted(over.dir.clone());
            found.push(of(LeftoverKind::Trash, &name, age, bytes_in(&over.dir.path)?, place));
        }
    }
    Ok(found)
}

fn definitions(app: &App, wanted: Duration, known: &KnownTasks) -> Result<Vec<Garbage>> {
    let mut found = Vec::new();
    for (hash, folder) in app.machines.former_definitions()? {
        let age = age_of(&folder);
        if !known.definitions.contains(&hash) && age >= wanted {
            let (name, bytes) = (folder.display().to_string(), bytes_in(&folder)?);
            let place = Removable::Definition(folder);
            found.push(Garbage { kind: LeftoverKind::Definition, project: None, name, age, bytes, place });
        }
    }
    Ok(found)
}

fn temporary(file: PathBuf) -> Garbage {
    let bytes = file.symlink_metadata().map_or(0, |found| found.len());
    let (name, age) = (file.display().to_string(), age_of(&file));
    Garbage { kind: LeftoverKind::Temporary, project: None, name, age, bytes, place: Removable::File(file) }
}

fn age_of(path: &Path) -> Duration {
    let written = path.symlink_metadata().and_then(|found| found.modified()).ok();
    written.and_then(|written| SystemTime::now().duration_since(written).ok()).unwrap_or_default()
}

/// Moves a deleted task or mission out of the trash before removing it, so that nobody restores half of it.
fn remove_deleted(home: &Home, dir: &WorkItemDir) -> Result<()> {
    let leaving = home.leaving();
    home::make_folder(&leaving)?;
    let there = leaving.join(&dir.id);
    if there.symlink_metadata().is_ok() {
        remove_folder(&there)?;
    }
    nofollow::rename(&dir.path, &there).map_err(|cause| Error::io("move", &dir.path, &cause))?;
    remove_folder(&there)
}

fn remove_folder(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder).map_err(|cause| Error::io("remove", folder, &cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::machines::Machines;
    use crate::store::{Event, Set, tests};

    /// Checks if a mission in this status, with or without a worktree, counts as over.
    #[track_caller]
    fn check(status: &str, workspace: Option<&str>, is_over: bool) {
        let (folder, home) = tests::home();
        let mut locked = tests::mission(&home, "brew");
        locked.append(Event::Unknown, Set::new().status(status).workspace(workspace)).unwrap();
        let id = locked.dir().id.clone();
        drop(locked);
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let known = KnownTasks::of(&app).unwrap();
        assert_eq!(known.live.contains(&id), !is_over, "{status}");
        assert_eq!(known.branches.contains(&("coffee".to_owned(), "brew".to_owned())), !is_over, "{status}");
        assert_eq!(known.over.iter().any(|over| over.dir.id == id), is_over, "{status}");
        assert!(known.is_whole);
    }

    #[test]
    fn what_an_unfinished_mission_has_left_is_no_leftover() {
        for status in ["pending", "running", "paused"] {
            check(status, None, false);
        }
        check("failed", Some("coffee--1"), false);
        check("completed", Some("coffee--1"), false);
        for status in ["completed", "failed", "cancelled"] {
            check(status, None, true);
        }
    }

    #[test]
    fn a_mission_that_cannot_be_read_keeps_everything() {
        let (folder, home) = tests::home();
        let dir = tests::mission(&home, "brew").dir().clone();
        fs::write(dir.history(), "no event\n").unwrap();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let known = KnownTasks::of(&app).unwrap();
        assert!(known.live.contains(&dir.id) && !known.is_whole);
    }

    #[test]
    fn the_temporary_files_of_missions_are_found() {
        let (_folder, home) = tests::home();
        let dir = tests::mission(&home, "brew").dir().clone();
        // No process has the highest number.
        let left = dir.path.join(format!(".MISSION.md.{}.0.tmp", i32::MAX));
        fs::write(&left, "half").unwrap();
        assert_eq!(leftovers(&home).unwrap(), [left]);
    }
}
