//! Starts of tasks, and restarts of their agents.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{LifeFacts, LifeTurn, Refusal};
use crate::{
    Action, Actor, Effect, Hook, Machine, Program, REVIEW_ROUND, Rejection, StateId, View, Workspace,
};

impl<'m> Machine<'m> {
    /// A task in the initial state goes to the state where work begins, or, without a summary, to the state that asks for
    /// one. A task in a later state without what its agent works in (it was created there, or got none before) gets that now, and
    /// the agent of its state.
    pub(super) fn spawn(&self, facts: &LifeFacts<'_>, by: Actor) -> Result<LifeTurn<'m>, Refusal> {
        let status = facts.view.status;
        if status == self.initial {
            let to = self.start(facts.has_summary).ok_or(Refusal::NoState("spawn"))?;
            return self.request(facts, to, by);
        }
        let hook = self.late_start(status, facts.workspace).ok_or(Refusal::Started)?;
        let acquire = Effect { hook: Hook::new(Action::AcquireWorkspace), counter: None };
        let needs_it = workspace_of(hook) == Workspace::Worktree;
        // The first review is round 1, as if a transition had led to it.
        let is_first = is_review(hook) && facts.view.counter(REVIEW_ROUND) == 0;
        let mut starts = self.missing_reviewers(facts, None);
        if starts.is_empty() {
            starts.push(Effect { hook: *hook, counter: None });
        }
        // All reviewers of a round have its number.
        starts.iter_mut().for_each(|it| it.counter = is_first.then_some((REVIEW_ROUND, 1)));
        let effects = needs_it.then_some(acquire).into_iter().chain(starts).collect();
        Ok(LifeTurn { effects, ..LifeTurn::default() })
    }

    /// State to which a task in the initial state goes when it is started.
    pub fn start(&self, has_summary: bool) -> Option<StateId> {
        let questions = self.commands.clarify.filter(|_| !has_summary);
        questions.or(self.commands.spawn)
    }

    /// Place of work of the agent that a task in this state gets when it is started.
    pub fn starts_in(&self, status: StateId, has_summary: bool) -> Workspace {
        let to = if status == self.initial { self.start(has_summary) } else { Some(status) };
        to.map_or(Workspace::Worktree, |to| self.workspace(to))
    }

    /// True if a task that holds this still has to get its workspace and an agent.
    pub fn is_to_start(&self, status: StateId, held: Option<Workspace>) -> bool {
        status == self.initial || self.late_start(status, held).is_some()
    }

    fn late_start(&self, status: StateId, held: Option<Workspace>) -> Option<&'m Hook<'m>> {
        let lacks = |hook: &&Hook<'_>| match (workspace_of(hook), held) {
            (_, None) | (Workspace::Worktree, Some(Workspace::Folder)) => true,
            (Workspace::Worktree | Workspace::Folder, Some(_)) => false,
        };
        self.state(status).respawn.as_ref().filter(|_| status != self.initial).filter(lacks)
    }

    /// True if the start of a task can set the review round without a transition that counts it.
    pub(crate) fn starts_review(&self) -> bool {
        self.states.iter().filter_map(|state| state.respawn.as_ref()).any(is_review)
    }

    pub(super) fn respawn(&self, facts: &LifeFacts<'_>, is_alive: bool) -> Result<LifeTurn<'m>, Refusal> {
        match self.state(facts.view.status).respawn {
            Some(_) => self.start_again(facts, is_alive),
            None => Err(Refusal::NoRespawnPrompt),
        }
    }

    /// The task stays in its state.
    pub(super) fn start_again(&self, facts: &LifeFacts<'_>, is_alive: bool) -> Result<LifeTurn<'m>, Refusal> {
        let effects = self.again(facts, None)?;
        let has_names = !self.reviewers(facts.view.status).is_empty();
        if effects.is_empty() || is_alive && !has_names {
            return Err(Refusal::Alive);
        }
        Ok(LifeTurn { effects, ..LifeTurn::default() })
    }

    /// The start of the state's agent; in a state of reviewers with names, of those that are missing when `but` has ended.
    pub(super) fn again(&self, facts: &LifeFacts<'_>, but: Option<&str>) -> Result<Vec<Effect<'m>>, Refusal> {
        let state = self.state(facts.view.status);
        let restart = || self.restart(facts.view.status, facts.last);
        let hook = state.respawn.or_else(|| restart().map(|it| Hook::spawning(Action::SpawnAgent, it)));
        let hook = hook.filter(|_| !state.terminal).ok_or(Refusal::NoAgent)?;
        let wanted = workspace_of(&hook);
        if !wanted.is_ready(facts.workspace) {
            return Err(Refusal::NoWorkspace(wanted));
        }
        if self.reviewers(facts.view.status).is_empty() {
            return Ok(Vec::from([Effect { hook, counter: None }]));
        }
        Ok(self.missing_reviewers(facts, but))
    }
}

fn is_review(hook: &Hook<'_>) -> bool {
    hook.spawn().is_some_and(|spawn| spawn.actor() == Actor::Reviewer)
}

/// Place of work of the agent that a hook starts.
pub(super) fn workspace_of(hook: &Hook<'_>) -> Workspace {
    hook.spawn().map_or(Workspace::Worktree, |spawn| spawn.workspace)
}

impl Refusal {
    /// The reason, in one sentence.
    pub fn message(&self, machine: &Machine<'_>, view: &View<'_>) -> String {
        let state = machine.state(view.status);
        match self {
            Refusal::Rejected { rejection, .. } => rejection.message(machine, view),
            Refusal::NoState(command) => {
                format!("the workflow {} has no status for `{command}`", machine.name)
            }
            Refusal::Started => format!("the task was started before: it is {}", state.name),
            Refusal::NoRespawnPrompt => {
                format!("nothing can be respawned in {}: it has no respawn_prompt", state.name)
            }
            Refusal::HooksWait => {
                format!("hooks of the transition to {} wait, because one of them has failed", state.name)
            }
            Refusal::NoAgent => format!("no agent works in {}", state.name),
            Refusal::NoWorkspace(Workspace::Worktree) => "the task has no worktree".into(),
            Refusal::NoWorkspace(Workspace::Folder) => {
                format!("the agent of {} works without a worktree, and the task holds one", state.name)
            }
            Refusal::Alive => format!("the {} is alive", state.agent.kind()),
        }
    }

    /// The program that has to answer first, if that is all that is missing.
    pub fn program<'m>(&self, machine: &Machine<'m>) -> Option<&'m Program<'m>> {
        self.rejection()?.program(machine)
    }

    /// The rejection, if the workflow refuses.
    pub fn rejection(&self) -> Option<Rejection> {
        match self {
            Refusal::Rejected { rejection, .. } => Some(*rejection),
            Refusal::NoState(_)
            | Refusal::Started
            | Refusal::NoRespawnPrompt
            | Refusal::HooksWait
            | Refusal::NoAgent
            | Refusal::NoWorkspace(_)
            | Refusal::Alive => None,
        }
    }
}
