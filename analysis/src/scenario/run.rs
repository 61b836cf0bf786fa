//! Running scenarios on a machine, and comparing what happens with what is expected.

use std::collections::BTreeSet;
use std::fmt::Display;

use orange_core::{Actor, Machine, TransitionId, Workspace};

use super::{Expect, GivenTask, Scenario, ScenarioStep};
use crate::search::task::Agent;
use crate::walk::{Happened, Impossible, Walk};
use orange_codegen::span::Span;
use orange_codegen::suggest;

/// Result of one scenario.
#[derive(Clone, Debug, Default)]
pub struct ScenarioResult {
    /// Expectations that were not met; the first step that fails ends the scenario.
    pub failed: Vec<FailedExpectation>,
    /// The transitions that were taken.
    pub taken: BTreeSet<TransitionId>,
}

/// Something that was not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedExpectation {
    /// Place of the expectation.
    pub span: Span,
    /// Message that says what was expected and what was found.
    pub message: String,
}

/// Runs one scenario.
pub fn run(machine: &Machine<'_>, scenario: &Scenario) -> ScenarioResult {
    let mut outcome = ScenarioResult::default();
    let mut walk = match prepared(machine, &scenario.given) {
        Ok(walk) => walk,
        Err(failed) => {
            outcome.failed.push(failed);
            return outcome;
        }
    };
    for step in &scenario.steps {
        match walk.act(&step.act) {
            Ok(story) => {
                outcome.taken.extend(story.iter().filter_map(transition));
                outcome.failed = compared(&walk, step, &story);
            }
            Err(Impossible(why)) => {
                outcome.failed = vec![FailedExpectation { span: step.span, message: why }]
            }
        }
        if !outcome.failed.is_empty() {
            break;
        }
    }
    outcome
}

fn prepared<'m>(machine: &'m Machine<'m>, given: &GivenTask) -> Result<Walk<'m>, FailedExpectation> {
    let mut walk = match &given.status {
        None => Walk::new(machine),
        Some(name) => {
            let state = machine.state_named(&name.value);
            let states = machine.states.iter().map(|it| it.name);
            Walk::at(machine, state.ok_or_else(|| unknown("state", &name.value, name.span, states))?)
        }
    };
    for (name, value) in &given.counters {
        let id = walk.counter_named(&name.value);
        let counters = machine.counters.iter().map(|it| it.name);
        walk.set_counter(id.ok_or_else(|| unknown("counter", &name.value, name.span, counters))?, *value);
    }
    walk.set_body(given.body.clone().unwrap_or_default());
    walk.set_workspace(workspace_of(machine.workspace(walk.status()), given));
    for actor in [Actor::Worker, Actor::Reviewer] {
        walk.set_agent(actor, given.agent(actor));
    }
    let at = given.status.as_ref().map_or(Span::at(0), |it| it.span);
    walk.set_reviewers(&given.reviewers).map_err(|it| FailedExpectation { span: at, message: it.0 })?;
    Ok(walk)
}

/// Workspace of the task's agents: a worktree, or a folder in a state whose agents work without one.
fn workspace_of(usual: Workspace, given: &GivenTask) -> Option<Workspace> {
    let has_agents = !given.agents.is_empty() || !given.reviewers.is_empty();
    let usual = Some(usual).filter(|_| has_agents);
    match given.workspace {
        Some(true) => Some(Workspace::Worktree),
        Some(false) => usual.filter(|it| *it == Workspace::Folder),
        None => usual,
    }
}

fn unknown<'k>(
    kind: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'k str>,
) -> FailedExpectation {
    let close = suggest::closest(name, known).map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    FailedExpectation { span, message: format!("the workflow has no {kind} `{name}`{close}") }
}

fn transition(happened: &Happened) -> Option<TransitionId> {
    let Happened::Transitioned { transition, .. } = happened else { return None };
    Some(*transition)
}

