//! Coverage of a plan by walks: its steps, both answers of its conditions, and its loops.

use std::collections::BTreeSet;

use orange_core::mission::{Mission, StepStatus};
use orange_core::plan::{Plan, StepId};

/// A part of a plan that a walk can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanPart {
    /// The step runs.
    Step(StepId),
    /// The condition of the step holds, or the step is skipped.
    Condition {
        step: StepId,
        /// True if it holds.
        holds: bool,
    },
    /// The loop step sends the other one back.
    Loop {
        /// The loop step.
        from: StepId,
        /// A step that it re-queues.
        to: StepId,
    },
}

/// The parts that walks have used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage(BTreeSet<PlanPart>);

impl Coverage {
    /// Every part of a plan: steps, conditions, loops.
    pub fn parts(plan: &Plan<'_>) -> Vec<PlanPart> {
        let steps = plan.step_ids().map(PlanPart::Step);
        let conditional = plan.step_ids().filter(|id| plan.step(*id).condition.is_some());
        let conditions =
            conditional.flat_map(|step| [true, false].map(|holds| PlanPart::Condition { step, holds }));
        let loops = plan
            .step_ids()
            .flat_map(|from| plan.step(from).requeue.iter().map(move |to| PlanPart::Loop { from, to: *to }));
        steps.chain(conditions).chain(loops).collect()
    }

    /// True if a part was used.
    pub fn has(&self, part: PlanPart) -> bool {
        self.0.contains(&part)
    }

    /// Adds what another walk has used.
    pub fn add(&mut self, other: Coverage) {
        self.0.extend(other.0);
    }

    pub(super) fn note(&mut self, plan: &Plan<'_>, before: &Mission, after: &Mission) {
        for id in plan.step_ids() {
            let (old, new) = (before.step(id), after.step(id));
            let runs = new.attempt() > old.attempt();
            let is_skipped = new.status == StepStatus::Skipped && old.status != StepStatus::Skipped;
            if runs {
                self.0.insert(PlanPart::Step(id));
            }
            if plan.step(id).condition.is_some() && (runs || is_skipped) {
                self.0.insert(PlanPart::Condition { step: id, holds: runs });
            }
            if new.completions > old.completions {
                self.0.extend(plan.step(id).requeue.iter().map(|to| PlanPart::Loop { from: id, to: *to }));
            }
        }
    }
}

impl PlanPart {
    /// The part in words.
    pub fn text(self, plan: &Plan<'_>) -> String {
        let name = |id: StepId| plan.step(id).id;
        match self {
            PlanPart::Step(id) => format!("{} runs", name(id)),
            PlanPart::Condition { step, holds } => {
                let condition =
                    plan.step(step).condition.map(|it| plan.condition_text(&it)).unwrap_or_default();
                match holds {
                    true => format!("{} runs after {condition}", name(step)),
                    false => format!("{} is skipped without {condition}", name(step)),
                }
            }
            PlanPart::Loop { from, to } => format!("{} sends {} back", name(from), name(to)),
        }
    }
}
