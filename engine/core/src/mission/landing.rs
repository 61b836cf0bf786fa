//! Landings: the branch of an attempt in its own worktree is merged into that of the mission.

use alloc::string::String;

use super::room::Job;
use super::{ItemStatus, Mission};
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
    pub fn next_landing(&self, _plan: &Plan<'_>) -> Option<(StepId, u32)> {
        let merging = self.landings().find(|it| it.status == ItemStatus::Merging)?;
        Some((merging.step, merging.attempt))
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
