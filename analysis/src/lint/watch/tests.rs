//! Tests of the lints of watch rules, on changes of one workflow.

use orange_codegen::Source;

/// A workflow whose state `reviewing` watches its pull request.
const FLOW: &str = "\
name: flow
fields: {rounds: 0}
states:
  pending: {}
  working: {respawn_prompt: work}
  reviewing: {}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - {from: working, to: reviewing, hooks: [{action: create_pr, on_failure: stop}, {action: kill_session}]}
  - from: reviewing
    to: working
    by: engine
    hooks: [{action: increment, field: rounds}, {action: write_feedback}, {action: spawn_agent, prompt: mend}]
  - {from: reviewing, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
  - from: [pending, working, reviewing]
    to: cancelled
    by: human
    hooks: [{action: kill_session}, {action: release_workspace}]
watch:
  - {status: reviewing, pr: {checks: red}, when: rounds < 3, then: working}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts:
  work: \"{summary}: do it, then run `orange task update --status reviewing`\"
  mend: \"Mend what ## Feedback says, then run `orange task update --status reviewing`\"
";

/// A workflow whose worker splits its task.
const SPLIT: &str = "\
name: flow
fields: {rounds: 0}
states:
  pending: {}
  working: {respawn_prompt: work, delegates: {most: 6}}
  delegated: {}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]
  - from: working
    to: delegated
    when: rounds < 2
    gate: {children: some}
    hooks: [{action: kill_session}, {action: release_workspace}, {action: increment, field: rounds}]
  - from: delegated
    to: working
    by: engine
    hooks: [{action: acquire_workspace}, {action: write_feedback}, {action: spawn_agent, prompt: mend}]
  - from: working
    to: done
    by: human
    gate: {children: none}
    hooks: [{action: kill_session}, {action: release_workspace}]
  - {from: delegated, to: cancelled, by: human}
watch:
  - {status: delegated, children: merged, then: working}
  - {status: delegated, children: ended, then: working}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts:
  work: \"{summary}: create tasks, then run `orange task update --status delegated`\"
  mend: \"Read ## Feedback, then run `orange task update --status delegated`\"
";

/// Checks the codes of the findings about watch rules after these changes of [`FLOW`].
#[track_caller]
fn check(changes: &[(&str, &str)], expect: &[&str]) {
    check_of(FLOW, changes, expect);
}

#[track_caller]
fn check_of(flow: &str, changes: &[(&str, &str)], expect: &[&str]) {
    let changed = changes.iter().fold(flow.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let found = crate::lint(&Source::new("flow.yml", changed)).diagnostics;
    let codes: Vec<&str> = found
        .iter()
        .map(|it| it.code())
        .filter(|it| it.starts_with("CC") || it.starts_with('S') || *it == "C05")
        .collect();
    assert_eq!(codes, expect, "{found:#?}");
}

#[test]
fn a_loop_through_a_fact_needs_a_counter() {
    check(&[], &[]);
    check(&[(", when: rounds < 3", "")], &["C05"]);
}

#[test]
fn a_rule_about_a_pull_request_needs_one() {
    let unpublished = ("{action: create_pr, on_failure: stop}, ", "");
    check(&[unpublished], &["CC0"]);
    check(&[unpublished, ("pr: {checks: red}", "base: conflict")], &[]);
    check(&[unpublished, ("do it, then", "do it, `git push`, then")], &[]);
}

#[test]
fn a_fix_is_pushed_before_the_state_that_watches() {
    let split = (
        "{from: working, to: reviewing, hooks",
        "{from: working, to: reviewing, when: rounds > 0, hooks: [{action: kill_session}]}\n  - {from: working, to: reviewing, when: rounds == 0, hooks",
    );
    check(&[split], &["CC1"]);
    let pushed = ("rounds > 0, hooks: [{", "rounds > 0, hooks: [{action: push_branch}, {");
    check(&[split, pushed], &[]);
}

#[test]
fn the_agent_of_a_fix_reads_the_feedback() {
    check(&[("{action: write_feedback}, ", "")], &["CC2"]);
    check(&[("## Feedback", "it")], &["CC2"]);
}

#[test]
fn a_counter_that_is_used_up_leads_to_a_person() {
    let engine = ("to: done, by: human", "to: done, by: engine");
    let green = ("watch:\n", "watch:\n  - {status: reviewing, pr: {checks: green}, then: done}\n");
    check(&[engine, green], &["CC3"]);
    let rest = (
        "then: working}\n",
        "then: working}\n  - {status: reviewing, pr: {checks: red}, when: rounds >= 3, then: cancelled}\n",
    );
    check(&[engine, green, rest], &[]);
}

#[test]
fn delegation_needs_a_counter_both_ends_and_a_free_worktree() {
    check_of(SPLIT, &[], &[]);
    check_of(SPLIT, &[("    when: rounds < 2\n", "")], &["C05"]);
    let merged_alone = ("  - {status: delegated, children: ended, then: working}\n", "");
    check_of(SPLIT, &[merged_alone], &["CC4"]);
    let with_person = ("    to: working\n    by: engine\n", "    to: working\n    by: [engine, human]\n");
    check_of(SPLIT, &[merged_alone, with_person], &[]);
    check_of(
        SPLIT,
        &[(
            "{action: kill_session}, {action: release_workspace}, {action: increment",
            "{action: kill_session}, {action: increment",
        )],
        &["CC5"],
    );
}
