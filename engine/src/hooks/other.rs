//! The hooks that are one call each.

use std::time::Duration;

use crate::drive::exec::Call;
use crate::drive::git::{Git, REMOTE};
use crate::flow::finish::attend;
use crate::orange::Orange;
use crate::store::Open;
use crate::store::scalar::Value;
use crate::{Error, Kind, Result};

/// Removes the task's branch from the remote; one that is not there is no error.
///
/// # Errors
/// `environment` when git or the remote fails.
pub fn delete_remote_branch(orange: &Orange, open: &Open) -> Result<()> {
    let project = orange.project_of(open.task())?;
    Git::at(&project.path).delete_remote_branch(&open.task().branch, &project.default_branch).map(drop)
}

/// Pushes the task's branch.
///
/// # Errors
/// `environment` when git or the remote fails.
pub fn push_branch(orange: &Orange, open: &Open) -> Result<()> {
    let project = orange.project_of(open.task())?;
    Git::at(&project.path).push(REMOTE, &open.task().branch)
}

/// Says that pull requests are not made here yet, so that a person makes it.
///
/// # Errors
/// Always.
pub fn create_pr() -> Result<()> {
    Err(Error::new(
        Kind::Environment,
        "this orange makes no pull requests yet; push the branch and open one by hand",
    ))
}

/// Writes a key of the frontmatter that people own.
///
/// # Errors
/// `refused` for a key that the engine owns.
pub fn set_field(open: &mut Open, field: &str, value: &str) -> Result<()> {
    open.edit(&[(field, Value::Text(value))])
}

/// Tells the person, where they look: `attention`.
///
/// # Errors
/// Those of the store.
pub fn notify(open: &mut Open, message: &str) -> Result<()> {
    attend(open, message.trim())
}

/// Runs a program in the task's worktree.
///
/// # Errors
/// `refused` without a worktree; `environment` when the program fails, with its own words.
pub fn run_command(orange: &Orange, open: &Open, argv: &[&str], timeout: u32) -> Result<()> {
    let Some((program, args)) = argv.split_first() else { return Ok(()) };
    let Some(workspace) = &open.task().owned.workspace else {
        return Err(Error::new(Kind::Refused, "the task has no worktree to run a command in"));
    };
    let bound = Duration::from_secs(timeout.into());
    let call = Call::new(program).args(args).folder(&orange.home.workspace(workspace)).bound(bound);
    call.run()?.checked().map(drop)
}
