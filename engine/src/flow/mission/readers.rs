//! Readers of a mission's worktree: the state in which they find it, and the changes at their ends.

use orange_core::plan::{StepId, WorktreeUse};

use super::LockedMission;
use crate::Result;
use crate::app::App;
use crate::drive::git::{Git, TrackedState};
use crate::hooks::workspace;
use crate::store::event::WorktreeState;
use crate::store::{Event, WorkItem};

/// State of the worktree at the start of a step that only reads; `None` of another one.
///
/// # Errors
/// `environment` when git cannot tell.
pub(super) fn found(app: &App, mission: &mut LockedMission, step: StepId) -> Result<Option<WorktreeState>> {
    if mission.projection.plan.step(step).worktree != WorktreeUse::Read {
        return Ok(None);
    }
    // Somebody may have removed its folder.
    workspace::acquire(app, &mut mission.locked)?;
    let TrackedState { head, index, files } = state(app, mission.locked.task())?;
    Ok(Some(WorktreeState { head, index, files }))
}

/// Pauses the mission if the worktree is not as this attempt has found it, or git cannot tell. Nothing else writes there while readers
/// work.
///
/// # Errors
/// Those of the store.
pub(super) fn look(app: &App, mission: &mut LockedMission, step: &str, attempt: u32) -> Result<()> {
    let Some(before) = last_seen(mission, step, attempt) else { return Ok(()) };
    match changed(app, mission.locked.task(), &before) {
        Ok(None) => Ok(()),
        Ok(Some(changed)) => mission.record(changed, Vec::new()).map(drop),
        // The end counts all the same: its agent may be gone.
        Err(error) => mission.obstruct(&error.one_line(), Vec::new()),
    }
}

/// The event of a worktree that is not as it was before.
fn changed(app: &App, task: &WorkItem, before: &TrackedState) -> Result<Option<Event>> {
    let after = state(app, task)?;
    if after == *before {
        return Ok(None);
    }
    let changed = Git::at(&app.project_of(task)?.path).tracked_changes(before, &after)?;
    let TrackedState { head, index, files } = after;
    Ok(Some(Event::WorktreeChanged {
        files: changed.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
        found: WorktreeState { head, index, files },
    }))
}

fn state(app: &App, task: &WorkItem) -> Result<TrackedState> {
    let worktree = app.home.workspace(task.owned.workspace.as_deref().unwrap_or_default());
    Git::at(&app.project_of(task)?.path).tracked_state(&worktree)
}

/// State in which the attempt has found the worktree, or in which a person was shown it since; `None` of an attempt that writes.
fn last_seen(mission: &LockedMission, step: &str, attempt: u32) -> Option<TrackedState> {
    let records = &mission.locked.history().mission.records;
    let start = mission.locked.history().mission.start_of(step, attempt)?;
    let Event::StepStarted { found: Some(found), .. } = &start.event else { return None };
    let since = records.iter().rev().take_while(|record| record.seq > start.seq);
    let mut shown = since.filter_map(|record| {
        let Event::WorktreeChanged { found, .. } = &record.event else { return None };
        Some(found)
    });
    let WorktreeState { head, index, files } = shown.next().unwrap_or(found).clone();
    Some(TrackedState { head, index, files })
}
