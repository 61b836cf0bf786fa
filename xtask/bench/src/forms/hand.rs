//! A match by hand, as without a compiler for workflows.

use super::ResolveQuestion;

/// The states.
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
pub fn ask((from, to, round): ResolveQuestion) -> (State, State, u32) {
    (STATES[usize::from(from)], STATES[usize::from(to)], round)
}

/// The transition that fires.
#[derive(Clone, Copy)]
pub enum Transition {
    PendingToWorking,
    PendingToClarification,
    PendingToCancelled,
    ClarificationToWorking,
    ClarificationToCancelled,
    WorkingToAgentReview,
    WorkingToClarification,
    WorkingToStuck,
    WorkingToCancelled,
    AgentReviewToReviewing,
    AgentReviewToWorking,
    AgentReviewToStuck,
    AgentReviewToCancelled,
    ReviewingToDone,
    ReviewingToCancelled,
    StuckToWorking,
    StuckToAgentReview,
    StuckToCancelled,
}

/// Reason for which none fires.
#[derive(Clone, Copy)]
#[expect(dead_code, reason = "an engine reads the states; the measurement only distinguishes the variants")]
pub enum Refusal {
    NoTransition(State, State),
    GuardFailed(State, State),
}

/// True if a transition fires.
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

/// The transition that fires, or why none does: all that an engine needs.
#[inline(never)]
pub fn resolve((from, to, round): (State, State, u32)) -> Result<Transition, Refusal> {
    use Transition::*;
    match (from, to) {
        (Pending, Working) => Ok(PendingToWorking),
        (Pending, Clarification) => Ok(PendingToClarification),
        (Pending, Cancelled) => Ok(PendingToCancelled),
        (Clarification, Working) => Ok(ClarificationToWorking),
        (Clarification, Cancelled) => Ok(ClarificationToCancelled),
        (Working, AgentReview) => Ok(WorkingToAgentReview),
        (Working, Clarification) => Ok(WorkingToClarification),
        (Working, Stuck) => Ok(WorkingToStuck),
        (Working, Cancelled) => Ok(WorkingToCancelled),
        (AgentReview, Reviewing) => Ok(AgentReviewToReviewing),
        (AgentReview, Working) if round < 2 => Ok(AgentReviewToWorking),
        (AgentReview, Stuck) if round >= 2 => Ok(AgentReviewToStuck),
        (AgentReview, Working | Stuck) => Err(Refusal::GuardFailed(from, to)),
        (AgentReview, Cancelled) => Ok(AgentReviewToCancelled),
        (Reviewing, Done) => Ok(ReviewingToDone),
        (Reviewing, Cancelled) => Ok(ReviewingToCancelled),
        (Stuck, Working) => Ok(StuckToWorking),
        (Stuck, AgentReview) => Ok(StuckToAgentReview),
        (Stuck, Cancelled) => Ok(StuckToCancelled),
        _ => Err(Refusal::NoTransition(from, to)),
    }
}
