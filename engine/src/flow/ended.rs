//! After an agent has ended: its end on record, then what the exit rules say.

use orange_core::{Actor, ExitDecision, Machine};

use crate::Result;
use crate::flow::begin::{Occasion, begin, crashed};
use crate::flow::finish::{Afterwards, attend, finish, settled};
use crate::flow::{Snapshot, respawn};
use crate::hooks;
use crate::orange::Orange;
use crate::store::{Event, Open, Set, TaskDir};

/// How an agent ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The number of its spawn.
    pub spawn: u32,
    /// Its exit status, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How it is known.
    pub reason: String,
}

/// Records an agent's end and applies the exit rules of the state that the task is in. What came of it, in words.
/// An agent whose end is on record already changes nothing, so it does no harm to be told twice.
///
/// # Errors
/// Those of the store, and of what the exit rules lead to.
pub fn ended(orange: &Orange, dir: &TaskDir, end: &End) -> Result<String> {
    let mut open = settled(orange, dir)?;
    let Some(record) = open.log().agents.get(&end.spawn).cloned() else {
        return Ok(format!("agent {} has been replaced or is on record as ended", end.spawn));
    };
    let End { spawn, code, signal, reason } = end.clone();
    open.append(Event::AgentExited { spawn, code, signal, reason }, Set::new())?;
    let actor = Actor::from_name(&record.actor).unwrap_or(Actor::Worker);
    let mut afterwards = Vec::new();
    let story = judge(orange, &mut open, actor, spawn, &mut afterwards);
    drop(open);
    for afterward in afterwards {
        afterward.act(orange)?;
    }
    story
}

/// An exit rule may lead to a state whose agent should be alive and is not, since it is the one that has just ended; so
/// the rules are asked again there, at most once for every state.
fn judge(
    orange: &Orange,
    open: &mut Open,
    actor: Actor,
    spawn: u32,
    afterwards: &mut Vec<Afterwards>,
) -> Result<String> {
    let machine = orange.machine_of(open.task())?;
    let mut story = Vec::new();
    for _ in machine.states {
        let before = open.task().status().to_owned();
        story.push(judge_once(orange, machine, open, actor, spawn, afterwards)?);
        let session_left = open.task().owned.tmux_session.is_some() && open.log().agents.is_empty();
        if open.task().status() == before || !session_left {
            break;
        }
    }
    Ok(story.join("; "))
}

fn judge_once(
    orange: &Orange,
    machine: &'static Machine<'static>,
    open: &mut Open,
    actor: Actor,
    spawn: u32,
    afterwards: &mut Vec<Afterwards>,
) -> Result<String> {
    let decision = {
        let snapshot = Snapshot::of(machine, open.task(), open.log())?;
        let state = machine.state(snapshot.view().status);
        if state.agent != actor {
            let reason = format!("the {actor} ended while the task was in {}", state.name);
            return attend(open, &reason).map(|()| reason);
        }
        machine.decide_exit(&snapshot.view())
    };
    let reason = decision.reason();
    match decision {
        ExitDecision::Advance(decision) => {
            if let Err(error) = hooks::preflight(orange, open.task(), &decision.effects) {
                attend(open, &format!("{reason}, but the way on is blocked: {}", error.message))?;
                return Err(error);
            }
            begin(machine, open, &decision, Occasion::Advanced { reason })?;
            afterwards.extend(finish(orange, open)?);
            Ok(format!("advanced to {}", open.task().status()))
        }
        ExitDecision::Crash { count, respawn: again, reason } => {
            let status = open.task().status().to_owned();
            let (event, set) = crashed(machine, &status, Some(spawn), count, reason.clone());
            open.append(event, set)?;
            attend(open, &format!("crash {count} in {status}: {reason}"))?;
            if again {
                let number = respawn::again(orange, machine, open)?;
                return Ok(format!("crash {count} in {status}; started again as agent {number}"));
            }
            Ok(format!("crash {count} in {status}: {reason}"))
        }
        ExitDecision::Escalate { count, decision, reason } => {
            let crashed = Occasion::Crashed { spawn: Some(spawn), count, reason: reason.clone() };
            begin(machine, open, &decision, crashed)?;
            afterwards.extend(finish(orange, open)?);
            let story = format!("escalated to {} after {count} crashes: {reason}", open.task().status());
            attend(open, &story)?;
            Ok(story)
        }
        ExitDecision::MarkDead { reason } => {
            attend(open, &reason)?;
            Ok(reason)
        }
    }
}