fn compared(walk: &Walk<'_>, step: &ScenarioStep, story: &[Happened]) -> Vec<FailedExpectation> {
    let mut comparison = StoryComparison { failed: Vec::new() };
    comparison.rejection(step, story);
    comparison.task(walk, &step.expect);
    if let Some(hooks) = &step.expect.hooks {
        let ran: Vec<&str> = story.iter().flat_map(hooks_of).collect();
        comparison.same("the hooks", &hooks.value.join(", "), &ran.join(", "), hooks.span);
    }
    comparison.failed
}

struct StoryComparison {
    failed: Vec<FailedExpectation>,
}

impl StoryComparison {
    fn same(
        &mut self,
        what: &str,
        expected: &(impl Display + ?Sized),
        found: &(impl Display + ?Sized),
        span: Span,
    ) {
        let (expected, found) = (expected.to_string(), found.to_string());
        if expected != found {
            let or_none = |it: String| if it.is_empty() { "none".to_owned() } else { it };
            let message = format!("{what}: expected {}, found {}", or_none(expected), or_none(found));
            self.failed.push(FailedExpectation { span, message });
        }
    }

    /// A refusal that nobody expects fails, whatever else is expected.
    fn rejection(&mut self, step: &ScenarioStep, story: &[Happened]) {
        let refused = story.iter().find_map(|it| {
            let Happened::Refused { code, message, .. } = it else { return None };
            Some((*code, message))
        });
        match (&step.expect.rejection, refused) {
            (Some(expected), refused) => {
                let found = refused.map_or("none", |(code, _)| code);
                self.same("the rejection", expected.value.as_str(), found, expected.span);
            }
            (None, Some((code, message))) => {
                let message = format!("refused ({code}): {message}");
                self.failed.push(FailedExpectation { span: step.span, message });
            }
            (None, None) => {}
        }
    }

    fn task(&mut self, walk: &Walk<'_>, expect: &Expect) {
        if let Some(status) = &expect.status {
            let found = walk.machine().state(walk.status()).name;
            self.same("the status", status.value.as_str(), found, status.span);
        }
        for (name, value) in &expect.counters {
            match walk.counter_named(&name.value) {
                Some(id) => self.same(&name.value, &value.value, &walk.counter(id), value.span),
                None => {
                    let counters = walk.machine().counters.iter().map(|it| it.name);
                    self.failed.push(unknown("counter", &name.value, name.span, counters));
                }
            }
        }
        if let Some(agents) = &expect.agents {
            let alive = [Actor::Worker, Actor::Reviewer];
            let alive: Vec<&str> =
                alive.into_iter().filter(|it| walk.agent(*it) == Agent::Live).map(Actor::kind).collect();
            let mut expected: Vec<Actor> = agents.value.clone();
            expected.sort_unstable();
            let expected: Vec<&str> = expected.into_iter().map(Actor::kind).collect();
            self.same("the live agents", &expected.join(", "), &alive.join(", "), agents.span);
        }
        if let Some(reviewers) = &expect.reviewers {
            let found = walk.reviewers().join(", ");
            self.same("the live reviewers", &reviewers.value.join(", "), &found, reviewers.span);
        }
        if let Some(workspace) = &expect.workspace {
            let word = |bound: bool| if bound { "bound" } else { "none" };
            self.same("the worktree", word(workspace.value), word(walk.has_workspace()), workspace.span);
        }
    }
}

