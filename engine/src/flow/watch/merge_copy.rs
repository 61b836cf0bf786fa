//! Merges what was saved in a worktree's `TASK.md` without any other command.

use std::time::Duration;

use crate::Result;
use crate::app::App;
use crate::store::frontmatter::Document;
use crate::store::{LockedWorkItem, WorkItemDir, WorktreeCopy, work_item};

const PATIENCE: Duration = Duration::from_secs(1);

/// Merges what was saved in the worktree since both copies were equal, and returns whether there was something. Changes in the
/// store's copy wait for the next command.
pub fn merge_copy(app: &App, dir: &WorkItemDir) -> Result<bool> {
    merge_unless(app, dir, |copy, _| !copy.has_changes())
}

/// Merges both copies if they differ in more than the time of the last change, and returns whether they did.
pub fn sync_copy(app: &App, dir: &WorkItemDir) -> Result<bool> {
    merge_unless(app, dir, WorktreeCopy::is_up_to_date)
}

fn merge_unless(
    app: &App,
    dir: &WorkItemDir,
    is_done: impl Fn(&WorktreeCopy, &Document) -> bool,
) -> Result<bool> {
    let history = work_item::read_journal(dir)?.history();
    let Some(workspace) = &history.owned.workspace else { return Ok(false) };
    let Some(copy) = WorktreeCopy::look(dir, &history, &app.home.workspace(workspace))? else {
        return Ok(false);
    };
    if is_done(&copy, &work_item::document(dir, &history)?) {
        return Ok(false);
    }
    drop(LockedWorkItem::lock(&app.home.clone().patient(PATIENCE), dir)?);
    Ok(true)
}
