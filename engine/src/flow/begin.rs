//! From a decision to the journal: what is about to happen, and the new status.

use orange_core::{Cause, Decision, Effect, Machine, Seen};

use crate::Result;
use crate::drive::git;
use crate::hooks::workspace::Room;
use crate::store::event::{CounterValue, Pass, PlannedHook, Transition};
use crate::store::{Event, LockedTask, Set};

/// The cause of an escalation, which alone keeps `crash_count`.
pub const ESCALATION: &str = "escalation";

/// Journals the decision and writes the new status: from here on the transition will be finished, by whomever. What led to
/// it is journaled in the same write, and so is there if and only if the transition is; the room in the pool that was
/// found for it is taken.
///
/// # Errors
/// Those of writing. When the journal could be written the transition is begun, and the next command finishes it.
pub fn begin(
    machine: &Machine<'_>,
    locked: &mut LockedTask,
    decision: &Decision<'_>,
    led_to_it: Vec<(Event, Set)>,
    room: Option<Room>,
) -> Result<()> {
    let started = Event::TransitionStarted(plan(machine, locked, decision));
    let mut events = led_to_it;
    events.push((started, Set::new().status(machine.state(decision.to).name)));
    locked.append_many(events)?;
    room.map_or(Ok(()), Room::take)?;
    // What a person should have looked at was about the state that the task leaves.
    locked.clear_attention()
}

fn plan(machine: &Machine<'_>, locked: &LockedTask, decision: &Decision<'_>) -> Transition {
    let (cause, actor) = match decision.cause {
        Cause::Request(actor) => ("request", actor.as_str()),
        Cause::Exit => ("auto", "engine"),
        Cause::Escalation => (ESCALATION, "engine"),
    };
    let hook = |(index, effect): (usize, &Effect<'_>)| PlannedHook {
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
        gate: decision.seen.map(|seen| pass(locked, seen)),
        stood: decision.entered.iter().copied().map(Pass::of).collect(),
    }
}

fn pass(locked: &LockedTask, seen: Seen<'_>) -> Pass {
    // The gate was passed by what is written. A worktree that cannot say where it stands is no reason to refuse.
    let commit = locked.worktree().and_then(|worktree| git::stands_on(&worktree).unwrap_or_default());
    Pass { commit, ..Pass::of(seen) }
}
