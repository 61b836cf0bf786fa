//! `orange task delete`, `orange mission delete`

use super::cancel::confirm;
use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::flow::delete;
use crate::store::{WorkItem, WorkItemDir};
use orange_api::{Deleted, Success};

/// Deletes a task or a mission, after a question if a terminal is there.
pub fn run(app: &App, dir: &WorkItemDir, yes: bool, dry_run: bool, as_json: bool) -> Result<CommandAnswer> {
    if dry_run {
        let path = delete::would_delete(app, dir)?.path.display().to_string();
        let text = format!("{} would be in {path}", dir.shown());
        return CommandAnswer::of(&Deleted { success: Success, id: dir.id.clone(), path, dry_run }, text);
    }
    if !yes {
        let (task, _) = WorkItem::read_last(&app.home, dir, 0)?;
        confirm(app, dir, "Delete", &task, as_json)?;
    }
    let path = delete::delete(app, dir)?.path.display().to_string();
    let text = format!("{} is in {path}; {} brings it back", dir.shown(), dir.command("restore"));
    CommandAnswer::of(&Deleted { success: Success, id: dir.id.clone(), path, dry_run }, text)
}
