//! B24: two steps with one prompt.

use std::collections::BTreeMap;

use super::B24;
use super::facts::StepFacts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let mut known = BTreeMap::new();
    let mut found = Vec::new();
    for prompt in facts.plan.step_ids() {
        let step = facts.step(prompt);
        let text = step.prompt.pieces.iter().map(|it| format!("{it:?}")).collect::<String>();
        if text.is_empty() {
            continue;
        }
        let other = *known.entry(text).or_insert(step);
        if other.id.value == step.id.value {
            continue;
        }
        let (a, b) = (&other.id.value, &step.id.value);
        let finding =
            Diagnostic::new(&B24, step.prompt.span, format!("`{a}` and `{b}` have the same prompt"))
                .label(other.prompt.span, format!("of `{a}`"))
                .label(step.prompt.span, format!("of `{b}`"));
        found.push(finding.help(format!("write a prompt for `{b}` that says what it does after `{a}`")));
    }
    found
}
