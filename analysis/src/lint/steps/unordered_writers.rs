//! B21: steps without an order in one worktree.

use super::B21;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.open_pairs(), |(a, b)| {
        let (first, second) = (facts.step(a), facts.step(b));
        if first.independent || second.independent || facts.is_overlap(a, b) {
            return None;
        }
        let (a, b) = (&first.id.value, &second.id.value);
        let message = format!("`{a}` and `{b}` share a worktree, and neither waits for the other");
        let finding = Diagnostic::new(&B21, second.id.span, message)
            .label(first.id.span, "runs first only because it stands first")
            .label(second.id.span, "runs after it");
        Some(finding.help(format!("add \"{a}\" to `depends_on` of `{b}`")))
    })
}
