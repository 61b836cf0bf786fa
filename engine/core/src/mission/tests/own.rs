//! Own worktrees: what is reported there waits to land, and lands in order.

use alloc::vec::Vec;

use super::cases::MissionCase;
use crate::mission::*;
use crate::plan::*;

/// A5
#[test]
fn a_writer_works_beside_an_own_worktree() {
    let mut case = MissionCase::new("o own; w; v; z<-o");
    case.row("create start(o) start(w) done(o) | R R Q B | running | 1 1 1 0 | L");
    case.row("!landed(o) done(w) | R C Q B | running | 1 1 1 0 | M");
    assert_eq!(case.mission.next_landing(), Some((StepId(0), 1)));
    case.row(
        "!start(v) !done(o,,T) landed(o) =landed(o) !conflict(o,late) | C C Q Q | running | 1 1 1 1 | C",
    );
    case.row("start(v)");
}

#[test]
fn an_own_worktree_is_made_while_nobody_writes() {
    let mut case = MissionCase::new("w; o own; v");
    case.row("create start(w) !start(o) done(w) tick !start(v) start(o) start(v) | C R R");
    // A report that comes before the start of its agent counts, and lands.
    let mut case = MissionCase::new("w; o own");
    case.row("create start(w) done(o) | R R | running | 1 1 | L");
    case.row("done(w) landed(o) | C C | completed");
}

/// A7
#[test]
fn a_conflict_is_a_failure_that_a_handler_takes() {
    let mut case = MissionCase::new("o own on_fail=u; u; z<-o");
    case.row("create done(o,,O) | R B B | running | 1 0 0 | M");
    case.row("conflict(o,src/a.rs) | F Q B | running | 1 1 0 | F");
    assert_eq!(case.tables.with(|plan| case.mission.context(plan, StepId(1))), "o failed: src/a.rs");
    case.row("done(u,,U) | F C Q | running");
    assert_eq!(case.tables.with(|plan| case.mission.context(plan, StepId(2))), "## o\nU\n");
}

#[test]
fn a_conflict_without_a_handler_asks() {
    let mut case = MissionCase::that_pauses("o own; z<-o", Intervene::OnError);
    case.row("create done(o) conflict(o,files) | F B | paused | 1 0 | F");
    case.row("continue done(o) landed(o) | C Q | running | 2 1 | C");
    let landings: Vec<_> =
        case.mission.step(StepId(0)).attempts.iter().map(|it| it.landing.clone()).collect();
    let conflict = LandingEnd::Conflict { reason: "files".into() };
    assert_eq!(landings, [Some(conflict), Some(LandingEnd::Landed)]);
    assert_eq!(case.tables.with(|plan| case.mission.rounds(plan, StepId(0))), 1);
}

/// A9
#[test]
fn a_report_that_waits_to_land_is_accepted() {
    let mut case = MissionCase::new("o own; w");
    case.row(
        "create start(o) start(w) done(o,,S) =done(o,,S) !done(o,,T) !fail(o) !lost(o) !gone(o) !start(o)",
    );
    case.row("| R R | running | 1 1 | L");
}

#[test]
fn items_land_one_at_a_time_in_the_order_of_their_list() {
    let mut case = MissionCase::new("p lists; f<-p each=p own; z<-f");
    case.row(
        "create done(p,,,x+y+z) start(f#1) start(f#2) start(f#3) done(f#3) | C R B | running | 1 3 0 | RRL",
    );
    case.row("done(f#1) | C R B | running | 1 3 0 | MRL");
    case.row("!landed(f#3) landed(f#1) | C R B | running | 1 3 0 | CRL");
    case.row("done(f#2) | C R B | running | 1 3 0 | CML");
    case.row("conflict(f#2,y) | C R B | running | 1 3 0 | CFM");
    case.row("landed(f#3) | C F F | failed | 1 3 0 | CFC");
    case.row("retry done(f#4) landed(f#4) done(z) | C C C | completed | 1 4 1 | CCC");
}

#[test]
fn a_landing_waits_for_readers_and_they_for_it() {
    let mut case = MissionCase::new("o own; x r; y r; w");
    case.row("create start(o) start(x) done(o) | R R Q Q | running | 1 1 1 1 | L");
    assert_eq!(case.tables.with(|plan| case.mission.next(plan)), None);
    case.row("done(x) | R C Q Q | running | 1 1 1 1 | M");
    case.row("landed(o) start(y) | C C R Q");
}

#[test]
fn nothing_lands_while_a_question_is_open() {
    let mut case = MissionCase::that_pauses("o own; x r", Intervene::OnError);
    case.row("create start(o) start(x) fail(x) done(o) | R F | paused | 1 1 | L");
    case.row("!landed(o) accept | R F | running | 1 1 | M");
    case.row("landed(o) | C F | failed");
    // One that has begun ends.
    let mut case = MissionCase::that_pauses("o own; x own", Intervene::OnError);
    case.row("create start(o) start(x) done(o) fail(x) | R F | paused | 1 1 | M F");
    case.row("landed(o) | C F | paused");
}

#[test]
fn a_branch_that_is_withdrawn_stays() {
    let mut case = MissionCase::new("a; o<-a own; w<-a; l<-a r x2 requeue=a");
    case.row("create done(a) start(o) start(w) done(o,,S) | C R R Q | running | 1 1 1 1 | L");
    case.row("done(l) | Q B B B | running | 2 1 1 1");
    assert_eq!(case.mission.step(StepId(1)).attempts[0].landing, Some(LandingEnd::Withdrawn));
    case.row("=done(o#1,,S) !landed(o#1) done(a) start(o) done(o) landed(o) | C C Q Q | running | 2 2 2 2");
    let mut case = MissionCase::new("o own; w");
    case.row("create start(o) start(w) done(o) cancel | X X | cancelled | 1 1 | X");
    assert_eq!(case.mission.step(StepId(0)).attempts[0].landing, Some(LandingEnd::Withdrawn));
}

#[test]
fn an_own_loop_step_counts_when_it_has_landed() {
    let mut case = MissionCase::new("a; l<-a if a.result=='NO' own x1; z<-l");
    case.row("create done(a,NO) done(l) | C R B | running | 1 1 0 | M");
    assert_eq!(case.mission.step(StepId(1)).completions, 0);
    case.row("landed(l) | Q B B | running | 2 1 0");
    case.row("done(a,NO) | C F F | failed");
    assert!(case.mission.step(StepId(1)).is_exhausted);
    case.row("retry | C Q B | running | 2 2 0 | Q");
    case.row("done(l) landed(l) done(a,OK) | C S Q | running | 3 2 1");
}
