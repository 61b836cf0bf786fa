//! The transition of a task: the one that was started, its hooks, and the end that led to it.

use std::collections::{BTreeMap, BTreeSet};

use super::Seat;
use crate::event::{Exited, PlannedHook, Transition};

/// Transitions of a task.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct TransitionHistory {
    /// The transition that was started and is not finished.
    pub open: Option<OpenTransition>,
    /// The transition whose hooks wait, because one of them has failed.
    pub waiting_hooks: Option<OpenTransition>,
    /// The agent that has ended, until the record of what follows.
    pub ending: Option<(Seat, Exited)>,
    /// The backups that were made outside of transitions: refs, and folders of repositories.
    pub kept: BTreeSet<String>,
}

/// A transition that was started and is not finished.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OpenTransition {
    /// The number of its `transition.started`.
    pub seq: u64,
    /// The number of the record since which its hooks run: that one, or the last `hooks.retried`.
    pub since: u64,
    /// Decided transition.
    pub plan: Transition,
    /// The hooks that have ended, by index, with their errors; not the one with which others wait.
    pub ended: BTreeMap<usize, Option<String>>,
    /// Reason for the failure of the hook with which others wait.
    pub error: Option<String>,
    /// The index of the hook whose start of an agent waits for a budget.
    #[serde(default)]
    pub held: Option<usize>,
    /// The agents whose ends no exit rule of the new state has judged: the one whose end led to this transition, or to the one in whose
    /// place it came, and those that ended while its hooks waited.
    pub exited: Vec<(Seat, Exited)>,
    /// The backups that its hooks made: refs, and folders of repositories.
    pub kept: BTreeSet<String>,
}

impl TransitionHistory {
    pub(super) fn start(&mut self, seq: u64, plan: &Transition) {
        self.waiting_hooks = None;
        // One that follows a failed hook takes the place of another, which an end may have led to.
        let before = self.open.take().map(|open| open.exited);
        self.open = Some(OpenTransition {
            seq,
            since: seq,
            plan: plan.clone(),
            ended: BTreeMap::new(),
            error: None,
            held: None,
            exited: before.into_iter().flatten().chain(self.ending.take()).collect(),
            kept: BTreeSet::new(),
        });
    }

    pub(super) fn end_hook(&mut self, index: usize, error: Option<&String>, held: bool) {
        if let Some(open) = &mut self.open {
            open.ended.insert(index, error.cloned());
            open.held = held.then_some(index);
        }
    }

    /// The hooks from this one on wait.
    pub(super) fn wait(&mut self, index: usize) {
        self.waiting_hooks = self.open.take().map(|mut open| {
            open.error = open.ended.remove(&index).flatten();
            open
        });
    }

    pub(super) fn retry(&mut self, seq: u64, answers: Option<&String>) {
        self.open = self.waiting_hooks.take();
        if let Some(open) = &mut self.open {
            open.since = seq;
            open.held = None;
            open.plan.answers = answers.cloned();
        }
    }

    /// The task moves without a transition.
    pub(super) fn forget(&mut self) {
        (self.open, self.waiting_hooks) = (None, None);
    }

    pub(super) fn keep(&mut self, backup: &str) {
        self.open.as_mut().map_or(&mut self.kept, |open| &mut open.kept).insert(backup.to_owned());
    }

    /// Notes the end of an agent. While hooks wait, it is judged when they have run, but not if a person has stopped the agent.
    pub(super) fn end_agent(&mut self, ending: (Seat, Exited), is_stopped: bool) {
        match &mut self.waiting_hooks {
            Some(waiting) if !is_stopped => waiting.exited.push(ending),
            Some(_) => {}
            None => self.ending = Some(ending),
        }
    }
}

impl OpenTransition {
    /// True if its hooks have waited, and run again.
    pub fn is_retried(&self) -> bool {
        self.since != self.seq
    }

    /// The hooks that have not ended, in order: those that wait begin with the one that has failed.
    pub fn left(&self) -> impl Iterator<Item = &PlannedHook> {
        self.plan.hooks.iter().filter(|hook| !self.ended.contains_key(&hook.index))
    }
}
