//! `max_attempts`: no more attempts than the plan says, unless a person wants more.

use super::cases::{MissionCase, check};
use crate::mission::*;
use crate::plan::*;

const LINE: &str = "cap=2; a; b<-a; c<-b; d<-c; e<-d";

fn paused() -> MissionCase {
    let mut case = MissionCase::that_pauses(LINE, Intervene::OnError);
    case.row("create done(a) done(b) | C C B B B | paused | 1 1 0 0 0");
    assert_eq!(case.mission.pause().map(|it| &it.reason), Some(&PauseReason::Cap(StepId(2))));
    case
}

/// F4, the first answer.
#[test]
fn continue_at_the_cap_grants_as_many_again() {
    let mut case = paused();
    case.row("continue | C C Q B B | running");
    case.row("done(c) done(d) | C C C C B | paused");
    case.row("continue done(e) | C C C C C | completed | 1 1 1 1 1");
}

/// F4, the second answer.
#[test]
fn accepting_the_cap_starts_nothing_any_more() {
    let mut case = paused();
    case.row("accept | C C F F F | failed | 1 1 0 0 0");
    let failures = [2, 3].map(|it| case.mission.steps[it].failure.clone());
    assert_eq!(failures, [Some(StepFailure::Cap), Some(StepFailure::Because(StepId(2)))]);
    let words = case.tables.with(|plan| case.mission.failure(plan, StepId(2)));
    assert_eq!(words, "c did not start: the mission has used its 2 attempts (`max_attempts`)");
}

/// F6: there is no attempt for the restart, and what a person tries again is beyond the cap.
#[test]
fn a_loss_at_the_cap_fails_the_step() {
    let mut case = MissionCase::that_pauses("cap=1; a on_fail=h; h", Intervene::OnError);
    case.row("create lost(a) | F B | paused | 1 0");
    assert_eq!(case.mission.pause().map(|it| &it.reason), Some(&PauseReason::Error(StepId(0))));
    assert_eq!(case.mission.steps[0].failure, Some(StepFailure::Cap));
    case.row("continue | Q B | running | 2 0");
    case.row("done(a) | C S | completed");
}

/// Case F8 of the design.
#[test]
fn without_pauses_the_cap_fails_the_mission() {
    let mut case = MissionCase::new("cap=2; a; b<-a; c<-b on_fail=h; h");
    case.row("create done(a) done(b) | C C F S | failed | 1 1 0 0");
    case.row("retry | C C Q B | running | 1 1 1 0");
    case.row("done(c) | C C C S | completed");
}

#[test]
fn a_handler_needs_an_attempt_too() {
    check("cap=1; a on_fail=h; h; b<-a", "create fail(a) | F F F | failed | 1 0 0");
    let mut case = MissionCase::that_pauses("cap=1; a on_fail=h; h; b<-a", Intervene::OnError);
    case.row("create fail(a) accept | F B B | paused | 1 0 0");
    case.row("continue | F Q B | running");
    case.row("done(h) | F C B | paused");
    case.row("accept | F C F | failed | 1 1 0");
}

#[test]
fn a_loop_ends_at_the_cap() {
    let plan = "cap=3; review; fix<-review if review.result=='FAIL' x9; pr<-review if review.result=='PASS'";
    check(plan, "create done(review,FAIL) done(fix) done(review,FAIL) | C F S | failed | 2 1 0");
}

#[test]
fn one_question_is_asked_for_all_that_wait() {
    let mut case = MissionCase::that_pauses("cap=1; a; b<-a; c<-a", Intervene::OnError);
    case.row("create done(a) | C B B | paused");
    assert_eq!(case.mission.questions.len(), 1);
    case.row("continue | C Q B | paused | 1 1 0");
    case.row("continue | C Q Q | running | 1 1 1");
}

#[test]
fn a_plan_without_a_cap_is_stored_as_before() {
    let case = MissionCase::new("a");
    assert_eq!(case.mission.cap, None);
}
