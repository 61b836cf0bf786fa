//! The workflow with statig: one handler for each state, called without the machine.

use statig::blocking;
use statig::prelude::{Outcome, Outcome::*, state_machine};

use super::ResolveQuestion;

/// The target state.
#[derive(Clone, Copy)]
pub enum Event {
    Clarification,
    Working,
    AgentReview,
    Reviewing,
    Stuck,
    Done,
    Cancelled,
}

/// The context of the handlers.
pub struct Task {
    round: u32,
}

#[state_machine(initial = "State::pending()", state(derive(Clone, Copy)))]
impl Task {
    #[state]
    fn pending(event: &Event) -> Outcome<State> {
        match event {
            Event::Working => Transition(State::working()),
            Event::Clarification => Transition(State::clarification()),
            Event::Cancelled => Transition(State::cancelled()),
            _ => Super,
        }
    }

    #[state]
    fn clarification(event: &Event) -> Outcome<State> {
        match event {
            Event::Working => Transition(State::working()),
            Event::Cancelled => Transition(State::cancelled()),
            _ => Super,
        }
    }

    #[state]
    fn working(event: &Event) -> Outcome<State> {
        match event {
            Event::AgentReview => Transition(State::agent_review()),
            Event::Clarification => Transition(State::clarification()),
            Event::Stuck => Transition(State::stuck()),
            Event::Cancelled => Transition(State::cancelled()),
            _ => Super,
        }
    }

    #[state]
    fn agent_review(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Reviewing => Transition(State::reviewing()),
            Event::Working if self.round < 2 => Transition(State::working()),
            Event::Stuck if self.round >= 2 => Transition(State::stuck()),
            Event::Cancelled => Transition(State::cancelled()),
            _ => Super,
        }
    }

    #[state]
    fn reviewing(event: &Event) -> Outcome<State> {
        match event {
            Event::Done => Transition(State::done()),
            Event::Cancelled => Transition(State::cancelled()),
            _ => Super,
        }
    }

    #[state]
    fn stuck(event: &Event) -> Outcome<State> {
        match event {
            Event::Working => Transition(State::working()),
            Event::AgentReview => Transition(State::agent_review()),
            Event::Cancelled => Transition(State::cancelled()),
            _ => Super,
        }
    }

    #[state]
    fn done() -> Outcome<State> {
        Super
    }

    #[state]
    fn cancelled() -> Outcome<State> {
        Super
    }
}

/// The question in this form's own types.
pub fn ask((from, to, round): ResolveQuestion) -> (State, Event, u32) {
    let states = [
        State::pending(),
        State::clarification(),
        State::working(),
        State::agent_review(),
        State::reviewing(),
        State::stuck(),
        State::done(),
        State::cancelled(),
    ];
    use Event::*;
    let events = [Clarification, Working, AgentReview, Reviewing, Stuck, Done, Cancelled];
    (states[usize::from(from)], events[usize::from(to - 1)], round)
}

/// The answer.
#[inline(never)]
pub fn fires((mut from, to, round): (State, Event, u32)) -> bool {
    matches!(blocking::State::call_handler(&mut from, &mut Task { round }, &to, &mut ()), Transition(_))
}
