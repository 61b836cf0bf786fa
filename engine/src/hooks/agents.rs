//! Starting, ending and telling agents.

use std::ffi::{OsStr, OsString};

use orange_core::{Actor, HarnessOf, Hook, Machine, Permissions, Values};

use crate::caller;
use crate::drive::harness;
use crate::drive::tmux::{self, Pane};
use crate::hooks::workspace;
use crate::orange::Orange;
use crate::store::event::Spawn;
use crate::store::{Event, Open, Set, Task};
use crate::{Error, Kind, Result};

/// Why an agent is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A transition's hook says so.
    Spawn,
    /// The one before has died, and the task stays where it is.
    Respawn,
}

/// Refuses a spawn that cannot work.
///
/// # Errors
/// `environment`: tmux or the harness is missing; `not_found`: there is no such harness.
pub fn preflight(orange: &Orange, task: &Task, spawn: &orange_core::Spawn) -> Result<()> {
    orange.tmux.check()?;
    harness::named(harness_of(task, spawn))?.check(orange.path())
}

/// Starts an agent: writes its prompt, journals it, then has tmux run the wrapper (`orange agent run`), which reads both.
/// There are never two live agents of one actor in a worktree: a second one is refused.
///
/// # Errors
/// `refused` without a worktree, or while the one before is alive; `environment` when tmux fails.
pub fn start(
    orange: &Orange,
    machine: &Machine<'_>,
    open: &mut Open,
    hook: &Hook<'_>,
    counter: Option<&(String, u32)>,
    occasion: Occasion,
) -> Result<()> {
    let Some(spawn) = hook.spawn() else { return Ok(()) };
    if open.task().owned.workspace.is_none() {
        return Err(Error::new(Kind::Refused, "the task has no worktree to start an agent in")
            .help("`orange task spawn` gives it one"));
    }
    // Somebody may have removed its folder.
    workspace::acquire(orange, open)?;
    make_room(orange, open, spawn.actor())?;

    let record = record(machine, open, spawn, counter);
    open.write_prompt(record.spawn, &prompt(machine, open.task(), spawn, counter))?;
    let set = Set::new().tmux_session(Some(&record.session));
    let set = counter.iter().fold(set, |set, (name, value)| set.counter(name, *value));
    let event = match occasion {
        Occasion::Spawn => Event::AgentSpawned(record.clone()),
        Occasion::Respawn => Event::AgentRespawned(record.clone()),
    };
    open.append(event, set)?;
    match run_wrapper(orange, open.task(), &record) {
        Ok(session) if session != record.session => moved(open, &record.session, &session),
        Ok(_) => Ok(()),
        Err(error) => {
            let reason = format!("could not be started: {}", error.message);
            open.append(exited(record.spawn, reason), Set::new())?;
            Err(error)
        }
    }
}

/// Whether this transition has already started the agent of this hook, and it is alive: then a kill came between the
/// start and its record.
///
/// # Errors
/// `environment` when tmux cannot tell.
pub fn started_since(orange: &Orange, open: &Open, hook: &Hook<'_>, since: u64) -> Result<bool> {
    let Some(spawn) = hook.spawn() else { return Ok(false) };
    if open.log().last_spawn_seq < since {
        return Ok(false);
    }
    let panes = orange.tmux.panes_of(&open.task().id)?;
    Ok(live(open, &panes, spawn.actor()).is_some_and(|(number, _)| *number == open.log().last_spawn))
}

/// Ends the task's session with everything in it.
///
/// # Errors
/// `environment` when tmux fails or a process does not end.
pub fn kill_session(orange: &Orange, open: &mut Open) -> Result<Set> {
    let Some(session) = open.task().owned.tmux_session.clone() else { return Ok(Set::new()) };
    orange.tmux.kill_session(&session, &open.task().id)?;
    open.append_many(open.log().agents.keys().map(|number| exited(*number, "killed").into()).collect())?;
    Ok(Set::new().tmux_session(None))
}

/// Ends the reviewer's window and leaves the rest of the session alone.
///
/// # Errors
/// `environment` when tmux fails or a process does not end.
pub fn kill_reviewer(orange: &Orange, open: &mut Open) -> Result<()> {
    let reviewers: Vec<_> =
        of_actor(open, Actor::Reviewer).map(|(n, record)| (*n, record.window.clone())).collect();
    for (number, window) in reviewers {
        orange.tmux.kill_window(&open.task().id, &window)?;
        open.append(exited(number, "killed"), Set::new())?;
    }
    Ok(())
}

/// Pastes a message into the worker's window. False where no worker is alive to read it.
///
/// # Errors
/// `environment` when tmux fails.
pub fn notify_worker(orange: &Orange, open: &Open, message: &str) -> Result<bool> {
    let panes = orange.tmux.panes_of(&open.task().id)?;
    let worker = live(open, &panes, Actor::Worker).map(|(_, record)| record.window.clone());
    let pane = worker.and_then(|window| panes.iter().find(|pane| is_alive_in(pane, &window)));
    match pane {
        Some(pane) => orange.tmux.send_text(&pane.pane_id, message.trim_end().as_bytes()).map(|()| true),
        None => Ok(false),
    }
}

