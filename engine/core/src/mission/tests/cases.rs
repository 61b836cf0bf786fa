//! Behaviour of a mission, case by case. A line of a trace is `events | states of the steps | mission | attempts`; what it leaves
//! out is not compared. States are Blocked, Queued, Assigned, Running, Completed, Failed, Skipped and X for cancelled, in the order
//! of the plan's text. A fifth column has the items of each step that has some, with L for one that waits to land and M for one
//! whose branch is being merged.
//!
//! Events: `create tick start(S) done(S,RESULT,SUMMARY) fail(S,REASON) lost(S) landed(S) conflict(S,REASON) changed(FILE) continue(PAUSE) accept(PAUSE) retry cancel`. They are
//! about the current attempt, or about number 2 of it as `S#2`. `!` before an event: it is refused and changes nothing;
//! `=`: it is answered as before and changes nothing. A `_` is a blank.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::notation::{files, items, tables};
use super::random::Tables;
use crate::mission::*;
use crate::plan::*;

const DEV: &str = "plan; implement<-plan; review<-implement; fix<-review if review.result=='FAIL' x3; \
                   pr<-review if review.result=='PASS'";

/// The beginning of every trace of that plan up to the first review.
const TO_REVIEW: &str = "
    create                    | Q B B B B | running
    tick                      | A B B B B | running
    start(plan) done(plan,,P) | C Q B B B | running
    done(implement,,I)        | C C Q B B | running";

const H1: &str = "
    done(review,PASS)         | C C C S Q | running
    done(pr)                  | C C C S C | completed | 1 1 1 0 1";

const H2: &str = "
    done(review,FAIL)         | C C C Q B | running
    done(fix,,X)              | C C Q B B | running
    done(review,PASS)         | C C C S Q | running
    done(pr)                  | C C C S C | completed | 1 1 2 1 1";

const H3: &str = "
    done(review,FAIL)         | C C C Q B | running
    done(fix,,X)              | C C Q B B | running
    done(review,FAIL)         | C C C Q B | running
    done(fix,,Y)              | C C Q B B | running
    done(review,PASS)         | C C C S Q | running
    done(pr)                  | C C C S C | completed | 1 1 3 2 1";

const H4: &str = "
    done(review,FAIL)         | C C C Q B | running
    done(fix)                 | C C Q B B | running
    done(review,FAIL)         | C C C Q B | running
    done(fix)                 | C C Q B B | running
    done(review,FAIL)         | C C C Q B | running
    done(fix)                 | C C Q B B | running
    done(review,FAIL)         | C C C F S | failed | 1 1 4 3 0";

#[test]
fn e1_a_dependent_is_queued() {
    check("a; b<-a", "create done(a) | C Q");
}

#[test]
fn e2_a_join_waits_for_every_dependency() {
    let plan = "a; b<-a; c<-a; d<-b,c";
    check(plan, "create done(a) | C Q Q B\n done(b) | C C Q B\n done(c) | C C C Q | running | 1 1 1 1");
    check(plan, "create done(a) | C Q Q B\n done(c) | C Q C B\n done(b) | C C C Q | running | 1 1 1 1");
}

#[test]
fn e3_only_dependencies_are_waited_for() {
    let plan = "a; b<-a; c<-a; d<-b";
    check(plan, "create done(a) done(b) | C C Q Q");
    check(plan, "create done(a) start(c) done(b) | C C R Q");
}

#[test]
fn e4_three_branches_join_once() {
    check(
        "plan; x<-plan; y<-plan; z<-plan; end<-x,y,z",
        "create done(plan) | C Q Q Q B
         done(x)           | C C Q Q B
         done(z)           | C C Q C B
         done(y)           | C C C C Q | running | 1 1 1 1 1",
    );
}

#[test]
fn e5_a_skip_is_an_end() {
    let plan = "a; b<-a if a.result=='X'; c<-b";
    check(plan, "create done(a,X) | C Q B");
    check(plan, "create done(a,Z) | C S Q\n done(c) | C S C | completed");
}

