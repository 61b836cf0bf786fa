//! Cases that the `docs/lints` pages of these checks don't show: agents that count as having worked, and the findings that follow.

use crate::every_finding;
use orange_codegen::Level;
use orange_codegen::source::Source;

const SPAWN: &str = "{action: spawn_agent, prompt: worker}";
const KILL: &str = "{action: kill_session}";

/// A worker and a review, with these hooks before it, these keys of its transition to `done`, and these of its gate.
fn reviewed(hooks: &str, by: &str, gate: &str) -> String {
    format!(
        "
name: flow
unattended: true
states:
  pending: {{}}
  working: {{respawn_prompt: worker}}
  review: {{}}
  done: {{terminal: true}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {SPAWN}]}}
  - {{from: working, to: review, hooks: [{hooks}]}}
  - {{from: review, to: done, {by}gate: {{section: '## Review', verdict: PASS{gate}}}, hooks: [{KILL}, {{action: release_workspace}}]}}
exit_monitoring: {{rules: [{{status: working, action: mark_dead}}, {{status: review, action: mark_dead}}]}}
prompts: {{worker: Work., reviewer: Judge.}}
"
    )
}

/// The findings of this group: level, code and message.
#[track_caller]
fn check(source: &str, expect: &[&str]) {
    let found = every_finding(&Source::new("flow.yml", source)).diagnostics;
    assert!(found.iter().all(|it| it.level > Level::Error), "{found:#?}");
    let found = found.iter().filter(|it| it.code().starts_with("CA"));
    let found: Vec<String> =
        found.map(|it| format!("{} {} {}", it.level.as_str(), it.code(), it.message)).collect();
    assert_eq!(found, expect, "{source}");
}

const REVIEWER: &str = "{action: kill_session}, {action: spawn_agent, prompt: reviewer, harness: review}";
const BESIDE: &str = "{action: spawn_reviewer, prompt: reviewer}";
const CAN_TAKE: &str =
    "CA0 a worker can take `review → done` itself, by the verdict in `## Review` on its own work";

#[test]
fn a_worker_that_goes_on_judges_itself() {
    check(&reviewed("", "", ", fresh: true"), &[&format!("deny {CAN_TAKE}")]);
    check(&reviewed(BESIDE, "", ", fresh: true"), &[&format!("warn {CAN_TAKE}")]);
    check(&reviewed("", "by: human, ", ""), &[]);
}

#[test]
fn another_agent_judges() {
    check(&reviewed(REVIEWER, "", ", fresh: true"), &[]);
    let again = REVIEWER.replace(", harness: review", "");
    check(&reviewed(&again, "", ", fresh: true"), &[]);
    let same = again.replace("prompt: reviewer", "prompt: worker");
    check(&reviewed(&same, "", ", fresh: true"), &[&format!("deny {CAN_TAKE}")]);
}

#[test]
fn a_verdict_that_the_worker_can_write_has_no_known_writer() {
    let before = "warn CA1 the worker can write the verdict in `## Review` on its own work before `review`, and it counts there";
    check(&reviewed(REVIEWER, "", ""), &[before]);
    check(&reviewed(REVIEWER, "", ", written_by: reviewer"), &[]);
    let there =
        "warn CA1 the worker can be alive in `review` and write the verdict in `## Review` on its own work";
    check(&reviewed(BESIDE, "by: [reviewer, human], ", ", fresh: true"), &[there]);
    check(&reviewed(BESIDE, "by: [reviewer, human], ", ", written_by: [reviewer, human]"), &[]);
    let own =
        "warn CA0 the worker is to write the verdict in `## Review`, and in `review` that is on its own work";
    check(&reviewed(BESIDE, "by: [reviewer, human], ", ", written_by: worker"), &[own]);
}

#[test]
fn the_end_of_a_worker_passes_only_the_rule_that_leads_there() {
    let rules = "{status: working, has_artifact: {section: '## Handoff', fresh: true}, then: review}, \
                 {status: working, has_artifact: {section: '## Verdict', verdict: PASS, fresh: true}, then: shelved}, ";
    let flow = reviewed(REVIEWER, "by: human, ", "")
        .replace("  review: {}", "  shelved: {}\n  review: {}")
        .replace("exit_monitoring: {rules: [", &format!("exit_monitoring: {{rules: [{rules}"))
        .replace("transitions:\n", "transitions:\n  - {from: working, to: shelved, by: human}\n");
    let own =
        "CA0 the end of a worker takes `working → shelved`, by the verdict in `## Verdict` on its own work";
    check(&flow, &[&format!("deny {own}")]);
}

#[test]
fn work_ends_where_agents_begin() {
    let own = reviewed("", "", ", fresh: true").replace("from: review, to: done", "from: working, to: done");
    check(&own, &[&format!("deny {}", CAN_TAKE.replace("review →", "working →"))]);
}

