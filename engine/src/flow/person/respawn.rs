//! Starts a state's agent again; the task stays in its state.

use orange_core::{Effect, Input, Machine};

use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::TaskPreview;
use crate::flow::budget;
use crate::flow::life;
use crate::flow::lock_with_worktree;
use crate::flow::snapshot::status_of;
use crate::hooks::agent_check;
use crate::hooks::agent_processes::is_alive;
use crate::hooks::agents::{self, AgentStart, Occasion};
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir, WorkItemHistory, event};
use crate::{Error, ErrorKind, Result};

/// Starts the agent of a task's state again, or those of several reviewers that are missing, and returns the records of their
/// starts. Unless one begins `afresh`, it continues the conversation of the one before, if that is possible.
pub fn respawn(app: &App, dir: &WorkItemDir, afresh: bool) -> Result<Vec<event::Spawn>> {
    let mut locked = lock_with_worktree(app, dir)?;
    app.check_caller(locked.task(), locked.history())?;
    let machine = app.machine_of(&locked.task().owned)?;
    if locked.history().agents.alive.is_empty() {
        budget::check_start(app, &mut locked)?;
    }
    let (task, history) = (locked.task(), locked.history());
    startable(app, machine, task, history, Input::Respawn { is_alive: false }, Vec::new())?;
    let occasion = if afresh { Occasion::Afresh } else { Occasion::Respawn };
    let answers = locked.task().attention.clone();
    again(app, machine, &mut locked, AgentStart { occasion, answers })
}

/// Starts the agent of a locked task's state again, without a person who has seen its attention. Where reviewers with
/// names work, all those are started that are missing.
pub fn again(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedWorkItem,
    start: AgentStart,
) -> Result<Vec<event::Spawn>> {
    restartable(app, machine, locked.task(), locked.history())?;
    agents::end_stopped(app, locked)?;
    let panes = app.tmux.panes_of(&locked.task().id)?;
    let agent = machine.state(status_of(machine, locked.task())?).agent;
    let alive = agents::live(locked, &panes, agent)?;
    let input = Input::Restart { is_alive: alive.is_some() };
    let reviewers = live_reviewers(locked.dir(), locked.history(), &panes)?;
    let effects =
        startable(app, machine, locked.task(), locked.history(), input, reviewers).map_err(|mut error| {
            if let Some((number, record)) = alive {
                error.message = format!("agent {number} is alive in window {}", record.window);
            }
            error
        })?;
    let before = locked.history().agents.last_spawn;
    for effect in effects {
        agents::start(app, machine, locked, &effect.hook, None, start.clone())?;
    }
    Ok(locked.history().agents.alive.range(before + 1..).map(|(_, record)| record.clone()).collect())
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
fn live_reviewers<'l>(
    dir: &WorkItemDir,
    history: &'l WorkItemHistory,
    panes: &[Pane],
) -> Result<Vec<&'l str>> {
    let mut names = Vec::new();
    for record in history.agents.alive.values() {
        if let Some(name) = record.name.as_deref()
            && is_alive(dir, record, panes)?
        {
            names.push(name);
        }
    }
    Ok(names)
}

/// Effects that start the agents of the task's state again; the error has the reason for which they are not started.
pub fn restartable(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Vec<Effect<'static>>> {
    startable(app, machine, task, history, Input::Restart { is_alive: false }, Vec::new())
}

/// The command that starts the task's agent again, and that it does; `None` where it would be refused.
pub fn command(app: &App, dir: &WorkItemDir) -> Option<String> {
    let verb = match () {
        () if would_respawn(app, dir).is_ok() => "respawn",
        () if would_restart(app, dir).is_ok() => "restart",
        () => return None,
    };
    Some(format!("{} starts the task's agent again", dir.command(verb)))
}

/// The numbers that the agents of a restart would get.
///
/// # Errors
/// Those of the restart.
pub fn would_restart(app: &App, dir: &WorkItemDir) -> Result<Vec<u32>> {
    app.caller.check_person("restart a task's agent")?;
    let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
    let effects = restartable(app, app.machine_of(&task.owned)?, &task, &history)?;
    Ok(next_numbers(&history, effects.len()))
}

/// The numbers that the agents of a respawn would get.
///
/// # Errors
/// Those of the respawn.
pub fn would_respawn(app: &App, dir: &WorkItemDir) -> Result<Vec<u32>> {
    let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
    app.check_caller(&task, &history)?;
    let machine = app.machine_of(&task.owned)?;
    startable(app, machine, &task, &history, Input::Respawn { is_alive: false }, Vec::new())?;
    let panes = app.tmux.panes_of(&dir.id)?;
    let agent = machine.state(status_of(machine, &task)?).agent;
    let mut alive = false;
    for record in history.agents.alive.values().filter(|it| it.actor.known() == Some(agent)) {
        alive |= is_alive(dir, record, &panes)?;
    }
    let reviewers = live_reviewers(dir, &history, &panes)?;
    let input = Input::Restart { is_alive: alive };
    let effects = startable(app, machine, &task, &history, input, reviewers)?;
    Ok(next_numbers(&history, effects.len()))
}

fn next_numbers(history: &WorkItemHistory, count: usize) -> Vec<u32> {
    (history.agents.last_spawn + 1..).take(count).collect()
}

fn startable(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    input: Input<'_>,
    alive: Vec<&str>,
) -> Result<Vec<Effect<'static>>> {
    let effects = life::ask_beside(app, machine, task, history, input, alive)?.effects;
    if effects.is_empty() {
        return Err(Error::new(ErrorKind::NotRespawnable, "no agent is to be started here"));
    }
    let dir = app.home.task(&task.project, &task.id);
    if let Some(error) = budget::obstacle(app, &dir, task, history)? {
        return Err(error);
    }
    let mut spawns = effects.iter().filter_map(|effect| effect.hook.spawn());
    spawns.try_for_each(|spawn| {
        budget::check_price(app, task, history, spawn)?;
        agent_check::preflight(app, task, spawn)
    })?;
    Ok(effects)
}
