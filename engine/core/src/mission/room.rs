//! Use of the worktree: the jobs that work there, and those that fit beside them.

use alloc::vec::Vec;

use super::{ItemStatus, Mission, MissionStatus, StepStatus};
use crate::plan::{Plan, StepId, WorktreeUse};

/// An open job of a step for an agent or a program: its only one, or one of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub step: StepId,
    pub attempt: u32,
    pub status: ItemStatus,
}

/// Use of the worktree by a job, or by a person to whom it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoomUse {
    /// Nothing else works there meanwhile.
    Writes,
    /// It works beside others that read.
    Reads,
    /// It works elsewhere.
    None,
}

/// Room in the worktree, and for agents and programs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    writer: Option<StepId>,
    reader: Option<StepId>,
    /// The first step with a job at work.
    first: Option<StepId>,
    /// Number of jobs at work.
    working: usize,
}

impl Mission {
    /// The attempts that are assigned or run, in source order, items in the order of their list.
    pub fn working(&self) -> impl Iterator<Item = (StepId, u32)> {
        self.jobs().filter(|it| it.status.is_working()).map(|it| (it.step, it.attempt))
    }

    /// The first step with an attempt that is assigned or runs.
    pub fn busy(&self) -> Option<StepId> {
        self.working().next().map(|(step, _)| step)
    }

    /// The step to start or to ask now, with the number of its attempt: the first one of [`Mission::startable`].
    pub fn next(&self, plan: &Plan<'_>) -> Option<(StepId, u32)> {
        self.startable(plan).next()
    }

    /// The attempts that may start now together: each fits beside those that work and those before it here. One that does not fit
    /// lets none that needs the worktree pass.
    pub fn startable(&self, plan: &Plan<'_>) -> impl Iterator<Item = (StepId, u32)> {
        self.fitting(plan, true).into_iter()
    }

    /// The attempts of which any one may be given to a worker now: each fits beside those that work, though perhaps not beside another one
    /// of these.
    pub fn offerable(&self, plan: &Plan<'_>) -> impl Iterator<Item = (StepId, u32)> {
        self.fitting(plan, false).into_iter()
    }

    /// The queued attempts that fit, in source order, beside one another or each alone.
    fn fitting(&self, plan: &Plan<'_>, together: bool) -> Vec<(StepId, u32)> {
        if self.status != MissionStatus::Running {
            return Vec::new();
        }
        let mut room = self.room(plan);
        let mut has_to_wait = self.lands_first(plan).is_some();
        let mut found = Vec::new();
        for Job { step, attempt, .. } in self.jobs().filter(|it| it.status == ItemStatus::Queued) {
            let needs_worktree = plan.step(step).needs_worktree();
            has_to_wait |= room.in_place_of(plan, step).is_some();
            if has_to_wait && needs_worktree {
                continue;
            }
            found.push((step, attempt));
            if together {
                room.take(plan, step, ItemStatus::Assigned);
            }
        }
        found
    }

    /// The open jobs of all steps, in source order, items in the order of their list. A queued ask is one, too.
    pub(super) fn jobs(&self) -> impl Iterator<Item = Job> {
        (0..).map(StepId).zip(&self.steps).flat_map(|(step, state)| {
            state.open_jobs().into_iter().map(move |(attempt, status)| Job { step, attempt, status })
        })
    }

    /// The step that works in the worktree, or shows it to a person, so that a queued job of this one may not start.
    pub(super) fn in_its_place(&self, plan: &Plan<'_>, step: StepId) -> Option<StepId> {
        self.room(plan).in_place_of(plan, step)
    }

    /// True if nothing reads or writes in the worktree.
    pub(super) fn is_worktree_free(&self, plan: &Plan<'_>) -> bool {
        let Room { writer, reader, .. } = self.room(plan);
        writer.is_none() && reader.is_none()
    }

    fn room(&self, plan: &Plan<'_>) -> Room {
        let mut room = Room::default();
        for job in self.jobs() {
            room.take(plan, job.step, job.status);
        }
        let shown = self.with(|it| it.status == StepStatus::Asked).find(|it| plan.step(*it).needs_worktree());
        room.reader = room.reader.or(shown);
        room
    }
}

impl Room {
    /// Counts a job of a step, which has this status.
    fn take(&mut self, plan: &Plan<'_>, step: StepId, status: ItemStatus) {
        match usage(plan, step, status) {
            RoomUse::Writes => self.writer = self.writer.or(Some(step)),
            RoomUse::Reads => self.reader = self.reader.or(Some(step)),
            RoomUse::None => {}
        }
        if status.is_working() && !plan.step(step).is_ask() {
            self.first = self.first.or(Some(step));
            self.working += 1;
        }
    }

    /// The step because of which a job of this one may not start.
    fn in_place_of(&self, plan: &Plan<'_>, step: StepId) -> Option<StepId> {
        let in_worktree = match usage(plan, step, ItemStatus::Assigned) {
            RoomUse::Writes => self.writer.or(self.reader),
            RoomUse::Reads => self.writer,
            RoomUse::None => None,
        };
        let has_slot = plan.step(step).is_ask() || self.working < usize::from(plan.parallel.max(1));
        in_worktree.or_else(|| self.first.filter(|_| !has_slot))
    }
}

/// Use of the worktree by a job of a step in this status. One with its own worktree reads until that is made.
fn usage(plan: &Plan<'_>, step: StepId, status: ItemStatus) -> RoomUse {
    let rule = plan.step(step);
    match (status, rule.worktree) {
        (ItemStatus::Merging, _) => RoomUse::Writes,
        (ItemStatus::Assigned, _) if rule.is_ask() && !rule.needs_worktree() => RoomUse::None,
        (ItemStatus::Assigned, _) if rule.is_ask() => RoomUse::Reads,
        (ItemStatus::Assigned | ItemStatus::Running, WorktreeUse::Write) => RoomUse::Writes,
        (ItemStatus::Assigned | ItemStatus::Running, WorktreeUse::Read)
        | (ItemStatus::Assigned, WorktreeUse::Own) => RoomUse::Reads,
        (ItemStatus::Running, WorktreeUse::Own)
        | (
            ItemStatus::Queued
            | ItemStatus::Landing
            | ItemStatus::Completed
            | ItemStatus::Failed
            | ItemStatus::Cancelled,
            _,
        ) => RoomUse::None,
    }
}
