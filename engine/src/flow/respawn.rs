//! Starting a state's agent again. The task stays where it is (seed 000).

use orange_core::{Actor, HarnessOf, Hook, Machine, Permissions, Spawn, State};

use crate::app::App;
use crate::flow::lock_recovered;
use crate::flow::snapshot::status_of;
use crate::hooks::agents::{self, Occasion, Start};
use crate::store::{LockedTask, TaskDir, event};
use crate::{Error, Kind, Result};

/// Starts the agent of a task's state again, and gives the record of its start. Unless it is to begin `afresh`, it continues the
/// conversation of the one before, where that is possible.
///
/// # Errors
/// `not_respawnable` when the state has no respawn prompt, the task no worktree, or its agent is alive; `environment`.
pub fn respawn(app: &App, dir: &TaskDir, afresh: bool) -> Result<event::Spawn> {
    let mut locked = lock_recovered(app, dir)?;
    app.check_caller(locked.task(), locked.history())?;
    let machine = app.machine_of(&locked.task().owned)?;
    check_respawn_prompt(app, machine, &locked)?;
    let occasion = if afresh { Occasion::Afresh } else { Occasion::Respawn };
    let answers = locked.task().attention.clone();
    let number = again(app, machine, &mut locked, Start { occasion, answers })?;
    Ok(locked.history().agents.get(&number).cloned().unwrap_or_default())
}

/// The same for a task that is locked already, and without a person who has looked at it.
///
/// # Errors
/// As [`respawn`].
pub fn again(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedTask,
    start: Start,
) -> Result<u32> {
    let (state, spawn) = restartable(app, machine, locked)?;
    agents::end_stopped(app, locked)?;
    let id = &locked.task().id;
    let panes = app.tmux.panes_of(id)?;
    if let Some((number, record)) = agents::live(locked, &panes, state.agent)? {
        return Err(refuse(format!("agent {number} is alive in window {}", record.window)).help(format!(
            "`orange task attach {id}` shows it; `orange task restart {id}` ends it and starts it again"
        )));
    }
    agents::start(app, machine, locked, &Hook::SpawnAgent(spawn), None, start)?;
    Ok(locked.history().last_spawn)
}

/// The state that the task is in, and how its agent is started again.
///
/// # Errors
/// `not_respawnable` when no agent belongs there or the task has no worktree; `environment`.
pub fn restartable(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &LockedTask,
) -> Result<(&'static State<'static>, Spawn)> {
    let task = locked.task();
    let status = status_of(machine, task)?;
    let state = machine.state(status);
    let last = locked.history().agents_here.get(state.agent.as_str());
    let spawn = machine.restart(status, last.and_then(|last| as_started(machine, last)));
    let Some(spawn) = spawn.filter(|_| !state.terminal) else {
        return Err(refuse(format!("no agent works in {}", state.name))
            .help(format!("`orange task next {}` shows where the task can go from here", task.id)));
    };
    if task.owned.workspace.is_none() {
        return Err(refuse("the task has no worktree".to_owned()).help("`orange task spawn` gives it one"));
    }
    agents::preflight(app, task, &spawn)?;
    Ok((state, spawn))
}

/// How an agent was started, if its workflow still has its prompt.
fn as_started(machine: &Machine<'_>, record: &event::Spawn) -> Option<Spawn> {
    let reviews = record.actor == Actor::Reviewer.as_str();
    Some(Spawn {
        prompt: machine.prompt_named(&record.prompt)?,
        harness: if reviews { HarnessOf::Review } else { HarnessOf::Task },
        permissions: if record.permissions == "full" { Permissions::Full } else { Permissions::Reduced },
        increment: None,
    })
}

fn check_respawn_prompt(app: &App, machine: &'static Machine<'static>, locked: &LockedTask) -> Result<()> {
    let state = machine.state(status_of(machine, locked.task())?);
    if state.respawn.is_some() {
        return Ok(());
    }
    let id = &locked.task().id;
    let help = if state.terminal {
        "the task is over: create a new one for what is still to be done".to_owned()
    } else if restartable(app, machine, locked).is_ok() {
        format!(
            "`orange task restart {id}` starts the agent that works there as it was started first; `orange task next {id}` \
             shows where the task can go from here"
        )
    } else {
        format!("`orange task next {id}` shows where the task can go from here")
    };
    Err(refuse(format!("nothing can be respawned in {}: it has no respawn_prompt", state.name)).help(help))
}

fn refuse(message: String) -> Error {
    Error::new(Kind::NotRespawnable, message)
}
