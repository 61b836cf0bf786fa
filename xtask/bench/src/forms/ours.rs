//! Ours, twice: the generated, typed function, and the tables of the engine.

use orange_core::{NotOpen, Rejection, TransitionId};
use orange_macros::workflow;

use super::ResolveQuestion;

workflow!("../../workflows/default.yml");

use default::{Counters, MACHINE, State, Transition};

/// The question in the typed function's types; the tables take the numbers.
pub fn ask((from, to, round): ResolveQuestion) -> (State, State, u32) {
    (State::ALL[usize::from(from)], State::ALL[usize::from(to)], round)
}

/// The answer of the generated function.
#[inline(never)]
pub fn resolve((from, to, review_round): (State, State, u32)) -> Result<&'static [Transition], NotOpen<State>> {
    default::resolve(from, to, &Counters { review_round, ..Counters::START })
}

/// The answer of the tables: the first that is open.
#[inline(never)]
pub fn look_up((from, to, review_round): (State, State, u32)) -> Result<Option<TransitionId>, Rejection> {
    MACHINE.resolve(from.id(), to.id(), &[review_round, 0]).map(|mut open| open.next())
}
