//! C13: no transition and no exit rule uses a gate under `gates`.

use super::C13;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Gate, NamedGate};
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let of_transitions = facts.transitions.iter().flat_map(|it| &it.gates);
    let of_rules = facts.exit_rules.iter().flat_map(|it| it.condition.gates());
    let used: Vec<Span> = of_transitions.chain(of_rules).map(Gate::span).collect();
    let is_unused = |it: &&NamedGate| it.gate.as_ref().is_some_and(|gate| !used.contains(&gate.span()));
    facts.workflow.gates.iter().filter(is_unused).map(finding).collect()
}

fn finding(NamedGate { name, .. }: &NamedGate) -> Diagnostic {
    let message = format!("no transition and no exit rule uses the gate `{}`", name.value);
    Diagnostic::new(&C13, name.span, message).help(format!(
        "write `gate: {0}` in a transition or `has_artifact: {0}` in an exit rule, or delete it",
        name.value
    ))
}
