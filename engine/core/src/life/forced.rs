//! How tasks end: by the workflow's transition where one is open, and else without one, so that no agent and no worktree
//! is left behind.

use alloc::vec::Vec;

use super::{Facts, LifeEvent, Refusal, Turn};
use crate::{Action, Actor, Hook, Machine, Rejection, StateId};

static KILL_SESSION: Hook<'_> = Hook::new(Action::KillSession);
static RELEASE_WORKSPACE: Hook<'_> = Hook::new(Action::ReleaseWorkspace);

/// A transition that no workflow has to declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    /// The task is given up.
    Cancel,
    /// Its work is part of the default branch.
    Merge,
}

impl<'m> Machine<'m> {
    /// One that cannot go on, since a transition that was begun cannot be finished, is cancelled without one. One that is
    /// over and still has a session or a worktree, because a hook has failed, is rid of these.
    pub(super) fn cancel(
        &self,
        facts: &Facts<'_>,
        by: Actor,
        is_cut_short: bool,
    ) -> Result<Turn<'m>, Refusal> {
        let status = facts.view.status;
        let is_left_over = self.state(status).terminal && (facts.has_worktree || facts.has_session);
        if is_left_over && !is_cut_short {
            return Ok(Turn::forced(Forced::Cancel, by, status));
        }
        let to = self.end_of(Forced::Cancel)?;
        if is_cut_short { Ok(Turn::forced(Forced::Cancel, by, to)) } else { self.request(facts, to, by) }
    }

    /// One that went there without a merge stays there. A person can force what the workflow refuses, as long as the task is
    /// not over (design §9).
    pub(super) fn merge(
        &self,
        facts: &Facts<'_>,
        by: Actor,
        force: bool,
        is_merged: bool,
    ) -> Result<Turn<'m>, Refusal> {
        let to = self.end_of(Forced::Merge)?;
        match self.request(facts, to, by) {
            Err(Refusal::Rejected { rejection: Rejection::NoTransition { .. }, .. })
                if facts.view.status == to && !is_merged =>
            {
                Ok(Turn::default())
            }
            Err(Refusal::Rejected { is_forcible: true, .. }) if force => {
                Ok(Turn::forced(Forced::Merge, by, to))
            }
            answer => answer,
        }
    }

    /// What an agent or a person would still have to do, GitHub has decided.
    pub(super) fn pull_request(&self, facts: &Facts<'_>, end: Forced) -> Result<Turn<'m>, Refusal> {
        if self.state(facts.view.status).terminal {
            return Ok(Turn::default());
        }
        let to = self.end_of(end)?;
        let declared = self.request(facts, to, Actor::Engine);
        Ok(declared.unwrap_or_else(|_| Turn::forced(end, Actor::Engine, to)))
    }

    /// Whether a person can have all the same what the workflow refuses: never what is another actor's, and nothing of a task
    /// that is over.
    pub(super) fn rejected(&self, facts: &Facts<'_>, rejection: Rejection) -> Refusal {
        let is_rule = match rejection {
            Rejection::NoTransition { .. } | Rejection::GuardFailed { .. } | Rejection::GateFailed { .. } => {
                true
            }
            Rejection::NotAllowed { .. } => false,
        };
        Refusal::Rejected { rejection, is_forcible: is_rule && !self.state(facts.view.status).terminal }
    }

    /// The state in which tasks end so.
    ///
    /// # Errors
    /// The workflow has none.
    pub fn end_of(&self, what: Forced) -> Result<StateId, Refusal> {
        let (to, command) = match what {
            Forced::Cancel => (self.commands.cancel, "cancel"),
            Forced::Merge => (self.commands.merge, "merge"),
        };
        to.ok_or(Refusal::NoState(command))
    }

    /// The hooks of such a transition. A merge has those of the transitions that are declared to its state, each once,
    /// between the end of the agents and that of the worktree.
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

/// A task that is over starts no agent and counts nothing.
fn is_cleanup(hook: &Hook<'_>) -> bool {
    hook.spawn.is_none() && hook.counter.is_none() && !hook.action.acquires()
}

impl<'m> Turn<'m> {
    fn forced(what: Forced, by: Actor, to: StateId) -> Turn<'m> {
        Turn { events: Vec::from([LifeEvent::Forced { what, by, to }]), ..Turn::default() }
    }
}
