//! Fan-outs: an item for each element of a list, with attempts of its own.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::cases::{MissionCase, check};
use crate::mission::*;
use crate::plan::*;

const PLAN: &str = "p lists; f<-p each=p r; z<-f";

impl MissionCase {
    /// The context of a step.
    fn context(&self, step: u16) -> String {
        self.tables.with(|plan| self.mission.context(plan, StepId(step)))
    }

    fn failure(&self, step: u16) -> Option<StepFailure> {
        self.mission.step(StepId(step)).failure.clone()
    }
}

/// B1
#[test]
fn every_element_is_an_item_with_its_own_attempts() {
    let mut case = MissionCase::new(PLAN);
    case.row("create done(p,,,x+y+z) | C Q B | running | 1 3 0 | QQQ");
    let texts: Vec<_> = (0..5).map(|it| case.mission.item(StepId(1), it)).collect();
    assert_eq!(texts, [None, Some("x"), Some("y"), Some("z"), None]);
    case.row("start(f#1) start(f#2) start(f#3) done(f#2,,B) done(f#1,,A) | C R B | running | 1 3 0 | CCR");
    assert_eq!(case.mission.working().collect::<Vec<_>>(), [(StepId(1), 3)]);
    case.row("=done(f#1,,A) !done(f#1,,other) !start(f#1) !done(f#4)");
    case.row("done(f#3,,C) | C C Q | running | 1 3 1 | CCC");
    assert_eq!(case.context(2), "## f\n### x\nA\n\n### y\nB\n\n### z\nC\n");
    let reports: Vec<&str> =
        case.mission.items(StepId(1)).filter_map(|it| Some(it.report?.summary.as_str())).collect();
    assert_eq!(reports, ["A", "B", "C"]);
}

/// B3
#[test]
fn an_empty_list_skips_the_step() {
    check(PLAN, "create done(p,,,) | C S Q\n done(z) | C S C | completed | 1 0 1");
}

/// B5
#[test]
fn enough_items_complete_the_step() {
    let plan = "p lists; f<-p each=p r enough=2; z<-f";
    let mut case = MissionCase::new(plan);
    case.row(
        "create done(p,,,x+y+z) done(f#1,,A) fail(f#2,red) done(f#3,,C) | C C Q | running | 1 3 1 | CFC",
    );
    assert_eq!(case.context(2), "## f\n### x\nA\n\n### y\nIt failed: red\n\n### z\nC\n");
    let mut case = MissionCase::new(plan);
    case.row("create done(p,,,x+y+z) fail(f#1) fail(f#2) | C Q B | running | 1 3 0 | FFQ");
    case.row("done(f#3) | C F F | failed | 1 3 0 | FFC");
    assert_eq!(case.failure(1), Some(StepFailure::Items { failed: 2, of: 3 }));
    let words = case.tables.with(|plan| case.mission.failure(plan, StepId(1)));
    assert_eq!(words, "f failed: 2 of its 3 items failed");
    // Of a shorter list, all.
    check(plan, "create done(p,,,x) done(f#1) | C C Q");
}

/// B7
#[test]
fn a_fan_out_pauses_once_and_runs_failed_items_again() {
    let mut case = MissionCase::that_pauses(PLAN, Intervene::OnError);
    case.row("create done(p,,,x+y) start(f#1) start(f#2) fail(f#1) | C R B | running | 1 2 0 | FR");
    case.row("done(f#2,,B) | C F B | paused | 1 2 0 | FC");
    assert_eq!(case.mission.questions.len(), 1);
    case.row("continue | C Q B | running | 1 3 0 | QC");
    case.row("!done(f#1) !done(f#2,,other) done(f#3,,A) | C C Q | running | 1 3 1 | CC");
    assert_eq!(case.context(2), "## f\n### x\nA\n\n### y\nB\n");
}

#[test]
fn a_retry_runs_failed_items_only() {
    let mut case = MissionCase::new(PLAN);
    case.row("create done(p,,,x+y) done(f#1) fail(f#2) | C F F | failed | 1 2 0 | CF");
    case.row("retry | C Q B | running | 1 3 0 | CQ");
    case.row("done(f#3) done(z) | C C C | completed | 1 3 1");
}

