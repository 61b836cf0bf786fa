//! Facts about each state, transition and exit rule of a state machine, from its search.

use orange_codegen::Span;
use orange_codegen::diag::Trace;
use orange_codegen::model::State;
use orange_core::{Actor, CounterId, StateId, TransitionId};

use super::MachineInsight;
use crate::lint::Facts;
use crate::prove::Proof;
use crate::search::task::{Agent, Task};
use crate::search::{Edge, SearchLimits, SearchStep};

/// Facts about a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateInsight {
    pub name: String,
    /// Place of its declaration.
    pub span: Span,
    /// True if a task can come there; absent if none was found and the search was cut.
    pub is_reached: Option<bool>,
    /// A shortest run that leads there.
    pub run: Option<Trace>,
    /// Agents that can be alive there, in any configuration that was found.
    pub agents: Vec<AgentPresence>,
    /// Values that the counters can have there, for each counter that a guard compares and a hook changes.
    pub counters: Vec<CounterRange>,
}

/// An agent that can be alive in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentPresence {
    pub agent: Actor,
    /// True if it is alive in every configuration of the state.
    pub is_always: bool,
}

/// Values that a counter can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRange {
    pub counter: String,
    pub least: u32,
    pub most: u32,
    /// True if it can also be more than `most`, which no guard can tell apart.
    pub or_more: bool,
}

/// Facts about a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionInsight {
    /// Place of its declaration.
    pub span: Span,
    pub from: String,
    pub to: String,
    /// True if some run takes it; absent if none was found and the search was cut.
    pub fires: Option<bool>,
    /// The actors that take it in some run.
    pub by: Vec<String>,
    /// Most times that a run takes it, or one between the same states, before a person is needed; absent if it is in no loop, or if no
    /// counter bounds it.
    pub most: Option<u64>,
}

/// Facts about an exit rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInsight {
    /// Place of its declaration.
    pub span: Span,
    pub state: String,
    /// True if it decides about the end of an agent in some run; absent if no such run was found and the search was cut.
    pub decides: Option<bool>,
}

/// Number of steps after which a search is asked whether somebody has stopped it.
const STOP_EVERY: usize = 4096;

pub(super) fn of(facts: &Facts<'_>, proof: Proof, limits: &SearchLimits<'_>) -> MachineInsight {
    let is_cut = facts.search.cut().is_some();
    let sure = |found: bool| (found || !is_cut).then_some(found);
    let mut states: Vec<StateFacts> = vec![StateFacts::default(); facts.workflow.states.len()];
    for (_, task) in facts.search.configurations() {
        states[usize::from(task.status.0)].add(facts, task);
    }
    let mut takers: Vec<Vec<Actor>> = vec![Vec::new(); facts.transitions.len()];
    let mut decides = vec![false; facts.exit_rules.len()];
    for (number, (_, edge)) in facts.search.edges().enumerate() {
        if number % STOP_EVERY == 0 && limits.is_stopped() {
            break;
        }
        note(facts, edge, &mut takers, &mut decides);
    }
    let names = |actors: &[Actor]| actors.iter().map(|it| facts.machine.actor_name(*it).to_owned()).collect();
    let bounds = &proof.figures.bounds;
    let transitions = facts.transitions.iter().zip(&takers).zip(0..).map(|((it, takers), id)| {
        let bound = bounds.iter().find(|it| it.transition == TransitionId(id));
        TransitionInsight {
            span: it.span,
            from: facts.name(it.from.value).to_owned(),
            to: facts.name(it.to.value).to_owned(),
            fires: sure(!takers.is_empty()),
            by: names(takers),
            most: bound.map(|it| it.most),
        }
    });
    let mut transitions: Vec<(usize, TransitionInsight)> =
        source_order(facts).into_iter().zip(transitions).collect();
    transitions.sort_by_key(|(place, _)| *place);
    let rules = facts.exit_rules.iter().zip(&decides).map(|(rule, decides)| RuleInsight {
        span: rule.span,
        state: facts.name(rule.status.value).to_owned(),
        decides: sure(*decides),
    });
    MachineInsight {
        proof,
        rules: rules.collect(),
        transitions: transitions.into_iter().map(|(_, it)| it).collect(),
        states: facts
            .states()
            .map(|(id, state)| states[usize::from(id.0)].insight(facts, id, state))
            .collect(),
    }
}

