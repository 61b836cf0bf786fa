//! Cases that the `docs/lints` pages do not show: findings of prompts at another level, and prompts without findings.

use crate::every_finding;
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
    let found = every_finding(&source).diagnostics;
    assert!(found.iter().all(|it| it.level > Level::Error), "{found:#?}");
    let ours = found.iter().filter(|it| it.code().starts_with("C8") && it.level < Level::Allow);
    let messages: Vec<String> = ours
        .map(|it| format!("{} {} {}", it.level.as_str(), it.code(), &source.text[it.span.range()]))
        .collect();
    assert_eq!(messages, expect, "{prompt}");
}

const WRITE: &str = "Write ## Plan (GOAL) and ## Handoff.\n";
const SET: &str = "orange task update --status";

#[test]
fn a_worker_that_lives_on_may_give_all_its_commands() {
    check(&format!("{WRITE}1. {SET} working\n2. {SET} agent-review"), &[]);
    check(
        &format!("{WRITE}1. {SET} working\n2. {SET} agent-review, wait\n3. If it failed: {SET} agent-review"),
        &[],
    );
    check(&format!("{WRITE}If unclear: {SET} clarification\n{SET} working\n{SET} agent-review"), &[]);
    check(&format!("{WRITE}{SET} working\n- {SET} agent-review\n- {SET} cancelled"), &[]);
    check(&format!("{WRITE}If unclear: {SET} clarification, wait.\n{SET} <status>"), &[]);
}

#[test]
fn commands_are_judged_in_their_order() {
    check(&format!("{WRITE}1. {SET} agent-review"), &["warn C82 worker", "warn C80 agent-review"]);
    check(&format!("{WRITE}1. {SET} working\n2. {SET} done"), &["warn C80 done"]);
}

#[test]
fn a_command_that_is_forbidden_and_a_bare_flag_do_not_count() {
    let steps = format!("{WRITE}1. {SET} working\n2. {SET} agent-review");
    check(&format!("{steps}\nDo NOT run `{SET} pending`."), &[]);
    check(&format!("{steps}\nA person runs `{SET} pending`."), &[]);
    check(&format!("{steps}\nDo NOT run `{SET} pending` before it builds."), &["warn C80 pending"]);
    check(&format!("{steps}\nDo NOT set --status pending."), &[]);
}

#[test]
fn states_to_which_others_lead_count() {
    let open = MACHINE.replace("planning, hooks", "stuck, hooks");
    let other = "{from: stuck, to: working, hooks: [{action: spawn_agent, prompt: other}]}";
    let by_person = open.replace(other, "{from: stuck, to: working, by: human}");
    let steps = format!("{WRITE}1. {SET} agent-review");
    check_in(&by_person, "worker", &steps, &[]);
    let by_anyone = open.replace(other, "{from: stuck, to: working}");
    check_in(&by_anyone, "worker", &steps, &["warn C80 agent-review"]);
}

#[test]
fn each_state_to_which_a_command_leads_needs_a_command() {
    let rules = "exit_monitoring:\n  rules:\n    - {status: working, has_artifact: {section: \"## Handoff\", required: true}, then: agent-review}\nprompts:";
    let ruled = MACHINE.replace("prompts:", rules);
    check_in(&ruled, "worker", &format!("Write ## Plan (GOAL).\n{SET} working"), &["warn C82 working"]);
    check_in(&ruled, "worker", &format!("{WRITE}{SET} working\n{SET} agent-review"), &[]);
}