#[test]
fn a_retry_of_an_earlier_step_keeps_the_list() {
    let mut case = MissionCase::new("p lists; q r; f<-q,p each=p r");
    case.row("create start(q) done(p,,,x+y) done(q) done(f#1) fail(f#2) | C C F | failed");
    case.row("retry(f) | C C Q | running | 1 1 3 | CQ");
}

/// B9
#[test]
fn losses_are_counted_by_item() {
    let mut case = MissionCase::new(PLAN);
    case.row("create done(p,,,x+y) lost(f#1) lost(f#2) | C Q B | running | 1 4 0 | QQ");
    case.row("lost(f#3) | C Q B | running | 1 4 0 | FQ");
    case.row("done(f#4) | C F F | failed | 1 4 0 | FC");
    let failures: Vec<_> = case.mission.items(StepId(1)).map(|it| it.failure.cloned()).collect();
    assert_eq!(failures, [Some(StepFailure::Stuck(2)), None]);
}

/// B11
#[test]
fn a_list_is_read_again_after_it_was_sent_back() {
    let mut case = MissionCase::new("p lists; f<-p each=p r; l<-p r x1 requeue=p");
    case.row("create done(p,,,x+y+z) start(f#1) start(f#2) start(l)");
    let done = Event::Complete { step: StepId(2), attempt: 1, report: Report::default() };
    let end = |attempt| Effect::EndAgent { step: StepId(1), attempt };
    let start = Effect::Start { step: StepId(0), attempt: 2 };
    assert_eq!(case.apply(done), Ok(Vec::from([end(1), end(2), start])));
    case.row("!done(f#1) !done(f#3) | Q B B | running | 2 3 1");
}

#[test]
fn older_items_are_stale_in_a_new_list() {
    let mut case = MissionCase::new("p lists; f<-p each=p r; l<-p r x2 requeue=p");
    case.row(
        "create done(p,,,x+y+z) start(f#1) start(l) done(l) done(p,,,u+v) | C Q Q | running | 2 5 2 | QQ",
    );
    let stale = |case: &mut MissionCase, attempt| {
        case.apply(Event::Fail { step: StepId(1), attempt, reason: String::new() })
    };
    assert_eq!(stale(&mut case, 1), Err(Refusal::Stale { current: 4 }));
    assert_eq!(stale(&mut case, 3), Err(Refusal::Stale { current: 5 }));
    assert_eq!(case.mission.item(StepId(1), 1), None);
    assert_eq!(case.mission.item(StepId(1), 5), Some("v"));
}

/// B13
#[test]
fn a_handler_takes_a_fan_out_once_and_stands_for_it() {
    let plan = "p lists; f<-p each=p r on_fail=h; h; y<-f if any f.result=='NO'; n<-f if all f.result=='OK'";
    let mut case = MissionCase::new(plan);
    case.row("create done(p,,,x+y) done(f#1,NO,A) | C Q B B B");
    case.row("fail(f#2,red) | C F Q B B | running | 1 2 1 0 0");
    assert_eq!(case.context(2), "f failed: 1 of its 2 items failed\n### x\nA\n\n### y\nIt failed: red\n");
    case.row("done(h,OK,H) | C F C S Q | running | 1 2 1 0 1");
    assert_eq!(case.context(4), "## f\nH\n");
}

#[test]
fn conditions_range_over_completed_items() {
    let plan = "p lists; f<-p each=p r enough=1; any<-f if any f.result=='NO'; all<-f if all f.result!='NO'";
    check(plan, "create done(p,,,x+y) done(f#1,OK) done(f#2,NO) | C C Q S");
    check(plan, "create done(p,,,x+y) done(f#1,OK) done(f#2,OK) | C C S Q");
    check(plan, "create done(p,,,x+y) done(f#1,OK) fail(f#2) | C C S Q");
    // Of no items nothing is true.
    check(plan, "create done(p,,,) | C S S S | completed");
}

#[test]
fn a_fan_out_counts_its_completions() {
    let mut case = MissionCase::new("p lists; f<-p each=p r; l<-f x1 requeue=p");
    case.row("create done(p,,,x+y) done(f#1) done(f#2) done(l) done(p,,,u) done(f#3) | C C F");
    assert_eq!(case.tables.with(|plan| case.mission.rounds(plan, StepId(1))), 2);
}

