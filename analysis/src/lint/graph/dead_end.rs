//! C02: a state that is not terminal and that nothing leaves.

use orange_core::StateId;

use super::{C02, an_end};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::State;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    // Where nothing ends, each of these is perhaps the end, and the lint about that says so.
    let Some(end) = an_end(facts) else { return Vec::new() };
    let stuck = facts.states().filter(|(id, state)| is_dead_end(facts, *id, state));
    stuck.map(|(id, state)| finding(facts, id, state, end)).collect()
}

/// True if a task that is there stays there for ever.
pub(super) fn is_dead_end(facts: &Facts<'_>, id: StateId, state: &State) -> bool {
    !state.terminal && facts.leaving(id).next().is_none()
}

fn finding(facts: &Facts<'_>, id: StateId, state: &State, end: &str) -> Diagnostic {
    let name = &state.name.value;
    let message =
        format!("a task in `{name}` can never leave: it is not terminal, and no transition leads on");
    let mut found = Diagnostic::new(&C02, state.name.span, message)
        .label(state.name.span, "neither terminal nor left")
        .help(format!("mark it `terminal: true`, or add a transition: `- {{from: {name}, to: {end}}}`"));
    if let Some(nearest) = facts.nearest[usize::from(id.0)] {
        found = found.trace(facts.tell_to(nearest, "for ever".to_owned()));
    }
    found
}
