//! The hooks that are one call each.

use std::time::Duration;

use crate::drive::exec::{Call, GIT_VARIABLES, Output};
use crate::drive::git::{Git, REMOTE};
use crate::orange::Orange;
use crate::store::scalar::Value;
use crate::store::{Event, Open, Set};
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
/// `refused` without a remote; `environment` when git or the remote fails.
pub fn push_branch(orange: &Orange, open: &Open) -> Result<()> {
    let project = orange.project_of(open.task())?;
    let git = Git::at(&project.path);
    if !git.has_remote()? {
        return Err(Error::new(
            Kind::Refused,
            format!("{} has no remote `{REMOTE}` to push to", project.name),
        ));
    }
    git.push(REMOTE, &open.task().branch)
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
    open.call_attention(message.trim())
}

/// Runs a program in the task's worktree. How it ended and the last of what it wrote are journaled.
///
/// # Errors
/// `refused` without a worktree; `environment` when the program cannot be started, fails or takes too long: then everything
/// that it started is ended.
pub fn run_command(open: &mut Open, argv: &[&str], timeout: u32) -> Result<()> {
    let Some((program, args)) = argv.split_first() else { return Ok(()) };
    let Some(worktree) = open.worktree() else {
        return Err(Error::new(Kind::Refused, "the task has no worktree to run a command in"));
    };
    let bound = Duration::from_secs(timeout.into());
    // Its git means the worktree, even if orange was called in another repository's hook.
    let call = Call::new(program).args(args).folder(&worktree).bound(bound).without(GIT_VARIABLES);
    let outcome = call.run();
    let (code, output) = match &outcome {
        Ok(output) => (output.code(), last_of(output)),
        Err(error) => (None, error.message.clone()),
    };
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    open.append(Event::CommandEnded { argv, code, output }, Set::new())?;
    outcome?.checked().map(drop)
}

/// The last of what a program wrote, its complaints behind the rest.
fn last_of(output: &Output) -> String {
    const LONGEST: usize = 2_000;
    let text = format!("{}\n{}", output.text(), output.complaint());
    let text = text.trim();
    match text.char_indices().rev().nth(LONGEST - 1) {
        Some((from, _)) => format!("…{}", &text[from..]),
        None => text.to_owned(),
    }
}
