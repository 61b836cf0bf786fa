//! C73: a gate asks for green checks, and neither a hook nor an agent opens the pull request that has them.

use std::collections::BTreeSet;

use orange_core::StateId;
use orange_core::action::Remote;

use super::C73;
use crate::lint::Facts;
use crate::search::Edge;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::Gate;
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let asking = asking(facts);
    if asking.is_empty() || facts.search.cut().is_some() || is_prompted(facts) {
        return Vec::new();
    }
    let published = published(facts);
    let is_missing =
        |state: &StateId| facts.graph.entered[usize::from(state.0)] && !published.contains(state);
    let found = asking.into_iter().filter(|(state, _)| is_missing(state));
    found.map(|(state, gate)| finding(facts, state, gate)).collect()
}

/// True if some prompt tells an agent to push the branch or to open the pull request.
fn is_prompted(facts: &Facts<'_>) -> bool {
    let commands = ["git push", "gh pr create", "orange task create-pr"];
    let mut prompts = facts.workflow.prompts.iter();
    prompts.any(|prompt| commands.iter().any(|it| prompt.text.value.contains(it)))
}

/// The gates that ask for green checks, of transitions and of exit rules, each with its state.
fn asking(facts: &Facts<'_>) -> BTreeSet<(StateId, Span)> {
    let of_transitions = facts.transitions.iter().map(|it| (it.from.value, it.gates.as_slice()));
    let of_rules = facts.exit_rules.iter().map(|it| (it.status.value, it.condition.gates()));
    let all =
        of_transitions.chain(of_rules).flat_map(|(state, gates)| gates.iter().map(move |it| (state, it)));
    let checks = all.filter_map(|(state, gate)| match gate {
        Gate::Checks(it) => Some((state, it.place)),
        Gate::Section(_) | Gate::AnySection(_) | Gate::Command(_) | Gate::Children(_) => None,
    });
    checks.collect()
}

/// The states that a task can be in once a hook has pushed its branch, or opened the pull request.
fn published(facts: &Facts<'_>) -> BTreeSet<StateId> {
    let publishes = |edge: &&Edge| {
        let hooks = edge.step.transition().map_or(&[][..], |id| facts.machine.transition(id).hooks);
        hooks.iter().any(|it| it.action.traits().remote == Some(Remote::Adds))
    };
    let mut open: Vec<_> = facts.search.edges().map(|(_, it)| it).filter(publishes).map(|it| it.to).collect();
    let mut seen = BTreeSet::new();
    let mut states = BTreeSet::new();
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            states.insert(facts.search.task(at).status);
            open.extend(facts.search.numbered_from(at).map(|(_, edge)| edge.to));
        }
    }
    states
}

fn finding(facts: &Facts<'_>, state: StateId, gate: Span) -> Diagnostic {
    let name = facts.name(state);
    let message = format!("no hook opens the pull request whose checks this gate reads in `{name}`");
    Diagnostic::new(&C73, gate, message).label(gate, "is refused until there is one").help(format!(
        "open it on the way to `{name}`: `- action: create_pr`; or push the branch there, and let a person open it"
    ))
}
