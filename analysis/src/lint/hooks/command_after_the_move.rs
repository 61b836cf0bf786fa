//! C72: a program checks the work once the task has moved, and the next agent, or the end of the one that worked, waits for it.

use orange_core::{Action, Actor, Hook, OnFailure, Transition, TransitionId};

use super::C72;
use super::places::{first_steps, numbered};
use crate::lint::Facts;
use crate::search::task::Agent;
use crate::search::{Edge, SearchStep};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let steps = first_steps(facts, |edge| is_agents(facts, edge));
    let found = steps.into_iter().filter_map(|(_, id)| {
        let machine = facts.machine.transition(id);
        Some(finding(facts, facts.transition(id), machine, pair(machine)?))
    });
    found.collect()
}

/// True if an agent takes the transition, by a request or by its end. A person who starts a task has no work to check yet.
fn is_agents(facts: &Facts<'_>, edge: &Edge) -> bool {
    let is_alive = |agent: Actor| facts.search.task(edge.from).agent(agent) == Agent::Live;
    let may_ask = |id: TransitionId| {
        let by = facts.machine.transition(id).by;
        [Actor::Worker, Actor::Reviewer].into_iter().any(|it| by.allows(it) && is_alive(it))
    };
    match edge.step {
        SearchStep::Request { transition, .. } => may_ask(transition),
        SearchStep::Exit { .. } => true,
        SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Respawn
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. } => false,
    }
}

/// A program that checks, and the hook after it that starts an agent, or else ends one. Where a failure has a state to go to, the workflow decides by it.
fn pair(transition: &Transition<'_>) -> Option<(usize, usize)> {
    let checks = |hook: &Hook<'_>| hook.action == Action::RunCommand && hook.on_failure == OnFailure::Stop;
    let at = transition.hooks.iter().position(checks).filter(|_| transition.on_hook_failure.is_none())?;
    let rest = || transition.hooks.iter().skip(at + 1);
    let starts = rest().position(|it| it.spawn().is_some());
    let ends = || rest().position(|it| matches!(it.action, Action::KillSession | Action::KillReviewer));
    Some((at, at + 1 + starts.or_else(ends)?))
}

fn finding(
    facts: &Facts<'_>,
    transition: &model::Transition,
    machine: &Transition<'_>,
    (program, other): (usize, usize),
) -> Diagnostic {
    let [checks, waits] = [program, other].map(|at| facts.first_line(transition.hooks[at].span));
    let argv = machine.hooks[program].argv.join(" ");
    let message = format!("{} runs `{argv}` when the task has moved already", facts.arrow(transition));
    let to = facts.name(transition.to.value);
    let alive = if machine.hooks[other].spawn().is_some() { "" } else { ", and the agent stays alive" };
    let story = vec![
        (checks, format!("fails, and the task stays in `{to}`")),
        (waits, format!("waits until somebody has the hooks run again{alive}")),
    ];
    numbered(Diagnostic::new(&C72, checks, message), story).help(
        "let the program decide: a transition with this `argv` in its `gate: {command: {argv: …}}` is refused while the program fails; \
         or say where the task goes then: `on_hook_failure: STATE`",
    )
}
