//! One mission that is taken through a plan act by act, as the engine would. The core decides what follows.

pub mod command;
mod coverage;
mod names;

pub use coverage::{Coverage, PlanPart};
pub use names::{PAUSES, REFUSALS, pause_name, refusal_name};

use orange_core::mission::{Effect, Event, Mission, Refusal, StepStatus};
use orange_core::plan::{Inputs, Plan, Policy, StepId};

use crate::missions::{self, Conflicts, MissionAct};

/// A mission that acts take through a plan.
#[derive(Clone, Debug)]
pub struct PlanWalk<'p> {
    pub plan: &'p Plan<'p>,
    pub mission: Mission,
    /// Parts of the plan that the acts so far have used.
    pub coverage: Coverage,
    conflicts: Conflicts,
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
        let mut walk = Self { plan, mission, coverage: Coverage::default(), conflicts: Conflicts::default() };
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
        let before = self.conflicts.clone();
        self.conflicts.note(act, &event);
        let result = self.apply(event);
        if result.is_err() {
            self.conflicts = before;
        }
        result
    }

    fn apply(&mut self, event: Event) -> Result<ActResult, Refusal> {
        let before = self.mission.clone();
        let mut effects = self.mission.apply(self.plan, event)?;
        self.coverage.note(self.plan, &before, &self.mission);
        self.conflicts.drive(self.plan, &mut self.mission, &mut effects)?;
        let status = |mission: &Mission, id: StepId| mission.step(id).status;
        let changed = self.plan.step_ids().map(|id| (id, status(&before, id)));
        let changed = changed.filter(|(id, before)| status(&self.mission, *id) != *before).collect();
        Ok(ActResult { changed, effects })
    }
}
