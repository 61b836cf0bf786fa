//! Claims about asks: what they say, and random missions that look for a counterexample.

use orange_core::mission::{Answer, Answerer, Effect, Mission, Report, StepStatus};
use orange_core::plan::StepId;

use super::*;
use crate::missions::{self, MissionAct, PauseReply};
use crate::plan_walk::PlanWalk;

fn step(id: &str, rest: &str) -> String {
    format!("[[steps]]\nid = \"{id}\"\n{rest}\n")
}

fn flow(steps: &[String]) -> String {
    format!("[workflow]\nname = \"dev-task\"\n{}", steps.concat())
}

fn work(id: &str, rest: &str) -> String {
    step(id, &format!("prompt = \"Do.\"\n{rest}"))
}

/// `build`, an ask with these keys, and `deploy` after it.
fn approved(keys: &str) -> String {
    let ask = step("approve", &format!("ask = \"Good?\"\ndepends_on = [\"build\"]\n{keys}"));
    flow(&[work("build", ""), ask, work("deploy", "depends_on = [\"approve\"]")])
}

/// An answer sends the question back, and another question runs beside an agent.
fn wide() -> String {
    flow(&[
        work("build", ""),
        step(
            "note",
            "ask = \"Note?\"\nanswers = [\"a\", \"b\"]\nshow = [\"context\"]\ntimeout = 5\non_timeout = \"a\"",
        ),
        step("approve", "ask = \"Good?\"\ndepends_on = [\"build\"]\nanswers = [\"yes\", \"no\"]"),
        work(
            "mend",
            "depends_on = [\"approve\"]\ncondition = \"approve.result == 'no'\"\nmax_retries = 2\nrequeue = [\"build\"]",
        ),
        work("deploy", "depends_on = [\"approve\", \"note\"]\ncondition = \"approve.result == 'yes'\""),
        step("check", "ask = \"Seen?\"\ntimeout = 9\ndepends_on = [\"deploy\"]\non_fail = \"undo\""),
        work("undo", ""),
    ])
}

#[track_caller]
fn required_of(text: &str, claim: &str) -> Result<String, String> {
    let compilation = compile(&source(text));
    let checked = compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    let requirement = Requirement::parse(claim).unwrap();
    required(&checked, &[requirement]).unwrap().remove(0)
}

#[test]
fn a_step_after_an_ask_starts_only_after_the_answer() {
    let proof = proof(&approved(""));
    assert_eq!(argument(&proof, "approved"), "`deploy` starts only after `approve` of `approve`");
    assert_eq!(
        argument(&proof, "asks-answered"),
        "`approve` asks everybody who answers pauses (approve, reject) and waits until somebody answers"
    );
    let attempts = argument(&proof, "attempts-bounded");
    assert!(
        attempts.starts_with("at most 2 attempts") && attempts.ends_with("at most 1 question to persons"),
        "{attempts}"
    );
    assert_eq!((proof.figures.attempts, proof.figures.asks, proof.figures.bound), (Some(2), Some(1), 4));
    let statuses: Vec<&str> = proof.figures.ends.iter().map(|it| it.status).collect();
    assert_eq!(statuses, ["completed", "failed", "failed", "failed"]);
}

#[test]
fn what_lets_a_step_start_without_a_person_refutes_the_claim() {
    let claim = "deploy after approve";
    assert!(required_of(&approved(""), claim).is_ok());
    assert!(required_of(&approved("timeout = 9"), claim).is_ok());
    let silent = required_of(&approved("timeout = 9\non_timeout = \"approve\""), claim);
    assert!(silent.unwrap_err().contains("may start without the answer of a person"));
    let handled = approved("on_fail = \"revise\"") + &work("revise", "");
    assert!(required_of(&handled, claim).unwrap_err().contains("may start without"));
    let skipped = approved("condition = \"build.result == 'RISKY'\"");
    assert!(required_of(&skipped, claim).unwrap_err().contains("may start without"));
    assert!(required_of(&approved(""), "build after approve").unwrap_err().contains("may start without"));
    assert_eq!(
        required_of(&approved(""), "deploy after build"),
        Err("`build` does not ask a person".to_owned())
    );
    assert_eq!(required_of(&approved(""), "ship after build"), Err("there is no step `ship`".to_owned()));
}

#[test]
fn plans_without_asks_have_the_properties_that_they_had() {
    let names: Vec<&str> = proof(DEV_TASK).properties.iter().map(|it| it.name).collect();
    assert_eq!(names, PROPERTIES.iter().map(|it| it.name).collect::<Vec<_>>());
}

