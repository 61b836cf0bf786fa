//! Transitions: one each for every two states that `from` and `to` name.

use std::collections::HashSet;

use super::actors::actors;
use super::decoder::{Decoder, Field};
use super::gate::gates;
use super::hooks::{hooks, resets};
use super::keys::TRANSITION;
use super::scope::Scope;
use super::{Actor, Actors, FactKind, Gate, SectionGate, StateId, Transition};
use crate::catalogue::{A01, A02, Check, S04};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::Node;
use crate::syntax::limits::{MAX_ALL_HOOKS, MAX_TRANSITIONS, exceeded};

/// The transitions that could be understood, and what is known of all of them.
#[derive(Default)]
pub(super) struct DeclaredTransitions {
    pub(super) transitions: Vec<Transition>,
    pub(super) ends: Ends,
    /// Number of their hooks together.
    hooks: usize,
}

/// The states between which transitions are declared, those included that were not understood otherwise.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    count: usize,
    pairs: HashSet<(StateId, StateId)>,
    /// The known end of declarations whose other end names no state.
    from: HashSet<StateId>,
    to: HashSet<StateId>,
    /// True if neither end of some declaration names a state.
    anywhere: bool,
    /// The start states of transitions whose target or guard was not understood.
    unfinished: Vec<Spanned<StateId>>,
}

impl Transition {
    /// Its requirements on sections.
    pub fn section_gates(&self) -> impl Iterator<Item = &SectionGate> {
        self.gates.iter().flat_map(Gate::sections)
    }

    /// True if two transitions of one pair never fire at once, whatever the counters: no actor may ask for both, they are for different
    /// kinds of facts, or their gates ask for different verdicts of one section.
    pub fn is_distinct_from(&self, other: &Transition) -> bool {
        let excludes =
            |one: &Self, other: &Self| one.gates.iter().any(|gate| gate.is_excluded_by(&other.gates));
        let causes = [self, other].map(|it| it.cause.map(|cause| cause.value));
        causes[0] != causes[1] || self.by.excludes(other.by) || excludes(self, other) || excludes(other, self)
    }
}

impl Gate {
    /// True if it cannot hold where all of these do: each of its sections contradicts one of them.
    fn is_excluded_by(&self, gates: &[Gate]) -> bool {
        let sections = self.sections();
        let contradicts = |one: &SectionGate, gate: &Gate| {
            !gate.sections().is_empty() && gate.sections().iter().all(|it| one.excludes(it))
        };
        !sections.is_empty() && sections.iter().all(|one| gates.iter().any(|it| contradicts(one, it)))
    }
}

impl SectionGate {
    /// True if no content can pass both, since a section has one verdict at most where both read it alike.
    fn excludes(&self, other: &SectionGate) -> bool {
        let verdicts = self.verdict.as_ref().zip(other.verdict.as_ref());
        self.section.value == other.section.value
            && self.strict == other.strict
            && verdicts.is_some_and(|(one, other)| one.value != other.value)
    }
}

impl Ends {
    /// True if a transition between the two is declared, or might be where an end was not understood.
    pub fn may_connect(&self, from: StateId, to: StateId) -> bool {
        self.anywhere
            || self.pairs.contains(&(from, to))
            || self.from.contains(&from)
            || self.to.contains(&to)
    }

