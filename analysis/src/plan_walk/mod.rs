//! One mission that is taken through a plan act by act, as the engine would. The core decides what follows.

pub mod command;
mod coverage;
mod names;

pub use coverage::{Coverage, PlanPart};
pub use names::{PAUSES, REFUSALS, pause_name, refusal_name};

use orange_core::mission::{Effect, Event, Mission, Refusal, StepStatus};
use orange_core::plan::{Inputs, Plan, Policy, StepId};

use crate::missions::{self, MissionAct};

/// A mission that acts take through a plan.
#[derive(Clone, Debug)]
pub struct PlanWalk<'p> {
    pub plan: &'p Plan<'p>,
    pub mission: Mission,
    /// Parts of the plan that the acts so far have used.
    pub coverage: Coverage,
}

/// Result of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActResult {
    /// The steps whose status is another one now, with the one before, in source order.
    pub changed: Vec<(StepId, StepStatus)>,
    /// Effects that the engine carries out.
    pub effects: Vec<Effect>,
}

impl<'p> PlanWalk<'p> {
    /// A mission that has begun, with the defaults of inputs, and the first value of those that have none.
    pub fn new(plan: &'p Plan<'p>, policy: Policy) -> Self {
        Self::with_inputs(plan, policy, Inputs::new())
    }

    /// A mission that has begun with these inputs; others have their defaults, or the first value.
    pub fn with_inputs(plan: &'p Plan<'p>, policy: Policy, inputs: Inputs) -> Self {
        let mission = Mission::with_inputs(plan, policy, missions::start_with(plan, inputs));
        let mut walk = Self { plan, mission, coverage: Coverage::default() };
        // A mission that waits for its slot begins when it has one.
        _ = walk.apply(Event::Begin);
        walk
    }

    /// Lets something happen: to this attempt, or to the current one of the step.
    pub fn act(&mut self, act: &MissionAct, attempt: Option<u32>) -> Result<ActResult, Refusal> {
        let mut event = act.event(&self.mission);
        if let (
            Some(number),
            Event::Complete { attempt, .. }
            | Event::Fail { attempt, .. }
            | Event::Lose { attempt, .. }
            | Event::Answer { attempt, .. }
            | Event::Expire { attempt, .. },
        ) = (attempt, &mut event)
        {
            *attempt = number;
        }
        self.apply(event)
    }

    fn apply(&mut self, event: Event) -> Result<ActResult, Refusal> {
        let before = self.mission.clone();
        let mut effects = self.mission.apply(self.plan, event)?;
        self.coverage.note(self.plan, &before, &self.mission);
        // The engine merges branches, puts questions and starts agents at once.
        while let Some((step, attempt)) = self.mission.next_landing() {
            effects.extend(self.mission.apply(self.plan, Event::Landed { step, attempt })?);
        }
        while let Some((step, attempt)) = self.mission.next_ask(self.plan) {
            if !effects.contains(&Effect::Ask { step, attempt }) {
                effects.push(Effect::Ask { step, attempt });
            }
            self.mission.apply(self.plan, Event::Ask { step, attempt, commit: None })?;
        }
        while let Some((step, attempt)) = self.mission.next(self.plan) {
            if !effects.contains(&Effect::Start { step, attempt }) {
                effects.push(Effect::Start { step, attempt });
            }
            self.mission.apply(self.plan, Event::Start { step, attempt })?;
        }
        let status = |mission: &Mission, id: StepId| mission.step(id).status;
        let changed = self.plan.step_ids().map(|id| (id, status(&before, id)));
        let changed = changed.filter(|(id, before)| status(&self.mission, *id) != *before).collect();
        Ok(ActResult { changed, effects })
    }
}
