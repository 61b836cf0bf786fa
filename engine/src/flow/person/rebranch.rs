//! Renames the branch of a task: first in git, so that the record never names a branch that does not exist.

use std::path::Path;

use crate::app::App;
use crate::drive::git::{BranchState, Git};
use crate::flow::delegation;
use crate::store::WorkItem;
use crate::{Error, ErrorKind, Result};
use orange_system::files::is_same;

/// Change that git has to make before a task's record can name its new branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchChange {
    /// Nothing: the task's work is on that branch, or the task has none yet.
    None,
    /// Rename the branch of this name.
    Rename(String),
}

/// Determines what git has to do. It refuses if the task's worktree is on another branch than the old or the new one, and if
/// others may know the branch by its old name.
pub fn plan(app: &App, task: &WorkItem, worktree: Option<&Path>, to: &str) -> Result<BranchChange> {
    let project = app.project_of(task)?;
    let git = Git::at(&project.path);
    let worktree = worktree.filter(|worktree| worktree.exists());
    let head = match worktree {
        Some(worktree) => git.current_branch(worktree)?,
        None => None,
    };
    let from = &task.branch;
    if from == to || head.as_deref() == Some(to) {
        return Ok(BranchChange::None);
    }
    if let Some(child) = delegation::open(app, task)?.iter().find(|it| it.owned.base.as_ref() == Some(from)) {
        let message = format!("the work of {} is to be merged into `{from}`", child.branch);
        return Err(refused(message).help("keep the name until the tasks that it has created are over"));
    }
    let is_taken = git.branch_state(to)? != BranchState::Nowhere;
    if let Some(worktree) = worktree.filter(|_| is_taken || head.as_ref() != Some(from)) {
        return Err(elsewhere(worktree, head.as_deref(), to));
    }
    match git.branch_state(from)? {
        BranchState::Nowhere | BranchState::OnlyRemote(_) => Ok(BranchChange::None),
        BranchState::Local | BranchState::CheckedOutAt(_) if is_taken => Ok(BranchChange::None),
        BranchState::CheckedOutAt(path) if !worktree.is_some_and(|worktree| is_same(worktree, &path)) => {
            Err(refused(format!("branch `{from}` is checked out at {}", path.display()))
                .help(format!("run `git -C '{}' switch --detach` first", path.display())))
        }
        BranchState::Local | BranchState::CheckedOutAt(_) => {
            check_unknown_to_others(&git, task, &project.default_branch, to)?;
            Ok(BranchChange::Rename(from.clone()))
        }
    }
}

impl BranchChange {
    /// Carries it out. If it is killed, the same request finds git as it should be and goes on.
    pub fn make(&self, app: &App, task: &WorkItem, to: &str) -> Result<()> {
        match self {
            BranchChange::None => Ok(()),
            BranchChange::Rename(from) => Git::at(&app.project_of(task)?.path).rename_branch(from, to),
        }
    }
}

/// Refuses to rename a branch that others may know.
fn check_unknown_to_others(git: &Git, task: &WorkItem, default_branch: &str, to: &str) -> Result<()> {
    let from = &task.branch;
    let why = if from == default_branch {
        format!("`{from}` is the default branch")
    } else if let Some(url) = &task.pr_url {
        format!("`{from}` has a pull request: {url}")
    } else if git.is_on_remote(from)? {
        format!("the remote has `{from}` already")
    } else {
        return Ok(());
    };
    Err(refused(why).help(format!(
        "keep the name; or rename the branch yourself, here (`git branch -m {from} {to}`) and there, then say this again"
    )))
}

fn elsewhere(worktree: &Path, head: Option<&str>, to: &str) -> Error {
    let shown = worktree.display();
    let on = head.map_or("on no branch".to_owned(), |head| format!("on `{head}`"));
    refused(format!("the task's worktree is {on}: its branch cannot be `{to}` while it is there"))
        .help(format!("run `git -C '{shown}' switch {to}`, then `orange task update --branch` there"))
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Refused, message)
}
