//! B28: the prompt of a step calls a command that `orange` does not have.

use super::B28;
use super::facts::{StepFacts, each, prompt_text};
use crate::lint::prompt_facts::unknown_commands;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(_, step)| {
        let text = prompt_text(&step.prompt);
        let wrong = unknown_commands(&text).next()?;
        let message =
            format!("the prompt of `{}` calls `{}`, which {}", step.id.value, wrong.written, wrong.why);
        Some(Diagnostic::new(&B28, step.prompt.span, message).help(wrong.help))
    })
}
