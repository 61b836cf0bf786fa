//! `orange task restore`: out of the trash, or out of a backup.

use super::named_or_here;
use crate::Result;
use crate::answer::{Restored, Success};
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::TaskName;
use crate::flow::restore::{Restoration, restore};

/// Brings a deleted task back. For any other task, or with the number of a backup, makes a branch of the backup.
pub fn run(app: &App, task: &TaskName, backup: Option<u32>, dry_run: bool) -> Result<Answer> {
    match restore(app, task.name.as_deref(), named_or_here(app, task), backup, dry_run)? {
        Restoration::Task(task) => {
            let path = app.home.task(&task.project, &task.id).task_md().display().to_string();
            let verb = if dry_run { "would be" } else { "is" };
            let text = format!("task {} {verb} back: {} ({})", task.id, task.branch, task.status());
            let status = task.owned.status;
            Answer::of(&Restored::Task { success: Success, id: task.id, status, path, dry_run }, text)
        }
        Restoration::Branch(branch, task, backup) => {
            let (reference, commit) = (backup.reference, backup.commit);
            let verb = if dry_run { "would have" } else { "has" };
            let text = format!("branch {branch} {verb} the work of {reference}: {commit}");
            Answer::of(
                &Restored::Branch { success: Success, id: task.id, branch, reference, commit, dry_run },
                text,
            )
        }
    }
}
