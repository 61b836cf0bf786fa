//! B42: an input that no condition, prompt or program reads.

use super::B42;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{InputId, StepPiece};
use orange_core::plan::Operand;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each((0..).map(InputId).zip(&facts.steps.inputs), |(id, input)| {
        let is_read = facts.all().any(|(_, step)| {
            let is_tested =
                || step.condition.iter().flat_map(|it| it.tests()).any(|it| it.of == Operand::Input(id));
            step.texts().flatten().any(|it| matches!(it, StepPiece::Input(read, _) if *read == id))
                || is_tested()
        });
        let name = &input.name.value;
        (!is_read).then(|| {
            let message = format!("nothing reads the input `{name}`");
            let help = format!("write `{{{{inputs.{name}}}}}` in a prompt or in `run`, or delete the input");
            Diagnostic::new(&B42, input.name.span, message).help(help)
        })
    })
}
