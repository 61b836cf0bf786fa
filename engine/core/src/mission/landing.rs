//! Landings: the branch of an attempt in its own worktree is merged into that of the mission.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::room::Job;
use super::{Effect, ItemStatus, Mission, MissionStatus, Refusal, StepFailure};
use crate::plan::{Plan, StepId, WorktreeUse};

/// End of the landing of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum LandingEnd {
    /// It is merged.
    Landed,
    /// It did not merge.
    Conflict {
        /// Description of the conflict.
        reason: String,
    },
    /// The step went back, or the mission ended, before it was merged. The branch stays.
    Withdrawn,
}

impl Mission {
    /// The attempt whose branch is to be merged now.
    pub fn next_landing(&self) -> Option<(StepId, u32)> {
        let merging = self.landings().find(|it| it.status == ItemStatus::Merging)?;
        Some((merging.step, merging.attempt))
    }

    /// Begins the landing that comes first, once nothing reads or writes in the worktree.
    pub(super) fn begin_landing(&mut self, plan: &Plan<'_>) -> Option<Effect> {
        if self.status != MissionStatus::Running || !self.is_worktree_free(plan) {
            return None;
        }
        let Job { step, attempt, .. } = self.lands_first(plan)?;
        self.step_mut(step).set_job(attempt, ItemStatus::Merging);
        Some(Effect::Land { step, attempt })
    }

    /// Takes the end of a landing: the item has completed, or failed where its branch did not merge.
    pub(super) fn end_landing(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
        end: LandingEnd,
    ) -> Result<Vec<Effect>, Refusal> {
        let state = self.known_work(plan, step)?;
        let place = (attempt as usize).wrapping_sub(1);
        if state.attempts.get(place).is_some_and(|it| it.landing.as_ref() == Some(&end)) {
            return Ok(vec![Effect::Repeated]);
        }
        self.is_open()?;
        state.is_current(attempt)?;
        let item = state.item_of(attempt).filter(|it| state.items[*it].status == ItemStatus::Merging);
        let item = item.ok_or(Refusal::NotLanding)?;
        let failure = match &end {
            LandingEnd::Conflict { reason } => Some(StepFailure::Reported(reason.clone())),
            LandingEnd::Landed | LandingEnd::Withdrawn => None,
        };
        let state = self.step_mut(step);
        state.items[item].end(failure);
        if let Some(attempt) = state.attempts.get_mut(place) {
            attempt.landing = Some(end);
        }
        Ok(self.item_ended(plan, step))
    }

    /// The landing that comes first: that of the first open job with its own worktree, once its report is accepted.
    pub(super) fn lands_first(&self, plan: &Plan<'_>) -> Option<Job> {
        let first = self.jobs().find(|it| plan.step(it.step).worktree == WorktreeUse::Own)?;
        Some(first).filter(|it| matches!(it.status, ItemStatus::Landing | ItemStatus::Merging))
    }

    /// The jobs whose reports are accepted and whose branches are not merged.
    pub(super) fn landings(&self) -> impl Iterator<Item = Job> {
        self.jobs().filter(|it| matches!(it.status, ItemStatus::Landing | ItemStatus::Merging))
    }
}
