//! Loops that wait for each other: what a mission skips then, and when it undoes that.

use super::cases::{MissionCase, check};
use super::random::{self, Random};
use super::reference::MissionReference;
use crate::mission::*;
use crate::plan::*;

/// After `a` reports F, `s1` waits for `s6`, which may send `a` back, `s6` for `s3`, `s3` for `s2`, and `s2` for `s1`.
const TWO_LOOPS: &str = "a; s1<-a if a.result=='P'; s2<-a,s1 if a.result=='F' x3 requeue=a; \
                         s3<-a if a.result=='P'; s6<-s3 if a.result=='F' x2 requeue=a";

#[test]
fn the_first_step_that_waits_for_a_loop_alone_is_skipped() {
    check(TWO_LOOPS, "create done(a,F) | C S Q B B | running");
}

/// Two loops that wait for each other, with their steps in another order.
#[test]
fn the_order_in_which_steps_can_run_says_which_is_first() {
    check(
        "s2<-a,s1 if a.result=='F' x3 requeue=a; s6<-s3 if a.result=='F' x2 requeue=a; \
         s3<-a if a.result=='P'; s1<-a if a.result=='P'; a",
        "create done(a,F) | B Q S B C | running",
    );
}

#[test]
fn a_step_whose_dependency_is_open_is_not_skipped() {
    check(
        "a; s2<-a,s1 if a.result=='F' x3 requeue=a; s1<-a if a.result=='P'; \
         s6<-s3 if a.result=='F' x2 requeue=a; s3<-a if a.result=='P'",
        "create done(a,F) | C Q S B B | running",
    );
}

#[test]
fn nothing_is_skipped_while_a_step_can_run() {
    let plan = &[TWO_LOOPS, "; other<-a"].concat();
    check(
        plan,
        "create done(a,F) | C B B B B Q | running
         start(other)     | C B B B B R | running
         done(other)      | C S Q B B C | running",
    );
}

#[test]
fn nothing_is_skipped_while_a_question_is_open() {
    let plan = &[TWO_LOOPS, "; other<-a"].concat();
    let mut case = MissionCase::that_pauses(plan, Intervene::OnError);
    case.row("create done(a,F) fail(other) | C B B B B F | paused");
    case.row("accept                       | C S Q B B F | running");
}

#[test]
fn after_a_skip_everything_is_decided_again() {
    // With `s2` gone, `s3` waits for nothing: it is skipped because its condition cannot come to hold.
    check(TWO_LOOPS, "create done(a,F) fail(s2) | C S F S Q | running");
}

#[test]
fn a_loop_step_beside_it_undoes_the_skip() {
    check(
        TWO_LOOPS,
        "create done(a,F) fail(s2) | C S F S Q | running
         done(s6,P)                | Q B B B B | running
         done(a,P)                 | C Q B Q B | running",
    );
}

#[test]
fn a_loop_step_that_waits_for_it_undoes_the_skip() {
    check(
        TWO_LOOPS,
        "create done(a,F) | C S Q B B | running
         done(s2,P)       | Q B B B B | running
         done(a,P)        | C Q B Q B | running",
    );
}

/// `x` is skipped where the loop has no round left; a person grants one.
#[test]
fn a_granted_round_undoes_a_skip() {
    let plan = "a; x<-a if a.result=='P'; fix<-a if a.result=='F' x1";
    let mut case = MissionCase::that_pauses(plan, Intervene::OnError);
    case.row("create done(a,F) done(fix) done(a,F) | C S F | paused");
    case.row("continue                             | C S Q | running");
    case.row("done(fix)                            | Q B B | running");
    case.row("done(a,P)                            | C Q S | running");
}

#[test]
fn without_loops_no_step_waits_for_ever() {
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let mut tables = random::tables(&mut random);
        for row in &mut tables.0 {
            (row.max_retries, row.requeue) = (0, alloc::vec::Vec::new());
        }
        let policy = random::policy(&mut random);
        tables.with(|plan| {
            let mut mission = Mission::new(plan, policy);
            let mut reference = MissionReference::new(plan, policy, Inputs::new());
            for _ in 0..60 {
                let event = random::event(&mut random, plan, &mission, &[]);
                let _ = reference.apply(&event);
                let _ = mission.apply(plan, event);
            }
            assert_eq!(reference.standoffs, [], "seed {seed}");
        });
    }
}
