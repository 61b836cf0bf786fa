//! C4C: a transition starts a worker in a state whose exit rules are about the reviewer, or a reviewer in one about the worker.

use std::collections::BTreeMap;

use orange_core::{Actor, Hook, TransitionId};

use super::C4C;
use crate::lint::{Facts, unattended};
use crate::search::task::Agent;
use crate::search::{Edge, EdgeId, HookIndex};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut unwatched: BTreeMap<(TransitionId, HookIndex), EdgeId> = BTreeMap::new();
    for (id, edge) in facts.search.edges() {
        if let Some((transition, hook, _)) = starts_unwatched(facts, edge) {
            unwatched.entry((transition, hook)).or_insert(id);
        }
    }
    unwatched.into_values().filter_map(|id| finding(facts, id)).collect()
}

/// The transition and hook of a step that starts an agent which the exit rules of the state are not about, and that agent.
fn starts_unwatched(facts: &Facts<'_>, edge: &Edge) -> Option<(TransitionId, HookIndex, Actor)> {
    let transition = edge.step.transition()?;
    let after = facts.search.task(edge.to);
    let state = facts.machine.state(after.status);
    let mut spawns = facts.machine.transition(transition).hooks.iter().filter_map(Hook::spawn);
    // A rule about time is not about an agent.
    let watches = |rule: usize| facts.machine.exit_rules[rule].after().is_none();
    if state.terminal
        || spawns.all(|it| it.actor() == state.agent)
        || !facts.machine.exit_rules_of(after.status).any(watches)
    {
        return None;
    }
    let mut starts = facts.starting(edge).into_iter().map(|(index, spawn)| (index, spawn.actor()));
    let (index, agent) = starts.find(|(index, it)| {
        let is_started = !unattended::fails(facts.search, edge, *index, Some(*it));
        *it != state.agent && after.agent(*it) == Agent::Live && is_started
    })?;
    Some((transition, index, agent))
}

fn finding(facts: &Facts<'_>, id: EdgeId) -> Option<Diagnostic> {
    let edge = facts.search.edge(id);
    let (transition, index, agent) = starts_unwatched(facts, edge)?;
    let to = facts.search.task(edge.to).status;
    let (state, watched) = (facts.state(to), facts.machine.state(to).agent);
    let (name, hook) = (&state.name.value, facts.hook(transition, index)?);
    let prompt = facts.machine.transition(transition).hooks[usize::from(index)].spawn()?.prompt;
    let message = format!(
        "the {agent} that {} starts can end without any exit rule being asked: those of `{name}` are about the {watched}",
        facts.arrow(facts.transition(transition))
    );
    let found = Diagnostic::new(&C4C, facts.first_line(hook.span), message)
        .label(facts.first_line(hook.span), format!("1. starts a {agent} in `{name}`"));
    let found = match &state.respawn_prompt {
        Some(respawn) => found.label(respawn.span, format!("2. makes the {watched} the agent of this state")),
        None => found.label(state.name.span, format!("2. the agent of this state is the {watched}")),
    };
    let prompt = &facts.workflow.prompts[usize::from(prompt.0)].name.value;
    Some(
        found
            .trace(facts.tell(&facts.search.run_through(id), format!("a {agent} is alive, unwatched")))
            .help(format!("write `respawn_prompt: {prompt}` there, so that the state is the {agent}'s")),
    )
}
