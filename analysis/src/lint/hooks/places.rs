//! Shared parts of the lints of hooks: the hooks at which something happens, and the edits that put another hook beside one.

use std::collections::BTreeSet;

use orange_core::TransitionId;

use crate::lint::Facts;
use crate::lint::agents::StoryLabel;
use crate::search::task::Event;
use crate::search::{Edge, EdgeId, HookIndex};
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::model;

/// A hook at which something happened, and the step by which it first did.
pub(super) struct Raised<'f> {
    pub edge: EdgeId,
    pub id: TransitionId,
    pub index: HookIndex,
    pub hook: &'f model::Hook,
    pub event: Event,
}

/// The hooks of transitions at which such an event happens in a step that counts, the first of each declaration. The
/// transitions of one `from: [a, b]` share their hooks.
pub(super) fn raised<'f>(
    facts: &Facts<'f>,
    is: impl Fn(Event) -> bool,
    counts: impl Fn(&Edge, HookIndex, Event) -> bool,
) -> Vec<Raised<'f>> {
    let mut seen = BTreeSet::new();
    let mut raised = Vec::new();
    if !facts.search.happens(&is) {
        return raised;
    }
    for (edge_id, edge) in facts.search.edges() {
        for (index, event) in facts.search.events(edge) {
            let Some(id) = edge.step.transition() else { continue };
            let mut is_first = || seen.insert(facts.transition(id).declaration);
            if is(*event) && counts(edge, *index, *event) && is_first() {
                let hook = facts.hook(id, *index);
                raised.extend(hook.map(|hook| Raised {
                    edge: edge_id,
                    id,
                    index: *index,
                    hook,
                    event: *event,
                }));
            }
        }
    }
    raised
}

/// The first step of each declaration of which this holds.
pub(super) fn first_steps(facts: &Facts<'_>, holds: impl Fn(&Edge) -> bool) -> Vec<(EdgeId, TransitionId)> {
    let mut seen = BTreeSet::new();
    let steps = facts.search.edges().filter(|(_, edge)| holds(edge));
    let steps = steps.filter_map(|(id, edge)| Some((id, edge.step.transition()?)));
    steps.filter(|(_, id)| seen.insert(facts.transition(*id).declaration)).collect()
}

/// Adds the places of a story, numbered when they are several.
pub(super) fn numbered(found: Diagnostic, places: Vec<StoryLabel>) -> Diagnostic {
    let is_alone = places.len() == 1;
    (1..).zip(places).fold(found, |found, (number, (span, part))| match is_alone {
        true => found.label(span, part),
        false => found.label(span, format!("{number}. {part}")),
    })
}

/// Puts a hook without parameters before another. What it does may not be what the author meant.
pub(super) fn put_before(facts: &Facts<'_>, hook: &model::Hook, action: &str) -> Option<Fix> {
    let edit = edit::insert_before(facts.source, hook.span, ("action", action))?;
    let title = format!("put `{action}` before this hook");
    Some(Fix { title, edits: vec![edit], safe: false })
}

/// Puts a hook without parameters behind another. What it does may not be what the author meant.
pub(super) fn put_after(facts: &Facts<'_>, hook: &model::Hook, action: &str) -> Option<Fix> {
    let edit = edit::insert_after(facts.source, hook.span, ("action", action))?;
    let title = format!("put `{action}` behind this hook");
    Some(Fix { title, edits: vec![edit], safe: false })
}

/// Takes a hook without parameters from where it is to before an earlier one.
pub(super) fn move_before(
    facts: &Facts<'_>,
    earlier: &model::Hook,
    later: &model::Hook,
    action: &str,
) -> Option<Fix> {
    let put = edit::insert_before(facts.source, earlier.span, ("action", action))?;
    let take = edit::remove_entry(&facts.source.text, later.span)?;
    let is_apart = put.span.end <= take.span.start;
    let title = format!("put `{action}` before this hook");
    is_apart.then(|| Fix { title, edits: vec![put, take], safe: false })
}
