//! The commits that agents make behind a wall, which come into the project's repository before anything looks at the branch.

use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::app::App;
use crate::drive::git::Git;
use crate::drive::wall::{Import, ImportRules, MOST_PACKED, Mount, PrivateRepository};
use crate::store::lock::{self, LockRank};
use crate::store::{WorkItem, WorkItemDir, home};

/// Time for which one who only looks waits for another import.
const GLANCE: Duration = Duration::from_secs(2);

/// Takes over what the agents of a task have committed. It costs one look at a folder where a task has had no walled agent, and a few
/// files where they have committed nothing new.
///
/// # Errors
/// `refused` while an agent is in the middle of a rebase, a merge or another branch, and for commits that the project does not take;
/// `corrupt` for a repository that is none. The branch outside is unchanged then.
pub fn take(app: &App, task: &WorkItem) -> Result<()> {
    import(app, task, app.home.patience(), false)?.finished().map(drop)
}

/// Takes over what there is, for an answer that shows the branch as far as it came out.
pub fn look(app: &App, task: &WorkItem) {
    // The next command that decides reports what is wrong.
    drop(import(app, task, GLANCE, false));
}

/// Like [`look`], for the task of this folder.
pub fn look_at(app: &App, dir: &WorkItemDir) {
    if has_walled(dir)
        && let Ok((task, _)) = WorkItem::read(&app.home, dir)
    {
        look(app, &task);
    }
}

/// Takes over the branch of a task whose agents are gone, whatever they were in the middle of. A part that cannot be taken over stays in
/// the task's folder; the task ends in spite of it.
pub fn last(app: &App, task: &WorkItem) {
    if let Err(error) = import(app, task, app.home.patience(), true) {
        let shown = dir_of(app, task).shown();
        log::error!(target: "wall", "{shown}: the commits of its agents stay in its folder: {}", error.one_line());
    }
}

/// The branch that the agents of a task have checked out behind a wall; `None` without a walled agent, or without a branch.
pub fn checked_out(app: &App, task: &WorkItem) -> Result<Option<String>> {
    if !has_walled(&dir_of(app, task)) || task.worktree().is_none() {
        return Ok(None);
    }
    with(app, task, app.home.patience(), |repository, _| repository.checked_out())
}

/// The mounts of a private repository for the next agent of a task, which is made, or goes on.
pub fn begin(app: &App, task: &WorkItem) -> Result<Vec<Mount>> {
    let dir = dir_of(app, task);
    home::make_folder(&dir.wall())?;
    with(app, task, app.home.patience(), |repository, rules| repository.begin(rules))
}

/// The mounts of a private repository for a program that commits in the place of an agent. Agents that live keep theirs, in which it
/// works, too.
pub fn beside(app: &App, task: &WorkItem, has_live: bool) -> Result<Vec<Mount>> {
    if has_live && has_walled(&dir_of(app, task)) {
        return with(app, task, app.home.patience(), |repository, _| repository.mounts());
    }
    begin(app, task)
}

/// The mounts of the project's repository for an agent that only reads it.
pub fn shared(app: &App, task: &WorkItem) -> Result<Vec<Mount>> {
    look(app, task);
    let dir = dir_of(app, task);
    home::make_folder(&dir.wall())?;
    with(app, task, app.home.patience(), |repository, _| repository.shared())
}

fn import(app: &App, task: &WorkItem, patience: Duration, at_end: bool) -> Result<Import> {
    if !has_walled(&dir_of(app, task)) || task.worktree().is_none() {
        return Ok(Import::Nothing);
    }
    with(app, task, patience, |repository, rules| repository.import(ImportRules { at_end, ..rules }))
}

/// Calls this with the private repository of a task, which no other process imports from meanwhile.
fn with<T>(
    app: &App,
    task: &WorkItem,
    patience: Duration,
    act: impl FnOnce(&PrivateRepository<'_>, ImportRules<'_>) -> Result<T>,
) -> Result<T> {
    let wall = dir_of(app, task).wall();
    let project = app.project_of(task)?;
    let worktree = task.worktree().map(|name| app.home.workspace(name)).unwrap_or_default();
    let git = Git::at(&project.path);
    let home = app.home.clone().patient(patience);
    let what = format!("the repository of the agents of {}", dir_of(app, task).shown());
    let _turn = lock::acquire(&home, &wall.join("lock"), LockRank::Import, &what)?;
    let repository =
        PrivateRepository { git: &git, worktree: &worktree, branch: &task.branch, wall: Path::new(&wall) };
    let rules = ImportRules {
        default_branch: &project.default_branch,
        descends_from: None,
        most_packed: MOST_PACKED,
        at_end: false,
    };
    act(&repository, rules)
}

fn dir_of(app: &App, task: &WorkItem) -> WorkItemDir {
    app.home.dir(task.kind, &task.project, &task.id)
}

/// True if a task has had an agent with a private repository.
fn has_walled(dir: &WorkItemDir) -> bool {
    dir.wall().join("git").is_dir()
}
