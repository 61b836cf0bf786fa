//! Reasons why a transition stays closed for as long as a task is among some configurations.

use orange_core::{Actor, CounterId, StateId, TransitionId};

use crate::lint::Facts;
use crate::search::ConfigurationId;
use crate::search::task::{Agent, Task};
use orange_codegen::span::Span;

/// Some configurations, asked what keeps transitions closed in all of them.
pub(super) struct Reasons<'f> {
    facts: &'f Facts<'f>,
    /// Those of one state together.
    sorted: Vec<ConfigurationId>,
}

/// Reason why a transition is closed.
pub(super) struct Reason {
    /// Place in the source that shows it.
    pub span: Span,
    /// In a few words: "`when: tries >= 5` never holds: `tries` is at most 2 in `working`".
    pub words: String,
    pub help: String,
}

impl<'f> Reasons<'f> {
    /// The reasons in these configurations.
    pub(super) fn among(facts: &'f Facts<'f>, mut configurations: Vec<ConfigurationId>) -> Self {
        configurations.sort_by_key(|id| facts.search.task(*id).status);
        Self { facts, sorted: configurations }
    }

    /// Reason why it is taken in none of them.
    pub(super) fn reason(&self, id: TransitionId) -> Reason {
        self.guard(id).or_else(|| self.nobody(id)).unwrap_or_else(|| {
            let transition = self.facts.transition(id);
            Reason {
                span: transition.section_gates().next().map_or(transition.span, |gate| gate.section.span),
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
        let values: Vec<String> = counters(self.facts, id).iter().map(|it| self.range(*it, from)).collect();
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
        if by.allows(Actor::Human) || by.declared().next().is_some() {
            return None;
        }
        let name = self.facts.name(transition.from);
        let agents = [Actor::Worker, Actor::Reviewer].into_iter().filter(|it| by.allows(*it));
        let agents: Vec<Actor> = agents.collect();
        if self.tasks(transition.from).any(|task| agents.iter().any(|it| task.agent(*it) == Agent::Live)) {
            return None;
        }
        let who = agents.iter().map(|it| it.kind()).collect::<Vec<_>>().join(" or the ");
        let words = match agents.is_empty() {
            true => format!("only the engine may take it, and no exit rule ever does in `{name}`"),
            false => {
                format!("only the {who} or the engine may take it, and neither ever does in `{name}`")
            }
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
}

/// The counters that the guard of a transition compares.
pub(super) fn counters(facts: &Facts<'_>, id: TransitionId) -> Vec<CounterId> {
    let guard = facts.machine.transition(id).guard;
    let ranges = guard.iter().flat_map(|it| it.any_of).copied().flatten();
    let mut counters: Vec<CounterId> = ranges.map(|it| it.counter).collect();
    counters.sort_unstable();
    counters.dedup();
    counters
}
