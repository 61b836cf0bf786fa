//! Scenarios of the fixture, and faults in files of scenarios.

use std::collections::BTreeMap;

use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::source::Source;
use orange_codegen::{PromptFiles, compile};

use super::*;

const DEV_TASK: &str = include_str!("../../../tests/fixtures/dev-task.toml");

/// Failed expectations in each scenario of a file.
fn failures(text: &str) -> Vec<String> {
    failures_of("dev-task.toml", DEV_TASK, text)
}

/// Failed expectations in each scenario of a file about this workflow.
fn failures_of(name: &str, workflow: &str, text: &str) -> Vec<String> {
    let files = ["plan", "implement", "review", "pr"].map(|it| (format!("do/{it}.md"), it.to_owned()));
    let source = Source::new(name, workflow).with_files(PromptFiles::Given(BTreeMap::from(files)));
    let checked = compile(&source).checked.unwrap();
    let arena = PlanArena::default();
    let plan = lower_plan(&checked, &arena).unwrap();
    let (scenarios, found) = read(&Source::new("flow.test.yml", text));
    let scenarios = scenarios.unwrap_or_else(|| panic!("{found:#?}"));
    let failed = scenarios.iter().flat_map(|it| run(&plan, it).failed);
    failed.map(|it| it.message).collect()
}

#[track_caller]
fn check(scenario: &str, expect: &[&str]) {
    assert_eq!(failures(&format!("scenarios:\n  - name: a\n{scenario}")), expect);
}

#[test]
fn every_kind_of_act_is_carried_out() {
    check(
        "    steps:
      - {complete: plan, summary: Two files., expect: {context: {implement: Two files.}, steps: {implement: running}}}
      - {lose: implement, expect: {steps: {implement: running}, status: running}}
      - {fail: implement, reason: no compiler, expect: {pause: error, status: paused}}
      - {continue: true, pause: 7, expect: {refusal: other_pause}}
      - {continue: true, pause: 1, expect: {pause: none, steps: {implement: running}}}
      - {complete: implement, attempt: 1, expect: {refusal: stale}}
      - {complete: implement}
      - {complete: review, expect: {refusal: result_needed}}
      - {complete: review, result: MAYBE, expect: {refusal: result_undeclared}}
      - {complete: review, result: FAIL, summary: a bug, expect: {steps: {fix: running, pr: blocked}, context: {fix: a bug}}}
      - {fail: fix, expect: {pause: error}}
      - {continue: true, accept_failure: true, expect: {status: failed, steps: {pr: skipped}}}
      - {retry: true, step: fix, expect: {status: running}}
      - {complete: fix, warning: slow, expect: {steps: {review: running}, pause: none}}
      - {cancel: true, expect: {status: cancelled, steps: {review: cancelled}}}\n",
        &[],
    );
}

#[test]
fn a_scenario_may_have_a_policy_of_its_own() {
    check(
        "    execution: step
    steps:
      - {complete: plan, expect: {pause: boundary}}
      - {continue: true, execution: auto, intervene: on-warning}
      - {complete: implement, warning: w, expect: {pause: warning}}\n",
        &[],
    );
}

/// Two branches whose steps fail one after the other, though nothing runs: agents of before the pause report late.
const TWO_BRANCHES: &str = "\
workflow: {name: two}
steps:
  - {id: a, prompt: do}
  - {id: b, prompt: do, depends_on: [a]}
  - {id: c, prompt: do, depends_on: [a]}
  - {id: d, prompt: do, depends_on: [b]}
";

#[test]
fn every_open_pause_is_answered_by_its_number() {
    let check = |steps: &str, expect: &[&str]| {
        let text = format!("scenarios:\n  - name: a\n    steps:\n{steps}");
        assert_eq!(failures_of("two.yml", TWO_BRANCHES, &text), expect);
    };
    let two = "      - {complete: a, expect: {pauses: []}}
      - {fail: b, expect: {pauses: [error]}}
      - {fail: c, expect: {pauses: [error, error], pause: error, steps: {d: blocked}}}\n";
    check(
        &format!(
            "{two}      - {{continue: true, pause: 2, expect: {{pauses: [error], status: paused, steps: {{c: queued}}}}}}
      - {{continue: true, expect: {{pauses: [], status: running, steps: {{b: running, c: queued, d: blocked}}}}}}\n"
        ),
        &[],
    );
    check(
        &format!("{two}      - {{continue: true, expect: {{pauses: []}}}}\n"),
        &["the list of pauses is `[error]`, not `[]`"],
    );
}

#[test]
fn the_first_act_that_goes_wrong_ends_the_scenario() {
    check(
        "    steps:\n      - {complete: plan, expect: {status: completed, steps: {review: running}}}\n      - {complete: nothing}\n",
        &["the mission is `running`, not `completed`", "review is `blocked`, not `running`"],
    );
    check(
        "    steps:\n      - {complete: revew, result: PASS}\n",
        &["there is no step `revew`; did you mean `review`?"],
    );
    check(
        "    steps:\n      - {complete: pr}\n",
        &["the refusal is `no_such_attempt`, not `none`: pr is blocked"],
    );
    check(
        "    steps:\n      - {complete: plan, by: planner}\n      - {lose: implement, by: planner}\n",
        &["the role of implement is `worker`, not `planner`"],
    );
}

#[test]
fn every_fault_of_a_file_is_reported() {
    let check = |text: &str, expect: &[&str]| {
        let (scenarios, found) = read(&Source::new("flow.test.yml", text));
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!((messages, scenarios.is_some()), (expect.to_vec(), expect.is_empty()));
    };
    check("", &["this file is empty"]);
    check("scenarios:\n  - {name: a, steps: [{}]}\n", &["nothing happens in this step"]);
    check(
        "scenarios:\n  - {name: a, steps: [{complete: a, fail: b}]}\n",
        &["several things happen in this step"],
    );
    check(
        "scenarios:\n  - {name: a, steps: [{cancel: false, result: PASS, by: a, step: a}]}\n",
        &[
            "`result` says nothing without `complete`",
            "`by` says nothing without `complete` or `fail` or `lose`",
            "`step` says nothing without `retry`",
            "`cancel: false` does nothing",
        ],
    );
    check(
        "scenarios:\n  - {name: a, steps: [{lose: a, expect: {status: done}}]}\n",
        &["unknown value `done` of `status`"],
    );
    check(
        "scenarios:\n  - {name: a, steps: [{lose: a, expect: {pauses: [none]}}]}\n",
        &["unknown value `none` of `pauses`"],
    );
}

#[test]
fn an_act_that_is_refused_says_where_its_step_stands() {
    check(
        "    steps: [{complete: review, result: PASS}]\n",
        &["the refusal is `no_such_attempt`, not `none`: review is blocked, and its results are PASS, FAIL"],
    );
    check("    steps: [{complete: d}]\n", &["there is no step `d`"]);
}
