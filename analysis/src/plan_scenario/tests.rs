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
            "`result` says nothing without `complete` or `answer`",
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

/// A workflow whose steps report outputs, with the condition of its last step.
fn with_outputs(condition: &str) -> String {
    format!(
        "[workflow]\nname = 'flow'\n\
         [inputs.target]\nwords = ['web', 'api']\ndefault = 'web'\n[inputs.most]\ntype = 'number'\nmin = 1\n\
         [[steps]]\nid = 'plan'\nprompt = 'For {{{{inputs.target}}}}.'\n\
         outputs = {{ risk = {{ words = ['low', 'high'] }}, score = {{ type = 'number', min = 0, max = 10 }} }}\n\
         [[steps]]\nid = 'test'\nprompt = 't'\nresults = ['PASS', 'FAIL']\ndepends_on = ['plan']\n\
         condition = \"plan.score >= 3\"\n\
         [[steps]]\nid = 'fix'\nprompt = 'f'\ndepends_on = ['test']\ncondition = \"test.result == 'FAIL'\"\nmax_retries = 2\n\
         [[steps]]\nid = 'pr'\nprompt = 'p'\ndepends_on = ['test']\ncondition = \"{condition}\"\n"
    )
}

#[track_caller]
fn check_outputs(condition: &str, scenario: &str, expect: &[&str]) {
    let text = format!("scenarios:\n  - name: a\n{scenario}");
    assert_eq!(failures_of("flow.toml", &with_outputs(condition), &text), expect, "{condition}");
}

const SKIPPED_TEST: &str =
    "    inputs: {most: 3}\n    steps:\n      - {complete: plan, outputs: {risk: low, score: 2}, ";

#[test]
fn a_value_that_is_absent_is_neither_equal_nor_unequal() {
    for condition in ["test.result != 'FAIL'", "!(test.result == 'FAIL')", "test.result == 'FAIL'"] {
        let expect = "expect: {steps: {test: skipped, pr: skipped}, status: completed}}\n";
        check_outputs(condition, &format!("{SKIPPED_TEST}{expect}"), &[]);
    }
    let runs = format!("{SKIPPED_TEST}expect: {{steps: {{test: skipped, pr: running}}}}}}\n");
    check_outputs("!test.ran || test.result != 'FAIL'", &runs, &[]);
}

#[test]
fn a_step_waits_while_a_loop_may_change_its_condition() {
    let begin = |risk: &str| {
        format!(
            "    inputs: {{most: 3}}\n    steps:\n      - {{complete: plan, outputs: {{risk: {risk}, score: 3}}}}\n"
        )
    };
    let condition = "test.result == 'PASS' && plan.risk == 'low'";
    let low = "      - {complete: test, result: FAIL, expect: {steps: {pr: blocked, fix: running}}}
      - {complete: fix, expect: {steps: {pr: blocked, test: running}}}
      - {complete: test, result: PASS, expect: {steps: {pr: running}}}\n";
    check_outputs(condition, &format!("{}{low}", begin("low")), &[]);
    let high = "      - {complete: test, result: FAIL, expect: {steps: {pr: blocked, fix: running}}}
      - {complete: fix}
      - {complete: test, result: PASS, expect: {steps: {pr: skipped}, status: completed}}\n";
    check_outputs(condition, &format!("{}{high}", begin("high")), &[]);
    let rounds = "      - {complete: test, result: FAIL, expect: {steps: {pr: blocked}}}
      - {complete: fix}
      - {complete: test, result: FAIL, expect: {steps: {fix: running, pr: queued}}}\n";
    check_outputs("test.rounds >= 2", &format!("{}{rounds}", begin("low")), &[]);
}

#[test]
fn a_report_with_a_wrong_output_is_refused_and_given_again() {
    check_outputs(
        "inputs.target == 'web'",
        "    inputs: {most: 3}
    steps:
      - {complete: plan, outputs: {risk: low}, expect: {refusal: output, steps: {plan: running}}}
      - {complete: plan, outputs: {risk: low, score: 7}, expect: {steps: {plan: completed, test: running}}}
      - {complete: test, result: PASS, expect: {steps: {pr: running}, context: {pr: ''}}}\n",
        &[],
    );
    for (value, takes) in [("high", "`score`"), ("11", "`score`"), ("7.5", "`score`")] {
        let scenario = format!(
            "    inputs: {{most: 3}}\n    steps:\n      - {{complete: plan, outputs: {{risk: low, score: '{value}'}}}}\n"
        );
        check_outputs(
            "plan.ran",
            &scenario,
            &[&format!("the output {takes} takes a whole number from 0 to 10")],
        );
    }
}

#[test]
fn inputs_are_fixed_when_a_mission_starts() {
    let script = |inputs: &str, pr: &str| {
        format!(
            "    inputs: {inputs}\n    steps:\n      - {{complete: plan, outputs: {{risk: low, score: 3}}}}\n      \
             - {{complete: test, result: PASS, expect: {{steps: {{pr: {pr}}}}}}}\n"
        )
    };
    let condition = "inputs.target == 'api' && inputs.most < 3";
    check_outputs(condition, &script("{most: 2, target: api}", "running"), &[]);
    check_outputs(condition, &script("{most: 2}", "skipped"), &[]);
    check_outputs(condition, &script("{most: 3, target: api}", "skipped"), &[]);
    check_outputs(
        condition,
        &script("{most: 2, target: app}", "skipped"),
        &["the input `target` takes `web` or `api`"],
    );
}

#[test]
fn conditions_whose_types_do_not_fit_are_refused() {
    let found = |condition: &str| -> Vec<String> {
        let compilation = compile(&Source::new("flow.toml", &*with_outputs(condition)));
        compilation.diagnostics.iter().map(|it| it.code().to_owned()).collect()
    };
    for (condition, code) in [
        ("plan.score < 'x'", "B47"),
        ("test.result < 'P'", "B47"),
        ("test.ran > true", "B47"),
        ("plan.score", "B47"),
        ("'a' in plan.risk", "B47"),
        ("plan.score in ['1']", "B47"),
        ("plan.risk == 'mid'", "B47"),
        ("plan.risk in ['low', 'mid']", "B47"),
        ("inputs.target == 'app'", "B47"),
        ("all test.result == 'P'", "B33"),
        ("plan.rsk == 'low'", "B32"),
        ("inputs.tarjet == 'web'", "B32"),
        ("test.verdict == 'x'", "B06"),
        ("tset.result == 'PASS'", "B05"),
        ("plan.risk = 'low'", "B04"),
        ("pr.result == 'x' || test.ran", "B07"),
    ] {
        assert_eq!(found(condition), [code], "{condition}");
    }
}
