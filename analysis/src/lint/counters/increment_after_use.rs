//! C27: an agent is started before the counter that its prompt or its window shows is counted up.

use super::C27;
use super::shared::{counts, is_reviewer, name};
use crate::lint::Facts;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::model::keys::INCREMENT_REVIEW_ROUND;
use orange_codegen::model::{CounterId, Hook, PromptPiece, REVIEW_ROUND, Spawn, Transition, Value};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut transitions: Vec<&Transition> = facts.workflow.transitions.iter().collect();
    transitions.dedup_by_key(|it| it.declaration);
    transitions.into_iter().flat_map(|it| in_transition(facts, it)).collect()
}

fn in_transition(facts: &Facts<'_>, transition: &Transition) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, hook) in transition.hooks.iter().enumerate() {
        let Some(spawn) = hook.spawn.as_ref() else { continue };
        for later in &transition.hooks[at + 1..] {
            if let Some(counter) = counts(later).filter(|it| shows(facts, spawn, it.value).is_some()) {
                found.push(finding(facts, transition, (hook, spawn), (later, counter.value)));
            }
        }
    }
    found
}

/// Words for the parts that show the counter: the reviewer's window, the prompt, or both. `None` if neither shows it.
fn shows(facts: &Facts<'_>, spawn: &Spawn, counter: CounterId) -> Option<&'static str> {
    let prompt = &facts.workflow.prompts[usize::from(spawn.prompt.value.0)];
    let in_prompt = prompt.pieces.contains(&PromptPiece::Value(Value::Counter(counter)));
    let in_window = counter == REVIEW_ROUND && is_reviewer(spawn);
    match (in_window, in_prompt) {
        (true, true) => Some("the window `review-<round>` and the prompt have"),
        (true, false) => Some("the window `review-<round>` has"),
        (false, true) => Some("the prompt has"),
        (false, false) => None,
    }
}

fn finding(
    facts: &Facts<'_>,
    transition: &Transition,
    (hook, spawn): (&Hook, &Spawn),
    (later, counter): (&Hook, CounterId),
) -> Diagnostic {
    let name = name(facts, counter);
    let prompt = &facts.workflow.prompts[usize::from(spawn.prompt.value.0)].name.value;
    let shows = shows(facts, spawn, counter).unwrap_or_default();
    let arrow = facts.arrow(transition);
    let message =
        format!("{arrow} starts `{prompt}` before it counts `{name}`: {shows} the value of the round before");
    Diagnostic::new(&C27, facts.first_line(later.span), message)
        .label(facts.first_line(hook.span), format!("1. {shows} the old value"))
        .label(facts.first_line(later.span), "2. counted only now")
        .help(format!("write `increment: {name}` on the spawn, which counts before the agent starts, and delete this hook"))
        .fix_if(counted_before(facts, name, hook, later))
}

/// The edits that put the counting hook before the hook that starts the agent, if it is `increment_review_round`.
fn counted_before(facts: &Facts<'_>, name: &str, hook: &Hook, later: &Hook) -> Option<Fix> {
    let is_bare = later.spawn.is_none() && later.counter?.value == REVIEW_ROUND;
    let entry = if is_bare { ("action", INCREMENT_REVIEW_ROUND) } else { return None };
    let put = edit::insert_before(facts.source, hook.span, entry)?;
    let take = edit::remove_entry(&facts.source.text, later.span)?;
    Some(Fix {
        title: format!("count `{name}` before the agent starts"),
        edits: vec![put, take],
        safe: false,
    })
}
