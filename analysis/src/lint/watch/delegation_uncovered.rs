//! CC4: a state waits for created tasks, and nothing follows from one of their ends.

use std::collections::BTreeSet;

use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{FactKind, WatchRule};
use orange_core::{Fact, StateId};

use super::{CC4, Facts, is_persons};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let rules: Vec<&WatchRule> =
        facts.workflow.watch.iter().filter(|rule| rule.fact.value.kind() == FactKind::Children).collect();
    let states: BTreeSet<StateId> = rules.iter().map(|rule| rule.status.value).collect();
    let open = states.into_iter().filter(|state| !is_persons(facts, *state));
    open.flat_map(|state| of_state(facts, state, &rules)).collect()
}

fn of_state(facts: &Facts<'_>, state: StateId, rules: &[&WatchRule]) -> Vec<Diagnostic> {
    let own: Vec<&WatchRule> = rules.iter().copied().filter(|rule| rule.status.value == state).collect();
    let missing = [Fact::ChildrenMerged, Fact::ChildrenEnded]
        .into_iter()
        .filter(|fact| own.iter().all(|rule| rule.fact.value != *fact));
    let name = facts.name(state);
    let found = missing.filter_map(|fact| {
        let message = format!("a task stays in `{name}` when {}", fact.sentence());
        let help = format!("add `- {{status: {name}, {fact}, then: STATE}}` to `watch`");
        Some(Diagnostic::new(&CC4, own.last()?.fact.span, message).help(help))
    });
    found.collect()
}
