//! Steps that can still run: they decide whether a step whose condition does not hold waits or is skipped.

use super::cascade::DependencyState;
use super::{Mission, StepStatus};
use crate::plan::{Plan, StepId, StepSet};

impl Mission {
    /// True if this blocked step can still run.
    ///
    /// Loop steps downstream of it do not count: they wait for it.
    pub(super) fn can_still_run(&self, plan: &Plan<'_>, id: StepId) -> bool {
        let waiting = plan.downstream(&StepSet::of(plan, &[id]));
        let mut found = StepSet::none(plan);
        while self.grow(plan, &waiting, &mut found) {}
        found.has(id)
    }

    /// Adds every step that can run because of those already found. `false` when there is none.
    fn grow(&self, plan: &Plan<'_>, waiting: &StepSet, found: &mut StepSet) -> bool {
        let before = found.clone();
        for id in plan.order.iter().copied() {
            if self.may_run(plan, id, found) {
                found.add(id);
            }
            if !found.has(id) {
                continue;
            }
            if let Some(handler) = plan.step(id).on_fail {
                found.add(handler);
            }
            let step = plan.step(id);
            let is_exhausted = self.step(id).is_exhausted;
            if step.is_loop() && !is_exhausted && !waiting.has(id) && self.has_rounds_left(plan, id) {
                self.reset_by(plan, id).iter().for_each(|it| found.add(it));
            }
        }
        *found != before
    }

    /// True if a step runs, or may be queued as it stands, or once those found have run.
    fn may_run(&self, plan: &Plan<'_>, id: StepId, found: &StepSet) -> bool {
        let (state, step) = (self.step(id), plan.step(id));
        match state.status {
            StepStatus::Queued | StepStatus::Assigned | StepStatus::Running | StepStatus::Asked => true,
            StepStatus::Failed => self.is_asked_about(id) || self.awaits_handler(plan, id),
            StepStatus::Blocked => {
                plan.step(id).handles.is_none()
                    && !step
                        .depends_on
                        .iter()
                        .any(|it| matches!(self.dependency(plan, *it), DependencyState::Failed))
                    && self.may_hold(plan, step.condition, found)
                    && self.may_have_list(plan, id, found)
            }
            StepStatus::Completed | StepStatus::Skipped | StepStatus::Cancelled => false,
        }
    }
}
