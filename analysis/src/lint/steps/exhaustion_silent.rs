//! B15: a loop that can be exhausted, and has no handler for that.

use super::B15;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let retries = step.max_retries.filter(|it| it.value > 0)?;
        if step.on_fail.is_some() {
            return None;
        }
        let exhausted = facts.search.exhausted(id)?;
        let name = &step.id.value;
        let times = match retries.value {
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        let message = format!(
            "if the condition of `{name}` holds after it has completed {times}, the mission fails, and no step handles that"
        );
        let trace = facts.tell(Some(exhausted), format!("the loop of `{name}` is exhausted"));
        let finding = Diagnostic::new(&B15, retries.span, message).trace_if(trace);
        Some(finding.help(format!("name a step that takes over, `on_fail = \"…\"` in `{name}`")))
    })
}
