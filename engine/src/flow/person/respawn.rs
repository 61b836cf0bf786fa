//! Starts a state's agent again; the task stays in its state.

use orange_core::{Effect, Input, Machine};

use crate::app::App;
use crate::flow::life;
use crate::flow::lock_recovered;
use crate::flow::snapshot::status_of;
use crate::hooks::agents::{self, Occasion, Start};
use crate::store::{LockedTask, TaskDir, event};
use crate::{Error, Kind, Result};

/// Starts the agent of a task's state again, and returns the record of its start. Unless it begins `afresh`, it continues the
/// conversation of the one before, if that is possible.
pub fn respawn(app: &App, dir: &TaskDir, afresh: bool) -> Result<event::Spawn> {
    let mut locked = lock_recovered(app, dir)?;
    app.check_caller(locked.task(), locked.history())?;
    let machine = app.machine_of(&locked.task().owned)?;
    startable(app, machine, &locked, Input::Respawn { is_alive: false })?;
    let occasion = if afresh { Occasion::Afresh } else { Occasion::Respawn };
    let answers = locked.task().attention.clone();
    let number = again(app, machine, &mut locked, Start { occasion, answers })?;
    Ok(locked.history().agents.get(&number).cloned().unwrap_or_default())
}

/// The same for a locked task, without a person who has seen its attention.
pub fn again(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedTask,
    start: Start,
) -> Result<u32> {
    restartable(app, machine, locked)?;
    agents::end_stopped(app, locked)?;
    let panes = app.tmux.panes_of(&locked.task().id)?;
    let agent = machine.state(status_of(machine, locked.task())?).agent;
    let alive = agents::live(locked, &panes, agent)?;
    let input = Input::Restart { is_alive: alive.is_some() };
    let effect = startable(app, machine, locked, input).map_err(|mut error| {
        if let Some((number, record)) = alive {
            error.message = format!("agent {number} is alive in window {}", record.window);
        }
        error
    })?;
    agents::start(app, machine, locked, &effect.hook, None, start)?;
    Ok(locked.history().last_spawn)
}

/// How the agent of the task's state is started again, or why it is not.
pub fn restartable(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &LockedTask,
) -> Result<Effect<'static>> {
    startable(app, machine, locked, Input::Restart { is_alive: false })
}

fn startable(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &LockedTask,
    input: Input<'_>,
) -> Result<Effect<'static>> {
    let task = locked.task();
    let turn = life::ask(app, machine, task, locked.history(), input)?;
    let effect = turn.effects.first().copied();
    let effect = effect.ok_or_else(|| Error::new(Kind::NotRespawnable, "no agent is to be started here"))?;
    effect.hook.spawn().map_or(Ok(()), |spawn| agents::preflight(app, task, spawn))?;
    Ok(effect)
}
