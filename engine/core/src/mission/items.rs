//! Items: the jobs of a fan-out, or the only one of a step with its own worktree, each with attempts of its own.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Attempt, AttemptEnd, Mission, Report, StepFailure, StepState, StepStatus};
use crate::plan::StepId;

/// State of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ItemState {
    /// Element of the list; empty of a step that is not a fan-out.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub text: String,
    /// Status of the item.
    pub status: ItemStatus,
    /// The number of its current attempt among those of the step.
    pub attempt: u32,
    /// The ends without a word in a row.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub lost: u16,
    /// Number of times in a row that its worker was lost.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub abandoned: u16,
    /// Reason for its failure; `Some` exactly while it is failed.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub failure: Option<StepFailure>,
}

/// Status of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum ItemStatus {
    /// It may start.
    Queued,
    /// A worker has taken it, and its agent has not started.
    Assigned,
    /// Its agent runs.
    Running,
    /// Its report is accepted, and its branch waits until it can be merged.
    Landing,
    /// Its branch is being merged.
    Merging,
    /// Its current attempt has completed, and has landed if it has a branch.
    Completed,
    /// It has failed.
    Failed,
    /// The mission was cancelled before it ended.
    Cancelled,
}

/// An item as a view shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemView<'m> {
    /// Element of the list; empty of a step that is not a fan-out.
    pub text: &'m str,
    /// Status of the item.
    pub status: ItemStatus,
    /// The number of its current attempt among those of the step.
    pub attempt: u32,
    /// Report of its current attempt, which counts once the item has completed.
    pub report: Option<&'m Report>,
    /// Reason for its failure.
    pub failure: Option<&'m StepFailure>,
}

impl Mission {
    /// Text of the item of an attempt; `None` of a step that is not a fan-out, and of an item of an older list.
    pub fn item(&self, step: StepId, attempt: u32) -> Option<&str> {
        let state = self.step(step);
        state.attempts.get((attempt as usize).checked_sub(1)?)?.item?;
        state.items.get(state.item_of(attempt)?).map(|it| it.text.as_str())
    }

    /// The items of a step; those of its latest completion where it has been sent back since, and none before its list is read.
    pub fn items(&self, step: StepId) -> impl Iterator<Item = ItemView<'_>> {
        let state = self.step(step);
        let items = if state.items.is_empty() { &state.latest_items } else { &state.items };
        items.iter().map(|it| state.view(it))
    }
}

impl StepState {
    /// An item with the report of its current attempt.
    pub(super) fn view<'m>(&'m self, item: &'m ItemState) -> ItemView<'m> {
        let ItemState { text, status, attempt, failure, lost: _, abandoned: _ } = item;
        let end = self.attempts.get((*attempt as usize).wrapping_sub(1)).and_then(|it| it.end.as_ref());
        let report = end.and_then(AttemptEnd::report);
        ItemView { text, status: *status, attempt: *attempt, report, failure: failure.as_ref() }
    }

    /// Reports of the completed ones of these items, which are its own.
    pub(super) fn reports<'m>(&'m self, items: &'m [ItemState]) -> impl Iterator<Item = &'m Report> {
        let completed = items.iter().filter(|it| it.status == ItemStatus::Completed);
        completed.filter_map(|it| self.view(it).report)
    }

    /// True if it, or its handler, has a report that conditions read.
    pub fn has_report(&self) -> bool {
        self.latest_reports().next().is_some()
    }

    /// The reports over which the tests of its items range: those of the completed items, or the only one of its handler.
    pub(super) fn latest_reports(&self) -> impl Iterator<Item = &Report> {
        self.reports(&self.latest_items).chain(self.latest.as_ref())
    }

    /// The number of the current attempt of the job to which an attempt belongs.
    pub(super) fn current_of(&self, attempt: u32) -> u32 {
        let known = self.attempts.get((attempt as usize).wrapping_sub(1));
        let item = known.and_then(|it| self.items.get(usize::from(it.item?)));
        item.map_or(self.attempt(), |it| it.attempt)
    }

