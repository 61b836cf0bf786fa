//! Starting tasks: by command, by `spawn_next`, and in the state that they were created in.

use orange_core::Machine;

use crate::flow::finish::attend;
use crate::flow::request::Goal;
use crate::flow::snapshot::status_of;
use crate::flow::{Moved, request, settled};
use crate::hooks::{agents, workspace};
use crate::orange::Orange;
use crate::store::scalar::Value;
use crate::store::{self, Event, Open, Task, TaskDir};
use crate::{Error, Kind, Result};

/// Starts a task that is in its workflow's initial state; one without a summary goes to be clarified. A task that got no
/// worktree on its way gets one now, and the agent of the state that it is in.
///
/// # Errors
/// `refused` when it was started before; those of the transition, and of the hooks.
pub fn spawn(orange: &Orange, dir: &TaskDir) -> Result<Moved> {
    let (task, _) = Task::read(&orange.home, dir)?;
    let machine = orange.machine_of(&task)?;
    if status_of(machine, &task)? != machine.initial {
        return start_late(orange, machine, dir);
    }
    let vague = task.summary.trim().is_empty() && machine.commands.clarify.is_some();
    let goal = if vague {
        Goal::Command(|commands| commands.clarify, "clarify")
    } else {
        Goal::Command(|commands| commands.spawn, "spawn")
    };
    request(orange, dir, goal, false)
}

/// Starts the oldest task of the project that waits in its initial state and can be started; `None` when none does, or
/// no worktree is free. One that cannot be started says so and does not hold up the others.
///
/// # Errors
/// Those of reading tasks and pool, and of telling why a task cannot be started.
pub fn spawn_next(orange: &Orange, project: &str) -> Result<Option<Moved>> {
    for dir in waiting(orange, project)? {
        if !workspace::is_free(orange, project)? {
            break;
        }
        match spawn(orange, &dir) {
            Ok(moved) => return Ok(Some(moved)),
            Err(error) => attend(&mut settled(orange, &dir)?, &format!("not started: {}", error.message))?,
        }
    }
    Ok(None)
}

/// The tasks that wait in their initial state, oldest first.
fn waiting(orange: &Orange, project: &str) -> Result<Vec<TaskDir>> {
    let waits = |task: &Task| {
        let machine = orange.machine_of(task).ok()?;
        (status_of(machine, task).ok()? == machine.initial).then_some(())
    };
    let mut waiting: Vec<(Task, TaskDir)> = store::list(&orange.home, Some(project))?
        .into_iter()
        .filter_map(|listed| listed.task.ok().map(|task| (task, listed.dir)))
        .filter(|(task, _)| waits(task).is_some())
        .collect();
    waiting.sort_by(|(a, _), (b, _)| (&a.created_at, &a.id).cmp(&(&b.created_at, &b.id)));
    Ok(waiting.into_iter().map(|(_, dir)| dir).collect())
}

fn start_late(orange: &Orange, machine: &'static Machine<'static>, dir: &TaskDir) -> Result<Moved> {
    let mut open = settled(orange, dir)?;
    let status = open.task().status().to_owned();
    if open.task().owned.workspace.is_some() || !start_entered(orange, machine, &mut open)? {
        return Err(Error::new(Kind::Refused, format!("the task was started before: it is {status}"))
            .help("`orange task respawn` starts a dead agent again; `orange task next` shows the ways on"));
    }
    open.edit(&[("attention", Value::Null)])?;
    Ok(Moved {
        id: dir.id.clone(),
        from: status.clone(),
        to: status,
        review_round: open.task().counter("review_round"),
        hooks: ["acquire_workspace", "spawn_agent"].map(str::to_owned).to_vec(),
        ..Moved::default()
    })
}

/// Gives a task that was created in a later state its worktree and that state's agent, where the state has one.
///
/// # Errors
/// Those of the hooks; the task stays as it is.
pub fn start_entered(orange: &Orange, machine: &'static Machine<'static>, open: &mut Open) -> Result<bool> {
    let state = machine.state(status_of(machine, open.task())?);
    let Some((hook, spawn)) = state.respawn.as_ref().and_then(|hook| Some((hook, hook.spawn()?))) else {
        return Ok(false);
    };
    agents::preflight(orange, open.task(), spawn)?;
    workspace::preflight(orange, open.task())?;
    let bound = workspace::acquire(orange, open)?;
    open.append(Event::HookEnded { hook: "acquire_workspace".to_owned(), index: 0, error: None }, bound)?;
    agents::start(orange, machine, open, hook, None, agents::Occasion::Spawn)?;
    Ok(true)
}
