//! B45: a step with gates and without a time limit, whose agent may be refused for ever.

use super::B45;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(_, step)| !step.gates.is_empty() && step.timeout.is_none()), |(_, step)| {
        let name = &step.id.value;
        let message =
            format!("`{name}` has gates and no `timeout`: an agent that never passes them goes on for ever");
        let help = format!("give `{name}` a `timeout`, the seconds that an attempt may take: then it fails");
        Some(Diagnostic::new(&B45, step.id.span, message).help(help))
    })
}
