//! The match that somebody would write who has no compiler for workflows.

use super::Question;

/// Where a task can be.
#[derive(Clone, Copy)]
pub enum State {
    Pending,
    Clarification,
    Working,
    AgentReview,
    Reviewing,
    Stuck,
    Done,
    Cancelled,
}

pub use State::*;

const STATES: [State; 8] = [Pending, Clarification, Working, AgentReview, Reviewing, Stuck, Done, Cancelled];

/// The question in this form's own types.
pub fn ask((from, to, round): Question) -> (State, State, u32) {
    (STATES[usize::from(from)], STATES[usize::from(to)], round)
}

#[inline(never)]
pub fn fires((from, to, round): (State, State, u32)) -> bool {
    match (from, to) {
        (Pending, Working | Clarification | Cancelled) => true,
        (Clarification, Working | Cancelled) => true,
        (Working, AgentReview | Clarification | Stuck | Cancelled) => true,
        (AgentReview, Reviewing | Cancelled) => true,
        (AgentReview, Working) => round < 2,
        (AgentReview, Stuck) => round >= 2,
        (Reviewing, Done | Cancelled) => true,
        (Stuck, Working | AgentReview | Cancelled) => true,
        _ => false,
    }
}
