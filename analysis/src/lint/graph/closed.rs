//! Transitions that are never taken, although tasks reach the state where they begin.

use orange_core::TransitionId;

use super::reasons::{Reason, Reasons, counters};
use crate::lint::Facts;
use crate::search::components::Components;
use orange_codegen::model::Transition;

/// Facts of the search about transitions that are never taken.
pub(super) struct Closed<'f> {
    facts: &'f Facts<'f>,
    /// By transition: true if the search takes it.
    taken: Vec<bool>,
    /// Strongly connected components of the states, along the transitions that are taken.
    turning: Components,
    reasons: Reasons<'f>,
}

impl<'f> Closed<'f> {
    /// Reads a complete search. `None` if the search was cut, since it then proves nothing, or if every transition is taken.
    pub(super) fn of(facts: &'f Facts<'f>) -> Option<Self> {
        if facts.search.cut().is_some() {
            return None;
        }
        let mut taken = vec![false; facts.transitions.len()];
        for id in facts.search.edges().filter_map(|(_, edge)| edge.step.transition()) {
            taken[id.0 as usize] = true;
        }
        if taken.iter().all(|it| *it) {
            return None;
        }
        let arrows = facts.machine.transitions.iter().zip(&taken).filter(|(_, taken)| **taken);
        let arrows = arrows.map(|(it, _)| (u32::from(it.from.0), u32::from(it.to.0)));
        let turning = Components::of(facts.machine.states.len(), arrows);
        let everywhere = facts.search.configurations().map(|(id, _)| id).collect();
        Some(Self { facts, taken, turning, reasons: Reasons::among(facts, everywhere) })
    }

    /// The transitions that are never taken, from states that tasks reach.
    pub(super) fn transitions(&self) -> impl Iterator<Item = (TransitionId, &'f Transition)> {
        let all = (0u32..).map(TransitionId).zip(self.facts.transitions.iter().copied());
        all.filter(|(id, it)| {
            !self.taken[id.0 as usize] && self.facts.nearest[usize::from(it.from.value.0)].is_some()
        })
    }

    /// The reason why a transition is never taken.
    pub(super) fn reason(&self, id: TransitionId) -> Reason {
        self.reasons.reason(id)
    }

    /// True if the transition begins in a loop and its guard compares a counter that no hook counts, which is then the fault.
    pub(super) fn reads_what_nothing_counts(&self, id: TransitionId) -> bool {
        let from = self.facts.machine.transition(id).from;
        let turns = self.facts.leaving(from).any(|(id, it)| {
            let (from, to) = (u32::from(from.0), u32::from(it.to.value.0));
            self.taken[id.0 as usize] && self.turning.together(from, to)
        });
        turns && counters(self.facts, id).iter().any(|it| self.facts.search.counters.slot(*it).is_none())
    }
}
