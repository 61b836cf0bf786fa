//! `test`: scenario files beside workflows.

use crate::scratch::Scratch;

const FLOW: &str = "\
name: flow
states:
  pending: {}
  working: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}]}
  - {from: working, to: done, gate: {section: '## Handoff', required: true}, hooks: [{action: release_workspace}]}
  - {from: working, to: pending, when: 'review_round > 0'}
";

#[track_caller]
fn check(scenarios: &str, exit: i32, expect: &[&str]) {
    let scratch = Scratch::with(&[("flow.yml", FLOW), ("flow.test.yml", scenarios)]);
    let run = scratch.run(&["test", "."]);
    let all = run.out + &run.err;
    assert_eq!(run.exit, exit, "{all}");
    for line in expect {
        assert!(all.contains(line), "{line:?} is not in:\n{all}");
    }
}

#[test]
fn what_is_as_expected_passes_and_tells_what_was_not_tried() {
    check(
        "scenarios:\n- name: the whole path\n  steps:\n  - {request: working, expect: {hooks: [acquire_workspace], workspace: true}}\n  \
         - {request: done, expect: {rejection: gate_failed, status: working}}\n  - {write: '## Handoff', text: x}\n  - {request: done, \
         expect: {status: done, workspace: false}}\n",
        0,
        &[
            "flow.test.yml: 1 scenario, 2 of 3 transitions taken\n  not taken: working → pending when review_round > 0\n",
            "1 scenario: 1 passed, 0 failed",
        ],
    );
}

#[test]
fn a_failed_expectation_is_reported_with_its_place() {
    check(
        "scenarios:\n- name: too hasty\n  given: {status: working}\n  steps:\n  - {request: done, expect: {status: done}}\n- name: wrong\n  \
         steps:\n  - {request: working, expect: {status: done, hooks: []}}\n",
        1,
        &[
            "flow.test.yml:5:5: too hasty: refused (gate_failed): `## Handoff` is missing from TASK.md",
            "flow.test.yml:5:38: too hasty: the status: expected done, found working",
            "flow.test.yml:8:54: wrong: the hooks: expected none, found acquire_workspace",
            "2 scenarios: 0 passed, 2 failed",
        ],
    );
}

#[test]
fn names_that_the_workflow_does_not_have_fail() {
    check(
        "scenarios:\n- {name: a, given: {status: wroking}, steps: []}\n",
        1,
        &["no state `wroking`; did you mean `working`?"],
    );
    check("scenarios:\n- {name: a, steps: [{request: nowhere}]}\n", 1, &["there is no state `nowhere`"]);
    check("scenarios:\n- {name: a, steps: [{end: worker}]}\n", 1, &["no worker is alive"]);
}

#[test]
fn bad_input_says_what_to_do() {
    check("scenarios:\n- {nam: a, steps: []}\n", 2, &["unknown key `nam` in a scenario"]);
    check("workflow: other.yml\nscenarios: []\n", 2, &["no such file or folder"]);
    let empty = Scratch::with(&[("flow.yml", FLOW)]);
    let run = empty.run(&["test", "."]);
    assert_eq!(run.exit, 2);
    assert!(run.err.contains("no scenario file found in ."), "{}", run.err);
}

#[test]
fn a_bad_file_hides_no_good_one() {
    let scratch = Scratch::with(&[
        ("flow.yml", FLOW),
        ("a.test.yml", "scenarios: 1\n"),
        ("b.test.yml", "workflow: a.test.yml\nscenarios: []\n"),
        ("flow.test.yml", "scenarios:\n- {name: a, steps: [{request: working}]}\n"),
    ]);
    let run = scratch.run(&["test", "."]);
    assert_eq!(run.exit, 2);
    assert!(run.err.contains(" a.test.yml:1:") && run.err.contains("holds no workflow"), "{}", run.err);
    assert!(run.out.contains("flow.test.yml: 1 scenario, 1 of 3 transitions taken"), "{}", run.out);
    assert!(run.out.ends_with("1 scenario: 1 passed, 0 failed\n"), "{}", run.out);
}

#[test]
fn a_scenario_file_is_taken_for_no_workflow() {
    let scratch = Scratch::with(&[("flow.yml", FLOW), ("flow.test.yml", "scenarios: []\n")]);
    let run = scratch.run(&["check", ".", "--exit-zero", "--format", "json"]);
    assert!(!(run.out + &run.err).contains("flow.test.yml"));
}

const STEPS: &str = include_str!("../../../../tests/fixtures/dev-task.toml");

