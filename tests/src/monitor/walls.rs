//! Walls in one run: what an agent without one can have forged.

use super::{DecidingRule, RunMonitor, TaskActor, TransitionCause, respawn_hook, spawns};
use crate::plan::{Applies, Plan, PlannedGate, PlannedHook, PlannedTransition};

/// Forgery by an agent without a wall, as far as one is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Forgery {
    /// There was none.
    None,
    /// There was one: it can write any verdict at any time.
    Possible,
    /// The task has gone by a verdict since.
    Done,
}

impl<'p> RunMonitor<'p> {
    /// Whatever an agent without a wall could write, it has written.
    pub(super) fn forges(&mut self, it: &PlannedTransition, cause: TransitionCause) {
        let of_rule = self.gates_of_rule(it, cause).iter().any(|gate| gate.asks_for_verdict());
        let by_verdict =
            it.gates.iter().any(|gate| gate.asks_for_verdict()) && cause != TransitionCause::Escalated;
        let by_reviewer = cause == TransitionCause::Asked(TaskActor::Reviewer)
            && it.by.contains(&"reviewer")
            && !it.by.contains(&"worker");
        if self.forgery == Forgery::Possible && (by_verdict || of_rule || by_reviewer) {
            self.forgery = Forgery::Done;
        }
        if self.forgery == Forgery::Done && self.plan.states[it.to].terminal {
            self.breach("no-forged-end", "a verdict can be that of an agent without a wall".to_owned());
        }
    }

    /// The gates of the exit rule by which a transition is taken.
    pub(super) fn gates_of_rule(&self, it: &PlannedTransition, cause: TransitionCause) -> &'p [PlannedGate] {
        match (cause, self.decided) {
            (TransitionCause::Ended, Some(DecidingRule::Rule(rule)))
                if self.plan.rules[rule].status == it.from =>
            {
                match &self.plan.rules[rule].applies {
                    Applies::HasArtifact(gates) => gates,
                    Applies::Always | Applies::NoArtifact | Applies::Ended(_) => &[],
                }
            }
            _ => &[],
        }
    }

    /// An agent has started, for which its hook demands a wall or not.
    pub(super) fn has_started(&mut self, is_walled: bool) {
        let plan = self.plan;
        let is_walled =
            is_walled || demands_wall(plan.sandbox) || demands_wall(plan.states[self.status].sandbox);
        if !is_walled && demands_walls(plan) && self.forgery == Forgery::None {
            self.forgery = Forgery::Possible;
        }
    }
}

/// True if a `sandbox` demands a wall: each does but `off`, since its other keys are about the inside of one.
fn demands_wall(sandbox: Option<&str>) -> bool {
    sandbox.is_some_and(|it| it != "off")
}

/// True if a hook demands a wall of the agent of a state that is started again: the one that it is like, or one on a transition there.
pub(super) fn is_again_walled(plan: &Plan, state: usize) -> bool {
    let into = plan.transitions.iter().filter(|it| it.to == state).flat_map(spawns);
    into.chain(respawn_hook(plan, state)).any(is_walled)
}

/// True if a hook itself demands a wall of its agent.
pub(super) fn is_walled(hook: &PlannedHook) -> bool {
    hook.parameters.iter().filter_map(|it| it.strip_prefix("sandbox: ")).any(|it| demands_wall(Some(it)))
}

/// True if a workflow demands a wall somewhere.
fn demands_walls(plan: &Plan) -> bool {
    let mut hooks = plan.transitions.iter().flat_map(|it| &it.hooks);
    let mut states = plan.states.iter().map(|it| it.sandbox);
    hooks.any(is_walled) || states.any(demands_wall) || demands_wall(plan.sandbox)
}