#[test]
fn a_person_is_asked_where_nobody_else_may_go_on() {
    let asked = reviewed(REVIEWER, "", ", fresh: true").replace("unattended: true\n", "");
    let unasked = "warn CA2 a reviewer takes `review → done`, and no person is asked before work is merged";
    check(&asked, &[unasked]);
    check(&asked.replace("to: done, gate", "to: done, by: human, gate"), &[]);
    check(&asked.replace(REVIEWER, KILL), &[]);
    let rule = asked.replace(REVIEWER, "").replace("to: done, gate", "to: done, by: human, gate");
    check(&rule, &[]);
}

#[test]
fn a_program_that_merges_is_no_person() {
    let merged = |by: &str| {
        let text =
            reviewed("", "by: human, ", ", written_by: ci").replace("unattended: true", "actors: [ci]");
        text.replace("by: human", &format!("by: {by}"))
    };
    check(&merged("human"), &[]);
    let taken = "warn CA2 ci takes `review → done`, and no person is asked before work is merged";
    check(&merged("[human, ci]"), &[taken]);
}

#[test]
fn a_program_that_writes_the_verdict_judges_the_work_of_another() {
    let text = reviewed("", "by: ci, ", ", fresh: true")
        .replace("unattended: true", "actors: [ci]\nunattended: true");
    let unknown =
        "warn CA1 the worker can be alive in `review` and write the verdict in `## Review` on its own work";
    check(&text, &[unknown]);
    check(&text.replace("fresh: true", "written_by: ci"), &[]);
}

/// A worker that is alive beside its reviewer and after it, with these hooks where the verdict is accepted, and this gate at the merge.
fn merged(hooks: &str, gate: &str) -> String {
    format!(
        "
name: flow
states:
  pending: {{}}
  working: {{respawn_prompt: worker}}
  review: {{}}
  ready: {{}}
  done: {{terminal: true}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {SPAWN}]}}
  - {{from: working, to: review, hooks: [{BESIDE}]}}
  - {{from: review, to: ready, by: [reviewer, human], gate: {{section: '## Review', verdict: PASS, strict: true, fresh: true, written_by: reviewer}}, hooks: [{hooks}]}}
  - {{from: review, to: working, by: [reviewer, human], gate: {{section: '## Review', verdict: FAIL, strict: true, fresh: true}}, hooks: [{KILL}, {SPAWN}]}}
  - {{from: ready, to: done, by: human{gate}, hooks: [{KILL}, {{action: release_workspace}}]}}
exit_monitoring: {{rules: [{{status: working, action: mark_dead}}, {{status: review, action: mark_dead}}, {{status: ready, action: mark_dead}}]}}
prompts: {{worker: Work., reviewer: Judge.}}
"
    )
}

#[test]
fn work_that_changes_after_its_verdict_is_not_merged_unseen() {
    let gate = |keys: &str| format!(", gate: {{section: '## Review', verdict: PASS, strict: true{keys}}}");
    let found = "warn CA3 `ready → done` merges work that a worker can change in `ready` after the verdict in `## Review`";
    check(&merged("{action: kill_reviewer}", ""), &[found]);
    check(&merged("{action: kill_reviewer}", &gate("")), &[found]);
    check(&merged("{action: kill_reviewer}", &gate(", of: patch")), &[]);
    check(&merged("{action: kill_reviewer}", &gate(", of: commit")), &[]);
    check(&merged(KILL, ""), &[]);
    let no_merge =
        merged("{action: kill_reviewer}", "").replace("name: flow", "name: flow\ncommands: {cancel: done}");
    check(&no_merge.replace("done", "shut"), &[]);
}

#[test]
fn work_that_a_hook_changes_after_its_verdict_is_reported() {
    let gate = |keys: &str| format!(", gate: {{section: '## Review', verdict: PASS, strict: true{keys}}}");
    let synced = format!("{KILL}, {{action: sync_branch, with: rebase}}");
    let found = "warn CA3 `ready → done` merges work that `sync_branch` of `review → ready` can change after the verdict in `## Review`";
    check(&merged(&synced, ""), &[found]);
    check(&merged(&synced, &gate("")), &[found]);
    check(&merged(&synced, &gate(", of: patch")), &[]);
    // Before the verdict, it is part of what is judged.
    let before = merged(KILL, "").replace(&format!("[{BESIDE}]"), "[{action: kill_session}, {action: sync_branch}, {action: spawn_agent, prompt: reviewer, harness: review}]");
    check(&before, &[]);
}

#[test]
fn work_that_goes_on_after_its_verdict_is_judged_again() {
    let with = |text: String, line: &str| text.replace("transitions:\n", &format!("transitions:\n{line}"));
    let again = "  - {from: ready, to: working, by: human, hooks: [{action: spawn_agent, prompt: worker}]}\n";
    let judged_again = with(merged(KILL, ""), again);
    check(&judged_again, &[]);
    let past = "  - {from: working, to: ready, by: human, hooks: [{action: kill_session}]}\n";
    let found = "warn CA3 `ready → done` merges work that a worker can change in `working` after the verdict in `## Review`";
    check(&with(judged_again, past), &[found]);
}
