//! The outline of a document: states with the transitions that leave them, prompts, gates, counters; roles and steps; scenarios.
//!
//! It is read from the syntax tree, so that it is there while somebody types.

use orange_codegen::Span;
use orange_codegen::syntax::{Node, NodeKind};

use crate::document::Document;

/// One entry of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    /// Name of the state, step or section.
    pub name: String,
    /// A few words about it.
    pub detail: Option<String>,
    /// Kind of the thing.
    pub kind: OutlineKind,
    /// All of it.
    pub span: Span,
    /// Its name in the text, which is within [`Self::span`].
    pub named: Span,
    /// The entries below it.
    pub children: Vec<OutlineEntry>,
}

/// Kind of the thing that an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    /// A state.
    State,
    /// A transition, below the state that it leaves.
    Transition,
    /// A prompt.
    Prompt,
    /// A gate with a name.
    Gate,
    /// A counter.
    Counter,
    /// A step.
    Step,
    /// A role of steps.
    Role,
    /// A scenario.
    Scenario,
}

/// The outline of a workflow or of scenarios, in the order of the text.
pub fn outline(document: &Document) -> Vec<OutlineEntry> {
    let Some(tree) = document.tree() else { return Vec::new() };
    let mut entries = states(tree);
    for (key, kind) in
        [("gates", OutlineKind::Gate), ("prompts", OutlineKind::Prompt), ("fields", OutlineKind::Counter)]
    {
        entries.extend(tree.value_of(key).into_iter().flat_map(|it| named(it, kind)));
    }
    let roles = tree.value_of("workflow").and_then(|it| it.value_of("roles")).map(items).unwrap_or_default();
    entries.extend(roles.iter().filter_map(|it| entry(it, it, OutlineKind::Role)));
    let steps = tree.value_of("steps").map(items).unwrap_or_default();
    entries.extend(steps.iter().filter_map(|it| {
        let step = entry(it, it.value_of("id")?, OutlineKind::Step)?;
        let detail = it.value_of("role").or_else(|| it.value_of("title")).and_then(Node::text);
        Some(OutlineEntry { detail: detail.map(str::to_owned), ..step })
    }));
    let scenarios = tree.value_of("scenarios").map(items).unwrap_or_default();
    entries.extend(scenarios.iter().filter_map(|it| entry(it, it.value_of("name")?, OutlineKind::Scenario)));
    entries.sort_by_key(|it| it.span);
    entries
}

/// The states, and the transitions of a state that is not declared.
fn states(tree: &Node) -> Vec<OutlineEntry> {
    let mut states: Vec<_> =
        tree.value_of("states").into_iter().flat_map(|it| named(it, OutlineKind::State)).collect();
    for transition in tree.value_of("transitions").map(items).unwrap_or_default() {
        let to = transition.value_of("to");
        let ends: Vec<_> = to.into_iter().flat_map(one_or_more).filter_map(Node::text).collect();
        for from in transition.value_of("from").into_iter().flat_map(one_or_more) {
            let Some(state) = from.text() else { continue };
            let entry = OutlineEntry {
                name: format!("→ {}", ends.join(", ")),
                detail: detail_of_transition(transition),
                kind: OutlineKind::Transition,
                span: transition.span.to(from.span),
                named: from.span,
                children: Vec::new(),
            };
            let declared = states.iter_mut().find(|it| it.kind == OutlineKind::State && it.name == state);
            match declared {
                Some(declared) => declared.children.push(entry),
                None => states.push(OutlineEntry { name: format!("{state} {}", entry.name), ..entry }),
            }
        }
    }
    states
}

/// The actors of a transition and its guard.
fn detail_of_transition(transition: &Node) -> Option<String> {
    let actors = transition.value_of("by").into_iter().flat_map(one_or_more).filter_map(Node::text);
    let actors = actors.collect::<Vec<_>>().join(", ");
    let guard = transition.value_of("when").and_then(Node::text).map(|it| format!("when {it}"));
    let parts: Vec<_> = (!actors.is_empty()).then_some(actors).into_iter().chain(guard).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn named(mapping: &Node, kind: OutlineKind) -> Vec<OutlineEntry> {
    let NodeKind::Mapping(entries) = &mapping.kind else { return Vec::new() };
    entries.iter().filter_map(|(key, value)| entry(value, key, kind)).collect()
}

fn entry(whole: &Node, name: &Node, kind: OutlineKind) -> Option<OutlineEntry> {
    let text = name.text().filter(|it| !it.trim().is_empty())?;
    let span = whole.span.to(name.span);
    Some(OutlineEntry {
        name: text.to_owned(),
        detail: None,
        kind,
        span,
        named: name.span,
        children: Vec::new(),
    })
}

fn items(list: &Node) -> &[Node] {
    match &list.kind {
        NodeKind::Sequence(items) => items,
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => &[],
    }
}

fn one_or_more(value: &Node) -> Vec<&Node> {
    match &value.kind {
        NodeKind::Sequence(items) => items.iter().collect(),
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => vec![value],
    }
}