#[test]
fn a_reviewer_needs_a_command_for_each_verdict() {
    let verdict = "Write ## Review: its first line is `Verdict: PASS` or `Verdict: FAIL`.";
    let both =
        "    - PASS → orange task update --status done\n    - FAIL → orange task update --status working\n";
    let only = |command: &str| MACHINE.replace(both, &format!("    {SET} {command}\n"));
    let worker = format!("{WRITE}1. {SET} working\n2. {SET} agent-review");
    check_in(&only("working"), "worker", &worker, &["warn C82 reviewer"]);
    check_in(&only("done"), "worker", &worker, &["warn C82 reviewer"]);
    check_in(&only("done|working"), "worker", &worker, &[]);
    check_in(&only("<status>"), "worker", &worker, &[]);
    let prose = MACHINE.replace(verdict, "Write ## Review, PASS or FAIL.");
    check_in(&prose, "worker", &worker, &["warn C81 done"]);
}

#[test]
fn transitions_closed_by_by_and_unknown_states_are_refused() {
    check(&format!("{WRITE}1. {SET} working\n2. {SET} agent-review\n3. {SET} stuck"), &["warn C80 stuck"]);
    check(&format!("{WRITE}1. {SET} finished"), &["warn C80 finished"]);
    check(&format!("{WRITE}1. {SET} workin"), &["warn C80 workin"]);
}

#[test]
fn an_unused_prompt_is_judged_where_its_first_command_leads() {
    check_with("spare", &format!("1. {SET} clarification\n2. {SET} planning"), &["warn C83 spare"]);
    check_with(
        "spare",
        &format!("1. {SET} clarification\n2. {SET} working"),
        &["warn C83 spare", "warn C80 working"],
    );
    check_with("spare", "Nothing.", &["warn C83 spare"]);
}

#[test]
fn a_section_is_named_by_its_heading() {
    check(
        &format!("Write ## Plan.\n1. {SET} working\n2. {SET} agent-review"),
        &["warn C81 working", "warn C81 agent-review"],
    );
    let rest = format!("and ## Handoff.\n1. {SET} working\n2. {SET} agent-review");
    check(&format!("Read ## Plan with GOAL {rest}"), &[]);
    check(&format!("Write ### Plan with GOAL {rest}"), &["warn C81 working"]);
    check(&format!("Write ## Plans with GOAL {rest}"), &["warn C81 working"]);
    check(&format!("Write the plan section with GOAL {rest}"), &["warn C81 working"]);
}

#[test]
fn a_prompt_without_a_command_is_reported() {
    check(WRITE, &["warn C82 worker"]);
    check(&format!("{WRITE}Never set --status done, and exit."), &["warn C82 worker"]);
}

/// The help of the finding C82 of this workflow; none without one.
fn help_without_exit(text: &str) -> Option<String> {
    let found = every_finding(&Source::new("flow.yml", text)).diagnostics;
    found.into_iter().find(|it| it.code() == "C82").and_then(|it| it.help)
}

#[test]
fn the_help_leaves_out_what_the_prompt_has() {
    let with =
        |prompt: &str| help_without_exit(&format!("{MACHINE}  worker: \"Write ## Plan (GOAL). {prompt}\"\n"));
    let working = "`orange task update --status working` when ## Plan is written";
    let both = format!("write what to run at the end: `{SET} clarification`; {working}");
    let one = format!("write what to run at the end: {working}");
    assert_eq!(with("Stop."), Some(both));
    assert_eq!(with(&format!("{SET} clarification")), Some(one.clone()));
    assert_eq!(with(&format!("If you cannot, run {SET} clarification")), Some(one.clone()));
    assert_ne!(with(&format!("You cannot run {SET} clarification")), Some(one));
}

#[test]
fn giving_up_is_no_command_that_is_missing() {
    let crash = MACHINE.replace(", to: stuck, by: human", ", to: stuck");
    let only = crash.replace(
        "  - {from: planning, to: working, ",
        "  - {from: planning, to: stuck}\n  - {from: clarification, to: working, ",
    );
    let only = only.replace("  - {from: planning, to: clarification}\n", "");
    let with = |prompt: &str| help_without_exit(&format!("{only}  worker: \"{prompt}\"\n"));
    assert_eq!(with("Stop."), None);
    assert_eq!(with(&format!("{SET} stuck")), None);
}

