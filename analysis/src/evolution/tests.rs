//! Findings of `diff` where gates ask for more than sections, and actors are declared.

use orange_codegen::{Source, compile};

const FLOW: &str = "
name: flow
actors: [ci, bot]
states: {pending: {}, working: {}, built: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: built, gate: {section: '## Handoff'}, hooks: [{action: kill_session}]}
  - {from: built, to: working, by: ci, hooks: [{action: spawn_agent, prompt: worker}]}
  - {from: built, to: done, by: human, hooks: [{action: release_workspace}]}
prompts: {worker: Do it.}
";

/// Asserts the messages of `diff` for a change that breaks running tasks.
#[track_caller]
fn check(old: &str, new: &str, expect: &[&str]) {
    let sources = [old, new].map(|it| Source::new("flow.yml", it));
    let checked = sources.each_ref().map(|it| compile(it).checked.unwrap());
    let compared = super::compare((&checked[0], &sources[0]), (&checked[1], &sources[1])).unwrap();
    let breaking = compared.changes.iter().filter(|it| it.is_breaking());
    assert_eq!(breaking.map(|it| it.finding.message.as_str()).collect::<Vec<_>>(), expect);
}

#[track_caller]
fn check_gate(old: &str, new: &str, expect: &[&str]) {
    let gated = |gate: &str| FLOW.replace("{section: '## Handoff'}", gate);
    check(&gated(old), &gated(new), expect);
}

#[test]
fn a_gate_that_asks_a_program_more_is_tightened() {
    let section = "{section: '## Handoff'}";
    let tests = "{command: {argv: [make, test]}}";
    let both = format!("{{all: [{section}, {tests}]}}");
    let refuses = "`working → built` now refuses `## Handoff` (empty) while `make test` does not succeed";
    check_gate(section, &both, &[refuses]);
    check_gate(&both, section, &[]);
    check_gate(&both, &both, &[]);
    let slower = tests.replace("test]", "test], timeout: 60");
    check_gate(&slower, &tests.replace("test]", "test], timeout: 90"), &[]);
    let hurried = "`working → built` now refuses a task while `make test` does not succeed in less time";
    check_gate(tests, &slower.replace("60", "1"), &[hurried]);
    let green = format!("{{all: [{section}, {{checks: green}}]}}");
    let red = "`working → built` now refuses `## Handoff` (empty) while the checks of the pull request are not green";
    check_gate(section, &green, &[red]);
}

#[test]
fn a_transition_that_is_closed_to_a_program_is_removed_for_it() {
    let refused = "`built → working` is closed to `ci`, and programs ask for it as `ci`";
    check(FLOW, &FLOW.replace("by: ci", "by: bot"), &[refused]);
    check(FLOW, &FLOW.replace("by: ci", "by: [bot, ci]"), &[]);
    check(FLOW, &FLOW.replace("by: ci", "by: human"), &[refused]);
}
