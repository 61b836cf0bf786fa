//! CC2: a watch rule starts an agent that does not learn what the feedback is.

use std::collections::BTreeSet;

use orange_codegen::diag::Diagnostic;
use orange_codegen::model::Hook;
use orange_core::feedback::HEADING as SECTION;
use orange_core::{Action, TransitionId};

use super::{CC2, Facts, taken};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let transitions: BTreeSet<TransitionId> = taken(facts).map(|(_, transition, _)| transition).collect();
    transitions.into_iter().filter_map(|id| of_transition(facts, id)).collect()
}

fn of_transition(facts: &Facts<'_>, id: TransitionId) -> Option<Diagnostic> {
    let hooks = &facts.transition(id).hooks;
    let (at, starter) = hooks.iter().enumerate().find(|(_, hook)| hook.spawn.is_some())?;
    if !hooks[..at].iter().any(|hook| hook.action == Action::WriteFeedback) {
        let message = "this transition of a watch rule starts an agent without the feedback";
        return Some(Diagnostic::new(&CC2, facts.first_line(starter.span), message).help(format!(
            "write it before: `- action: write_feedback`; the agent then finds it in `{SECTION}`"
        )));
    }
    (!is_named(facts, starter)).then(|| {
        let message =
            format!("the agent of this hook is to read `{SECTION}`, and its prompt does not name it");
        Diagnostic::new(&CC2, facts.first_line(starter.span), message)
            .help(format!("say in the prompt: read `{SECTION}` in TASK.md, and mend what it says"))
    })
}

/// True if the prompt or the message of a hook names the section.
fn is_named(facts: &Facts<'_>, hook: &Hook) -> bool {
    let prompt =
        hook.spawn.as_ref().map(|it| &facts.workflow.prompts[usize::from(it.prompt.value.0)].text.value);
    let message = hook.message.as_ref().map(|it| &it.value);
    prompt.into_iter().chain(message).any(|text| text.contains(SECTION))
}
