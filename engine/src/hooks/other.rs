//! The hooks that are one call each.

use crate::app::App;
use crate::drive::git::{Git, REMOTE};
use crate::hooks::prepare;
use crate::hooks::program::{ProgramEnd, ProgramRun};
use crate::hooks::wall::{self, ProgramKind, ProgramPlace};
use crate::store::event::Cause;
use crate::store::scalar::Value;
use crate::store::{Event, LockedWorkItem, Set, feedback};
use crate::{Error, ErrorKind, Result};
use orange_api::Feedback;
use orange_core::section;

/// Removes the task's branch from the remote, if it was made for this task. A branch that was there before, or that the agent has
/// switched to, is somebody else's; a missing branch is not an error.
pub fn delete_remote_branch(app: &App, locked: &LockedWorkItem) -> Result<()> {
    let branch = &locked.task().branch;
    let Some(from) = locked.history().branch.made.get(branch) else { return Ok(()) };
    let project = app.project_of(locked.task())?;
    Git::at(&project.path).delete_remote_branch(branch, &project.default_branch, from).map(drop)
}

/// Pushes the task's branch.
///
/// # Errors
/// `refused` without a remote or a branch; `environment` when git or the remote fails.
pub fn push_branch(app: &App, locked: &LockedWorkItem) -> Result<()> {
    let project = app.project_of(locked.task())?;
    let git = Git::at(&project.path);
    if !git.has_remote()? {
        return Err(Error::new(
            ErrorKind::Refused,
            format!("{} has no remote `{REMOTE}` to push to", project.name),
        ));
    }
    let branch = &locked.task().branch;
    if git.branch_tip(branch)?.is_none() {
        return Err(Error::new(ErrorKind::Refused, format!("there is no branch `{branch}` to push"))
            .help("`acquire_workspace` makes the branch: a task that has had no worktree has none"));
    }
    git.push(REMOTE, branch)
}

/// Writes the feedback that a watch rule has written down into the task's text, unless the last section of this name has it. A
/// transition that is not a watch rule's has none.
///
/// # Errors
/// `corrupt` if the file of the feedback is gone or cannot be read.
pub fn write_feedback(locked: &mut LockedWorkItem) -> Result<()> {
    let cause = locked.history().transition.open.as_ref().map(|open| &open.plan.cause);
    if cause != Some(&Cause::Watch) {
        return Ok(());
    }
    let number = locked.history().branch.feedback;
    let feedback = number.map(|number| feedback::read(locked.dir(), number)).transpose()?.flatten();
    let Some(feedback) = feedback else {
        let message = "the feedback that a watch rule has written down is gone";
        return Err(Error::new(ErrorKind::Corrupt, message)
            .help("read it at the pull request, and tell the agent with `orange task send`"));
    };
    let text = feedback.section();
    let stands = section(&locked.task().body, Feedback::HEADING);
    if stands.is_some_and(|stands| stands.trim() == text.trim()) {
        return Ok(());
    }
    locked.append_section(Feedback::HEADING, &text)
}

/// Writes a key of the frontmatter that belongs to people.
///
/// # Errors
/// `refused` for a key that the engine owns.
pub fn set_field(locked: &mut LockedWorkItem, field: &str, value: &str) -> Result<()> {
    locked.edit(&[(field, Value::Text(value))])
}

/// Puts the message into the task's `attention`, where people look.
pub fn notify(locked: &mut LockedWorkItem, message: &str) -> Result<()> {
    locked.call_attention(message.trim())
}

/// Runs a program in the task's worktree. The journal gets how it ended, and the beginning and the end of its output; a longer
/// output is in a file of the task's folder.
///
/// # Errors
/// `refused` without a worktree; `environment` when the program cannot be started, fails or takes too long: then
/// everything that it has started ends, too.
pub fn run_command(app: &App, locked: &mut LockedWorkItem, argv: &[&str], timeout: u32) -> Result<()> {
    let Some(worktree) = locked.worktree() else {
        return Err(Error::new(ErrorKind::Refused, "the task has no worktree to run a command in")
            .help("the workflow has to give it one before: `acquire_workspace` before this hook"));
    };
    let number = locked.history().last_seq + 1;
    let ports = prepare::ports_of(app, locked.task())?;
    let argv = prepare::with_port(argv, ports)?;
    let place = ProgramPlace {
        app,
        dir: locked.dir(),
        task: locked.task(),
        folder: &worktree,
        kind: ProgramKind::Worktree,
        demand: wall::demand_on_programs(app, locked.dir(), locked.task(), locked.history())?,
    };
    let Some(run) = ProgramRun::of(&argv, timeout, place, number) else { return Ok(()) };
    let worktree = locked.task().worktree().map(|name| &**name);
    let run = run.envs(&prepare::variables(worktree, ports)).without(&app.denied(locked.task())?);
    let ProgramEnd { code, output, file, failure } = run.run(&|| true)?;
    locked.append(Event::CommandEnded { argv, code, output, file }, Set::new())?;
    failure.map_or(Ok(()), Err)
}
