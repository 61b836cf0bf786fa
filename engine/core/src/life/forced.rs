//! Ends of tasks: by a transition of the workflow if it allows one, and otherwise without one, so that no agent and no worktree
//! remains.

use alloc::vec::Vec;

use super::{LifeEvent, LifeFacts, LifeTurn, Refusal};
use crate::{Action, Actor, Hook, Machine, Rejection, StateId};

static KILL_SESSION: Hook<'_> = Hook::new(Action::KillSession);
static RELEASE_WORKSPACE: Hook<'_> = Hook::new(Action::ReleaseWorkspace);

/// An end of a task that a workflow need not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    /// The task is cancelled.
    Cancel,
    /// Its work is merged.
    Merge,
}

impl<'m> Machine<'m> {
    /// A task whose open transition cannot be finished is cancelled without a transition. A finished task that still has a
    /// session or a worktree, because a hook failed, loses these, and the hooks that wait.
    pub(super) fn cancel(
        &self,
        facts: &LifeFacts<'_>,
        by: Actor,
        is_cut_short: bool,
    ) -> Result<LifeTurn<'m>, Refusal> {
        let status = facts.view.status;
        let has_something = facts.workspace.is_some() || facts.has_session || facts.hooks_wait;
        let is_left_over = self.state(status).terminal && has_something;
        if is_left_over && !is_cut_short {
            return Ok(LifeTurn::forced(Forced::Cancel, by, status));
        }
        let to = self.end_of(Forced::Cancel)?;
        if is_cut_short { Ok(LifeTurn::forced(Forced::Cancel, by, to)) } else { self.request(facts, to, by) }
    }

    /// A task that reached the state without a merge stays there. A person can override a refusal unless the task is
    /// finished.
    pub(super) fn merge(
        &self,
        facts: &LifeFacts<'_>,
        by: Actor,
        force: bool,
        is_merged: bool,
    ) -> Result<LifeTurn<'m>, Refusal> {
        let to = self.end_of(Forced::Merge)?;
        match self.request(&facts.merging(), to, by) {
            Err(Refusal::Rejected { rejection: Rejection::NoTransition { .. }, .. })
                if facts.view.status == to && !is_merged =>
            {
                Ok(LifeTurn::default())
            }
            Err(Refusal::Rejected { is_forcible: true, .. }) if force => {
                Ok(LifeTurn::forced(Forced::Merge, by, to))
            }
            answer => answer,
        }
    }

    /// The forge has decided, so no agent or person has to act.
    pub(super) fn pull_request(&self, facts: &LifeFacts<'_>, end: Forced) -> Result<LifeTurn<'m>, Refusal> {
        if self.state(facts.view.status).terminal {
            return Ok(LifeTurn::default());
        }
        let to = self.end_of(end)?;
        // The forge has checked the result.
        let declared = self.request(&facts.merging(), to, Actor::Engine);
        Ok(declared.unwrap_or_else(|_| LifeTurn::forced(end, Actor::Engine, to)))
    }

    /// A person can override a refusal, but not one that concerns the actor, and not for a finished task.
    pub(super) fn rejected(&self, facts: &LifeFacts<'_>, rejection: Rejection) -> Refusal {
        let is_rule = match rejection {
            Rejection::NoTransition { .. }
            | Rejection::GuardFailed { .. }
            | Rejection::GateFailed { .. }
            | Rejection::NotAsked { .. } => true,
            Rejection::NotAllowed { .. } => false,
        };
        Refusal::Rejected { rejection, is_forcible: is_rule && !self.state(facts.view.status).terminal }
    }

    /// The state in which such a task ends.
    pub fn end_of(&self, what: Forced) -> Result<StateId, Refusal> {
        let (to, command) = match what {
            Forced::Cancel => (self.commands.cancel, "cancel"),
            Forced::Merge => (self.commands.merge, "merge"),
        };
        to.ok_or(Refusal::NoState(command))
    }

    /// The hooks of such an end. A merge also runs the cleanup hooks of the declared transitions to its state, each once,
    /// between the end of the agents and the release of the worktree.
    pub fn forced_hooks(&self, what: Forced, to: StateId) -> Vec<&'m Hook<'m>> {
        let declared = self.transitions.iter().filter(|it| what == Forced::Merge && it.to == to);
        let declared = declared.flat_map(|it| it.hooks).filter(|hook| is_cleanup(hook));
        let mut hooks = Vec::from([&KILL_SESSION]);
        for hook in declared.chain([&RELEASE_WORKSPACE]) {
            if !hooks.contains(&hook) {
                hooks.push(hook);
            }
        }
        hooks
    }
}

/// A finished task starts no agent and changes no counter.
fn is_cleanup(hook: &Hook<'_>) -> bool {
    hook.spawn.is_none() && hook.counter.is_none() && !hook.action.acquires()
}

impl<'m> LifeTurn<'m> {
    fn forced(what: Forced, by: Actor, to: StateId) -> LifeTurn<'m> {
        LifeTurn { events: Vec::from([LifeEvent::Forced { what, by, to }]), ..LifeTurn::default() }
    }
}
