//! Ends a task's agents for a person, and restarts one that hangs. The task stays in its state.
//!
//! The intent is journaled first: `agent.stopped`, after which no exit rule judges the ends of these agents, and for a restart
//! `agent.waiting` in the same write. After a kill, the next process goes on from there.

use orange_core::Actor;

use crate::app::App;
use crate::flow::person::respawn;
use crate::flow::snapshot::status_of;
use crate::flow::{TaskPreview, lock_recovered};
use crate::hooks::agents::{self, Occasion};
use crate::store::event::{self, Waiting};
use crate::store::{Event, Set, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_system::{clock, fault, process};

/// Ends the agents of a task, and cancels the next start. Returns their numbers; none if the task is already stopped.
pub fn stop(app: &App, dir: &WorkItemDir) -> Result<Vec<u32>> {
    app.caller.check_person("stop a task's agents")?;
    process::check()?;
    let mut locked = lock_recovered(app, dir)?;
    let spawns = to_end(app, locked.task(), locked.history())?;
    if spawns.is_empty() && locked.history().agents.waiting.is_none() {
        return Ok(spawns);
    }
    locked.append(stopped(&spawns), Set::new().stopped_at(Some(&clock::now())))?;
    agents::end_stopped(app, &mut locked)?;
    Ok(spawns)
}

/// The numbers of the agents that a stop would end.
///
/// # Errors
/// Those of the stop.
pub fn would_stop(app: &App, dir: &WorkItemDir) -> Result<Vec<u32>> {
    app.caller.check_person("stop a task's agents")?;
    let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
    to_end(app, &task, &history)
}

/// The agents of a task; none if it is already stopped.
fn to_end(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Vec<u32>> {
    let spawns: Vec<u32> = history.agents.alive.keys().copied().collect();
    let is_idle = spawns.is_empty() && history.agents.waiting.is_none() && history.owned.stopped_at.is_none();
    if is_idle { Err(nobody(app, task, history)) } else { Ok(spawns) }
}

/// Ends the agents of a task's state that are alive, and starts them again, `afresh` with new conversations; of several reviewers,
/// those that have not judged. Returns the records of their starts. An agent that cannot be started again is not ended.
pub fn restart(app: &App, dir: &WorkItemDir, afresh: bool) -> Result<Vec<event::Spawn>> {
    app.caller.check_person("restart a task's agent")?;
    process::check()?;
    let mut locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    respawn::restartable(app, machine, locked.task(), locked.history())?;
    let agent = machine.state(status_of(machine, locked.task())?).agent;
    let history = locked.history();
    let of_state = history.agents.alive.values().filter(|record| record.actor.known() == Some(agent));
    let spawns: Vec<u32> = of_state.map(|record| record.spawn).collect();
    locked.clear_attention()?;
    if let Some(last) = spawns.last() {
        let waiting = Waiting {
            spawn: *last,
            until: clock::rfc3339(fault::now()),
            after: 0,
            reason: "restarted by a person".to_owned(),
        };
        let set = Set::new().waiting_until(Some(&waiting.until));
        locked.append_many(vec![stopped(&spawns).into(), (Event::AgentWaiting(waiting), set)])?;
    }
    let occasion = if afresh { Occasion::Afresh } else { Occasion::Respawn };
    respawn::again(app, machine, &mut locked, occasion.into())
}

/// Completes a stop that was killed. Returns what was done, in words; `None` if nothing was left to do.
pub fn go_on(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let mut locked = lock_recovered(app, dir)?;
    if locked.history().agents.stopped.is_empty() {
        return Ok(None);
    }
    let spawns: Vec<String> = locked.history().agents.stopped.iter().map(u32::to_string).collect();
    let why = if locked.history().budget.holds { "for its budget" } else { "which a person has stopped" };
    agents::end_stopped(app, &mut locked)?;
    Ok(Some(format!("ended agent {}, {why}", spawns.join(", "))))
}

fn stopped(spawns: &[u32]) -> Event {
    Event::AgentStopped { spawns: spawns.to_vec(), actor: Actor::Human.into() }
}

fn nobody(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Error {
    let id = &task.id;
    let machine = app.machine_of(&task.owned);
    let restarts = machine.and_then(|machine| respawn::restartable(app, machine, task, history)).is_ok();
    let restart =
        if restarts { format!("`orange task restart {id}` starts its agent again; ") } else { String::new() };
    Error::new(ErrorKind::Refused, "the task has no agent that is alive or waited for")
        .help(format!("{restart}`orange task next {id}` shows where it can go from here"))
}
