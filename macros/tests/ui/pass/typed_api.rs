//! The API on which a program may rely: matches without wildcards, decisions in constants, names that say what is wrong.
#![deny(warnings, clippy::all)]

orange_macros::workflow!("fixtures/seed-default.yml");
orange_macros::workflow! { path: "fixtures/seed-minimal.yml", name: small }

use default::{Counters, EXIT_RULES, MACHINE, State, Transition, exit, resolve};

const FIRST_ROUND: Counters = Counters { review_round: 1, ..Counters::START };
const FIX: Transition = match resolve(State::AgentReview, State::Working, &FIRST_ROUND) {
    Ok([transition]) => *transition,
    Ok(_) | Err(_) => panic!("a failed review leads back to work"),
};
const DEAD: orange_core::Exit = exit(State::Reviewing, &[false; EXIT_RULES], &Counters::START);

const fn waits(state: State) -> bool {
    match state {
        State::Clarification | State::Reviewing | State::Stuck => true,
        State::Pending | State::Working | State::AgentReview | State::Done | State::Cancelled => false,
    }
}

fn main() {
    assert_eq!(FIX, Transition::AgentReviewToWorking);
    assert_eq!((FIX.from(), FIX.to()), (State::AgentReview, State::Working));
    assert_eq!(DEAD, orange_core::Exit::MarkDead);
    assert_eq!(State::ALL.into_iter().filter(|state| waits(*state)).count(), 3);

    let too_often = Counters { review_round: 2, ..Counters::default() };
    let refused = resolve(State::AgentReview, State::Working, &too_often);
    assert!(matches!(refused, Err(orange_core::NotOpen::GuardFailed { .. })));
    let illegal = resolve(State::Done, State::Working, &too_often);
    let illegal = illegal.unwrap_err();
    assert_eq!(illegal.to_string(), "no transition leads from done to working");
    assert_eq!(format!("{illegal:?}"), "NoTransition { from: Done, to: Working }");
    let rejection = orange_core::Rejection::NoTransition { from: State::Done.id(), to: State::Working.id() };
    assert_eq!(illegal.rejection(State::id), rejection);

    assert_eq!("agent-review".parse(), Ok(State::AgentReview));
    assert_eq!(State::try_from("stuck"), Ok(State::Stuck));
    assert_eq!(format!("{:>8}|", State::Done), "    done|");
    assert_eq!("working -> stuck".parse(), Ok(Transition::WorkingToStuck));
    let unknown = "wroking".parse::<small::State>().unwrap_err();
    assert_eq!(unknown.to_string(), format!("no state `wroking`; there is: {}", small::State::NAMES.join(", ")));

    assert_eq!(MACHINE.state(State::Working.id()).name, "working");
    assert_eq!(State::from_id(MACHINE.initial), Some(State::Pending));
    assert_eq!(default::NAME, MACHINE.name);
}
