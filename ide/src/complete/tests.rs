//! Places at which somebody types, and what is proposed there.

use std::path::PathBuf;

use super::complete;
use crate::document::Language;
use crate::workspace::Workspace;

const FLOW: &str = "\
name: flow
fields: {tries: 0}
states:
  pending: {}
  working: {respawn_prompt: work}
  done: {terminal: true}
gates:
  handoff: {section: '## Handoff'}
transitions:
  - {from: pending, to: working, hooks: [{action: spawn_agent, prompt: work}]}
  - {from: working, to: done, by: worker, gate: handoff, when: 'tries < 2'}
exit_monitoring:
  rules:
    - {status: working, has_artifact: handoff, then: done}
    - {status: working, action: crash}
prompts:
  work: |
    Do {summary}. Write it below ## Handoff,
    then run: {orange} task update --status done
";

/// Proposals where `old` in the flow becomes `new`, with the cursor at `¦`: these are among them.
#[track_caller]
fn check(old: &str, new: &str, expect: &[&str], not: &[&str]) {
    check_in(FLOW, old, new, expect, not);
}

#[track_caller]
fn check_in(flow: &str, old: &str, new: &str, expect: &[&str], not: &[&str]) {
    assert!(flow.contains(old), "{old}");
    let marked = flow.replacen(old, new, 1);
    let offset = marked.find('¦').unwrap();
    let text = marked.replacen('¦', "", 1);
    let path = PathBuf::from("/nowhere/flow.yml");
    let mut workspace = Workspace::default();
    workspace.open(path.clone(), 1, Language::Workflow, text);
    let found = complete(&workspace, workspace.document(&path).unwrap(), offset as u32);
    let labels: Vec<&str> = found.iter().map(|it| it.label.as_str()).collect();
    for label in expect {
        assert!(labels.contains(label), "{label} is not among {labels:?} for {new}");
    }
    for label in not {
        assert!(!labels.contains(label), "{label} is among {labels:?} for {new}");
    }
}

#[test]
fn keys_that_are_not_there_yet() {
    check("pending: {}", "pending: {¦}", &["terminal", "description", "agent"], &["from"]);
    check("pending: {}", "pending: {terminal: false, ¦}", &["description"], &["terminal"]);
    check("pending: {}", "pending:\n    desc¦", &["description"], &["from"]);
    check("exit_monitoring:", "  - ¦\nexit_monitoring:", &["from", "to"], &["terminal"]);
    check("exit_monitoring:", "  - from: working\n    ¦\nexit_monitoring:", &["to", "gate"], &["from"]);
    check("exit_monitoring:", "dead¦\nexit_monitoring:", &["deadlines", "version"], &["states"]);
    check("gate: handoff,", "gate: {¦},", &["section", "command", "all"], &["from"]);
    check("{action: spawn_agent, prompt: work}", "{action: spawn_agent, ¦}", &["prompt", "as"], &["argv"]);
}

#[test]
fn names_by_what_they_mean() {
    check("to: working,", "to: ¦,", &["working", "done"], &["handoff"]);
    check("then: done", "then: ¦", &["done"], &[]);
    check("has_artifact: handoff", "has_artifact: han¦", &["handoff"], &["done"]);
    check("respawn_prompt: work", "respawn_prompt: ¦", &["work"], &["done"]);
    check("by: worker", "by: ¦", &["worker", "human"], &["done"]);
    check("action: spawn_agent", "action: ¦", &["spawn_agent", "notify"], &["done"]);
    check("'tries < 2'", "'¦'", &["tries", "review_round"], &["<"]);
    check("'tries < 2'", "'tries ¦'", &["<", ">="], &["tries"]);
    check("section: '## Handoff'", "section: '## ¦'", &["## Handoff"], &["done"]);
}

#[test]
fn words_in_prompts_and_comments() {
    check("Do {summary}", "Do {¦}", &["summary", "orange", "tries"], &["done"]);
    check("--status done", "--status ¦", &["done", "working"], &["summary"]);
    check("task update --status done", "¦", &["task", "step"], &["done"]);
    check("task update --status done", "task ¦", &["update", "show"], &["done"]);
    check("--status done", "--¦", &["status", "summary"], &["done"]);
    check("## Handoff,\n", "## ¦\n", &[], &["done"]);
    check("Do {summary}", "## ¦", &["Handoff"], &["done"]);
    check("states:", "# orange: allow(¦\nstates:", &["unreachable-state"], &["done"]);
    check("states:", "# orange: ¦\nstates:", &[], &["unreachable-state"]);
}

const STEPS: &str = "\
workflow: {name: flow}
inputs: {names: {type: list}, target: {words: [web, api]}}
steps:
  - {id: plan, prompt: 'Plan {{branch}}', outputs: {parts: {type: list}, risk: {words: [low, high]}}}
  - {id: build, prompt: 'Build {{item}}', depends_on: [plan], for_each: plan.parts, condition: \"plan.risk == 'low'\"}
";

#[test]
fn values_of_a_mission_where_they_are_read() {
    let check = |old: &str, new: &str, expect: &[&str], not: &[&str]| check_in(STEPS, old, new, expect, not);
    check("for_each: plan.parts", "for_each: ¦", &["plan", "inputs"], &["parts", "web"]);
    check("for_each: plan.parts", "for_each: plan.¦", &["parts", "risk"], &["names"]);
    check("for_each: plan.parts", "for_each: inputs.¦", &["names", "target"], &["parts"]);
    check("\"plan.risk ==", "\"¦ ==", &["plan", "inputs", "any"], &["risk"]);
    check("\"plan.risk ==", "\"plan.¦ ==", &["risk", "result", "rounds"], &["low"]);
    check("plan.risk == 'low'", "plan.ran && plan.risk == '¦'", &["low", "high"], &["PASS", "risk"]);
    check("plan.risk == 'low'", "any plan.result == '¦'", &["PASS"], &["low"]);
    check("{{item}}", "{{¦}}", &["item", "context", "plan", "inputs"], &["risk"]);
    check("{{item}}", "{{plan.¦}}", &["parts", "summary"], &["plan", "context"]);
    check("for_each: plan.parts", "¦: plan.parts", &["for_each", "enough", "read_only"], &["id"]);
}
