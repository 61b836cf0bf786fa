//! A request to move a task, from the lock to the answer.

use std::path::Path;

use orange_core::{Decision, Machine, StateId};

use crate::app::App;
use crate::drive::git::{self, Git};
use crate::flow::begin::begin;
use crate::flow::snapshot::{Snapshot, state_named, status_of};
use crate::flow::{TransitionResult, finish, lock_recovered, refusal};
use crate::hooks;
use crate::store::{LockedTask, Task, TaskDir, TaskHistory};
use crate::{Error, Kind, Result};

/// Where a request wants to go.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// To the state of this name.
    Named(&'a str),
    /// From the initial state to where work begins; without a summary, to where it is asked for.
    Spawn,
    /// To where merged tasks go.
    Merge,
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
pub fn begun(app: &App, mut locked: LockedTask, goal: Goal<'_>) -> Result<LockedTask> {
    let machine = app.machine_of(&locked.task().owned)?;
    let decision = decide(app, machine, locked.task(), locked.history(), goal)?;
    let room = hooks::preflight(app, locked.task(), &decision.effects)?;
    begin(machine, &mut locked, &decision, Vec::new(), room)?;
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
) -> Result<Decision<'static>> {
    let actor = app.check_caller(task, history)?;
    let snapshot = Snapshot::of(machine, task, history)?;
    let view = snapshot.view();
    let to = goal.state(machine, task)?;
    let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name));
    let refuse = |no| refusal::error(no, machine, &view, history, worktree.as_deref());
    let decision = machine.decide(&view, to, actor).map_err(refuse)?;
    if decision.seen.is_some() {
        check_no_task_file(app, task, worktree.as_deref())?;
    }
    Ok(decision)
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

impl Goal<'_> {
    fn state(self, machine: &Machine<'_>, task: &Task) -> Result<StateId> {
        let commands = &machine.commands;
        match self {
            Goal::Named(name) => state_named(machine, name),
            Goal::Merge => of_command(machine, commands.merge, "merge"),
            Goal::Cancel => of_command(machine, commands.cancel, "cancel"),
            Goal::Spawn if status_of(machine, task)? != machine.initial => Err(Error::new(
                Kind::Refused,
                format!("the task was started before: it is {}", task.status()),
            )
            .help("`orange task respawn` starts a dead agent again; `orange task next` shows the ways on")),
            Goal::Spawn if task.summary.trim().is_empty() && commands.clarify.is_some() => {
                of_command(machine, commands.clarify, "clarify")
            }
            Goal::Spawn => of_command(machine, commands.spawn, "spawn"),
        }
    }
}

/// The state that a command drives to.
///
/// # Errors
/// `refused` when the workflow has none for it.
pub fn of_command(machine: &Machine<'_>, state: Option<StateId>, command: &str) -> Result<StateId> {
    state.ok_or_else(|| {
        Error::new(Kind::Refused, format!("the workflow {} has no status for `{command}`", machine.name))
            .help(format!("name one under `commands: {{{command}: …}}` in the workflow"))
    })
}
