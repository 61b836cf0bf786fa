//! B42: an input that no condition, list, prompt or program reads.

use super::B42;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{InputId, StepItemList, StepPiece};
use orange_core::plan::Operand;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each((0..).map(InputId).zip(&facts.steps.inputs), |(id, input)| {
        let is_read = facts.all().any(|(_, step)| {
            let is_tested =
                || step.condition.iter().flat_map(|it| it.tests()).any(|it| it.of == Operand::Input(id));
            let is_list = || {
                let list = step.fan_out.as_ref().map(|it| &it.list);
                matches!(list, Some(StepItemList::Input(read)) if *read == id)
            };
            step.texts().flatten().any(|it| matches!(it, StepPiece::Read(of, _) if *of == Operand::Input(id)))
                || is_tested()
                || is_list()
        });
        let name = &input.name.value;
        (!is_read).then(|| {
            let message = format!("nothing reads the input `{name}`");
            let help = format!("write `{{{{inputs.{name}}}}}` in a prompt or in `run`, or delete the input");
            Diagnostic::new(&B42, input.name.span, message).help(help)
        })
    })
}
