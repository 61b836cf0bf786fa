//! Merges of created tasks into the branch of the one that has created them.

use orange_core::need::NeedKind;

use crate::app::App;
use crate::flow::delegation::{parent_of, permission};
use crate::flow::{merge, need};
use crate::store::{WorkItem, WorkItemDir};
use crate::{ErrorKind, Result};

/// True if the engine is to merge the work of a task into the branch of the one that has created it: nobody but a person is waited for,
/// and no agent works on that branch.
pub fn is_ready(app: &App, dir: &WorkItemDir, task: &WorkItem) -> Result<bool> {
    if task.owned.parent.is_none() || task.pr_url.is_some() || app.is_over(task) {
        return Ok(false);
    }
    let Some(parent) = parent_of(app, task) else { return Ok(false) };
    let is_free = parent.owned.workspace.is_none() && permission(app, &parent).is_none();
    if !is_free || task.owned.base.as_ref() != Some(&parent.branch) {
        return Ok(false);
    }
    let need = need::look(app, dir, None)?;
    Ok(need.is_some_and(|(_, need)| need.kind == NeedKind::ReviewReady))
}

/// Merges the work of a task into the branch of the one that has created it, for the engine. Returns the story; `None` if the work is not
/// ready any more, or its workflow leaves the merge to a person.
///
/// # Errors
/// As [`merge::merge`].
pub fn merge_into_parent(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let (task, _) = WorkItem::read_last(&app.home, dir, 0)?;
    if !is_ready(app, dir, &task)? {
        return Ok(None);
    }
    let wish = merge::MergeWish {
        local: true,
        push: Some(false),
        is_for_parent: true,
        ..merge::MergeWish::default()
    };
    match merge::merge(app, dir, wish) {
        Ok(merged) => Ok(Some(format!("merged {} into {}", merged.branch, merged.into))),
        Err(error) if error.kind == ErrorKind::NotAllowed => Ok(None),
        Err(error) => Err(error),
    }
}
