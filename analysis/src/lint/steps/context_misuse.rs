//! B20: a prompt that asks for a context which is always empty, or does not say where it stands.

use super::B20;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Step, StepId, StepPiece, StepValue};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(_, step)| !step.prompt.pieces.is_empty()), |(id, step)| {
        let asks = step.prompt.pieces.contains(&StepPiece::Value(StepValue::Context));
        let name = &step.id.value;
        let (message, help) = match (asks, source(facts, id, step)) {
            (true, None) => (
                format!("the context of `{name}` is always empty: it depends on no step"),
                "delete `{{context}}`, or add `depends_on`",
            ),
            (false, Some(_)) if step.is_ask() => return None,
            (false, Some(source)) => (
                format!("the prompt of `{name}` does not say where its agent reads what `{source}` reports"),
                "write `{{context}}` where that is to stand; without it, it stands at the end",
            ),
            (true, Some(_)) | (false, None) => return None,
        };
        Some(Diagnostic::new(&B20, step.prompt.span, message).help(help))
    })
}

/// A step whose report is part of its context.
fn source<'f>(facts: &StepFacts<'f>, id: StepId, step: &Step) -> Option<&'f str> {
    let dependency = step.depends_on.first().map(|it| it.value);
    let sender = || facts.all().find(|(_, it)| it.requeue.iter().any(|it| it.value == id)).map(|(id, _)| id);
    dependency.or_else(sender).or(facts.plan.step(id).handles).map(|it| facts.name(it))
}