#[test]
fn e6_skips_go_on_through_skips() {
    check(
        "a; b<-a if a.result=='X'; c<-b if b.result=='Y'; d<-c",
        "create done(a,Z) | C S S Q\n done(d) | C S S C | completed",
    );
}

#[test]
fn e7_completed_and_skipped_satisfy_alike() {
    check("a; b<-a if a.result=='X'; c<-a; d<-b,c", "create done(a,Z) | C S Q B\n done(c) | C S C Q");
}

#[test]
fn e8_steps_whose_dependencies_are_all_skipped() {
    check("a; b<-a if a.result=='X'; c<-b if b.result=='Y'; d<-b", "create done(a,Z) | C S S Q");
}

#[test]
fn e9_a_failure_fails_what_waits() {
    let mission = check("s1; s2<-s1; s3<-s2", "create fail(s1) | F F F | failed | 1 0 0");
    assert_eq!(mission.step(StepId(1)).failure, Some(StepFailure::Because(StepId(0))));
    assert_eq!(mission.step(StepId(2)).failure, Some(StepFailure::Because(StepId(1))));
}

#[test]
fn e10_a_failure_spares_what_does_not_wait() {
    check(
        "a; b<-a; c<-a; d<-b,c",
        "create done(a) start(c) fail(b) | C F R F | running\n done(c) | C F C F | failed",
    );
}

#[test]
fn e11_a_failure_spares_what_has_ended() {
    let plan = &text([DEV, "; docs<-review"]);
    check(
        plan,
        "create done(plan) done(implement) done(review,FAIL) | C C C Q B Q
         done(docs)   | C C C Q B C
         done(fix)    | C C Q B B C
         fail(review) | C C F F F C | failed | 1 1 2 1 0 1",
    );
}