#[test]
fn words_and_loops_are_part_of_the_claim() {
    let proof = proof(&wide());
    let approved = argument(&proof, "approved");
    assert!(approved.contains("`deploy` starts only after `yes` of `approve`"), "{approved}");
    assert!(approved.contains("`mend` starts only after `no` of `approve`"), "{approved}");
    assert!(!approved.contains("of `note`"), "a timeout answers for it: {approved}");
    assert!(approved.contains("`check` starts only after `no` or `yes` of `approve`"), "{approved}");
}

/// Numbers that follow from their seed alone.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Something that may happen now.
fn act(plan: &Plan<'_>, mission: &Mission, numbers: &mut Numbers) -> MissionAct {
    let step = StepId(numbers.below(plan.steps.len()) as u16);
    let words: Vec<&str> = plan.step(step).answers().into_iter().chain(["yes", "PASS"]).collect();
    let word = words[numbers.below(words.len())].to_owned();
    match numbers.below(12) {
        0 => MissionAct::Fail(step, String::new()),
        1 => MissionAct::Expire(step),
        2 => MissionAct::Retry(None),
        3 => MissionAct::Lose(step),
        4 => MissionAct::Continue(PauseReply {
            accept_failure: numbers.below(2) == 0,
            ..PauseReply::default()
        }),
        _ if plan.step(step).is_ask() => missions::answer(plan, step, word, String::new()),
        _ if mission.step(step).status == StepStatus::Running => {
            MissionAct::Complete(step, Report { result: Some(word), ..Report::default() })
        }
        _ => MissionAct::Complete(step, Report::default()),
    }
}

#[test]
fn no_random_mission_starts_a_step_without_its_approval() {
    let mut starts = 0;
    for text in [approved(""), approved("timeout = 9"), wide()] {
        let compilation = compile(&source(&text));
        let checked = compilation.checked.unwrap();
        let arena = PlanArena::default();
        let plan = lower_plan(&checked, &arena).unwrap();
        let searches = searches(&plan, &SearchLimits::default());
        assert!(searches.iter().all(|it| !it.is_cut()));
        for seed in 0..400 {
            let mut numbers = Numbers(seed);
            let intervene = if numbers.below(2) == 0 { Intervene::Never } else { Intervene::OnError };
            let mut walk = PlanWalk::new(&plan, Policy { execution: Execution::Auto, intervene });
            for _ in 0..60 {
                let act = act(&plan, &walk.mission, &mut numbers);
                let Ok(happened) = walk.act(&act, None) else { continue };
                let started = happened.effects.iter().filter_map(|it| match it {
                    Effect::Start { step, .. } | Effect::Ask { step, .. } => Some(*step),
                    Effect::EndAgent { .. }
                    | Effect::Repeated
                    | Effect::Land { .. }
                    | Effect::Paused(_)
                    | Effect::Continued(_)
                    | Effect::Ended(_) => None,
                });
                for step in started {
                    starts += 1;
                    check_start(&plan, &searches[0], &walk.mission, step);
                }
            }
        }
    }
    assert!(starts > 1_000, "{starts} starts");
}

/// The answer that counts at this start is one of those that the search has found for it.
#[track_caller]
fn check_start(plan: &Plan<'_>, search: &MissionSearch<'_>, mission: &Mission, step: StepId) {
    for ask in plan.asks().filter(|it| *it != step) {
        let state = mission.step(ask);
        let report = state.latest.as_ref().filter(|_| state.status == StepStatus::Completed);
        let by_person =
            report.filter(|it| it.answer.as_ref().is_some_and(|it| matches!(it.by, Answerer::Person(_))));
        let answer = by_person.and_then(|it| it.result.clone());
        let known = &search.approvals()[&(step, ask)];
        let (step, ask) = (plan.step(step).id, plan.step(ask).id);
        assert!(
            known.contains(&answer),
            "{step} has started with {answer:?} of {ask}, and not with one of {known:?}"
        );
    }
}

#[test]
fn a_person_whom_nobody_asked_is_refused() {
    let text = approved("who = [\"ada\"]");
    let checked = compile(&source(&text)).checked.unwrap();
    let arena = PlanArena::default();
    let plan = lower_plan(&checked, &arena).unwrap();
    let mut walk = PlanWalk::new(&plan, Policy::DEFAULT);
    walk.act(&MissionAct::Complete(StepId(0), Report::default()), None).unwrap();
    let eve =
        Answer { word: "approve".to_owned(), by: "eve".to_owned(), comment: String::new(), commit: None };
    assert!(walk.act(&MissionAct::Answer(StepId(1), eve), None).is_err());
    assert!(walk.act(&missions::answer(&plan, StepId(1), "approve".to_owned(), String::new()), None).is_ok());
}