fn check_steps(scenarios: &str, exit: i32, expect: &[&str]) {
    let scratch = Scratch::with(&[("dev-task.toml", STEPS), ("dev-task.test.yml", scenarios)]);
    scratch.write_prompts();
    let run = scratch.run(&["test", "dev-task.test.yml"]);
    assert_eq!(run.exit, exit, "{}{}", run.out, run.err);
    for line in expect {
        assert!(format!("{}{}", run.out, run.err).contains(line), "{line}\n{}{}", run.out, run.err);
    }
}

#[test]
fn scenarios_of_a_step_workflow_show_what_none_has_seen() {
    check_steps(
        "scenarios:\n- name: a fix\n  steps:\n  - {complete: plan}\n  - {complete: implement}\n  - {complete: review, result: FAIL}\n  \
         - {complete: fix, expect: {steps: {review: running}}}\n",
        0,
        &[
            "dev-task.test.yml: 1 scenario, 6 of 10 steps, conditions and loops seen\n",
            "  not seen: pr runs\n",
            "  not seen: fix is skipped without review.result == 'FAIL'\n",
            "1 scenario: 1 passed, 0 failed\n",
        ],
    );
}

#[test]
fn what_a_mission_does_otherwise_fails_its_scenario() {
    check_steps(
        "scenarios:\n- {name: hasty, steps: [{complete: plan, expect: {status: completed}}]}\n",
        1,
        &["dev-task.test.yml:2:59: hasty: the mission is `running`, not `completed`\n", "0 passed, 1 failed"],
    );
    check_steps(
        "scenarios:\n- {name: a, steps: [{spawn: true}]}\n",
        2,
        &["unknown key `spawn` in a step of a scenario"],
    );
}

#[test]
fn a_workflow_is_no_file_of_scenarios() {
    let scratch = Scratch::with(&[
        ("flow.yml", FLOW),
        ("dev-task.toml", STEPS),
        ("dev-task.test.yml", "scenarios: []\n"),
    ]);
    for (file, help) in [
        ("flow.yml", "help: write its scenarios into flow.test.yml, and name that file"),
        ("dev-task.toml", "help: run its scenarios: `orange-workflow test dev-task.test.yml`"),
    ] {
        let run = scratch.run(&["test", file]);
        let expect = format!("{file}: this is a workflow, and `test` runs files of scenarios");
        assert!(run.exit == 2 && run.err.contains(&expect) && run.err.contains(help), "{}", run.err);
    }
}

#[test]
fn scenarios_of_a_workflow_that_is_not_there_are_not_read() {
    let scenarios = "workflow: other.toml\nscenarios:\n- name: a\n  steps: [{complete: a}]\n";
    check(scenarios, 2, &["no such file or folder: other.toml"]);
    check("workflow: other.toml\nscenarios: [", 2, &["S01", "flow.test.yml:2:12"]);
}

const MIXED: &str = "scenarios:\n- {name: 'a, \"b\"', steps: [{request: working}]}\n- name: wrong\n  steps:\n  - {request: working, expect: {status: done}}\n";

#[test]
fn results_have_a_form_for_programs() {
    let scratch =
        Scratch::with(&[("flow.yml", FLOW), ("flow.test.yml", MIXED), ("bad.test.yml", "scenarios: 1\n")]);
    let run = |format: &str| scratch.run(&["test", "flow.test.yml", "--format", format]);
    let json = run("json").json();
    assert_eq!((&json["passed"], &json["failed"]), (&1.into(), &1.into()));
    let file = &json["files"][0];
    assert_eq!(
        file["coverage"]["missed"],
        serde_json::json!(["working → pending when review_round > 0", "working → done"])
    );
    let failure = &file["scenarios"][1]["failures"][0];
    assert_eq!(failure["message"], "the status: expected done, found working");
    assert_eq!((&failure["line"], &failure["column"]), (&5.into(), &41.into()));
    let junit = run("junit");
    crate::reports::assert_junit(&junit.out);
    assert!(
        junit.exit == 1
            && junit.out.contains("<testcase name=\"a, &quot;b&quot;\" classname=\"flow.test.yml\"/>"),
        "{}",
        junit.out
    );
    assert_eq!(
        run("github").out,
        "::error file=flow.test.yml,line=5,col=41,title=wrong::the status: expected done, found working\n"
    );
    for format in ["json", "junit", "github"] {
        let run = scratch.run(&["test", ".", "--format", format]);
        assert_eq!(run.exit, 2);
        assert!(run.err.contains("bad.test.yml"), "{}", run.err);
        assert!(run.out.contains("expected done, found working"), "{}", run.out);
        assert!(format == "json" || run.out.contains("bad.test.yml"), "{}", run.out);
    }
}
