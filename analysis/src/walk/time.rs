//! Time in a walk: it passes only with the end of an agent, or until a timeout or a deadline is over.

use std::collections::BTreeMap;

use orange_core::{AgentEnd, Input, LeftState, StateId};

use super::{Happened, Impossible, Walk, WalkEnd};
use crate::search::task::Agent;

/// The time of a walk, in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct WalkTime {
    now: u32,
    /// Time of the arrival of the task in its state.
    since: u32,
    /// Time at which it last left each other state.
    left: BTreeMap<StateId, u32>,
}

impl WalkTime {
    /// The task goes from a state to another, or to the same again.
    pub(super) fn moves(&mut self, from: StateId, to: StateId) {
        if from != to {
            self.left.insert(from, self.now);
        }
        self.since = self.now;
    }

    /// Time passes until the task has been in its state for so long.
    pub(super) fn pass_until(&mut self, lasted: u32) {
        self.now = self.now.max(self.since.saturating_add(lasted));
    }

    /// The time since the beginning.
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// For how long it has been in its state.
    pub(super) fn lasted(&self) -> u32 {
        self.now - self.since
    }

    /// Durations since the task left other states.
    pub(super) fn left(&self) -> Vec<LeftState> {
        let states =
            self.left.iter().map(|(state, at)| LeftState { state: Some(*state), ago: self.now - at });
        [LeftState { state: None, ago: self.now }].into_iter().chain(states).collect()
    }
}

impl Walk<'_> {
    /// An agent that is alive is ended first, unless a person is only notified. Without a time, the next one of the state is over.
    pub(super) fn elapse(&mut self, after: Option<u32>) -> Result<Vec<Happened>, Impossible> {
        let state = self.machine.state(self.status());
        let Some(next) = self.next_time() else {
            return Err(Impossible(format!("`{}` has no timeout and no deadline", state.name)));
        };
        self.time.pass_until(after.unwrap_or(next));
        let (lasted, left) = (self.time.lasted(), self.time.left());
        let has_agent = self.agent(state.agent) == Agent::Live;
        let input = Input::Elapsed { has_agent, lasted, is_spent: false, left: &left };
        match self.turn(input) {
            Ok(turn) if turn.events.is_empty() && !turn.story.is_empty() => {
                self.end(state.agent, None, &WalkEnd::default())
            }
            Ok(turn) => Ok(self.carry(&turn)),
            Err(refused) => refused.map(|it| vec![it]),
        }
    }

    /// Duration of the task's stay in its state at the end of its next time limit, in seconds. A limit of which a person was already
    /// notified comes last.
    fn next_time(&self) -> Option<u32> {
        let (lasted, left) = (self.time.lasted(), self.time.left());
        let end = AgentEnd { lasted, left: &left, ..AgentEnd::PLAIN };
        let rules = self.machine.exit_rules_of(self.status()).map(|at| &self.machine.exit_rules[at]);
        let times = rules.filter_map(|rule| {
            let remaining = rule.remaining(&end)?;
            Some((remaining == 0 && rule.only_notifies(), remaining))
        });
        times.min().map(|(_, remaining)| lasted.saturating_add(remaining))
    }
}