/// The transition that a step takes and its actor, and the exit rule that decides in it.
fn note(facts: &Facts<'_>, edge: &Edge, takers: &mut [Vec<Actor>], decides: &mut [bool]) {
    let by = match edge.step {
        SearchStep::Request { by, .. } => Some(by),
        SearchStep::Failure { failed, .. } if failed.exit.is_none() => Some(failed.by),
        SearchStep::Exit { .. } | SearchStep::Failure { .. } => Some(Actor::Engine),
        SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Respawn
        | SearchStep::Retry { .. } => None,
    };
    if let Some((id, by)) = edge.step.begins().zip(by)
        && let Some(takers) = takers.get_mut(id.0 as usize)
        && !takers.contains(&by)
    {
        takers.push(by);
    }
    if !matches!(edge.step, SearchStep::Exit { .. }) {
        return;
    }
    let mut rules = facts.machine.exit_rules_of(facts.search.task(edge.from).status);
    if rules.any(|rule| !decides[rule])
        && let Some(decided) = facts.search.deciding(edge).and_then(|rule| decides.get_mut(rule))
    {
        *decided = true;
    }
}

/// By [`TransitionId`]: index of the transition among those of the workflow.
fn source_order(facts: &Facts<'_>) -> Vec<usize> {
    let all = &facts.workflow.transitions;
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| (all[*at].from.value, all[*at].to.value));
    order
}

/// Facts about the configurations of one state.
#[derive(Clone, Debug, Default)]
struct StateFacts {
    configurations: usize,
    /// Number of configurations in which the worker, and in which a reviewer is alive.
    alive: [usize; 2],
    /// By counter: the least and the largest value.
    values: Vec<(u32, u32)>,
}

const AGENTS: [Actor; 2] = [Actor::Worker, Actor::Reviewer];

impl StateFacts {
    fn add(&mut self, facts: &Facts<'_>, task: &Task) {
        self.configurations += 1;
        for (count, agent) in self.alive.iter_mut().zip(AGENTS) {
            *count += usize::from(task.agent(agent) == Agent::Live);
        }
        let values =
            (0..facts.workflow.counters.len() as u16).map(|id| facts.search.value(task, CounterId(id)));
        if self.values.is_empty() {
            self.values = values.map(|it| (it, it)).collect();
        } else {
            for ((least, most), value) in self.values.iter_mut().zip(values) {
                (*least, *most) = ((*least).min(value), (*most).max(value));
            }
        }
    }

    fn insight(&self, facts: &Facts<'_>, id: StateId, state: &State) -> StateInsight {
        let is_cut = facts.search.cut().is_some();
        let nearest = facts.nearest[usize::from(id.0)];
        let agents = AGENTS.into_iter().zip(self.alive).filter(|(_, count)| *count > 0);
        let values = (0..).map(CounterId).zip(&facts.workflow.counters).zip(&self.values);
        let counters = values.filter_map(|((id, counter), (least, most))| {
            let ceiling = facts.search.counters.ceiling(id)?;
            let or_more = *most == ceiling;
            Some(CounterRange { counter: counter.name.clone(), least: *least, most: *most, or_more })
        });
        StateInsight {
            name: state.name.value.clone(),
            span: state.name.span,
            is_reached: (nearest.is_some() || !is_cut).then_some(nearest.is_some()),
            run: nearest.and_then(|at| facts.whole_run_to(at)),
            agents: agents
                .map(|(agent, count)| AgentPresence { agent, is_always: count == self.configurations })
                .collect(),
            counters: counters.collect(),
        }
    }
}