    /// Status of the job whose current attempt this is, if it is open; an open ask is none.
    pub(super) fn job(&self, attempt: u32) -> Option<ItemStatus> {
        self.open_jobs().into_iter().find(|(number, _)| *number == attempt).map(|(_, status)| status)
    }

    /// The current attempts of its open jobs.
    pub(super) fn open_jobs(&self) -> Vec<(u32, ItemStatus)> {
        if !self.items.is_empty() {
            let open = self.items.iter().filter(|it| it.status.is_open());
            return open.map(|it| (it.attempt, it.status)).collect();
        }
        let status = match self.status {
            StepStatus::Queued => ItemStatus::Queued,
            StepStatus::Assigned => ItemStatus::Assigned,
            StepStatus::Running => ItemStatus::Running,
            StepStatus::Blocked
            | StepStatus::Asked
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Cancelled => return Vec::new(),
        };
        vec![(self.attempt(), status)]
    }

    /// Lets the job of an attempt have another status, while it is open.
    pub(super) fn set_job(&mut self, attempt: u32, status: ItemStatus) {
        if let Some(item) = self.item_of(attempt) {
            self.items[item].status = status;
            return self.show_items();
        }
        self.status = match status {
            ItemStatus::Assigned => StepStatus::Assigned,
            ItemStatus::Queued => StepStatus::Queued,
            ItemStatus::Running
            | ItemStatus::Landing
            | ItemStatus::Merging
            | ItemStatus::Completed
            | ItemStatus::Failed
            | ItemStatus::Cancelled => StepStatus::Running,
        };
    }

    /// Place of the item whose current attempt this is.
    pub(super) fn item_of(&self, attempt: u32) -> Option<usize> {
        self.items.iter().position(|it| it.attempt == attempt)
    }

    /// Number of its completions, without those of its handler.
    pub(super) fn own_rounds(&self) -> u32 {
        let has_items = |it: &Attempt| it.item.is_some() || it.landing.is_some();
        if self.rounds > 0 || !self.items.is_empty() || self.attempts.iter().any(has_items) {
            return self.rounds;
        }
        self.attempts.iter().filter(|it| it.end.as_ref().and_then(AttemptEnd::report).is_some()).count()
            as u32
    }
}

impl AttemptEnd {
    /// Report of a completion.
    pub fn report(&self) -> Option<&Report> {
        match self {
            AttemptEnd::Completed(report) => Some(report),
            AttemptEnd::Failed { .. }
            | AttemptEnd::Rejected { .. }
            | AttemptEnd::Lost
            | AttemptEnd::Abandoned
            | AttemptEnd::Withdrawn => None,
        }
    }
}

impl ItemStatus {
    /// Every status.
    pub const ALL: [ItemStatus; 8] = [
        ItemStatus::Queued,
        ItemStatus::Assigned,
        ItemStatus::Running,
        ItemStatus::Landing,
        ItemStatus::Merging,
        ItemStatus::Completed,
        ItemStatus::Failed,
        ItemStatus::Cancelled,
    ];

    /// Its word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            ItemStatus::Queued => "queued",
            ItemStatus::Assigned => "assigned",
            ItemStatus::Running => "running",
            ItemStatus::Landing => "landing",
            ItemStatus::Merging => "merging",
            ItemStatus::Completed => "completed",
            ItemStatus::Failed => "failed",
            ItemStatus::Cancelled => "cancelled",
        }
    }

    /// True if an agent or a program is assigned to it or works on it.
    pub fn is_working(self) -> bool {
        matches!(self, ItemStatus::Assigned | ItemStatus::Running)
    }

    /// True if it has not ended.
    pub fn is_open(self) -> bool {
        match self {
            ItemStatus::Queued
            | ItemStatus::Assigned
            | ItemStatus::Running
            | ItemStatus::Landing
            | ItemStatus::Merging => true,
            ItemStatus::Completed | ItemStatus::Failed | ItemStatus::Cancelled => false,
        }
    }

    /// True if its current attempt has not ended.
    pub(super) fn awaits_report(self) -> bool {
        self == ItemStatus::Queued || self.is_working()
    }
}