fn hooks_of(happened: &Happened) -> Vec<&'static str> {
    match happened {
        Happened::Transitioned { hooks, .. } | Happened::Started { hooks } => {
            hooks.iter().map(|it| it.hook).collect()
        }
        Happened::Crashed { respawned, .. } => respawned.iter().map(|it| it.hook).collect(),
        Happened::Wrote { .. }
        | Happened::Refused { .. }
        | Happened::Marked { .. }
        | Happened::HooksWait { .. }
        | Happened::Answers { .. }
        | Happened::WillFail { .. }
        | Happened::Committed { .. }
        | Happened::Over { .. }
        | Happened::Waits { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use orange_codegen::lower::{Arena, lower};
    use orange_codegen::{Source, compile};

    const FLOW: &str = "\
name: flow
fields: {tries: 0}
states: {working: {}, reviewing: {}, done: {terminal: true}, cancelled: {terminal: true}}
transitions:
  - from: working
    to: reviewing
    hooks: [{action: notify, message: x}, {action: run_command, argv: [make]}, {action: increment, field: tries}]
  - {from: reviewing, to: done}
  - {from: [working, reviewing], to: cancelled, hooks: [{action: kill_session}]}
";

    #[track_caller]
    fn check(steps: &str) {
        check_with(FLOW, steps);
    }

    #[track_caller]
    fn check_with(flow: &str, steps: &str) {
        let checked = compile(&Source::new("flow.yml", flow)).checked.expect("sound");
        let arena = Arena::default();
        let machine = lower(&checked, &arena).expect("a state machine");
        let given = if flow.contains("tries") { "    given: {workspace: true}\n" } else { "" };
        let text = format!("scenarios:\n  - name: a\n{given}    steps:\n{steps}");
        let (scenarios, found) = super::super::read(&Source::new("flow.test.yml", text));
        assert!(found.is_empty(), "{found:#?}");
        for scenario in &scenarios.expect("scenarios").all {
            assert_eq!(super::run(&machine, scenario).failed, []);
        }
    }

    #[test]
    fn hooks_wait_after_one_that_fails_until_they_are_retried() {
        check(
            "      - {fail: run_command}
      - {request: reviewing, expect: {status: reviewing, hooks: [notify, run_command], counters: {tries: 0}}}
      - {request: done, expect: {status: reviewing, rejection: hooks_wait}}
      - {fail: run_command}
      - {retry_hooks: true, expect: {hooks: [run_command], counters: {tries: 0}}}
      - {retry_hooks: true, expect: {hooks: [run_command, increment], counters: {tries: 1}}}
      - {request: done, expect: {status: done}}
",
        );
    }

    #[test]
    fn a_cancelled_task_drops_the_hooks_that_wait() {
        check(
            "      - {fail: run_command}
      - {request: reviewing, expect: {status: reviewing}}
      - {request: cancelled, expect: {status: cancelled, hooks: [kill_session], counters: {tries: 0}}}
",
        );
    }

    #[test]
    fn a_failed_hook_leads_where_its_transition_says() {
        let target = "{action: increment, field: tries}]\n    on_hook_failure: working\n  \
                   - {from: reviewing, to: working, gate: {section: '## Why'}, hooks: [{action: kill_reviewer}]}";
        let flow = FLOW.replace("{action: increment, field: tries}]", target);
        check_with(
            &flow,
            "      - {fail: run_command}
      - {request: reviewing, expect: {status: reviewing, hooks: [notify, run_command]}}
      - {fail: run_command}
      - {write: '## Why', text: x}
      - {retry_hooks: true, expect: {status: working, hooks: [run_command, kill_reviewer], counters: {tries: 0}}}
      - {request: reviewing, expect: {status: reviewing, counters: {tries: 1}}}
",
        );
    }

    const PANEL: &str = "\
name: flow
states: {working: {}, reviewing: {respawn_prompt: review}, ready: {}, stuck: {}, done: {terminal: true}}
transitions:
  - from: working
    to: reviewing
    hooks:
      - {action: acquire_workspace}
      - {action: spawn_reviewer, prompt: review, name: a}
      - {action: spawn_reviewer, prompt: review, name: b}
      - {action: run_command, argv: [make]}
  - {from: reviewing, to: ready, gate: {section: '## R', verdict: PASS, verdicts: all, fresh: true}, hooks: [{action: kill_session}]}
  - {from: reviewing, to: working, gate: {section: '## R', verdict: FAIL, verdicts: any, fresh: true}, hooks: [{action: kill_session}]}
  - {from: reviewing, to: stuck, hooks: [{action: kill_session}]}
  - {from: [ready, stuck], to: done}
exit_monitoring:
  rules:
    - {status: reviewing, has_artifact: {section: '## R', verdict: PASS, verdicts: all, fresh: true}, then: ready}
    - {status: reviewing, has_artifact: {section: '## R', verdict: FAIL, verdicts: any, fresh: true}, then: working}
    - {status: reviewing, no_artifact: true, action: crash, stuck_after: 3, respawn: true}
prompts: {review: hi}
";

    #[test]
    fn verdicts_of_several_reviewers_decide_together() {
        check_with(
            PANEL,
            "      - {request: reviewing, expect: {status: reviewing, reviewers: [a, b], agents: [reviewer]}}
      - {write: '## R: a', text: PASS}
      - {end: reviewer, name: a, expect: {status: reviewing, reviewers: [b], counters: {crash_count: 0}}}
      - {end: reviewer, name: b, code: 3, expect: {status: reviewing, reviewers: [b], counters: {crash_count: 1}}}
      - {request: ready, by: reviewer, expect: {rejection: gate_failed}}
      - {write: '## R: b', text: FAIL}
      - {end: reviewer, name: b, expect: {status: working, reviewers: [], agents: []}}
      - {request: reviewing, expect: {reviewers: [a, b]}}
      - {write: '## R: b', text: PASS}
      - {request: ready, by: reviewer, expect: {rejection: gate_failed}}
      - {write: '## R: a', text: PASS again}
      - {request: ready, by: reviewer, expect: {status: ready, reviewers: []}}
",
        );
    }

    #[test]
    fn one_fail_among_several_is_enough_and_crashes_escalate() {
        check_with(
            PANEL,
            "      - {request: reviewing}
      - {write: '## R: b', text: FAIL}
      - {request: ready, by: reviewer, expect: {rejection: gate_failed}}
      - {request: working, by: reviewer, expect: {status: working, reviewers: []}}
      - {request: reviewing, expect: {reviewers: [a, b]}}
      - {end: reviewer, name: a, expect: {reviewers: [a, b], counters: {crash_count: 1}}}
      - {end: reviewer, name: b, expect: {reviewers: [a, b], counters: {crash_count: 2}}}
      - {end: reviewer, name: a, expect: {status: stuck, reviewers: []}}
",
        );
    }

    #[test]
    fn one_of_two_that_ends_while_hooks_wait_is_judged_later() {
        check_with(
            PANEL,
            "      - {fail: run_command}
      - {request: reviewing, expect: {status: reviewing, reviewers: [a, b]}}
      - {end: reviewer, name: a, expect: {reviewers: [b], counters: {crash_count: 0}}}
      - {retry_hooks: true, expect: {reviewers: [a, b], counters: {crash_count: 1}}}
",
        );
    }

    #[test]
    fn a_hook_that_can_never_work_stops_the_others_by_itself() {
        let without_worktree =
            FLOW.replace("[{action: notify", "[{action: release_workspace}, {action: notify");
        check_with(
            &without_worktree,
            "      - {request: reviewing, expect: {status: reviewing, hooks: [release_workspace, notify, run_command], counters: {tries: 0}}}
      - {request: done, expect: {rejection: hooks_wait}}
      - {retry_hooks: true, expect: {hooks: [run_command], counters: {tries: 0}}}
      - {request: cancelled, expect: {status: cancelled}}
",
        );
    }

    #[test]
    fn an_end_that_led_to_hooks_which_wait_is_judged_after_them() {
        let flow = "\
name: flow
states: {pending: {}, working: {respawn_prompt: work}, checking: {respawn_prompt: work}, stuck: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work}]}
  - {from: working, to: checking, hooks: [{action: run_command, argv: [make]}]}
  - {from: [working, checking], to: stuck}
  - {from: [checking, stuck], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, then: checking}, {status: checking, then: done}]}
prompts: {work: hi}
";
        check_with(
            flow,
            "      - {request: working}
      - {fail: run_command}
      - {end: worker, expect: {status: checking, hooks: [run_command]}}
      - {retry_hooks: true, expect: {status: done}}
",
        );
    }

    #[test]
    fn one_that_goes_on_fails_alone() {
        check(
            "      - {fail: notify}
      - {request: reviewing, expect: {hooks: [notify, run_command, increment], counters: {tries: 1}}}
      - {request: done, expect: {status: done}}
",
        );
    }
}