#[test]
fn a_fan_out_needs_all_of_its_attempts_at_once() {
    let mut case = MissionCase::that_pauses("cap=3; p lists; f<-p each=p r", Intervene::OnError);
    case.row("create done(p,,,x+y+z) | C B | paused | 1 0");
    case.row("continue | C Q | running | 1 3");
    assert_eq!(case.mission.cap, Some(Cap { left: 2, is_final: false }));
    let mut case = MissionCase::new("cap=3; p lists; f<-p each=p r");
    case.row("create done(p,,,x+y+z) | C F | failed | 1 0");
    assert_eq!(case.failure(1), Some(StepFailure::Cap));
    case.row("retry | C Q | running | 1 3");
}

#[test]
fn a_loss_at_the_cap_fails_the_item() {
    let mut case = MissionCase::that_pauses("cap=3; p lists; f<-p each=p r on_fail=h; h", Intervene::OnError);
    case.row("create done(p,,,x+y) lost(f#1) | C Q B | running | 1 2 0 | FQ");
    case.row("done(f#2) | C F B | paused");
    assert_eq!(case.failure(1), Some(StepFailure::Cap));
    case.row("continue | C Q B | running | 1 3 0 | QC");
    case.row("done(f#3) | C C S | completed");
}

#[test]
fn parallel_bounds_the_items_at_work() {
    let mut case = MissionCase::new("parallel=2; p lists; f<-p each=p r; w<-p");
    case.row(
        "create done(p,,,x+y+z) start(f#1) start(f#2) !start(f#3) !start(w) done(f#1) start(f#3) | C R Q",
    );
    case.row("done(f#2) done(f#3) start(w) | C C R");
}

#[test]
fn items_of_a_fan_out_of_writers_work_in_line() {
    let mut case = MissionCase::new("p lists; f<-p each=p");
    case.row("create done(p,,,x+y) start(f#1) !start(f#2) done(f#1) start(f#2) done(f#2) | C C | completed");
}

#[test]
fn cancel_ends_every_item() {
    let mut case = MissionCase::new(PLAN);
    case.row("create done(p,,,x+y) start(f#1)");
    let effects = case.apply(Event::Cancel).unwrap();
    let end = Effect::EndAgent { step: StepId(1), attempt: 1 };
    assert_eq!(effects, [end, Effect::Ended(MissionStatus::Cancelled)]);
    case.row(" | C X X | cancelled | 1 2 0 | XX");
    assert_eq!("x".to_string(), case.mission.step(StepId(1)).items[0].text);
}

#[test]
fn a_warning_of_an_item_pauses_at_the_end_of_the_step() {
    let mut case = MissionCase::that_pauses(PLAN, Intervene::OnWarning);
    case.row("create done(p,,,x+y)");
    let report = Report { warning: Some("look".to_string()), ..Report::default() };
    case.apply(Event::Complete { step: StepId(1), attempt: 1, report }).unwrap();
    case.row("| C Q B | running");
    case.row("done(f#2) | C C Q | paused");
    assert_eq!(case.mission.pause().map(|it| &it.reason), Some(&PauseReason::Warning(StepId(1))));
}

#[test]
fn a_completed_fan_out_is_decided_again_with_its_list() {
    let mut case = MissionCase::new("p lists; f<-p each=p r; l<-p r x2 requeue=p; z<-f");
    case.row("create done(p,,,x) done(f#1,,A) done(l) | Q B B B | running | 2 1 1 1");
    assert_eq!(case.mission.items(StepId(1)).count(), 1, "those of its latest completion");
    case.row("done(p,,,u+v) | C Q Q B | running | 2 3 2 1 | QQ");
}

#[test]
fn an_empty_list_waits_for_a_loop_that_can_change_it() {
    let mut case = MissionCase::new("p lists; f<-p each=p r; l<-p r x2 requeue=p");
    case.row("create done(p,,,) | C B Q | running");
    case.row("done(l) done(p,,,x) | C Q Q | running | 2 1 2 | Q");
}
