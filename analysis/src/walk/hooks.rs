//! The hooks of a walk's transitions: they run, fail and wait.

use orange_core::{Decision, Effect, Input};

use super::{Happened, Impossible, Walk};
use crate::search::task::Event;

/// Hooks of a transition that are still to run.
#[derive(Clone, Debug)]
pub(super) struct WaitingTransition<'m> {
    pub(super) decision: Decision<'m>,
    /// Number of its hooks that have run.
    pub(super) done: usize,
}

/// A hook that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    pub hook: &'static str,
    /// Failure or side effect of the hook, if it has one.
    pub event: Option<Event>,
    /// True if it failed because it was made to fail.
    pub has_failed: bool,
    /// True if it has started an agent.
    pub(super) has_started: bool,
}

impl<'m> Walk<'m> {
    pub(super) fn retry(&mut self) -> Result<Vec<Happened>, Impossible> {
        let waiting = self.waiting.take().ok_or_else(|| Impossible("no hooks wait".to_owned()))?;
        let exited = std::mem::take(&mut self.exited);
        let (hooks, story) = self.run_hooks(&waiting.decision, waiting.done);
        let has_started = hooks.iter().any(|it| it.has_started);
        let mut story: Vec<Happened> = std::iter::once(Happened::Started { hooks }).chain(story).collect();
        let exited = if has_started { Vec::new() } else { exited };
        if self.waiting.is_some() {
            self.exited.extend(exited);
            return Ok(story);
        }
        for (agent, reviewer, ended) in exited {
            if self.machine.state(self.status()).agent == agent {
                story.extend(self.judge(agent, reviewer, &ended, true)?);
            }
        }
        Ok(story)
    }

    /// Runs the hooks of a transition that have not run yet, and tells what else happens when one of them fails.
    pub(super) fn run_hooks(
        &mut self,
        decision: &Decision<'m>,
        done: usize,
    ) -> (Vec<HookRun>, Vec<Happened>) {
        let mut ran = Vec::new();
        for (at, effect) in decision.effects.iter().enumerate().skip(done) {
            let name = effect.hook.name();
            match self.failing.iter().position(|it| it == name) {
                Some(wanted) => {
                    self.failing.remove(wanted);
                    self.count(effect);
                    ran.push(HookRun { hook: name, event: None, has_failed: true, has_started: false });
                }
                None => {
                    let it = self.start(effect);
                    let is_stopped = self.task.is_stopped_by(&effect.hook, it.event);
                    ran.push(it);
                    if !is_stopped {
                        continue;
                    }
                }
            }
            let turn = self.view(|view| {
                let (transition, cause) = (Some(decision.transition), decision.cause);
                let (hook, reason) = (&effect.hook, "it fails");
                self.machine.life(
                    &self.facts(view, &self.reviewers()),
                    Input::HookFailed { hook, transition, cause, reason },
                )
            });
            let turn = turn.unwrap_or_default();
            if let Some(next) = turn.decision() {
                self.close(decision);
                return (ran, self.fire(next));
            }
            if !turn.events.is_empty() {
                self.waiting = Some(WaitingTransition { decision: decision.clone(), done: at });
                let hooks = decision.effects[at..].iter().map(|it| it.hook.name()).collect();
                return (ran, vec![Happened::HooksWait { hooks, reason: turn.story }]);
            }
        }
        self.close(decision);
        (ran, Vec::new())
    }

    fn close(&mut self, decision: &Decision<'m>) {
        if let Some((counter, value)) = decision.closing {
            self.set_counter(counter, value);
        }
    }

    /// Sets the counter of a hook, which happens even if the hook fails.
    fn count(&mut self, effect: &Effect<'m>) {
        if let Some((id, value)) = effect.counter {
            self.set_counter(id, value);
        }
    }

    pub(super) fn start(&mut self, effect: &Effect<'m>) -> HookRun {
        self.count(effect);
        let before = self.task;
        let event = self.task.apply_with(&effect.hook, self.reviewers.bit(&effect.hook));
        let has_started = self.task.has_started(&before);
        if has_started {
            self.stood.extend(self.machine.found(self.status(), &self.body, effect.hook.reviewer()));
        }
        HookRun { hook: effect.hook.name(), event, has_failed: false, has_started }
    }
}

/// True if a hook of a transition has started an agent.
pub(super) fn starts(story: &[Happened]) -> bool {
    let has_started = |it: &Happened| {
        let Happened::Transitioned { hooks, .. } = it else { return false };
        hooks.iter().any(|it| it.has_started)
    };
    story.iter().any(has_started)
}

impl HookRun {
    /// Short note on its failure, or on something unexpected.
    pub fn note(&self) -> Option<String> {
        if self.has_failed {
            return Some("it fails".to_owned());
        }
        self.event?.note()
    }
}