#[test]
fn e12_what_waits_for_a_requeued_step_is_withdrawn() {
    let plan = "a; l<-a if a.result=='FAIL' x2; d<-a";
    check(plan, "create done(a,FAIL) | C Q Q\n done(l) | Q B B\n fail(a) | F F F | failed | 2 1 1");
    check(
        plan,
        "create done(a,FAIL) start(d) | C Q R
         done(l)                      | Q B B
         !done(d#1)                   | Q B B
         done(a,PASS)                 | C S Q | running | 2 1 2
         !done(d#1) done(d)           | C S C | completed",
    );
}

#[test]
fn e13_a_failure_comes_before_the_condition() {
    check("a; b<-a; d<-b if b.result=='X'", "create done(a) fail(b) | C F F | failed");
}

#[test]
fn e14_conditions_read_the_latest_completion() {
    check(DEV, &text([TO_REVIEW, H2]));
    check(
        "a; l<-a if a.summary=='again' x1; b<-a,l if a.result=='PASS'",
        "create done(a,PASS,again) | C Q B\n done(l) | Q B B\n done(a,FAIL,ok) | C S S | completed",
    );
}

#[test]
fn e15_conditions_read_accepted_completions_only() {
    check(
        DEV,
        "create done(plan) done(implement) done(review,FAIL) done(fix) | C C Q B B
         !done(review#1,PASS) | C C Q B B
         lost(review)         | C C Q B B | running | 1 1 3 1 0
         !done(review#2,PASS) | C C Q B B
         done(review,PASS)    | C C C S Q",
    );
}

#[test]
fn e16_summaries_are_compared_exactly() {
    let plan = "a; b<-a if a.summary=='lgtm'";
    check(plan, "create done(a,,lgtm) | C Q");
    for other in ["LGTM", "lgtm_", "_lgtm", "lgt"] {
        check(plan, &text(["create done(a,,", other, ") | C S | completed"]));
    }
}

#[test]
fn e17_a_branch_that_a_retry_can_turn_waits() {
    check(DEV, "create done(plan) done(implement) done(review,FAIL) | C C C Q B");
}

#[test]
fn e18_a_loop_that_nothing_can_turn_is_skipped() {
    check(DEV, "create done(plan) done(implement) done(review,PASS) | C C C S Q | running | 1 1 1 0 1");
}

#[test]
fn e19_the_same_completion_again_changes_nothing() {
    check(
        DEV,
        "create done(plan) =done(plan#1) !done(plan#1,,other) | C Q B B B | running | 1 1 0 0 0
         !create done(implement) done(review,FAIL) =done(review#1,FAIL) | C C C Q B | running | 1 1 1 1 0
         done(fix) =done(fix#1) =done(review#1,FAIL) | C C Q B B | running | 1 1 2 1 0",
    );
}

#[test]
fn e20_one_event_does_all_of_a_cascade() {
    let plan = "a; b<-a; c<-b; d<-c if a.result=='X'; e<-d";
    check(plan, "create fail(a) | F F F F F | failed");
    check(plan, "create done(a,Z) !done(c) !fail(b#2) | C Q B B B\n done(b) done(c) | C C C S Q");
}

#[test]
fn h1_to_h4_dev_task() {
    for trace in [H1, H2, H3] {
        check(DEV, &text([TO_REVIEW, trace]));
    }
    let mission = check(DEV, &text([TO_REVIEW, H4]));
    assert_eq!(mission.step(StepId(3)).failure, Some(StepFailure::Exhausted(3)));
    assert!(mission.step(StepId(3)).is_exhausted);
}

#[test]
fn h4_the_handler_of_an_exhausted_loop_runs() {
    let plan = &text([&DEV.replace("x3", "x1 on_fail=rescue"), "; rescue"]);
    check(
        plan,
        "create done(plan) done(implement) done(review,FAIL) done(fix) | C C Q B B B
         done(review,FAIL) | C C C F S Q | running
         done(rescue)      | C C C F S C | failed",
    );
}

#[test]
fn h5_other_bounds() {
    check(
        &DEV.replace("x3", "x1"),
        "create done(plan) done(implement) done(review,FAIL) done(fix) done(review,FAIL) \
         | C C C F S | failed | 1 1 2 1 0",
    );
    check(
        &DEV.replace("x3", ""),
        "create done(plan) done(implement) done(review,FAIL) | C C C Q S\n done(fix) | C C C C S | completed",
    );
}

#[test]
fn h6_failures_of_the_line() {
    check(DEV, "create fail(plan) | F F F F F | failed | 1 0 0 0 0");
    check(DEV, "create done(plan) fail(implement) | C F F F F | failed");
    check(DEV, "create done(plan) done(implement) done(review,PASS) fail(pr) | C C C S F | failed");
}

#[test]
fn h7_a_review_that_fails() {
    check(DEV, "create done(plan) done(implement) fail(review) | C C F F F | failed");
    let mission = check(
        DEV,
        "create done(plan) done(implement) done(review,FAIL) done(fix) fail(review) | C C F F F | failed",
    );
    let report = Report { summary: "done".to_string(), ..Report::default() };
    assert_eq!(
        mission.step(StepId(3)).attempts,
        [Attempt { end: Some(AttemptEnd::Completed(report)), ..Attempt::default() }]
    );
}

#[test]
fn h8_a_fix_that_fails() {
    check(DEV, "create done(plan) done(implement) done(review,FAIL) fail(fix) | C C C F S | failed");
}

#[test]
fn h9_a_result_that_is_read_is_needed() {
    check(DEV, &text([TO_REVIEW, "\n !done(review) | C C R B B", H1]));
}

#[test]
fn h10_a_lost_attempt_of_a_loop_step_counts_for_nothing() {
    let lost = H4.replacen("done(fix)", "lost(fix) done(fix)", 1).replace("1 1 4 3 0", "1 1 4 4 0");
    check(DEV, &text([TO_REVIEW, &lost]));
}

#[test]
fn h11_cancel_at_every_row() {
    for trace in [H1, H2, H3, H4] {
        let trace = text([TO_REVIEW, trace]);
        let rows: Vec<&str> = trace.lines().collect();
        for end in 1..=rows.len() {
            let mut case = MissionCase::new(DEV);
            rows[..end].iter().for_each(|row| case.row(row));
            if matches!(case.mission.status, MissionStatus::Completed | MissionStatus::Cancelled) {
                case.row("!cancel");
                continue;
            }
            let before = case.mission.clone();
            case.row("cancel | | cancelled");
            for (before, after) in before.steps.iter().zip(&case.mission.steps) {
                let expected =
                    if before.status.is_terminal() { before.status } else { StepStatus::Cancelled };
                assert_eq!(after.status, expected);
                assert!(after.attempts.iter().all(|it| it.end.is_some()));
            }
            case.row("!done(review,PASS,late) !done(fix,,late) !done(pr,,late) !create !retry !continue | | cancelled");
        }
    }
}

#[test]
fn h12_ids_mean_nothing() {
    let renamed = |it: &str| it.replace("review", "qa").replace("fix", "repair").replace("pr)", "ship)");
    let plan = renamed(DEV).replace("pr<-", "ship<-");
    for trace in [H1, H2, H3, H4] {
        check(&plan, &renamed(&text([TO_REVIEW, trace])));
    }
}

#[test]
fn h13_two_loops_count_apart() {
    check(
        "lint; lintfix<-lint if lint.result=='FAIL' x2; review<-lint if lint.result=='PASS'; \
         fix<-review if review.result=='FAIL' x3; pr<-review if review.result=='PASS'",
        "create done(lint,FAIL) | C Q B B B
         done(lintfix)          | Q B B B B
         done(lint,FAIL)        | C Q B B B
         done(lintfix)          | Q B B B B
         done(lint,PASS)        | C S Q B B
         done(review,FAIL)      | C S C Q B
         done(fix)              | C S Q B B
         done(review,PASS)      | C S C S Q
         done(pr)               | C S C S C | completed | 3 2 2 1 1",
    );
}

#[test]
fn h14_requeued_steps_wait_for_each_other() {
    for requeue in ["x3 requeue=implement,review", "x3 requeue=implement"] {
        check(
            &DEV.replace("x3", requeue),
            "create done(plan) done(implement) done(review,FAIL) | C C C Q B
             done(fix)         | C Q B B B
             done(implement)   | C C Q B B
             done(review,PASS) | C C C S Q
             done(pr)          | C C C S C | completed | 1 2 2 1 1",
        );
    }
}

#[test]
fn h16_two_missions_share_the_workers() {
    const ROLES: [&str; 5] = ["planner", "worker", "reviewer", "worker", "any"];
    let mut cases = [MissionCase::new(DEV), MissionCase::new(DEV)];
    let mut reviews = [0, 0];
    let mut at_work: Vec<(usize, StepId)> = Vec::new();
    let mut waits_for_a_planner = true;
    cases.iter_mut().for_each(|it| it.row("create"));
    for turn in 0.. {
        assert!(turn < 50, "both missions end");
        for (index, case) in cases.iter_mut().enumerate() {
            let Some((step, attempt)) = case.tables.with(|plan| case.mission.next(plan)) else { continue };
            let is_free = at_work.iter().all(|(_, other)| ROLES[other.index()] != ROLES[step.index()]);
            if is_free {
                case.apply(Event::Assign { step, attempt }).expect("the step is queued");
                at_work.push((index, step));
            }
        }
        for (index, case) in cases.iter().enumerate() {
            let busy: Vec<_> = case.mission.with(|it| it.status == StepStatus::Assigned).collect();
            let mine: Vec<_> = at_work.iter().filter(|it| it.0 == index).map(|it| it.1).collect();
            assert_eq!(busy, mine, "a mission has one step at work");
        }
        let roles: Vec<&str> = at_work.iter().map(|it| ROLES[it.1.index()]).collect();
        waits_for_a_planner &= roles != ["reviewer", "planner"] && roles != ["planner", "reviewer"];
        if at_work.is_empty() {
            break;
        }
        // The second mission's planner takes its time: the first mission is reviewed meanwhile.
        let ends = if at_work[0] == (1, StepId(0)) && turn < 8 { at_work.len() - 1 } else { 0 };
        let (index, step) = at_work.remove(ends);
        let result = (step == StepId(2)).then(|| {
            reviews[index] += 1;
            if reviews[index] == 1 { "FAIL" } else { "PASS" }.to_string()
        });
        let attempt = cases[index].mission.step(step).attempt();
        let report = Report { result, ..Report::default() };
        cases[index].apply(Event::Complete { step, attempt, report }).expect("the step is assigned");
    }
    assert!(!waits_for_a_planner, "a reviewer worked beside a planner");
    cases.iter_mut().for_each(|it| it.row(" | C C C S C | completed | 1 1 2 1 1"));
}

#[test]
fn failures_say_once_and_not_one_times() {
    let mut case = MissionCase::new("review; fix<-review if review.result=='FAIL' x1");
    case.row("create done(review,FAIL) done(fix) done(review,FAIL) | C F | failed");
    let mut words = |failure| {
        case.mission.steps[1].failure = Some(failure);
        case.tables.with(|plan| case.mission.failure(plan, StepId(1)))
    };
    let exhausted = words(StepFailure::Exhausted(1));
    assert!(exhausted.ends_with("after fix has completed once"), "{exhausted}");
    assert_eq!(words(StepFailure::Stuck(1)), "fix failed: its agent ended without a word");
    assert_eq!(words(StepFailure::Stuck(2)), "fix failed: its agent ended without a word 2 times in a row");
    assert_eq!(
        words(StepFailure::Abandoned(5)),
        "fix failed: the crab at work on it was lost 5 times in a row"
    );
}

/// With `stuck_after = 2`, the second end without a word fails the step.
#[test]
fn a_lost_worker_is_no_end_without_a_word() {
    let mut case = MissionCase::new("work");
    case.row("create lost(work) gone(work) gone(work) gone(work) gone(work) | Q | running");
    let state = case.mission.steps[0].clone();
    assert_eq!((state.lost, state.abandoned), (1, 4));
    case.row("lost(work) | F | failed");
    assert_eq!(case.mission.steps[0].failure, Some(StepFailure::Stuck(2)));
}

#[test]
fn a_step_fails_when_five_workers_in_a_row_are_lost() {
    let mut case = MissionCase::new("work");
    case.row("create gone(work) gone(work) gone(work) gone(work) gone(work) | F | failed");
    assert_eq!(case.mission.steps[0].failure, Some(StepFailure::Abandoned(5)));
    case.row("retry(work) gone(work) | Q | running");
}

/// Holds a mission of this plan, which never pauses, against the trace.
#[track_caller]
pub(super) fn check(plan: &str, trace: &str) -> Mission {
    let mut case = MissionCase::new(plan);
    trace.lines().for_each(|row| case.row(row));
    case.mission
}

pub(super) struct MissionCase {
    pub(super) tables: Tables,
    pub(super) mission: Mission,
}

impl MissionCase {
    pub(super) fn new(plan: &str) -> MissionCase {
        MissionCase::that_pauses(plan, Intervene::Never)
    }

    pub(super) fn that_pauses(plan: &str, intervene: Intervene) -> MissionCase {
        let tables = tables(plan);
        let policy = Policy { execution: Execution::Auto, intervene };
        let mission = tables.with(|plan| Mission::new(plan, policy));
        MissionCase { tables, mission }
    }

    pub(super) fn apply(&mut self, event: Event) -> Result<Vec<Effect>, Refusal> {
        self.tables.with(|plan| self.mission.apply(plan, event))
    }

    #[track_caller]
    pub(super) fn row(&mut self, row: &str) {
        let mut columns = row.split('|').map(str::trim);
        columns.next().unwrap_or_default().split_whitespace().for_each(|it| self.event(it, row));
        let status = alloc::format!("{:?}", self.mission.status).to_lowercase();
        let found = [self.states(), status, self.attempts(), items(&self.mission)];
        for (expected, found) in columns.zip(found) {
            assert!(expected.is_empty() || expected == found, "found {found} after {row}");
        }
    }

    #[track_caller]
    fn event(&mut self, text: &str, row: &str) {
        let before = self.mission.clone();
        let (is_refused, is_repeated) = (text.starts_with('!'), text.starts_with('='));
        let text = text.trim_start_matches(['!', '=']);
        let (verb, rest) = text.split_once('(').unwrap_or((text, ""));
        let mut words = rest.trim_end_matches(')').split(',').map(|it| it.replace('_', " "));
        let (step, attempt) = self.attempt(&words.next().unwrap_or_default());
        let is_its_turn = self.tables.with(|plan| self.mission.next(plan)).is_some();
        let is_queued = step.is_some_and(|it| self.mission.step(it).job(attempt) == Some(ItemStatus::Queued));
        if matches!(verb, "done" | "fail" | "lost" | "gone") && is_its_turn && is_queued && !is_repeated {
            let start = Event::Start { step: step.expect("it is queued"), attempt };
            self.apply(start).unwrap_or_default();
        }
        let started = self.mission.clone();
        let number = rest.trim_end_matches(')').parse().ok();
        let named = || step.unwrap_or_else(|| panic!("{text} names a step of the plan, in {row}"));
        let event = match verb {
            "create" => Event::Begin,
            "tick" => {
                let (step, attempt) =
                    self.tables.with(|plan| self.mission.next(plan)).expect("a step is queued");
                Event::Assign { step, attempt }
            }
            "start" => Event::Start { step: named(), attempt },
            "done" => {
                let result = words.next().filter(|it| !it.is_empty());
                let summary = words.next().unwrap_or_else(|| "done".to_string());
                let outputs = words.next().map(|it| files(&it)).unwrap_or_default();
                let report = Report { result, summary, outputs, ..Report::default() };
                Event::Complete { step: named(), attempt, report }
            }
            "landed" => Event::Landed { step: named(), attempt },
            "conflict" => {
                Event::Conflict { step: named(), attempt, reason: words.next().unwrap_or_default() }
            }
            "changed" => {
                Event::WorktreeChanged { files: Vec::from([rest.trim_end_matches(')').to_string()]) }
            }
            "fail" => Event::Fail { step: named(), attempt, reason: words.next().unwrap_or_default() },
            "lost" => Event::Lose { step: named(), attempt },
            "gone" => Event::Abandon { step: named(), attempt },
            "continue" | "accept" => Event::Continue {
                pause: number,
                accept_failure: verb == "accept",
                execution: None,
                intervene: None,
            },
            "retry" => Event::Retry { step },
            "cancel" => Event::Cancel,
            other => panic!("no event is called {other}"),
        };
        match self.apply(event) {
            Ok(effects) if is_repeated => assert_eq!(effects, [Effect::Repeated], "{text} in {row}"),
            Ok(_) => assert!(!is_refused, "{text} is not refused in {row}"),
            Err(refusal) => assert!(is_refused, "{text} is refused in {row}: {refusal:?}"),
        }
        if is_refused {
            assert_eq!(self.mission, started, "{text} changes something in {row}");
        }
        if is_repeated {
            assert_eq!(self.mission, before, "{text} changes something in {row}");
        }
    }

    /// `S` or `S#2`.
    fn attempt(&self, text: &str) -> (Option<StepId>, u32) {
        let (name, number) = text.split_once('#').map_or((text, None), |(name, it)| (name, it.parse().ok()));
        let step = self.tables.0.iter().position(|it| it.id == name).map(|it| StepId(it as u16));
        (step, number.unwrap_or_else(|| step.map_or(0, |it| self.mission.step(it).attempt())))
    }

    fn states(&self) -> String {
        let letter = |it: &StepState| match it.status {
            StepStatus::Blocked => "B",
            StepStatus::Queued => "Q",
            StepStatus::Assigned => "A",
            StepStatus::Running => "R",
            StepStatus::Completed => "C",
            StepStatus::Failed => "F",
            StepStatus::Skipped => "S",
            StepStatus::Asked => "?",
            StepStatus::Cancelled => "X",
        };
        self.mission.steps.iter().map(letter).collect::<Vec<_>>().join(" ")
    }

    fn attempts(&self) -> String {
        let attempts = self.mission.steps.iter().map(|it| it.attempt().to_string());
        attempts.collect::<Vec<_>>().join(" ")
    }
}

fn text<const N: usize>(parts: [&str; N]) -> String {
    parts.concat()
}
