//! A bound of the attempts of a mission that follows from its plan alone, without a search.

use orange_core::plan::{Plan, StepId};

use crate::missions::sent_back_by;

/// The most attempts of a mission and of its steps, beside those that persons ask for. Attempts whose crab was lost are not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanBound {
    /// By step: the most attempts, restarted agents included.
    pub by_step: Vec<u64>,
    /// The cap of the plan.
    cap: Option<u32>,
}

impl PlanBound {
    /// The bound of a plan: a step runs once, and once more for each round of the loops that can send it back.
    pub fn of(plan: &Plan<'_>) -> Self {
        let mut rounds = vec![1_u64; plan.steps.len()];
        for id in plan.step_ids().filter(|id| plan.step(*id).is_loop()) {
            for sent_back in sent_back_by(plan, id).iter() {
                rounds[sent_back.index()] += u64::from(plan.step(id).max_retries);
            }
        }
        let attempts = |id: StepId| {
            if plan.step(id).is_ask() {
                return 0;
            }
            let stands_for = plan.step(id).handles.unwrap_or(id);
            let each = u64::from(plan.step(id).stuck_after.max(1)).saturating_mul(plan.most_items(id) as u64);
            rounds[stands_for.index()].saturating_mul(each)
        };
        Self { by_step: plan.step_ids().map(attempts).collect(), cap: plan.max_attempts }
    }

    /// The most attempts of a mission.
    pub fn attempts(&self) -> u64 {
        self.cap.map_or(u64::MAX, u64::from).min(self.without_cap())
    }

    /// The sum over the steps.
    pub(super) fn without_cap(&self) -> u64 {
        self.by_step.iter().fold(0, |sum, it| sum.saturating_add(*it))
    }

    /// The bound in a sentence.
    pub(super) fn words(&self) -> String {
        let by_cap = self.cap.filter(|it| u64::from(*it) < self.without_cap());
        let why = if by_cap.is_some() { "`max_attempts`" } else { "`max_retries` and `stuck_after`" };
        format!("{why} allow at most {} attempts beside those that persons ask for", self.attempts())
    }
}
