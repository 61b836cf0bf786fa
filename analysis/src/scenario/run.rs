//! Running scenarios on a machine, and comparing what happens with what is expected.

use std::collections::BTreeSet;
use std::fmt::Display;

use orange_core::{Actor, Machine, TransitionId};

use super::{Expect, Given, Scenario, ScenarioStep};
use crate::search::task::Agent;
use crate::walk::{Happened, Impossible, Walk};
use orange_codegen::span::Span;
use orange_codegen::suggest;

/// What came of one scenario.
#[derive(Clone, Debug, Default)]
pub struct ScenarioResult {
    /// What was not as expected; the first step that fails ends the scenario.
    pub failed: Vec<Failed>,
    /// The transitions that were taken.
    pub taken: BTreeSet<TransitionId>,
}

/// Something that was not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Where it is expected.
    pub span: Span,
    /// What was expected and what was found.
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
            Err(Impossible(why)) => outcome.failed = vec![Failed { span: step.span, message: why }],
        }
        if !outcome.failed.is_empty() {
            break;
        }
    }
    outcome
}

fn prepared<'m>(machine: &'m Machine<'m>, given: &Given) -> Result<Walk<'m>, Failed> {
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
    walk.set_workspace(given.workspace.unwrap_or(!given.agents.is_empty()));
    for actor in [Actor::Worker, Actor::Reviewer] {
        walk.set_agent(actor, given.agent(actor));
    }
    Ok(walk)
}

fn unknown<'k>(kind: &str, name: &str, span: Span, known: impl IntoIterator<Item = &'k str>) -> Failed {
    let close = suggest::closest(name, known).map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    Failed { span, message: format!("the workflow has no {kind} `{name}`{close}") }
}

fn transition(happened: &Happened) -> Option<TransitionId> {
    match happened {
        Happened::Transitioned { transition, .. } => Some(*transition),
        Happened::Wrote { .. }
        | Happened::Refused { .. }
        | Happened::Started { .. }
        | Happened::Crashed { .. }
        | Happened::Marked { .. }
        | Happened::Over { .. }
        | Happened::Waits { .. } => None,
    }
}

fn compared(walk: &Walk<'_>, step: &ScenarioStep, story: &[Happened]) -> Vec<Failed> {
    let mut comparison = Comparison { failed: Vec::new() };
    comparison.rejection(step, story);
    comparison.task(walk, &step.expect);
    if let Some(hooks) = &step.expect.hooks {
        let ran: Vec<&str> = story.iter().flat_map(hooks_of).collect();
        comparison.same("the hooks", &hooks.value.join(", "), &ran.join(", "), hooks.span);
    }
    comparison.failed
}

struct Comparison {
    failed: Vec<Failed>,
}

impl Comparison {
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
            self.failed.push(Failed { span, message });
        }
    }

    /// A refusal that nobody expects fails, whatever else is expected.
    fn rejection(&mut self, step: &ScenarioStep, story: &[Happened]) {
        let refused = story.iter().find_map(|it| match it {
            Happened::Refused { code, message, .. } => Some((*code, message)),
            Happened::Wrote { .. }
            | Happened::Transitioned { .. }
            | Happened::Started { .. }
            | Happened::Crashed { .. }
            | Happened::Marked { .. }
            | Happened::Over { .. }
            | Happened::Waits { .. } => None,
        });
        match (&step.expect.rejection, refused) {
            (Some(expected), refused) => {
                let found = refused.map_or("none", |(code, _)| code);
                self.same("the rejection", expected.value.as_str(), found, expected.span);
            }
            (None, Some((code, message))) => {
                let message = format!("refused ({code}): {message}");
                self.failed.push(Failed { span: step.span, message });
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
                alive.into_iter().filter(|it| walk.agent(*it) == Agent::Live).map(Actor::as_str).collect();
            let mut expected: Vec<Actor> = agents.value.clone();
            expected.sort_unstable();
            let expected: Vec<&str> = expected.into_iter().map(Actor::as_str).collect();
            self.same("the live agents", &expected.join(", "), &alive.join(", "), agents.span);
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
        | Happened::Over { .. }
        | Happened::Waits { .. } => Vec::new(),
    }
}
