//! B10: two steps without an order that run after the same report.

use super::B10;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.unordered_pairs(), |(a, b)| {
        let (first, second) = (facts.step(a), facts.step(b));
        let (one, other) = (first.condition.as_ref()?, second.condition.as_ref()?);
        if !facts.is_overlap(a, b) {
            return None;
        }
        let (a, b) = (&first.id.value, &second.id.value);
        let message = format!("`{a}` and `{b}` both run if {}", other.text);
        let finding = Diagnostic::new(&B10, other.span, message)
            .label(one.span, format!("of `{a}`"))
            .label(other.span, format!("of `{b}`"));
        Some(finding.help(format!("let `{b}` depend on `{a}`, or correct one of the values")))
    })
}
