//! What the pages do not show: where findings of prompts come at another level, and what they say nothing about.

use crate::lint::lint;
use orange_codegen::Source;
use orange_codegen::diag::Level;

/// A worker that lives through planning, working and review, with reviewers beside it.
const MACHINE: &str = "\
name: flow
states:
  pending: {}
  clarification: {respawn_prompt: other}
  planning: {respawn_prompt: other}
  working: {respawn_prompt: other}
  agent-review: {respawn_prompt: reviewer}
  stuck: {respawn_prompt: other}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - {from: pending, to: planning, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: planning, to: working, gate: {section: \"## Plan\", fields: [GOAL]}}
  - {from: planning, to: clarification}
  - {from: clarification, to: planning}
  - {from: working, to: agent-review, gate: {section: \"## Handoff\", required: true},
     hooks: [{action: spawn_reviewer, prompt: reviewer}]}
  - {from: working, to: stuck, by: human, hooks: [{action: kill_session}]}
  - {from: stuck, to: working, hooks: [{action: spawn_agent, prompt: other}]}
  - {from: agent-review, to: working, gate: {section: \"## Review\", verdict: FAIL, strict: true}, hooks: [{action: kill_reviewer}]}
  - {from: agent-review, to: done, gate: {section: \"## Review\", verdict: PASS, strict: true},
     hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: [pending, clarification, planning, working, agent-review, stuck], to: cancelled,
     hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  other: \"Write ## Plan (GOAL) and ## Handoff. orange task update --status <status>\"
  reviewer: |
    Write ## Review: its first line is `Verdict: PASS` or `Verdict: FAIL`.
    - PASS → orange task update --status done
    - FAIL → orange task update --status working
";

/// The findings of this group for the machine with this prompt for its worker: level, code, and what is pointed at.
#[track_caller]
fn check(worker: &str, expect: &[&str]) {
    check_with("worker", worker, expect);
}

#[track_caller]
fn check_with(name: &str, prompt: &str, expect: &[&str]) {
    check_in(MACHINE, name, prompt, expect);
}

#[track_caller]
fn check_in(machine: &str, name: &str, prompt: &str, expect: &[&str]) {
    let indented: String = prompt.lines().map(|line| format!("    {line}\n")).collect();
    let mut text = format!("{machine}  {name}: |\n{indented}");
    if name != "worker" {
        text += "  worker: \"Write ## Plan (GOAL) and ## Handoff. orange task update --status <status>\"\n";
    }
    let source = Source::new("flow.yml", &text);
    let found = lint(&source).diagnostics;
    assert!(found.iter().all(|it| it.level > Level::Error), "{found:#?}");
    let ours = found.iter().filter(|it| it.code().starts_with("C8") && it.level < Level::Allow);
    let told: Vec<String> = ours
        .map(|it| format!("{} {} {}", it.level.as_str(), it.code(), &source.text[it.span.range()]))
        .collect();
    assert_eq!(told, expect, "{prompt}");
}

const WRITE: &str = "Write ## Plan (GOAL) and ## Handoff.\n";

#[test]
fn a_worker_that_lives_on_may_give_every_command_on_its_way() {
    check(&format!("{WRITE}1. --status working\n2. --status agent-review"), &[]);
    check(
        &format!(
            "{WRITE}1. --status working\n2. --status agent-review, wait\n3. If it failed: --status agent-review"
        ),
        &[],
    );
    check(
        &format!("{WRITE}If unclear: --status clarification, wait.\n--status working\n--status agent-review"),
        &[],
    );
    check(&format!("{WRITE}If blocked, --status cancelled and stop.\n--status working"), &[]);
}

#[test]
fn what_comes_after_a_condition_may_rest_on_it() {
    check(&format!("{WRITE}When it is clear, --status working.\nDo it, then --status agent-review"), &[]);
    check(
        &format!("{WRITE}If unclear, --status clarification. Then --status planning.\n--status working"),
        &[],
    );
}

#[test]
fn commands_are_judged_where_they_are_given() {
    check(&format!("{WRITE}1. --status agent-review"), &["warn C82 worker"]);
    check(&format!("{WRITE}1. --status working\n2. --status done"), &["deny C80 done"]);
    check(
        &format!("{WRITE}1. --status working\n2. --status planning\n3. --status working"),
        &["deny C80 planning"],
    );
    check(&format!("{WRITE}1. --status clarification\n2. --status working"), &["deny C80 working"]);
    check(
        &format!("{WRITE}1. If unclear: --status clarification, then go on.\n2. --status working"),
        &["warn C80 working"],
    );
    check(
        &format!("{WRITE}If status is planning:\n- --status agent-review\n\nOtherwise --status working"),
        &["deny C80 agent-review"],
    );
}

#[test]
fn commands_are_judged_per_start_and_presumed_ones_anywhere() {
    let again = MACHINE.replace("planning: {respawn_prompt: other}", "planning: {respawn_prompt: worker}");
    let steps = format!("{WRITE}1. --status working\n2. --status agent-review");
    check_in(
        &again.replace("pending, to: planning, hooks", "pending, to: working, hooks"),
        "worker",
        &steps,
        &[],
    );
    let stuck =
        MACHINE.replace("stuck: {respawn_prompt: other}", "stuck: {wait: human, respawn_prompt: worker}");
    let stuck =
        stuck.replace("{from: stuck, to: working, hooks", "{from: stuck, to: working, by: engine, hooks");
    check_in(&stuck, "worker", &steps, &["warn C80 working"]);
    check(&format!("{steps}\nWrite ## Handoff before setting --status done."), &[]);
    check(&format!("{steps}\nWrite ## Handoff before setting --status pending."), &["warn C80 pending"]);
}

#[test]
fn an_agent_is_told_what_comes_after_its_last_command() {
    let rules = "exit_monitoring:\n  rules:\n    - {status: working, has_artifact: {section: \"## Handoff\", required: true}, then: agent-review}\nprompts:";
    let ruled = MACHINE.replace("prompts:", rules);
    check_in(&ruled, "worker", "Write ## Plan (GOAL).\n--status working", &["warn C82 working"]);
    check_in(&ruled, "worker", "Write ## Plan (GOAL).\n--status working, and exit when it is done", &[]);
    check_in(&ruled, "worker", &format!("{WRITE}--status working\n--status agent-review"), &[]);
    let told = "Write ## Plan (GOAL).\n--status working\nWhen you know more, --status agent-review";
    check_in(&ruled, "worker", &told.replace("GOAL)", "GOAL) and ## Handoff"), &[]);
}

#[test]
fn a_reviewer_is_told_a_way_for_each_verdict() {
    let verdict = "Write ## Review: its first line is `Verdict: PASS` or `Verdict: FAIL`.";
    let both =
        "    - PASS → orange task update --status done\n    - FAIL → orange task update --status working\n";
    let only = |line: &str| MACHINE.replace(both, &format!("    {line}\n"));
    let worker = format!("{WRITE}1. --status working\n2. --status agent-review");
    check_in(&only("FAIL → --status working"), "worker", &worker, &["warn C82 reviewer"]);
    check_in(&only("PASS → --status done"), "worker", &worker, &["warn C82 reviewer"]);
    check_in(&only("Set --status done or working"), "worker", &worker, &[]);
    check_in(&only("orange task update --status <status>"), "worker", &worker, &[]);
    let prose = MACHINE.replace(verdict, "Write ## Review, PASS or FAIL.");
    check_in(&prose, "worker", &worker, &["warn C81 done"]);
}

#[test]
fn what_by_closes_and_what_no_state_is_named_is_refused() {
    check(&format!("{WRITE}1. --status working\n2. --status stuck"), &["deny C80 stuck"]);
    check(&format!("{WRITE}1. orange task update --status finished"), &["deny C80 finished"]);
    check(&format!("{WRITE}1. --status workin"), &["deny C80 workin"]);
}

#[test]
fn an_unused_prompt_is_judged_where_its_first_command_holds() {
    check_with("spare", "1. --status clarification\n2. --status planning", &["warn C83 spare"]);
    check_with(
        "spare",
        "1. --status clarification\n2. --status working",
        &["warn C83 spare", "deny C80 working"],
    );
    check_with("spare", "Nothing.", &["warn C83 spare"]);
}

#[test]
fn a_section_is_asked_for_once_it_is_to_be_written() {
    check("Write ## Plan.\n1. --status working", &["warn C81 working"]);
    check(
        "Write ## Plan with GOAL.\n1. --status working\n2. Read ## Handoff.\n3. --status agent-review",
        &["warn C81 agent-review"],
    );
    check("Write ### Plan with GOAL and the Handoff section.\n1. --status working", &["warn C81 working"]);
    check("Write ## Plans with GOAL.\n1. --status working", &["warn C81 working"]);
    check("Write the plan section with GOAL.\n1. --status working", &[]);
}

#[test]
fn a_prompt_without_a_command_is_told_by_where_it_is_used() {
    check(WRITE, &["warn C82 worker"]);
    check(&format!("{WRITE}Never run --status done."), &["warn C82 worker"]);
    check(&format!("{WRITE}After setting --status working, wait."), &[]);
}

/// The findings where the worker is told this when its task comes back to work, and a person that when it is stuck.
#[track_caller]
fn check_messages(worker: &str, person: &str, expect: &[&str]) {
    let machine = MACHINE
        .replace("hooks: [{action: kill_reviewer}]}", &format!("hooks: [{{action: kill_reviewer}}, {{action: notify_worker, message: \"{worker}\"}}]}}"))
        .replace("hooks: [{action: kill_session}]}\n  - {from: stuck", &format!("hooks: [{{action: kill_session}}, {{action: notify, message: '{person}'}}]}}\n  - {{from: stuck"));
    assert_eq!(machine.matches("message").count(), 2);
    check_in(&machine, "worker", &format!("{WRITE}1. --status working\n2. --status agent-review"), expect);
}

#[test]
fn messages_of_hooks_are_read_like_prompts() {
    check_messages(
        "Go on, then run: orange task update --status agent-review",
        "orange task update --status working",
        &[],
    );
    check_messages("orange task update --status planning", "Look at it", &["deny C80 planning"]);
    check_messages("Never set --status done", "Look at it", &[]);
    check_messages(
        "First \\\"a\\\".\\nThen orange task update --status agent-reviw",
        "",
        &["deny C80 agent-reviw"],
    );
    check_messages("Say Verdict: APPROVED in ## Review", "", &["warn C87 APPROVED"]);
    check_messages("Go on", "orange task update --status planing", &["deny C80 planing"]);
    check_messages("Go on", "orange task update --status planning", &["deny C80 planning"]);
    check_messages(
        "Do {summary} of {other}",
        "round {review_round}",
        &["warn C84 {review_round}", "warn C84 {summary}"],
    );
}
