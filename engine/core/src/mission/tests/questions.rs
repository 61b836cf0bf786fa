//! Several open questions: none is replaced, and no failure counts before the answer to its question.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cases::MissionCase;
use super::random::{self, Random};
use crate::mission::*;
use crate::plan::*;

const TWO_BRANCHES: &str = "a; b<-a; c<-a; d<-b";

fn two_failures() -> MissionCase {
    let mut case = MissionCase::that_pauses(TWO_BRANCHES, Intervene::OnError);
    case.row("create done(a) fail(b) fail(c) | C F F B | paused");
    assert_eq!(numbers(&case.mission), [1, 2]);
    case
}

fn numbers(mission: &Mission) -> Vec<u32> {
    mission.questions.iter().map(|it| it.number).collect()
}

#[test]
fn a_failure_while_paused_asks_its_own_question() {
    let case = two_failures();
    let about: Vec<_> = case.mission.asked_steps().collect();
    assert_eq!(about, [StepId(1), StepId(2)]);
    assert_eq!(case.mission.pause().map(|it| it.number), Some(1));
}

#[test]
fn without_a_number_the_oldest_question_is_answered() {
    let mut case = two_failures();
    case.row("continue | C Q F B | paused | 1 2 1 0");
    assert_eq!(numbers(&case.mission), [2]);
    case.row("!start(b) continue | C Q Q B | running | 1 2 2 0");
}

#[test]
fn any_open_question_is_answered_by_its_number() {
    let mut case = two_failures();
    case.row("accept(2) | C F F B | paused");
    case.row("!continue(2) !continue(3) !continue(0) continue(1) | C Q F B | running | 1 2 1 0");
    case.row("done(b) done(d) | C C F C | failed");
}

#[test]
fn an_accepted_failure_counts_before_the_other_answer() {
    let mut case = two_failures();
    case.row("accept(1) | C F F F | paused");
    case.row("accept(2) | C F F F | failed");
}

#[test]
fn a_question_that_was_answered_is_named_in_no_refusal() {
    let mut case = two_failures();
    case.row("continue(1)");
    let again = Event::Continue { pause: Some(1), accept_failure: false, execution: None, intervene: None };
    assert_eq!(case.apply(again), Err(Refusal::OtherPause { current: 2 }));
}

/// `fix` reports late, when the mission is paused, and sends `review` back, about which a person is asked.
#[test]
fn a_late_loop_leaves_a_question_that_goes_on() {
    let plan = "plan; review<-plan; fix<-plan x3 requeue=plan; docs<-review";
    let mut case = MissionCase::that_pauses(plan, Intervene::OnError);
    case.row("create done(plan) fail(review) | C F Q B | paused");
    case.row("done(fix) | Q B B B | paused");
    assert!(case.mission.questions[0].is_pointless);
    case.row("!accept(1) continue(1) | Q B B B | running");
}

/// The answer to the second question about a step leaves nothing to ask, though the first question is open.
#[test]
fn a_pointless_question_does_not_come_back() {
    let plan = "plan; review<-plan; fix<-plan x3 requeue=plan; docs<-review";
    let mut case = MissionCase::that_pauses(plan, Intervene::OnError);
    case.row("create done(plan) fail(review) done(fix) done(plan) fail(review) | C F Q B | paused");
    assert_eq!(numbers(&case.mission), [1, 2]);
    case.row("!accept(1) accept(2) | C F Q F | paused");
    case.row("continue(1) | C F Q F | running");
}

#[test]
fn an_obstacle_and_a_failure_are_both_asked() {
    let mut case = MissionCase::that_pauses("a; b", Intervene::OnError);
    case.row("create start(a)");
    case.apply(Event::Obstruct { reason: "no worktree".into() }).unwrap();
    case.row("fail(a) | F Q | paused");
    assert_eq!(numbers(&case.mission), [1, 2]);
    case.row("!accept !accept(1) accept(2) | F Q | paused");
    case.row("continue | F Q | running");
}

