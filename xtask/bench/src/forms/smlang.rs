//! The workflow with smlang, whose guards read a context.

use smlang::statemachine;

use super::ResolveQuestion;

statemachine! {
    derive_states: [Clone, Copy, Debug],
    derive_events: [Clone, Copy, Debug],
    transitions: {
        *Pending + ToWorking = Working,
        Pending + ToClarification = Clarification,
        Pending + ToCancelled = Cancelled,
        Clarification + ToWorking = Working,
        Clarification + ToCancelled = Cancelled,
        Working + ToAgentReview = AgentReview,
        Working + ToClarification = Clarification,
        Working + ToStuck = Stuck,
        Working + ToCancelled = Cancelled,
        AgentReview + ToReviewing = Reviewing,
        AgentReview + ToWorking [below_two] = Working,
        AgentReview + ToStuck [two_or_more] = Stuck,
        AgentReview + ToCancelled = Cancelled,
        Reviewing + ToDone = Done,
        Reviewing + ToCancelled = Cancelled,
        Stuck + ToWorking = Working,
        Stuck + ToAgentReview = AgentReview,
        Stuck + ToCancelled = Cancelled,
    }
}

/// The context of the guards.
pub struct Round(u32);

impl StateMachineContext for Round {
    fn below_two(&self) -> Result<bool, ()> {
        Ok(self.0 < 2)
    }

    fn two_or_more(&self) -> Result<bool, ()> {
        Ok(self.0 >= 2)
    }
}

/// The question in this form's own types.
pub fn ask((from, to, round): ResolveQuestion) -> (States, Events, u32) {
    use {Events::*, States::*};
    let states = [Pending, Clarification, Working, AgentReview, Reviewing, Stuck, Done, Cancelled];
    let events = [ToClarification, ToWorking, ToAgentReview, ToReviewing, ToStuck, ToDone, ToCancelled];
    (states[usize::from(from)], events[usize::from(to - 1)], round)
}

/// The answer.
#[inline(never)]
pub fn fires((from, to, round): (States, Events, u32)) -> bool {
    StateMachine::new_with_state(Round(round), from).process_event(to).is_ok()
}
