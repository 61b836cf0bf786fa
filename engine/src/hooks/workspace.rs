//! Binding a worktree of the project's pool to a task, and giving it back.

use std::path::Path;

use crate::drive::git::{BranchState, Git, TASK_FILE};
use crate::drive::harness;
use crate::flow::finish::attend;
use crate::orange::Orange;
use crate::store::Pool;
use crate::store::projects::{self, Project};
use crate::store::{Event, Open, Set, Task};
use crate::{Error, Kind, Result};

/// Refuses an `acquire_workspace` that cannot work: no git, no identity, no free worktree, a branch that is checked
/// out somewhere else.
///
/// # Errors
/// `environment` or `refused`, with what to do.
pub fn preflight(orange: &Orange, task: &Task) -> Result<()> {
    if task.owned.workspace.is_some() {
        return Ok(());
    }
    let project = orange.project_of(task)?;
    let git = Git::at(&project.path);
    git.check()?;
    git.check_identity()?;
    if let BranchState::CheckedOutAt(path) = git.branch_state(&task.branch)? {
        return Err(Error::new(
            Kind::Refused,
            format!("the branch {} is checked out in {}", task.branch, path.display()),
        )
        .help("switch that checkout to another branch, then try again"));
    }
    Pool::lock(&orange.home)?.check_room(&project.name, project.pool_size)
}

/// Binds a worktree to the task, on the task's branch, with the link to `TASK.md` in it. One that is bound already stays.
///
/// # Errors
/// `refused` when the pool is exhausted or the branch is taken; `environment` when git fails. The slot is free again then.
pub fn acquire(orange: &Orange, open: &mut Open) -> Result<Set> {
    if open.task().owned.workspace.is_some() {
        return Ok(Set::new());
    }
    let project = orange.project_of(open.task())?;
    let git = Git::at(&project.path);
    let mut pool = Pool::lock(&orange.home)?;
    let name = pool.bind(&project.name, project.pool_size, &open.task().id)?;
    let worktree = orange.home.workspace(&name);
    match ready(&git, open, &worktree, &project) {
        Ok(warning) => {
            drop(pool);
            // The remote could not be asked, so the branch begins where this repository last saw it.
            warning.map_or(Ok(()), |warning| attend(open, &warning))?;
            Ok(Set::new().workspace(Some(&name)))
        }
        Err(error) => {
            pool.unbind(&open.task().id)?;
            Err(error)
        }
    }
}

/// Puts the worktree on the task's branch, and what Orange and the agents keep there for themselves out of git's sight.
fn ready(git: &Git, open: &Open, worktree: &Path, project: &Project) -> Result<Option<String>> {
    let acquired = git.acquire(worktree, &open.task().branch, &project.default_branch)?;
    git.exclude(TASK_FILE)?;
    for name in [&open.task().harness, &open.task().review_harness] {
        for file in harness::named(name)?.workspace_files {
            git.exclude(file)?;
        }
    }
    open.link_into(worktree)?;
    Ok(acquired.warning)
}

/// Gives the task's worktree back: what is not committed or on no branch is kept under a ref first, the body of a file in
/// the place of the `TASK.md` link is taken back, and the worktree stands on the default branch again. Spawns nothing.
///
/// # Errors
/// `environment` when git fails; the worktree stays bound then.
pub fn release(orange: &Orange, open: &mut Open) -> Result<Set> {
    let Some(name) = open.task().owned.workspace.clone() else { return Ok(Set::new()) };
    let project = orange.project_of(open.task())?;
    let worktree = orange.home.workspace(&name);
    open.take_back(&worktree)?;
    let mut pool = Pool::lock(&orange.home)?;
    let backup = Git::at(&project.path).release(&worktree, &project.default_branch, &open.task().id)?;
    if let Some(backup) = backup {
        let event = Event::WorkBackedUp { reference: backup.reference, commit: backup.commit };
        open.append(event, Set::new())?;
    }
    unlink(&worktree)?;
    pool.unbind(&open.task().id)?;
    Ok(Set::new().workspace(None))
}

/// Whether another task of the project could get a worktree now.
///
/// # Errors
/// Those of reading the pool and the projects.
pub fn is_free(orange: &Orange, project: &str) -> Result<bool> {
    let project = projects::get(&orange.home, project)?;
    Ok(Pool::lock(&orange.home)?.check_room(&project.name, project.pool_size).is_ok())
}

/// Makes every worktree of the project's pool, detached at the default branch; gives their names.
///
/// # Errors
/// `environment` when git fails.
pub fn init(orange: &Orange, project: &Project) -> Result<Vec<String>> {
    let git = Git::at(&project.path);
    git.check()?;
    let mut pool = Pool::lock(&orange.home)?;
    let names = pool.grow(&project.name, project.pool_size)?;
    for name in &names {
        git.prepare(&orange.home.workspace(name), &project.default_branch)?;
    }
    Ok(names)
}

/// Only the link is ours to remove; a file of that name is somebody's.
fn unlink(worktree: &Path) -> Result<()> {
    let link = worktree.join(TASK_FILE);
    if !link.is_symlink() {
        return Ok(());
    }
    std::fs::remove_file(&link).map_err(|cause| Error::io("remove", &link, &cause))
}
