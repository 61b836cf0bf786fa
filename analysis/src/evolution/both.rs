//! Two workflows side by side: what is called the same is the same.

use std::collections::HashMap;

use crate::lint::Facts;
use orange_codegen::diag::Label;
use orange_codegen::guard::{Compare, Expr};
use orange_codegen::model::{Counter, CounterId, StateId, Transition};
use orange_codegen::span::Span;

/// Two workflows and what they have in common.
#[derive(Debug)]
pub struct Both<'b> {
    /// The one that tasks were started with.
    pub old: &'b Facts<'b>,
    /// The one that takes its place.
    pub new: &'b Facts<'b>,
    /// The counters of the new one, then those that only the old one has.
    pub counters: Vec<Counter>,
    /// By the old state's number: the new one's.
    states: Vec<Option<StateId>>,
    /// By the old counter's number: its place in `counters`.
    moved: Vec<CounterId>,
}

/// The transitions between two states that both workflows have, in both.
pub(super) struct TransitionPair<'b> {
    pub old: Vec<&'b Transition>,
    pub new: Vec<&'b Transition>,
}

impl<'b> Both<'b> {
    /// Finds what is called the same.
    pub(super) fn new(old: &'b Facts<'b>, new: &'b Facts<'b>) -> Self {
        let ids: HashMap<&str, StateId> = new.states().map(|(id, it)| (it.name.value.as_str(), id)).collect();
        let states = old.workflow.states.iter().map(|it| ids.get(it.name.value.as_str()).copied()).collect();
        let mut counters = new.workflow.counters.clone();
        let moved = old.workflow.counters.iter().map(|counter| {
            let at = counters.iter().position(|it| it.name == counter.name).unwrap_or_else(|| {
                counters.push(counter.clone());
                counters.len() - 1
            });
            CounterId(at as u16)
        });
        let moved = moved.collect();
        Self { old, new, counters, states, moved }
    }

    /// The new state of the same name as an old one.
    pub(super) fn state(&self, old: StateId) -> Option<StateId> {
        self.states[usize::from(old.0)]
    }

    /// True if a task can be in this old state. Where the search was cut, it may be.
    pub(super) fn may_be_in(&self, old: StateId) -> bool {
        self.old.nearest[usize::from(old.0)].is_some() || self.old.search.cut().is_some()
    }

    /// Every two states that the old workflow connects, with its transitions; those of the new one, if it has both states.
    pub(super) fn pairs(&self) -> impl Iterator<Item = TransitionPair<'b>> {
        let chunks = self.old.transitions.chunk_by(|a, b| ends(a) == ends(b));
        chunks.filter_map(|old| {
            let (from, to) = ends(old[0]);
            let (from, to) = (self.state(from)?, self.state(to)?);
            let new = self.new.machine.between(from, to).map(|id| self.new.transition(id)).collect();
            Some(TransitionPair { old: old.to_vec(), new })
        })
    }

    /// An old guard as a condition over [`counters`](Self::counters).
    fn translated(&self, expr: &Expr) -> Expr {
        let all = |parts: &[Expr]| parts.iter().map(|it| self.translated(it)).collect();
        match expr {
            Expr::Or(parts) => Expr::Or(all(parts)),
            Expr::And(parts) => Expr::And(all(parts)),
            Expr::Not(inner) => Expr::Not(Box::new(self.translated(inner))),
            Expr::Compare(it) => {
                Expr::Compare(Compare { counter: self.moved[usize::from(it.counter.0)], ..*it })
            }
        }
    }

    /// The guards of the old transitions as conditions over [`counters`](Self::counters); `None` for one without.
    pub(super) fn old_guards(&self, pair: &TransitionPair<'_>) -> Vec<Option<Expr>> {
        pair.old.iter().map(|it| it.when.as_ref().map(|guard| self.translated(&guard.expr))).collect()
    }
}

fn ends(transition: &Transition) -> (StateId, StateId) {
    (transition.from.value, transition.to.value)
}

/// The clause of a transition; without one, the declaration's first line.
pub(super) fn guard_place(facts: &Facts<'_>, transition: &Transition) -> Span {
    transition.when.as_ref().map_or_else(|| facts.first_line(transition.span), |guard| guard.clause)
}

/// A place of the other file.
pub(super) fn label(span: Span, message: impl Into<String>) -> Option<Label> {
    Some(Label { span, file: None, message: message.into() })
}
