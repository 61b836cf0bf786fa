//! Facts about a state that the tables hold and the workflow only implies: who works there, how it starts again, whether it waits.

use orange_core as core;
use orange_core::wall::Demand;
use orange_core::{Action, Actor, Permissions, PromptId, Role, StateId};

use super::settings_of;
use crate::model::{Condition, Hook, Outcome, Spawn, Workflow};

/// Looked up once, so that no state searches the whole workflow.
pub(super) struct LoweringFacts<'w> {
    workflow: &'w Workflow,
    /// By state: the hooks that start an agent on the transitions into it, in source order.
    spawns_into: Vec<Vec<Starter<'w>>>,
    /// By prompt: the first hook that starts an agent with it.
    first_with: Vec<Option<Starter<'w>>>,
    /// By state: whether an exit rule leads on from it.
    advanced: Vec<bool>,
}

/// A hook that starts an agent.
#[derive(Clone, Copy)]
struct Starter<'w> {
    action: Action,
    spawn: &'w Spawn,
}

impl<'w> LoweringFacts<'w> {
    pub(super) fn of(workflow: &'w Workflow) -> Self {
        let mut facts = Self {
            workflow,
            spawns_into: vec![Vec::new(); workflow.states.len()],
            first_with: vec![None; workflow.prompts.len()],
            advanced: vec![false; workflow.states.len()],
        };
        for transition in &workflow.transitions {
            for starter in transition.hooks.iter().filter_map(starter) {
                facts.spawns_into[usize::from(transition.to.value.0)].push(starter);
                facts.first_with[usize::from(starter.spawn.prompt.value.0)].get_or_insert(starter);
            }
        }
        for rule in &workflow.exit_monitoring.rules {
            let leads_on = match rule.outcome {
                Outcome::Then(_) | Outcome::ThenWhen(_) => true,
                Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => false,
            };
            let is_deadline = matches!(rule.condition, Condition::Overdue(_) | Condition::Spent);
            facts.advanced[usize::from(rule.status.value.0)] |= leads_on && !is_deadline;
        }
        facts
    }

    /// True if a person is waited for: no exit rule takes a transition out, but a deadline may end the wait. The author's mark is a
    /// claim and decides nothing.
    pub(super) fn waits_for_human(&self, id: StateId) -> bool {
        let state = &self.workflow.states[usize::from(id.0)];
        !state.terminal && !self.advanced[usize::from(id.0)]
    }

    /// The hook that starts the state's agent again. Harness, permissions and window are those of the agent that is
    /// being replaced, as far as the workflow tells which one that was.
    pub(super) fn respawn(&self, id: StateId) -> Option<core::Hook<'w>> {
        let state = &self.workflow.states[usize::from(id.0)];
        let prompt = state.respawn_prompt?.value;
        let into = &self.spawns_into[usize::from(id.0)];
        let model = into
            .iter()
            .find(|starter| starter.spawn.prompt.value == prompt)
            .or(self.first_with[usize::from(prompt.0)].as_ref())
            .or(into.first());
        let hook = again(self.workflow, prompt, model, id);
        // Whichever agent it replaces, its confinement is not weaker.
        let of_others = into.iter().map(|it| self.workflow.demand(id, Some(it.spawn)));
        let sandbox = of_others.fold(hook.spawn?.sandbox, Demand::and);
        Some(core::Hook { spawn: Some(core::Spawn { sandbox, ..hook.spawn? }), ..hook })
    }

    /// The actor whose death the exit rules of the state are about.
    pub(super) fn agent(&self, id: StateId) -> Actor {
        let into = &self.spawns_into[usize::from(id.0)];
        let reviews = match self.respawn(id).as_ref().and_then(core::Hook::spawn) {
            Some(spawn) => spawn.actor() == Actor::Reviewer,
            None => into.iter().any(|starter| starter.spawn.role == Role::Reviewer),
        };
        if reviews { Actor::Reviewer } else { Actor::Worker }
    }
}

fn starter(hook: &Hook) -> Option<Starter<'_>> {
    hook.spawn.as_ref().map(|spawn| Starter { action: hook.action, spawn })
}

/// It counts nothing up: a second start is not a second round.
fn again<'w>(
    workflow: &'w Workflow,
    prompt: PromptId,
    model: Option<&Starter<'w>>,
    id: StateId,
) -> core::Hook<'w> {
    let spawn = match model {
        Some(starter) => core::Spawn { prompt, ..super::spawn(workflow, starter.spawn, id) },
        None => {
            let usual = core::Spawn::new(prompt, Role::Worker, Permissions::Full);
            let sandbox = workflow.demand(id, None);
            core::Spawn { sandbox, ..super::set(usual, &[settings_of(workflow, id)]) }
        }
    };
    let action = model.filter(|it| it.action.starts_beside()).map_or(Action::SpawnAgent, |it| it.action);
    core::Hook::spawning(action, spawn)
}
