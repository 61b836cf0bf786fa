//! C04: no state is terminal.

use super::dead_end::is_dead_end;
use super::{C04, an_end};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

/// So many states that could be meant as the end are pointed at.
const MAX_LABELS: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    if an_end(facts).is_some() {
        return Vec::new();
    }
    let meant: Vec<_> = facts.states().filter(|(id, state)| is_dead_end(facts, *id, state)).collect();
    let span = meant.first().map_or(facts.workflow.name.span, |(_, state)| state.name.span);
    let message = "no state is terminal: a task never ends, and its worktree never goes back to the pool";
    let help = match meant.first() {
        Some((_, state)) => format!("mark `{}` as `terminal: true`", state.name.value),
        None => "add a state for the end, `done: {terminal: true}`, and a transition to it".to_owned(),
    };
    let found = Diagnostic::new(&C04, span, message).help(help);
    let labelled = meant.iter().take(MAX_LABELS);
    vec![labelled.fold(found, |found, (_, state)| {
        found.label(state.name.span, "nothing leaves this state: is it an end?")
    })]
}
