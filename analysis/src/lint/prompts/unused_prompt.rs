//! C83: no agent is ever started with a prompt.

use super::C83;
use super::shared::{Prompted, prompts};
use crate::lint::Facts;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    prompts(facts).filter(|it| it.starts.is_empty()).map(|it| finding(facts, &it)).collect()
}

fn finding(facts: &Facts<'_>, it: &Prompted<'_>) -> Diagnostic {
    let Prompted { name, prompt, .. } = it;
    let message = format!("no hook and no state starts an agent with `{name}`");
    Diagnostic::new(&C83, prompt.name.span, message)
        .help(format!(
            "remove it, or use it: `- {{action: spawn_agent, prompt: {name}}}` in the hooks of a transition, or \
             `respawn_prompt: {name}` in a state"
        ))
        .fix_if(removal(facts, it))
}

/// Takes the prompt away, unless something else may refer to its text.
fn removal(facts: &Facts<'_>, it: &Prompted<'_>) -> Option<Fix> {
    let entry = it.prompt.name.span.to(it.prompt.span);
    let between = Span::new(it.prompt.name.span.end, it.prompt.span.start);
    if facts.source.text.get(between.range())?.contains(['&', '*']) {
        return None;
    }
    let edit = edit::remove_entry(&facts.source.text, entry)?;
    Some(Fix { title: format!("remove `{}`", it.name), edits: vec![edit], safe: true })
}
