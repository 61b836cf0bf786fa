//! B11: a step that no run starts.

use super::B11;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Step, StepId};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        if !is_dead(facts, id) || facts.unknown_value(step).is_some() || follows(facts, step) {
            return None;
        }
        let name = &step.id.value;
        let message = format!("`{name}` never runs, whatever the steps before it report");
        let finding = Diagnostic::new(&B11, step.id.span, message);
        let finding = match &step.condition {
            Some(condition) => finding.label(condition.span, "does not hold when it is decided"),
            None => finding,
        };
        Some(finding.help("correct its condition or its dependencies, or delete it"))
    })
}

fn is_dead(facts: &StepFacts<'_>, id: StepId) -> bool {
    facts.search.runs(id) == Some(false)
}

/// True if it does not run because another one does not, which has the finding.
fn follows(facts: &StepFacts<'_>, step: &Step) -> bool {
    step.condition.as_ref().is_some_and(|it| {
        let read = it.steps();
        !read.is_empty() && read.iter().all(|it| is_dead(facts, it.value))
    })
}
