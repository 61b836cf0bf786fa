//! B43: a fan-out whose agents or programs are not given their item.

use super::B43;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{StepPiece, StepValue};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(_, step)| step.is_fan_out()), |(_, step)| {
        let of_program = step.run.iter().flat_map(|it| &it.pieces);
        let has_item =
            step.prompt.pieces.iter().chain(of_program).any(|it| *it == StepPiece::Value(StepValue::Item));
        if has_item {
            return None;
        }
        let name = &step.id.value;
        let (message, help) = match step.is_program() {
            true => (
                format!("the program of `{name}` is not given its item, so that it does the same for each"),
                "add the argument `{{item}}`",
            ),
            false => (
                format!("the prompt of `{name}` does not have its item, so that each agent does the same"),
                "write `{{item}}` where it is to stand",
            ),
        };
        Some(Diagnostic::new(&B43, step.prompt.span, message).help(help))
    })
}
