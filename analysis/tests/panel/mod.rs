//! Random workflows with panels of reviewers.

use std::fmt::Write as _;

use orange_codegen::Source;
use proptest::prelude::*;
use proptest::sample::select;

/// A workflow with a panel of reviewers.
#[derive(Clone, Debug)]
pub struct Panel {
    /// By reviewer: keys of the hook that starts it.
    pub reviewers: Vec<&'static str>,
    /// Hook after the first of those.
    pub between: &'static str,
    /// Hooks before those.
    pub before: &'static str,
    /// Keys of the gates that ask for PASS, and for FAIL.
    pub gates: [&'static str; 2],
    /// A gate beside that for PASS.
    pub beside: &'static str,
    /// Keys of the rule for a reviewer that crashes.
    pub crash: &'static str,
    /// True if a person starts the panel a second time.
    pub again: bool,
}

/// Keys of a reviewer's hook; one that stops the others makes a difference between reviewers.
pub const OF_HOOKS: [&str; 4] =
    ["", ", increment: review_round", ", on_failure: stop", ", permissions: reduced"];
pub const BETWEEN: [&str; 3] = [
    "",
    ", {action: run_command, argv: [make], on_failure: stop}",
    ", {action: increment, field: review_round}",
];
pub const BEFORE: [&str; 3] =
    ["{action: kill_session}, ", "", "{action: run_command, argv: [make], on_failure: stop}, "];
pub const OF_GATES: [&str; 4] =
    ["verdicts: all, fresh: true", "verdicts: any, fresh: true", "verdicts: all", "verdicts: any"];
pub const BESIDE: [&str; 4] = [
    "",
    "{command: {argv: [make]}}",
    "{section: '## R: r0', verdict: PASS, strict: true, fresh: true}",
    "{section: '## Notes', required: true}",
];
pub const CRASH: [&str; 3] = ["stuck_after: 2, respawn: true", "stuck_after: 3", "stuck_after: 1"];

impl Panel {
    /// The workflow in YAML.
    pub fn source(&self) -> Source {
        let mut hooks = String::new();
        for (at, keys) in self.reviewers.iter().enumerate() {
            let spawn = "action: spawn_agent, as: reviewer, prompt: review";
            let between = if at == 0 { self.between } else { "" };
            write!(hooks, ", {{{spawn}, name: r{at}{keys}}}{between}").expect("memory");
        }
        let Self { before, gates: [pass, fail], crash, .. } = self;
        let beside = if self.beside.is_empty() { String::new() } else { format!(", {}", self.beside) };
        let again = if self.again { hooks.as_str() } else { "" };
        Source::new(
            "flow.yml",
            format!(
                "\
name: flow
states: {{working: {{}}, review: {{respawn_prompt: review}}, ready: {{terminal: true}}, stuck: {{}}}}
commands: {{crash: stuck}}
gates:
  passed: {{section: '## R', verdict: PASS, strict: true, {pass}}}
  failed: {{section: '## R', verdict: FAIL, strict: true, {fail}}}
transitions:
  - {{from: working, to: review, hooks: [{before}{{action: acquire_workspace}}{hooks}]}}
  - {{from: review, to: ready, gate: {{all: [passed{beside}]}}}}
  - {{from: review, to: working, gate: failed, when: 'review_round < 2', hooks: [{{action: kill_session}}]}}
  - {{from: review, to: stuck, gate: failed, when: 'review_round >= 2'}}
  - {{from: stuck, to: review, by: human, hooks: [{{action: acquire_workspace}}{again}]}}
exit_monitoring:
  rules:
    - {{status: review, has_artifact: passed, then: ready}}
    - {{status: review, no_artifact: true, action: crash, {crash}}}
prompts: {{review: hi}}
"
            ),
        )
    }
}

/// Any of them.
pub fn any_panel() -> impl Strategy<Value = Panel> {
    let reviewers = proptest::collection::vec(select(&OF_HOOKS[..]), 2..4);
    let gates = [select(&OF_GATES[..]), select(&OF_GATES[..])];
    let hooks = (reviewers, select(&BETWEEN[..]), select(&BEFORE[..]));
    let rest = (select(&BESIDE[..]), select(&CRASH[..]), any::<bool>());
    (hooks, gates, rest).prop_map(|((reviewers, between, before), gates, (beside, crash, again))| Panel {
        reviewers,
        between,
        before,
        gates,
        beside,
        crash,
        again,
    })
}
