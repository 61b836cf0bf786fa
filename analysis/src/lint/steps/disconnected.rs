//! B25: a step that nothing connects with the others.

use super::B25;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(id, _)| facts.is_disconnected(*id)), |(_, step)| {
        let message = format!("`{}` waits for no step, and no step waits for it", step.id.value);
        let help = "add `depends_on`, or `independent = true` if it has nothing to do with the others";
        Some(Diagnostic::new(&B25, step.id.span, message).help(help))
    })
}
