//! The workflow with rust-fsm, which has no guards: the caller makes the round a part of the input.

use rust_fsm::{StateMachineImpl, state_machine};

use super::ResolveQuestion;

state_machine! {
    #[derive(Clone, Copy)]
    pub workflow(Pending)

    Pending => {
        ToWorkingEarly => Working,
        ToWorkingLate => Working,
        ToClarification => Clarification,
        ToCancelled => Cancelled,
    },
    Clarification => {
        ToWorkingEarly => Working,
        ToWorkingLate => Working,
        ToCancelled => Cancelled,
    },
    Working => {
        ToAgentReview => AgentReview,
        ToClarification => Clarification,
        ToStuckEarly => Stuck,
        ToStuckLate => Stuck,
        ToCancelled => Cancelled,
    },
    AgentReview => {
        ToReviewing => Reviewing,
        ToWorkingEarly => Working,
        ToStuckLate => Stuck,
        ToCancelled => Cancelled,
    },
    Reviewing => {
        ToDone => Done,
        ToCancelled => Cancelled,
    },
    Stuck => {
        ToWorkingEarly => Working,
        ToWorkingLate => Working,
        ToAgentReview => AgentReview,
        ToCancelled => Cancelled,
    }
}

pub use workflow::{Input, State};

/// The question in this form's own types.
pub fn ask((from, to, round): ResolveQuestion) -> (State, u8, u32) {
    use State::*;
    let states = [Pending, Clarification, Working, AgentReview, Reviewing, Stuck, Done, Cancelled];
    (states[usize::from(from)], to, round)
}

/// The answer, including the choice of the input, which replaces the guard.
#[inline(never)]
pub fn fires((from, to, round): (State, u8, u32)) -> bool {
    let input = match (to, round) {
        (1, _) => Input::ToClarification,
        (2, ..2) => Input::ToWorkingEarly,
        (2, _) => Input::ToWorkingLate,
        (3, _) => Input::ToAgentReview,
        (4, _) => Input::ToReviewing,
        (5, ..2) => Input::ToStuckEarly,
        (5, _) => Input::ToStuckLate,
        (6, _) => Input::ToDone,
        _ => Input::ToCancelled,
    };
    workflow::Impl::transition(&from, &input).is_some()
}
