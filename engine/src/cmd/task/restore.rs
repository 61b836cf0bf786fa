//! `orange task restore`, `orange mission restore`: out of the trash, or out of a backup.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::flow::restore::{Restoration, restore};
use crate::store::{WorkItemDir, WorkItemKind};
use orange_api::{Restored, Success};

/// Brings a deleted task or mission back. For any other one, or with the number of a backup, makes a branch of the backup. `found`
/// is the one that has the name and is not deleted.
pub fn run(
    app: &App,
    kind: WorkItemKind,
    name: Option<&str>,
    found: Result<WorkItemDir>,
    backup: Option<u32>,
    dry_run: bool,
) -> Result<CommandAnswer> {
    match restore(app, kind, name, found, backup, dry_run)? {
        Restoration::Task(task) => {
            let dir = app.home.dir(kind, &task.project, &task.id);
            let path = dir.task_md().display().to_string();
            let verb = if dry_run { "would be" } else { "is" };
            let text = format!("{} {verb} back: {} ({})", dir.shown(), task.branch, task.status());
            let status = task.owned.status;
            CommandAnswer::of(&Restored::Task { success: Success, id: task.id, status, path, dry_run }, text)
        }
        Restoration::Branch(branch, task, backup) => {
            let (reference, commit) = (backup.reference, backup.commit);
            let verb = if dry_run { "would have" } else { "has" };
            let text = format!("branch {branch} {verb} the work of {reference}: {commit}");
            CommandAnswer::of(
                &Restored::Branch { success: Success, id: task.id, branch, reference, commit, dry_run },
                text,
            )
        }
    }
}
