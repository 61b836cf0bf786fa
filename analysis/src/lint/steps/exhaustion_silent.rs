//! B15: a loop that can be exhausted, and has no handler for that.

use super::B15;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let retries = step.max_retries.filter(|it| it.value > 0)?;
        if step.on_fail.is_some() || !facts.search.is_exhausted(id) {
            return None;
        }
        let name = &step.id.value;
        let times = match retries.value {
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        let message = format!(
            "if the condition of `{name}` holds after it has completed {times}, the mission fails, and no step handles that"
        );
        let finding = Diagnostic::new(&B15, retries.span, message);
        Some(finding.help(format!("name a step that takes over, `on_fail = \"…\"` in `{name}`")))
    })
}