#[test]
fn answers_of_older_journals_close_older_questions() {
    let mut case = two_failures();
    case.mission.close_before(2, &[]);
    assert_eq!(numbers(&case.mission), [2]);
    let mut case = two_failures();
    case.mission.close_before(2, &[1]);
    assert_eq!(numbers(&case.mission), [1, 2]);
}

/// Questions as the events and effects of a mission alone say it: its own account of them plays no part.
#[derive(Default)]
struct OpenQuestions(BTreeMap<u32, Option<StepId>>);

impl OpenQuestions {
    /// Takes an accepted event with its effects, and says what the mission has done unasked.
    fn take(
        &mut self,
        plan: &Plan<'_>,
        event: &Event,
        effects: &[Effect],
        before: &Mission,
        after: &Mission,
    ) -> Result<(), String> {
        if let Event::Continue { pause, .. } = event {
            let answered = pause.or_else(|| self.0.keys().next().copied());
            self.0.remove(&answered.unwrap_or_default()).ok_or("an answer to no question is accepted")?;
        }
        for step in self.0.values().flatten().copied() {
            let waits =
                before.step(step).status == StepStatus::Failed && before.step(step) == after.step(step);
            let is_taken =
                |it: StepId| after.step(it).status.is_active() && !before.step(it).status.is_active();
            if waits && plan.step(step).on_fail.is_some_and(is_taken) {
                return Err(format!("the handler of {} is taken unasked", plan.step(step).id));
            }
            let failed = plan.step_ids().find(|it| {
                let because = Some(StepFailure::Because(step));
                after.step(*it).failure == because && before.step(*it).failure != because
            });
            if let Some(failed) = failed.filter(|_| waits) {
                return Err(format!(
                    "{} fails unasked, because of {}",
                    plan.step(failed).id,
                    plan.step(step).id
                ));
            }
        }
        for effect in effects {
            if let Effect::Paused(Pause { number, reason, .. }) = effect {
                let step = match reason {
                    PauseReason::Error(step) | PauseReason::Exhausted(step) => Some(*step),
                    PauseReason::Boundary(_)
                    | PauseReason::Warning(_)
                    | PauseReason::Cap(_)
                    | PauseReason::Obstacle(_)
                    | PauseReason::Changed(_) => None,
                };
                self.0.insert(*number, step);
            }
        }
        for step in plan.step_ids() {
            let own = |it: &Mission| it.step(step).failure.clone().filter(StepFailure::is_own);
            let at_cap = after.step(step).failure == Some(StepFailure::Cap);
            let is_news = !at_cap && own(after).is_some() && own(before) != own(after);
            if is_news && !self.0.values().any(|it| *it == Some(step)) && !after.status.is_terminal() {
                return Err(format!("{} fails, and opens no question", plan.step(step).id));
            }
        }
        if after.status.is_terminal() {
            self.0.clear();
        }
        let open: Vec<u32> = self.0.keys().copied().collect();
        match open == numbers(after) {
            true => Ok(()),
            false => Err(format!("{open:?} are open, and the mission has {:?}", numbers(after))),
        }
    }
}

#[test]
fn no_failure_counts_before_its_question_is_answered() {
    let mut most = 0;
    for seed in 0..6_000 {
        let mut random = Random::new(seed);
        let tables = random::tables(&mut random);
        let intervene = if random.percent(70) { Intervene::OnError } else { Intervene::Always };
        tables.with(|plan| {
            let mut mission = Mission::new(plan, Policy { execution: Execution::Auto, intervene });
            let mut open = OpenQuestions::default();
            for _ in 0..60 {
                let mut event = random::event(&mut random, plan, &mission, &[]);
                if let Event::Continue { intervene, .. } = &mut event {
                    *intervene = None;
                }
                let before = mission.clone();
                let Ok(effects) = mission.apply(plan, event.clone()) else { continue };
                let holds = open.take(plan, &event, &effects, &before, &mission);
                assert_eq!(holds, Ok(()), "seed {seed}, {event:?}, of\n{tables}");
                most = most.max(mission.questions.len());
            }
        });
    }
    assert!(most > 2, "at most {most} questions are open at once");
}