/// The agent of this actor that is alive, by the journal and by tmux.
pub fn live<'o>(open: &'o Open, panes: &[Pane], actor: Actor) -> Option<(&'o u32, &'o Spawn)> {
    of_actor(open, actor).find(|(_, record)| panes.iter().any(|pane| is_alive_in(pane, &record.window)))
}

/// The event of an agent's end that did not report itself.
pub fn exited(spawn: u32, reason: impl Into<String>) -> Event {
    Event::AgentExited { spawn, code: None, signal: None, reason: reason.into() }
}

fn of_actor(open: &Open, actor: Actor) -> impl Iterator<Item = (&u32, &Spawn)> {
    open.log().agents.iter().filter(move |(_, record)| record.actor == actor.as_str())
}

fn is_alive_in(pane: &Pane, window: &str) -> bool {
    pane.hosts(window) && !pane.dead
}

/// Refuses while an agent of this actor is alive; clears away what is left of one that is not.
fn make_room(orange: &Orange, open: &mut Open, actor: Actor) -> Result<()> {
    let panes = orange.tmux.panes_of(&open.task().id)?;
    if let Some((number, record)) = live(open, &panes, actor) {
        let message = format!("agent {number} ({actor}) is still alive in window {}", record.window);
        return Err(Error::new(Kind::Refused, message)
            .help("`orange task attach` shows it; the workflow may want `kill_session` before the spawn"));
    }
    let gone: Vec<_> = of_actor(open, actor).map(|(number, _)| *number).collect();
    for number in gone {
        open.append(exited(number, "its pane is gone"), Set::new())?;
    }
    Ok(())
}

fn record(
    machine: &Machine<'_>,
    open: &Open,
    spawn: &orange_core::Spawn,
    counter: Option<&(String, u32)>,
) -> Spawn {
    let task = open.task();
    let session = task.owned.tmux_session.clone();
    let permissions = match spawn.permissions {
        Permissions::Full => "full",
        Permissions::Reduced => "reduced",
    };
    Spawn {
        spawn: open.log().last_spawn + 1,
        actor: spawn.actor().as_str().to_owned(),
        prompt: machine.prompt(spawn.prompt).name.to_owned(),
        harness: harness_of(task, spawn).to_owned(),
        session: session.unwrap_or_else(|| tmux::session_name(&task.project, &task.branch)),
        window: match spawn.actor() {
            Actor::Reviewer => format!("review-{}", counter_value(task, "review_round", counter)),
            Actor::Worker | Actor::Human | Actor::Engine => "worker".to_owned(),
        },
        permissions: permissions.to_owned(),
    }
}

fn prompt(
    machine: &Machine<'_>,
    task: &Task,
    spawn: &orange_core::Spawn,
    counter: Option<&(String, u32)>,
) -> String {
    let counters: Vec<_> =
        machine.counters.iter().map(|known| counter_value(task, known.name, counter)).collect();
    machine.prompt(spawn.prompt).render(&Values {
        summary: &task.summary,
        project: &task.project,
        branch: &task.branch,
        status: task.status(),
        id: &task.id,
        workflow: &task.owned.workflow,
        counters: &counters,
    })
}

fn counter_value(task: &Task, name: &str, raised: Option<&(String, u32)>) -> u32 {
    raised.filter(|(raised, _)| raised == name).map_or_else(|| task.counter(name), |(_, value)| *value)
}

fn harness_of<'t>(task: &'t Task, spawn: &orange_core::Spawn) -> &'t str {
    match spawn.harness {
        HarnessOf::Task => &task.harness,
        HarnessOf::Review => &task.review_harness,
    }
}

/// Has tmux start the wrapper, in a window of the task's session where there is one. Gives the session's name.
fn run_wrapper(orange: &Orange, task: &Task, record: &Spawn) -> Result<String> {
    let number = record.spawn.to_string();
    let folder = orange.home.workspace(task.owned.workspace.as_deref().unwrap_or_default());
    let mut env = orange.agent_env();
    env.push((caller::TASK, task.id.clone().into()));
    env.push((caller::ACTOR, record.actor.clone().into()));
    env.push((caller::SPAWN, number.clone().into()));
    let env: Vec<(&str, &OsStr)> = env.iter().map(|(name, value)| (*name, value.as_os_str())).collect();
    let args = ["agent", "run", "--task", &task.id, "--spawn", &number].map(OsString::from);
    let spawn = tmux::Spawn {
        session: &record.session,
        window: &record.window,
        task: &task.id,
        folder: &folder,
        env: &env,
        program: orange.program.as_os_str(),
        args: &args,
    };
    orange.tmux.kill_window(&task.id, &record.window)?;
    let has_session = !orange.tmux.panes_of(&task.id)?.is_empty();
    let pane = if has_session { orange.tmux.new_window(&spawn) } else { orange.tmux.new_session(&spawn) };
    pane.map(|pane| pane.session)
}

/// Another session has the name that was asked for.
fn moved(open: &mut Open, asked: &str, given: &str) -> Result<()> {
    let event = Event::TaskRepaired {
        field: "tmux_session".to_owned(),
        found: Some(asked.to_owned()),
        kept: Some(given.to_owned()),
    };
    open.append(event, Set::new().tmux_session(Some(given)))
}
