//! Starts a state's agent again; the task stays in its state.

use orange_core::{Effect, Input, Machine};

use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::life;
use crate::flow::lock_recovered;
use crate::flow::snapshot::status_of;
use crate::hooks::agent_processes::is_alive;
use crate::hooks::agents::{self, Occasion, Start};
use crate::store::{LockedTask, TaskDir, event};
use crate::{Error, Kind, Result};

/// Starts the agent of a task's state again, or those of several reviewers that are missing, and returns the records of their
/// starts. Unless one begins `afresh`, it continues the conversation of the one before, if that is possible.
pub fn respawn(app: &App, dir: &TaskDir, afresh: bool) -> Result<Vec<event::Spawn>> {
    let mut locked = lock_recovered(app, dir)?;
    app.check_caller(locked.task(), locked.history())?;
    let machine = app.machine_of(&locked.task().owned)?;
    startable(app, machine, &locked, Input::Respawn { is_alive: false }, Vec::new())?;
    let occasion = if afresh { Occasion::Afresh } else { Occasion::Respawn };
    let answers = locked.task().attention.clone();
    again(app, machine, &mut locked, Start { occasion, answers })
}

/// The same for a locked task, without a person who has seen its attention. Where reviewers with names work, all those are started
/// that are missing.
pub fn again(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedTask,
    start: Start,
) -> Result<Vec<event::Spawn>> {
    restartable(app, machine, locked)?;
    agents::end_stopped(app, locked)?;
    let panes = app.tmux.panes_of(&locked.task().id)?;
    let agent = machine.state(status_of(machine, locked.task())?).agent;
    let alive = agents::live(locked, &panes, agent)?;
    let input = Input::Restart { is_alive: alive.is_some() };
    let reviewers = live_reviewers(locked, &panes)?;
    let effects = startable(app, machine, locked, input, reviewers).map_err(|mut error| {
        if let Some((number, record)) = alive {
            error.message = format!("agent {number} is alive in window {}", record.window);
        }
        error
    })?;
    let before = locked.history().last_spawn;
    for effect in effects {
        agents::start(app, machine, locked, &effect.hook, None, start.clone())?;
    }
    Ok(locked.history().agents.range(before + 1..).map(|(_, record)| record.clone()).collect())
}

/// Started agents in words: `agent 4`, and `agent 4 (reviewer security), agent 5 (reviewer style)` for reviewers with names.
pub fn names(started: &[event::Spawn]) -> String {
    let name = |it: &event::Spawn| match it.name {
        Some(_) => format!("agent {} ({})", it.spawn, it.seat()),
        None => format!("agent {}", it.spawn),
    };
    started.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The names of the reviewers with names that are alive.
fn live_reviewers<'l>(locked: &'l LockedTask, panes: &[Pane]) -> Result<Vec<&'l str>> {
    let mut names = Vec::new();
    for record in locked.history().agents.values() {
        if let Some(name) = record.name.as_deref()
            && is_alive(locked.dir(), record, panes)?
        {
            names.push(name);
        }
    }
    Ok(names)
}

/// How the agents of the task's state are started again, or why they are not.
pub fn restartable(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &LockedTask,
) -> Result<Vec<Effect<'static>>> {
    startable(app, machine, locked, Input::Restart { is_alive: false }, Vec::new())
}

fn startable(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &LockedTask,
    input: Input<'_>,
    alive: Vec<&str>,
) -> Result<Vec<Effect<'static>>> {
    let task = locked.task();
    let effects = life::ask_beside(app, machine, task, locked.history(), input, alive)?.effects;
    if effects.is_empty() {
        return Err(Error::new(Kind::NotRespawnable, "no agent is to be started here"));
    }
    let mut spawns = effects.iter().filter_map(|effect| effect.hook.spawn());
    spawns.try_for_each(|spawn| agents::preflight(app, task, spawn))?;
    Ok(effects)
}
