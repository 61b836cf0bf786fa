//! B08: a condition compares with a value that its step does not declare.

use super::B08;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::suggest;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(_, step)| {
        let condition = facts.unknown_value(step)?;
        let (value, declared) = (&condition.value, facts.plan.results_of(condition.step.value));
        let read = facts.name(condition.step.value);
        let message = format!("`{read}` never reports `{}`, so `{}` never runs", value.value, step.id.value);
        let help = suggest::help(&value.value, "results", declared.iter().copied());
        Some(Diagnostic::new(&B08, value.span, message).help_if(help))
    })
}
