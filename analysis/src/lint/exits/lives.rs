//! In which states agents can be alive, and in which their exit rules are asked.

use orange_core::{Actor, StateId};

use crate::lint::Facts;
use crate::search::task::Agent;
use crate::search::{ConfigurationId, EdgeId, SearchStep};

/// By state: the nearest of everything that happens to agents there.
#[derive(Debug)]
pub struct Lives {
    live: Vec<[Option<ConfigurationId>; 2]>,
    ends: Vec<Option<EdgeId>>,
    /// By exit rule of the machine.
    decided: Vec<Option<EdgeId>>,
}

const AGENTS: [Actor; 2] = [Actor::Worker, Actor::Reviewer];

impl Lives {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let states = facts.workflow.states.len();
        let decided = vec![None; facts.machine.exit_rules.len()];
        let mut lives = Self { live: vec![[None; 2]; states], ends: vec![None; states], decided };
        // Where hooks wait, a person has been called, and the hooks that end the agent may be among them.
        for (id, task) in facts.search.configurations().filter(|(_, task)| task.waiting.is_none()) {
            for (at, actor) in AGENTS.into_iter().enumerate() {
                if task.agent(actor) == Agent::Live {
                    lives.live[usize::from(task.status.0)][at].get_or_insert(id);
                }
            }
        }
        for (id, edge) in facts.search.edges() {
            let status = facts.search.task(edge.from).status;
            let own = facts.machine.state(status).agent;
            if matches!(edge.step, SearchStep::Exit { agent, .. } if agent == own) {
                lives.ends[usize::from(status.0)].get_or_insert(id);
            }
            if let Some(rule) = facts.deciding().rule(id) {
                lives.decided[rule].get_or_insert(id);
            }
        }
        lives
    }

    /// Nearest configuration in which an agent is alive in a state while no hooks wait, and that agent.
    pub(super) fn live(&self, state: StateId) -> Option<(ConfigurationId, Actor)> {
        let [worker, reviewer] = self.live[usize::from(state.0)];
        let worker = worker.map(|id| (id, Actor::Worker));
        worker.into_iter().chain(reviewer.map(|id| (id, Actor::Reviewer))).min_by_key(|(id, _)| *id)
    }

    /// The nearest end that the exit rules of a state are asked about.
    pub(super) fn ends(&self, state: StateId) -> Option<EdgeId> {
        self.ends[usize::from(state.0)]
    }

    /// The nearest end that a rule, by its number in the machine, decides about.
    pub(super) fn decided(&self, rule: usize) -> Option<EdgeId> {
        self.decided[rule]
    }
}
