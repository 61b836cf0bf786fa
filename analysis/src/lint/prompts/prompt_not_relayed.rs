//! C8E: a prompt of an agent in a wall calls a command of `orange` that is refused there.

use orange_core::wall::Level;

use super::C8E;
use super::shared::prompts;
use crate::lint::prompt_facts::refused_calls;
use crate::lint::steps::{each, prompt_text};
use crate::lint::{Facts, StepFacts};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let delegates = facts.machine.states.iter().any(|it| it.delegates.is_some());
    let in_prompt = |it: super::shared::Prompted<'_>| {
        facts.machine.starts_with(it.id).find(|spawn| spawn.sandbox.level == Level::Wall)?;
        let text = &it.prompt.text;
        let call = refused_calls(&text.value, delegates).next()?;
        let at = text.locate(call.start, call.end);
        let written = &text.value[call];
        Some(Diagnostic::new(&C8E, at, message(&format!("`{}`", it.name), written)).help(HELP))
    };
    prompts(facts).filter_map(in_prompt).collect()
}

/// The prompts of steps, whose agents never delegate.
pub(super) fn find_in_steps(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(_, step)| {
        let text = prompt_text(&step.prompt);
        let call = refused_calls(&text, false).next().filter(|_| step.demand.level == Level::Wall)?;
        let name = format!("the prompt of `{}`", step.id.value);
        Some(Diagnostic::new(&C8E, step.prompt.span, message(&name, &text[call])).help(HELP))
    })
}

const HELP: &str = "in a wall, agents ask for `orange task update`, `complete`, `next`, `show`, `feedback`, `reply`, `verdict`, for `create` \
                    where a state delegates, and for `orange step` and `orange mission show`";

fn message(name: &str, written: &str) -> String {
    format!("{name} calls `{written}`, which is refused to an agent in a wall")
}