#[test]
fn states_of_a_shared_prompt_need_a_command_each() {
    let shared = MACHINE.replace("planning: {respawn_prompt: other}", "planning: {respawn_prompt: worker}");
    let shared = shared.replace("working: {respawn_prompt: other}", "working: {respawn_prompt: worker}");
    check_in(&shared, "worker", &format!("{WRITE}1. {SET} working\n2. {SET} agent-review"), &[]);
    let to_review = format!("{WRITE}If status is working: {SET} agent-review");
    check_in(&shared, "worker", &to_review, &["warn C82 worker", "warn C86 worker"]);
}

#[test]
fn a_loose_gate_reads_fail_behind_prose_as_pass() {
    use orange_core::{Fields, SectionGate, Verdict, check_section};
    let section = "## Review";
    let gate = SectionGate {
        section,
        required: false,
        verdict: Some(Verdict::PASS),
        verdicts: &[],
        strict: false,
        fields: Fields::NONE,
        fresh: false,
        of: None,
        reviewer: None,
    };
    assert_eq!(check_section(&gate, "## Review\nAll tests pass.\nFAIL: it leaks\n", &[]), Ok(()));
}

/// The findings where this is the worker's message when its task comes back to work, and that is a person's when it is stuck.
#[track_caller]
fn check_messages(worker: &str, person: &str, expect: &[&str]) {
    let machine = MACHINE
        .replace("hooks: [{action: kill_reviewer}]}", &format!("hooks: [{{action: kill_reviewer}}, {{action: notify_worker, message: \"{worker}\"}}]}}"))
        .replace("hooks: [{action: kill_session}]}\n  - {from: stuck", &format!("hooks: [{{action: kill_session}}, {{action: notify, message: '{person}'}}]}}\n  - {{from: stuck"));
    assert_eq!(machine.matches("message").count(), 2);
    check_in(&machine, "worker", &format!("{WRITE}1. {SET} working\n2. {SET} agent-review"), expect);
}

#[test]
fn messages_of_hooks_are_read_like_prompts() {
    check_messages(&format!("Go on, then run: {SET} agent-review"), &format!("{SET} working"), &[]);
    check_messages(&format!("{SET} planning"), "Look at it", &["warn C80 planning"]);
    check_messages("Never set --status planning", "Look at it", &[]);
    check_messages(&format!("First \\\"a\\\".\\nThen {SET} agent-reviw"), "", &["warn C80 agent-reviw"]);
    check_messages("Say Verdict: APPROVED in ## Review", "", &["warn C87 APPROVED"]);
    check_messages("Go on", &format!("{SET} planing"), &["warn C80 planing"]);
    check_messages("Go on", &format!("{SET} planning"), &["warn C80 planning"]);
    check_messages(
        "Do {summary} of {other}",
        "round {review_round}",
        &["warn C84 {review_round}", "warn C84 {summary}"],
    );
}

#[test]
fn all_sections_that_a_prompt_does_not_name_are_one_finding() {
    let gate = "gate: {section: \"## Handoff\", required: true}";
    let gates = "gate: {all: [{section: \"## Handoff\", required: true}, {section: \"## Notes\", required: true}, {section: \"## Plan\", required: true}]}";
    let text = MACHINE.replacen(gate, gates, 1)
        + "  worker: \"Write ## Plan (GOAL). orange task update --status working, then orange task update --status agent-review\"\n";
    let found = every_finding(&Source::new("flow.yml", &text)).diagnostics;
    let found: Vec<_> = found.iter().filter(|it| it.code() == "C81").collect();
    let [found] = &found[..] else { panic!("{found:#?}") };
    assert!(
        found.message.ends_with("does not name `## Handoff` and `## Notes`, which the gate wants"),
        "{found:#?}"
    );
    assert_eq!(found.labels.iter().filter(|it| it.message.ends_with("while this is missing")).count(), 2);
}
