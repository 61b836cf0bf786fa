//! Changes that a task or a mission has made so far.

use crate::Result;
use crate::app::App;
pub use crate::drive::git::{CommitComparison, DiffForm, FileDiff};
use crate::flow::changed;
use crate::flow::watch::interrupted_reclaim;
use crate::store::{WorkItem, WorkItemDir, WorkItemKind};

/// Compares a task's work with the commit at which it left the default branch: its worktree, or without one its branch, or
/// what was merged of it.
///
/// # Errors
/// `refused` without a branch; `environment` when git fails.
pub fn compare(app: &App, dir: &WorkItemDir) -> Result<CommitComparison> {
    if dir.kind == WorkItemKind::Task && interrupted_reclaim::is_unfinished(app, dir)? {
        // A part of its work is in a backup only.
        interrupted_reclaim::finish(app, dir)?;
    }
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    changed::compare(app, &task, &journal.history())
}
