//! Why nobody ever takes a transition, though tasks come to where it begins.

use orange_core::{Actor, CounterId, StateId, TransitionId};

use crate::lint::Facts;
use crate::model::Transition;
use crate::search::components::Components;
use crate::search::task::{Agent, Task};
use crate::search::ConfigurationId;
use crate::span::Span;

/// What the search tells about transitions that are never taken.
pub(super) struct Closed<'f> {
    facts: &'f Facts<'f>,
    /// By transition.
    taken: Vec<bool>,
    /// The configurations, those of one state together.
    sorted: Vec<ConfigurationId>,
    /// Which states tasks come back to.
    turning: Components,
}

/// What keeps a transition closed.
pub(super) struct Reason {
    /// What says so.
    pub span: Span,
    /// In a few words: "`when: tries >= 5` never holds: `tries` is at most 2 in `working`".
    pub words: String,
    /// What to do about it.
    pub help: String,
}

impl<'f> Closed<'f> {
    /// Reads a search that is complete; of any other it would claim too much.
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
        let mut sorted: Vec<_> = facts.search.configurations().map(|(id, _)| id).collect();
        sorted.sort_by_key(|id| facts.search.task(*id).status);
        Some(Self { facts, taken, sorted, turning })
    }

    /// The transitions out of states that tasks come to and that are never taken all the same.
    pub(super) fn transitions(&self) -> impl Iterator<Item = (TransitionId, &'f Transition)> {
        let all = (0u32..).map(TransitionId).zip(self.facts.transitions.iter().copied());
        all.filter(|(id, it)| {
            !self.taken[id.0 as usize] && self.facts.nearest[usize::from(it.from.value.0)].is_some()
        })
    }

    /// Whether its guard compares a counter that nothing counts, in a loop: that counter is then what is wrong.
    pub(super) fn reads_what_nothing_counts(&self, id: TransitionId) -> bool {
        let from = self.facts.machine.transition(id).from;
        let turns = self.facts.leaving(from).any(|(way, it)| {
            let (from, to) = (u32::from(from.0), u32::from(it.to.value.0));
            self.taken[way.0 as usize] && self.turning.together(from, to)
        });
        turns && self.counters(id).iter().any(|it| self.facts.search.counters.slot(*it).is_none())
    }

    /// Why it is never taken.
    pub(super) fn reason(&self, id: TransitionId) -> Reason {
        self.guard(id).or_else(|| self.nobody(id)).unwrap_or_else(|| {
            let transition = self.facts.transition(id);
            Reason {
                span: transition.gate.as_ref().map_or(transition.span, |gate| gate.section.span),
                words: "what it asks for never comes together: its guard, its gate, and who may take it"
                    .to_owned(),
                help: "ask for less, or delete the transition".to_owned(),
            }
        })
    }

    fn guard(&self, id: TransitionId) -> Option<Reason> {
        let written = self.facts.transition(id).when.as_ref()?;
        let guard = self.facts.machine.transition(id).guard?;
        let from = self.facts.machine.transition(id).from;
        let holds = |task: &Task| guard.holds(&self.facts.search.counters.values(task));
        if self.tasks(from).any(holds) {
            return None;
        }
        let values: Vec<String> = self.counters(id).iter().map(|it| self.range(*it, from)).collect();
        let name = self.facts.name(from);
        Some(Reason {
            span: written.clause,
            words: format!("`when: {}` never holds: {} in `{name}`", written.text, values.join(" and ")),
            help: "correct the guard, or delete the transition".to_owned(),
        })
    }

    fn nobody(&self, id: TransitionId) -> Option<Reason> {
        let transition = self.facts.machine.transition(id);
        let by = transition.by;
        if by.allows(Actor::Human) {
            return None;
        }
        let name = self.facts.name(transition.from);
        let agents = [Actor::Worker, Actor::Reviewer].into_iter().filter(|it| by.allows(*it));
        let agents: Vec<Actor> = agents.collect();
        if self.tasks(transition.from).any(|task| agents.iter().any(|it| task.agent(*it) == Agent::Live)) {
            return None;
        }
        let who = agents.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" or the ");
        let words = match (agents.is_empty(), by.allows(Actor::Engine)) {
            (true, true) => format!("only the engine may take it, and no exit rule ever does in `{name}`"),
            (false, true) => {
                format!("only the engine or the {who} may take it, and neither ever does in `{name}`")
            }
            (_, false) => format!("only the {who} may take it, and none is ever alive in `{name}`"),
        };
        let help = "let somebody take it who is there (`by`), or delete the transition".to_owned();
        Some(Reason { span: self.facts.transition(id).span, words, help })
    }

    /// "`tries` is at most 2", over all tasks in a state.
    fn range(&self, counter: CounterId, state: StateId) -> String {
        let search = self.facts.search;
        let values = || self.tasks(state).map(|task| search.value(task, counter));
        let (low, high) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        let name = &self.facts.workflow.counters[usize::from(counter.0)].name;
        match search.counters.ceiling(counter) {
            Some(ceiling) if high == ceiling => format!("`{name}` is at least {low}"),
            _ if low == high => format!("`{name}` is always {low}"),
            _ if low == 0 => format!("`{name}` is at most {high}"),
            _ => format!("`{name}` is {low} to {high}"),
        }
    }

    fn tasks(&self, state: StateId) -> impl Iterator<Item = &Task> {
        let status = |id: &ConfigurationId| self.facts.search.task(*id).status;
        let start = self.sorted.partition_point(|it| status(it) < state);
        let here = self.sorted[start..].iter().take_while(move |it| status(it) == state);
        here.map(|id| self.facts.search.task(*id))
    }

    /// The counters that its guard compares.
    fn counters(&self, id: TransitionId) -> Vec<CounterId> {
        let guard = self.facts.machine.transition(id).guard;
        let ranges = guard.iter().flat_map(|it| it.any_of).copied().flatten();
        let mut counters: Vec<CounterId> = ranges.map(|it| it.counter).collect();
        counters.sort_unstable();
        counters.dedup();
        counters
    }
}
