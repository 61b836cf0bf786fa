//! From a decision to the journal: what is about to happen, and the new status.

use orange_core::{CRASH_COUNT, Cause, Decision, Machine};

use crate::Result;
use crate::store::event::{CounterValue, Pass, PlannedHook, Transition};
use crate::store::scalar::Value;
use crate::store::{Event, Open, Set};

/// What is told beside the transition itself.
#[derive(Clone, Debug)]
pub enum Occasion {
    /// Somebody asked.
    Asked,
    /// An agent ended, and an exit rule says where to go.
    Advanced {
        /// Why.
        reason: String,
    },
    /// An agent crashed once too often.
    Crashed {
        /// Which one.
        spawn: Option<u32>,
        /// The new `crash_count`.
        count: u32,
        /// Why it counts as a crash.
        reason: String,
    },
}

/// Journals the decision and writes the new status: from here on the transition will be finished, by whomever.
///
/// # Errors
/// Those of writing; nothing has happened then.
pub fn begin(
    machine: &Machine<'_>,
    open: &mut Open,
    decision: &Decision<'_>,
    occasion: Occasion,
) -> Result<()> {
    let (from, to) = (machine.state(decision.from).name, machine.state(decision.to).name);
    let mut events = Vec::new();
    match occasion {
        Occasion::Asked => {}
        Occasion::Advanced { reason } => {
            events.push((Event::AutoAdvanced { from: from.into(), to: to.into(), reason }, Set::new()));
        }
        Occasion::Crashed { spawn, count, reason } => {
            events.push(crashed(machine, from, spawn, count, reason));
        }
    }
    let started = Event::TransitionStarted(plan(machine, decision));
    events.push((started, Set::new().status(to)));
    open.append_many(events)?;
    // What a person should have looked at was about the state that the task leaves.
    if open.task().attention.is_some() { open.edit(&[("attention", Value::Null)]) } else { Ok(()) }
}

/// The event of a crash, with the new count.
pub fn crashed(
    machine: &Machine<'_>,
    status: &str,
    spawn: Option<u32>,
    count: u32,
    reason: String,
) -> (Event, Set) {
    let event = Event::AgentCrashed { spawn, status: status.to_owned(), crash_count: count, reason };
    (event, Set::new().counter(machine.counter(CRASH_COUNT).name, count))
}

fn plan(machine: &Machine<'_>, decision: &Decision<'_>) -> Transition {
    let (cause, actor) = match decision.cause {
        Cause::Request(actor) => ("request", actor.as_str()),
        Cause::Exit => ("auto", "engine"),
        Cause::Escalation => (ESCALATION, "engine"),
    };
    let hook = |(index, effect): (usize, &orange_core::Effect<'_>)| PlannedHook {
        name: effect.hook.name().to_owned(),
        index,
        counter: effect
            .counter
            .map(|(id, value)| CounterValue { name: machine.counter(id).name.to_owned(), value }),
    };
    Transition {
        from: machine.state(decision.from).name.to_owned(),
        to: machine.state(decision.to).name.to_owned(),
        transition: Some(decision.transition.0 as usize),
        cause: cause.to_owned(),
        actor: actor.to_owned(),
        hooks: decision.effects.iter().enumerate().map(hook).collect(),
        gate: decision.seen.map(|seen| Pass {
            section: seen.section.to_owned(),
            hash: format!("{:016x}", seen.fingerprint),
        }),
    }
}

/// The cause of an escalation, which alone keeps `crash_count`.
pub const ESCALATION: &str = "escalation";
