//! B36: an ask without a time limit, for whose answer a mission waits for ever.

use super::B36;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(_, step)| step.is_ask() && step.timeout.is_none()), |(_, step)| {
        let name = &step.id.value;
        let message = format!("`{name}` has no `timeout`: the mission waits until a person answers");
        let help =
            format!("give `{name}` a `timeout`, the seconds that persons have for an answer: then it fails");
        Some(Diagnostic::new(&B36, step.id.span, message).help(help))
    })
}