    /// The start states of transitions that are not part of the workflow, since their target or guard was not understood.
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

/// The words of `cause`.
const CAUSES: [(&str, FactKind); FactKind::ALL.len()] = {
    let mut words = [("", FactKind::Base); FactKind::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = (FactKind::ALL[at].as_str(), FactKind::ALL[at]);
        at += 1;
    }
    words
};

const ENGINE: Actors = Actors::NONE.with(Actor::Engine);

/// The `transitions` of a workflow.
pub(super) fn transitions(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    field: &Field<'_>,
) -> DeclaredTransitions {
    let mut declared = DeclaredTransitions::default();
    for (number, item) in decoder.list(field).iter().enumerate() {
        transition(decoder, scope, item, number as u32, &mut declared);
        if declared.ends.count > MAX_TRANSITIONS {
            decoder.report(exceeded("transitions", MAX_TRANSITIONS, field.key));
            break;
        }
        if declared.hooks > MAX_ALL_HOOKS {
            decoder.report(exceeded("hooks", MAX_ALL_HOOKS, field.key));
            break;
        }
    }
    declared
}

fn transition(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    node: &Node,
    number: u32,
    declared: &mut DeclaredTransitions,
) {
    let Some(fields) = decoder.object(node, &TRANSITION) else {
        declared.ends.add(None, None);
        return;
    };
    let from = fields.get("from").map_or(vec![None], |it| states(decoder, scope, &it, &A02));
    let to = fields.get("to").map_or(vec![None], |it| states(decoder, scope, &it, &A01));
    let cause = fields.get("cause").and_then(|it| decoder.word(&it, &CAUSES));
    let usual = if cause.is_some() { ENGINE } else { Actors::ANYONE };
    let by = fields.get("by").map_or(usual, |it| actors(decoder, scope, &it, &Actor::BUILT_IN));
    if let (Some(cause), true) = (cause, by != ENGINE && by != Actors::NONE) {
        let message = format!("a transition for `{}` is taken by watch rules alone", cause.value.as_str());
        decoder.report(
            Diagnostic::new(&S04, cause.span, message).help("write `by: engine`, or delete `by` or `cause`"),
        );
    }
    let when = fields.get("when").map(|it| scope.guard(decoder, &it));
    let gates = fields.get("gate").map(|it| gates(decoder, scope, &it)).unwrap_or_default();
    let mut all_hooks = fields.get("reset").map(|it| resets(decoder, scope, &it)).unwrap_or_default();
    all_hooks.extend(fields.get("hooks").map(|it| hooks(decoder, scope, &it)).unwrap_or_default());
    let on_hook_failure = fields.get("on_hook_failure").and_then(|it| scope.some_state(decoder, &it));
    let pairs = to.iter().flat_map(|to| from.iter().map(|from| (*from, *to)));
    for (from, to) in pairs.take(MAX_TRANSITIONS + 1 - declared.ends.count) {
        if declared.hooks > MAX_ALL_HOOKS {
            return;
        }
        declared.hooks += all_hooks.len();
        declared.ends.add(from.map(|it| it.value), to.map(|it| it.value));
        let Some(from) = from else { continue };
        // One whose guard was not understood can be compared with no other; a gate or actor that was not
        // understood is reported, and hides nothing else.
        let (Some(to), Some(when)) = (to, understood(when.clone())) else {
            declared.ends.unfinished.push(from);
            continue;
        };
        declared.transitions.push(Transition {
            span: fields.span,
            declaration: number,
            from,
            to,
            by,
            cause,
            when,
            gates: gates.clone(),
            hooks: all_hooks.clone(),
            on_hook_failure,
        });
    }
}

/// Nothing was written, or it was understood; absent when it was written and not understood.
fn understood<T>(written: Option<Option<T>>) -> Option<Option<T>> {
    match written {
        None => Some(None),
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
    }
}

/// The states that `from` or `to` names; absent where a name is unknown.
fn states(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    field: &Field<'_>,
    unknown: &'static Check,
) -> Vec<Option<Spanned<StateId>>> {
    let fields = decoder.one_or_list(field);
    if fields.is_empty() {
        let found = Diagnostic::new(&S04, field.value.span, format!("`{}` names no state", field.name));
        decoder.report(found.help("name a state, or several"));
    }
    let mut states: Vec<Option<Spanned<StateId>>> = Vec::new();
    for item in fields {
        let state = scope.state(decoder, &item, unknown);
        match states.iter().flatten().find(|it| Some(it.value) == state.map(|it| it.value)) {
            Some(first) => decoder.report(named_twice(scope, field.name, *first, item.value.span)),
            None => states.push(state),
        }
    }
    states
}

fn named_twice(scope: &Scope<'_>, key: &str, first: Spanned<StateId>, second: Span) -> Diagnostic {
    let message = format!("`{key}` names `{}` twice", scope.states.name(first.value.0));
    Diagnostic::new(&S04, second, message)
        .label(first.span, "the first time")
        .label(second, "the second time")
        .help("delete one of the two")
}
