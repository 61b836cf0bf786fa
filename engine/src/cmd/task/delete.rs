//! `orange task delete`

use super::cancel::confirm;
use crate::Result;
use crate::answer::{Deleted, Success};
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::flow::delete;
use crate::store::{Task, TaskDir};

/// Deletes a task, after a question if a terminal is there.
pub fn run(app: &App, dir: &TaskDir, yes: bool, dry_run: bool, as_json: bool) -> Result<Answer> {
    if dry_run {
        let path = delete::would_delete(app, dir)?.path.display().to_string();
        let id = dir.id.clone();
        let text = format!("task {id} would be in {path}");
        return Answer::of(&Deleted { success: Success, id, path, dry_run }, text);
    }
    if !yes {
        let (task, _) = Task::read(&app.home, dir)?;
        confirm("Delete", &task, as_json)?;
    }
    let path = delete::delete(app, dir)?.path.display().to_string();
    let id = dir.id.clone();
    let text = format!("task {id} is in {path}; `orange task restore {id}` brings it back");
    Answer::of(&Deleted { success: Success, id, path, dry_run }, text)
}
