//! The use of the worktree: one writer, or any number of readers.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::cases::{MissionCase, check};
use crate::mission::*;
use crate::plan::*;

/// The attempts that may start now together.
fn startable(case: &MissionCase) -> Vec<String> {
    let name = |it: StepId| case.tables.0[it.index()].id.clone();
    let names = |plan: &Plan<'_>| {
        case.mission
            .startable(plan)
            .map(|(step, attempt)| alloc::format!("{}#{attempt}", name(step)))
            .collect()
    };
    case.tables.with(names)
}

/// A1
#[test]
fn readers_start_together_and_a_writer_alone() {
    let mut case = MissionCase::new("a; r1<-a r; r2<-a r; w<-a");
    case.row("create done(a) | C Q Q Q");
    assert_eq!(startable(&case), ["r1#1", "r2#1"]);
    case.row("start(r2) start(r1) !start(w) done(r1) !start(w) | C C R Q");
    assert!(startable(&case).is_empty());
    case.row("done(r2) | C C C Q");
    assert_eq!(startable(&case), ["w#1"]);
    case.row("start(w) done(w) | C C C C | completed | 1 1 1 1");
}

/// A3
#[test]
fn nothing_starts_beside_a_writer() {
    let mut case = MissionCase::new("w; x; y r; z own");
    case.row("create start(w) !start(x) !start(y) !start(z) | R Q Q Q");
}

impl MissionCase {
    fn refusal(&mut self, step: u16, attempt: u32) -> Option<Refusal> {
        self.apply(Event::Start { step: StepId(step), attempt }).err()
    }
}

#[test]
fn a_refused_start_names_what_works() {
    let mut case = MissionCase::new("x r; y r; w");
    case.row("create start(y)");
    assert_eq!(case.refusal(2, 1), Some(Refusal::Busy(StepId(1))));
    let words = case.tables.with(|plan| Refusal::Busy(StepId(1)).words(plan, "the mission"));
    assert_eq!(words, "step y is under way, and this one has to wait for it");
}

#[test]
fn a_reader_overtakes_no_writer_that_waits() {
    let mut case = MissionCase::new("x r; w; y r; q ask; v show");
    case.row("create start(x)");
    assert_eq!(startable(&case), ["q#1"]);
    let offered: Vec<StepId> = case.tables.with(|plan| case.mission.offerable(plan).map(|it| it.0).collect());
    assert_eq!(offered, [StepId(3)]);
    // A worker that offers itself for a reader is taken: it fits.
    case.row("start(y) | R Q R Q Q");
}

#[test]
fn no_more_work_at_once_than_parallel_says() {
    let mut case = MissionCase::new("parallel=2; x r; y r; z r");
    case.row("create");
    assert_eq!(startable(&case), ["x#1", "y#1"]);
    case.row("start(x) start(z) !start(y) done(x) start(y) | C R R");
}

#[test]
fn an_ask_that_shows_the_diff_is_a_reader() {
    let mut case = MissionCase::new("q show; x r; w");
    case.row("create start(x)");
    let ask = Event::Ask { step: StepId(0), attempt: 1, commit: None };
    case.apply(ask).unwrap();
    case.row("done(x) !start(w) | ? C Q");
}

#[test]
fn starts_are_effects_once() {
    let mut case = MissionCase::new("a; x<-a r; y<-a r; w<-a");
    case.row("create start(a)");
    let done = Event::Complete { step: StepId(0), attempt: 1, report: Report::default() };
    let start = |step| Effect::Start { step: StepId(step), attempt: 1 };
    assert_eq!(case.apply(done), Ok(Vec::from([start(1), start(2)])));
    assert_eq!(case.apply(Event::Start { step: StepId(1), attempt: 1 }), Ok(Vec::new()));
    let done = |step| Event::Complete { step: StepId(step), attempt: 1, report: Report::default() };
    assert_eq!(case.apply(done(2)), Ok(Vec::new()));
    assert_eq!(case.apply(done(1)), Ok(Vec::from([start(3)])));
}

#[test]
fn a_loop_ends_every_agent_that_it_sends_back() {
    let mut case = MissionCase::new("a; x<-a r; y<-a r; l<-a r x1 requeue=a");
    case.row("create done(a) start(x) start(y) start(l)");
    let done = Event::Complete { step: StepId(3), attempt: 1, report: Report::default() };
    let effects = case.apply(done).unwrap();
    let end = |step| Effect::EndAgent { step: StepId(step), attempt: 1 };
    assert_eq!(effects, [end(1), end(2), Effect::Start { step: StepId(0), attempt: 2 }]);
    case.row("!done(x#1) | Q B B B | running");
}

/// A11
#[test]
fn a_worktree_that_readers_changed_is_looked_at() {
    let mut case = MissionCase::new("a r; b<-a");
    case.row("create start(a) changed(src/a.rs) done(a) | C Q | paused");
    let words = case.mission.pause().and_then(|it| it.reason.obstacle());
    assert_eq!(words, Some("the worktree changed while only readers ran: src/a.rs".to_string()));
    case.row("!start(b) !accept continue | C Q | running");
    case.row("done(b) | C C | completed");
}

#[test]
fn a_changed_worktree_keeps_the_mission_open() {
    check("a r", "create start(a) changed(x) done(a) | C | paused\n continue | C | completed");
    check(
        "a r",
        "create start(a) changed(x) changed(y) done(a) continue | C | paused\n continue | C | completed",
    );
    check(
        "a r; b<-a",
        "create start(a) changed(x) fail(a) | F F | paused\n continue | F F | failed\n !changed(z)",
    );
}

/// F2
#[test]
fn readers_go_on_beside_a_question() {
    let mut case = MissionCase::that_pauses("x r; y r; z<-y", Intervene::OnError);
    case.row("create start(x) start(y) fail(x) | F R B | paused");
    case.row("done(y) | F C Q | paused");
    case.row("!start(z) accept start(z) | F C R | running");
}
