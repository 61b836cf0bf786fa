//! C69: a hook can fail after the status was written, and then nothing starts an agent in the new state any more.

use std::collections::BTreeSet;

use orange_core::{Actor, Hook, Outcome, StateId, Transition, TransitionId, Workspace};

use super::C69;
use super::places::numbered;
use crate::lint::Facts;
use crate::search::{Edge, EdgeId};
use orange_codegen::diag::Diagnostic;

/// State of a task whose agent was not started; true if the task has something that an agent can work in.
type FailedStart = (StateId, bool);

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let candidates: Vec<bool> = facts.machine.transitions.iter().map(|it| is_candidate(facts, it)).collect();
    if !candidates.contains(&true) {
        return Vec::new();
    }
    let restarts = restarts(facts);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (id, edge) in facts.search.edges() {
        let Some(transition) = edge.step.transition().filter(|it| candidates[it.0 as usize]) else {
            continue;
        };
        let failing = failures(facts, edge, transition).find(|(_, place)| !restarts[index(*place)]);
        if let Some((at, place)) = failing
            && seen.insert(facts.transition(transition).declaration)
        {
            found.push(finding(facts, id, transition, at, place));
        }
    }
    found
}

/// True if it leads to a state where an agent is to work and cannot be respawned. Where an exit rule speaks of a dead agent all the
/// same, that is not-respawnable's.
fn is_candidate(facts: &Facts<'_>, transition: &Transition<'_>) -> bool {
    let to = facts.machine.state(transition.to);
    let mut rules = facts.machine.exit_rules_of(transition.to).map(|at| &facts.machine.exit_rules[at]);
    let is_ruled = rules.any(|rule| {
        matches!(rule.outcome, Outcome::Crash { .. } | Outcome::MarkDead) && !rule.only_notifies()
    });
    !to.terminal
        && to.respawn.is_none()
        && !is_ruled
        && transition.hooks.iter().any(|it| it.spawn().is_some())
}

/// The hooks that can fail, and what the task comes to when one does: without a worktree, none starts an agent.
fn failures(facts: &Facts<'_>, edge: &Edge, id: TransitionId) -> impl Iterator<Item = (usize, FailedStart)> {
    let transition = facts.machine.transition(id);
    let mut has_workspace = facts.search.task(edge.from).workspace.is_some();
    transition.hooks.iter().enumerate().filter_map(move |(at, hook)| {
        let before = has_workspace;
        has_workspace |= hook.action.acquires() || needs_no_worktree(hook);
        let fails = hook.spawn().is_some() || (hook.action.acquires() && !before);
        fails.then_some((at, (transition.to, before)))
    })
}

/// By state and worktree: whether a person can have an agent started there, or in a state to which transitions lead from there.
fn restarts(facts: &Facts<'_>) -> Vec<bool> {
    let machine = facts.machine;
    let mut restarts = vec![false; 2 * machine.states.len()];
    let mut before: Vec<Vec<FailedStart>> = vec![Vec::new(); restarts.len()];
    let mut open: Vec<FailedStart> = Vec::new();
    for (id, _) in facts.states() {
        let can = machine.state(id).respawn.is_some();
        open.extend(
            [(id, false), (id, true)]
                .into_iter()
                .filter(|(_, bound)| can && (*bound || id != machine.initial)),
        );
    }
    for transition in machine.transitions.iter().filter(|it| it.by.allows(Actor::Human)) {
        for bound in [false, true] {
            let acquires = transition.hooks.iter().any(|it| it.action.acquires());
            let from = (transition.from, bound);
            let bound = bound || acquires;
            let starts = |it: &Hook<'_>| it.spawn().is_some() && (bound || needs_no_worktree(it));
            if transition.hooks.iter().any(starts) {
                open.push(from);
            }
            before[index((transition.to, bound))].push(from);
        }
    }
    while let Some(place) = open.pop() {
        if !std::mem::replace(&mut restarts[index(place)], true) {
            open.append(&mut before[index(place)]);
        }
    }
    restarts
}

/// True if it starts an agent that works without a worktree.
fn needs_no_worktree(hook: &Hook<'_>) -> bool {
    hook.spawn().is_some_and(|spawn| spawn.workspace == Workspace::Folder)
}

fn index((state, bound): FailedStart) -> usize {
    2 * usize::from(state.0) + usize::from(bound)
}

fn finding(
    facts: &Facts<'_>,
    edge: EdgeId,
    id: TransitionId,
    at: usize,
    (to, bound): FailedStart,
) -> Diagnostic {
    let (transition, hooks) = (facts.transition(id), facts.machine.transition(id).hooks);
    let (name, state) = (hooks[at].name(), facts.state(to));
    let place = facts.first_line(transition.hooks[at].span);
    let message = format!(
        "when `{name}` fails, {} has led to `{}` all the same, and nothing starts an agent there again",
        facts.arrow(transition),
        state.name.value
    );
    let story = vec![
        (place, "may fail when the status is written already".to_owned()),
        (state.name.span, "has no `respawn_prompt`, and no transition from here starts an agent".to_owned()),
    ];
    let spawn = hooks.iter().find_map(Hook::spawn);
    let prompt = spawn.map_or("…", |it| facts.machine.prompt(it.prompt).name);
    let end = if bound || hooks.iter().any(needs_no_worktree) { "no agent" } else { "no worktree, no agent" };
    numbered(Diagnostic::new(&C69, place, message), story)
        .trace(facts.tell(&facts.search.run_through(edge), end.to_owned()))
        .help(format!(
            "write `respawn_prompt: {prompt}` in `{}`: a person can have it started again then",
            state.name.value
        ))
}
