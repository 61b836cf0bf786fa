//! Consequences of a failed hook of a transition, and the life of a task whose hooks wait.

use alloc::format;
use alloc::vec::Vec;

use super::ended::given_up;
use super::{Input, LifeEvent, LifeFacts, LifeTurn, Refusal};
use crate::{Actor, Cause, Decision, Hook, Machine, OnFailure, TransitionId};

impl<'m> Machine<'m> {
    /// Nothing follows where the other hooks run all the same. Else the task goes to the state that its transition names, if
    /// it names one and the transition there is open; the other hooks are dropped then.
    pub(super) fn hook_failed(
        &self,
        facts: &LifeFacts<'_>,
        hook: &Hook<'_>,
        transition: Option<TransitionId>,
        reason: &str,
    ) -> LifeTurn<'m> {
        if hook.on_failure == OnFailure::GoOn {
            return LifeTurn::default();
        }
        let to = transition.and_then(|id| self.transition(id).on_hook_failure);
        let Some(to) = to else { return self.hooks_wait(hook, reason, None) };
        match self.decide(&facts.view, to, Actor::Engine) {
            Ok(decision) => {
                let decision = Decision { cause: Cause::HookFailed, ..decision };
                self.advanced(decision, format!("{}: {reason}", hook.name()))
            }
            Err(rejection) => self.hooks_wait(hook, reason, Some(&rejection.message(self, &facts.view))),
        }
    }

    /// Consequence of a failed hook where the task does not go to the state that its transition names for that, since it is blocked
    /// for this reason, or where the transition names none.
    pub fn hooks_wait(&self, hook: &Hook<'_>, reason: &str, is_blocked: Option<&str>) -> LifeTurn<'m> {
        let blocked = is_blocked.map(|why| format!(" (the task cannot go on: {why})")).unwrap_or_default();
        let story = format!(
            "{}: {reason}; the hooks wait{blocked}: mend this, then run `orange task update --retry-hooks`",
            hook.name()
        );
        let attention = LifeEvent::Attention(story.clone());
        LifeTurn::of(Vec::from([LifeEvent::HooksWait, attention]), story)
    }

    /// True if an actor may have the waiting hooks of this transition run again: a person, and one that may take it. One that no
    /// workflow declares was a person's or the engine's.
    pub fn may_retry(&self, transition: Option<TransitionId>, by: Actor) -> bool {
        match transition {
            Some(id) => by == Actor::Human || self.transition(id).by.allows(by),
            None => matches!(by, Actor::Human | Actor::Engine),
        }
    }

    /// The answer to an input that is not what it would be without hooks that wait. The task leaves its state only when it ends,
    /// no agent is started, and no exit rule judges the end of one.
    pub(super) fn while_hooks_wait(
        &self,
        facts: &LifeFacts<'_>,
        input: &Input<'_>,
    ) -> Option<Result<LifeTurn<'m>, Refusal>> {
        let state = self.state(facts.view.status);
        match input {
            Input::Request { to, .. } if self.commands.cancel == Some(*to) => None,
            Input::Request { .. }
            | Input::Spawn { .. }
            | Input::Respawn { .. }
            | Input::Restart { .. }
            | Input::Merge { .. } => Some(Err(Refusal::HooksWait)),
            Input::Ended { agent, end } if !state.terminal => {
                let story =
                    format!("the {} ended in {}{} while hooks wait", agent.kind(), state.name, end.how());
                Some(Ok(LifeTurn::attention(story)))
            }
            Input::JudgedAgain { .. } | Input::Elapsed { .. } | Input::Watched { .. } => {
                Some(Ok(LifeTurn::default()))
            }
            Input::NotStarted { reason, .. } => {
                Some(Ok(given_up(Vec::new(), format!("could not be started again: {reason}"))))
            }
            Input::Ended { .. }
            | Input::LimitMet { .. }
            | Input::HookFailed { .. }
            | Input::Cancel { .. }
            | Input::PullRequest { .. } => None,
        }
    }
}
