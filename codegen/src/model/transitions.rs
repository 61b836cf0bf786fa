//! Transitions: one each for every state that `from` names.

use std::collections::HashSet;

use super::actors::actors;
use super::decoder::{Decoder, Field};
use super::gate::gate;
use super::hooks::hooks;
use super::keys::TRANSITION;
use super::scope::Scope;
use super::{Actor, Actors, StateId, Transition};
use crate::catalogue::{A01, A02, S04};
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::Node;
use crate::syntax::limits::{MAX_ALL_HOOKS, MAX_TRANSITIONS, exceeded};

/// The transitions that could be understood, and what is known of all of them.
#[derive(Default)]
pub(super) struct Declared {
    pub(super) transitions: Vec<Transition>,
    pub(super) ends: Ends,
    /// How many hooks they have together.
    hooks: usize,
}

/// Which states transitions are declared between, those included that were not understood otherwise.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    count: usize,
    pairs: HashSet<(StateId, StateId)>,
    /// The known end of declarations whose other end names no state.
    from: HashSet<StateId>,
    to: HashSet<StateId>,
    /// Whether neither end of some declaration names a state.
    anywhere: bool,
    /// Where transitions begin whose target or guard was not understood.
    unfinished: Vec<Spanned<StateId>>,
}

impl Ends {
    /// Whether a transition between the two is declared, or might be where an end was not understood.
    pub fn may_connect(&self, from: StateId, to: StateId) -> bool {
        self.anywhere
            || self.pairs.contains(&(from, to))
            || self.from.contains(&from)
            || self.to.contains(&to)
    }

    /// Where transitions begin that are no part of the workflow, since their target or guard was not understood.
    pub fn unfinished(&self) -> &[Spanned<StateId>] {
        &self.unfinished
    }

    fn add(&mut self, from: Option<StateId>, to: Option<StateId>) {
        self.count += 1;
        match (from, to) {
            (Some(from), Some(to)) => _ = self.pairs.insert((from, to)),
            (Some(from), None) => _ = self.from.insert(from),
            (None, Some(to)) => _ = self.to.insert(to),
            (None, None) => self.anywhere = true,
        }
    }
}

/// The `transitions` of a workflow.
pub(super) fn transitions(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Declared {
    let mut declared = Declared::default();
    for (number, item) in decoder.list(field).iter().enumerate() {
        if declared.ends.count >= MAX_TRANSITIONS {
            decoder.report(exceeded("transitions", MAX_TRANSITIONS, field.key));
            break;
        }
        if declared.hooks >= MAX_ALL_HOOKS {
            decoder.report(exceeded("hooks", MAX_ALL_HOOKS, field.key));
            break;
        }
        transition(decoder, scope, item, number as u32, &mut declared);
    }
    declared
}

fn transition(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    node: &Node,
    number: u32,
    declared: &mut Declared,
) {
    let Some(fields) = decoder.object(node, &TRANSITION) else {
        declared.ends.add(None, None);
        return;
    };
    let from = fields.get("from").map(|it| sources(decoder, scope, &it)).unwrap_or_default();
    let to = fields.get("to").and_then(|it| scope.state(decoder, &it, &A01));
    let by = fields.get("by").map_or(Actors::ANYONE, |it| actors(decoder, &it, &Actor::ALL));
    let when = fields.get("when").map(|it| scope.guard(decoder, &it));
    let gate = fields.get("gate").and_then(|it| gate(decoder, &it));
    let hooks = fields.get("hooks").map(|it| hooks(decoder, scope, &it)).unwrap_or_default();
    let on_hook_failure = fields.get("on_hook_failure").and_then(|it| scope.some_state(decoder, &it));
    declared.hooks += from.len() * hooks.len();
    for from in &from {
        declared.ends.add(from.map(|it| it.value), to.map(|it| it.value));
    }
    if fields.get("from").is_none() {
        declared.ends.add(None, to.map(|it| it.value));
    }
    // One whose guard was not understood can be compared with no other; a gate or actor that was not
    // understood is reported, and hides nothing else.
    let (Some(to), Some(when)) = (to, understood(when)) else {
        declared.ends.unfinished.extend(from.into_iter().flatten());
        return;
    };
    declared.transitions.extend(from.into_iter().flatten().map(|from| Transition {
        span: fields.span,
        declaration: number,
        from,
        to,
        by,
        when: when.clone(),
        gate: gate.clone(),
        hooks: hooks.clone(),
        on_hook_failure,
    }));
}

/// Nothing was written, or it was understood; absent when it was written and not understood.
fn understood<T>(written: Option<Option<T>>) -> Option<Option<T>> {
    match written {
        None => Some(None),
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
    }
}

fn sources(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Vec<Option<Spanned<StateId>>> {
    let fields = decoder.one_or_list(field);
    if fields.is_empty() {
        let found = Diagnostic::new(&S04, field.value.span, "`from` names no state");
        decoder.report(found.help("name the state that the transition leaves"));
    }
    let mut seen: Vec<Spanned<StateId>> = Vec::new();
    let mut sources = Vec::new();
    for field in fields {
        let Some(state) = scope.state(decoder, &field, &A02) else {
            sources.push(None);
            continue;
        };
        match seen.iter().find(|it| it.value == state.value) {
            Some(first) => decoder.report(
                Diagnostic::new(
                    &S04,
                    state.span,
                    format!("`from` names `{}` twice", scope.states.name(state.value.0)),
                )
                .label(first.span, "the first time")
                .label(state.span, "the second time")
                .help("delete one of the two"),
            ),
            None => {
                seen.push(state);
                sources.push(Some(state));
            }
        }
    }
    sources
}
