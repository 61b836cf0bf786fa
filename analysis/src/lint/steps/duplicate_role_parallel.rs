//! B17: steps without an order that one role has to take.

use super::B17;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::ANY;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.open_pairs(), |(a, b)| {
        let (first, second) = (facts.step(a), facts.step(b));
        let role = facts.plan.role(second.role.value);
        if first.role.value != second.role.value || role == ANY {
            return None;
        }
        let (a, b) = (&first.id.value, &second.id.value);
        let message = format!("`{a}` and `{b}` have no order, and both wait for a `{role}`");
        let finding = Diagnostic::new(&B17, second.role.span, message)
            .label(first.role.span, format!("of `{a}`"))
            .label(second.role.span, format!("of `{b}`"));
        Some(finding.help(format!("let `{b}` depend on `{a}`, or give them different roles")))
    })
}
