//! B08: a condition compares with a value that its step does not declare.

use super::B08;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::suggest;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(_, step)| {
        let (read, value) = facts.unknown_value(step)?;
        let (declared, read) = (facts.plan.results_of(read), facts.name(read));
        let is_whole = step.condition.as_ref().is_some_and(|it| it.equality().is_some());
        let message = match is_whole {
            true => format!("`{read}` never reports `{}`, so `{}` never runs", value.value, step.id.value),
            false => format!("`{read}` never reports `{}`", value.value),
        };
        let help = suggest::help(value.value, "results", declared.iter().copied());
        Some(Diagnostic::new(&B08, value.span, message).help_if(help))
    })
}
