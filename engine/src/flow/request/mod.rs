//! A request to move a task, from the lock to the answer.

pub mod definition;
pub mod dry_run;
pub mod finish;
pub mod refusal;
pub mod transition_result;

use std::path::Path;

use orange_core::{Input, Machine, Turn};

use crate::answer::TransitionResult;
use crate::app::App;
use crate::drive::git::{self, Git};
use crate::flow::life::{self, Record};
use crate::flow::snapshot::state_named;
use crate::flow::{finish, lock_recovered};
use crate::hooks;
use crate::store::{Event, LockedTask, Set, Task, TaskDir, TaskHistory};
use crate::{Error, Kind, Result};

/// Where a request wants to go.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// To the state of this name.
    Named(&'a str),
    /// From the initial state to where work begins; without a summary, to where it is asked for.
    Spawn,
    /// To where merged tasks go.
    Merge {
        /// Whether it is to go there although the workflow says no.
        force: bool,
    },
    /// To where cancelled tasks go.
    Cancel,
}

/// Moves a task for whoever runs this process.
///
/// # Errors
/// A rejection of the core as its kind; `environment` or `refused` when what the hooks need is not there, before anything
/// has changed; those of the store. A hook that fails later is no error: it is in the answer, and shown as `attention`.
pub fn request(app: &App, dir: &TaskDir, goal: Goal<'_>) -> Result<TransitionResult> {
    let locked = begun(app, lock_recovered(app, dir)?, goal)?;
    carry_out(app, locked)
}

/// The same task once the transition is begun, still locked: [`carry_out`] does the rest.
///
/// # Errors
/// As [`request`].
pub fn begun(app: &App, locked: LockedTask, goal: Goal<'_>) -> Result<LockedTask> {
    let machine = app.machine_of(&locked.task().owned)?;
    let turn = decide(app, machine, locked.task(), locked.history(), goal)?;
    begin(app, machine, locked, &turn, Vec::new())
}

/// Begins a transition with what led to it.
///
/// # Errors
/// `environment` or `refused` when what its hooks need is not there, before anything has changed; those of the store.
pub fn begin(
    app: &App,
    machine: &'static Machine<'static>,
    mut locked: LockedTask,
    turn: &Turn<'static>,
    led_to_it: Vec<(Event, Set)>,
) -> Result<LockedTask> {
    let effects = turn.decision().map(|decision| decision.effects.as_slice()).unwrap_or_default();
    let room = hooks::preflight(app, locked.task(), effects)?;
    life::record(machine, &mut locked, turn, Record { led_to_it, room, agent: None })?;
    Ok(locked)
}

/// The core's answer to whoever runs this process.
///
/// # Errors
/// `not_allowed` for an agent that has ended; `not_found` for a state that the workflow does not have, `refused` where it
/// has none for the command; a rejection of the core as its kind.
pub fn decide(
    app: &App,
    machine: &'static Machine<'static>,
    task: &Task,
    history: &TaskHistory,
    goal: Goal<'_>,
) -> Result<Turn<'static>> {
    let by = app.check_caller(task, history)?;
    let input = match goal {
        Goal::Named(name) => Input::Request { to: state_named(machine, name)?, by },
        Goal::Spawn => Input::Spawn { by },
        Goal::Merge { force } => Input::Merge { by, force, is_merged: history.is_merged },
        Goal::Cancel => Input::Cancel { by, is_cut_short: history.open.is_some() },
    };
    let turn = life::ask(app, machine, task, history, input)?;
    if turn.decision().is_some_and(|decision| decision.seen.is_some()) {
        let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name));
        check_no_task_file(app, task, worktree.as_deref())?;
    }
    Ok(turn)
}

/// What a gate lets pass is going to be merged, and the task's own file must not be.
fn check_no_task_file(app: &App, task: &Task, worktree: Option<&Path>) -> Result<()> {
    let Some(worktree) = worktree.filter(|worktree| git::may_have(worktree, git::TASK_FILE)) else {
        return Ok(());
    };
    let git = Git::at(&app.project_of(task)?.path);
    match git.head(worktree)? {
        Some(commit) => git.check_no_task_file(&commit, &task.branch),
        None => Ok(()),
    }
}

/// Finishes the transition that was just begun, and tells what came of it. Hooks may end the session that this
/// process lives in, so they run in a process that outlives it.
///
/// # Errors
/// Those of the store, and of starting that process. The transition is begun then: the next command finishes it.
pub fn carry_out(app: &App, mut locked: LockedTask) -> Result<TransitionResult> {
    let dir = locked.dir().clone();
    let Some(begun) = locked.history().open.clone() else {
        return Err(Error::new(Kind::Refused, "no transition was begun"));
    };
    if begun.plan.hooks.is_empty() {
        finish(app, &mut locked)?;
        drop(locked);
    } else {
        drop(locked);
        let hooks: Vec<&str> = begun.plan.hooks.iter().map(|hook| hook.name.as_str()).collect();
        app.progress.step(&hooks.join(", "));
        app.detached(&["task", "finish", &dir.id], &dir)?;
    }
    let (_, journal) = Task::read(&app.home, &dir)?;
    if journal.history().open.is_some_and(|open| open.seq == begun.seq) {
        let log = app.home.log_file();
        return Err(Error::new(
            Kind::Environment,
            format!("{} → {} is begun and not finished", begun.plan.from, begun.plan.to),
        )
        .help(format!(
            "the next command on this task goes on with it; {} says what went wrong",
            log.display()
        )));
    }
    Ok(TransitionResult::read(&dir.id, &journal.records, begun.seq))
}
