//! `orange task delete`

use serde_json::json;

use super::cancel::confirm;
use crate::Result;
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::flow::delete;
use crate::store::{Task, TaskDir};

/// Deletes a task, after asking where somebody can be asked.
pub fn run(app: &App, dir: &TaskDir, yes: bool, as_json: bool) -> Result<Answer> {
    if !yes {
        let (task, _) = Task::read(&app.home, dir)?;
        confirm("Delete", &task, as_json)?;
    }
    let there = delete::delete(app, dir)?;
    let text = format!(
        "task {} is in {}; `orange task restore {}` brings it back",
        dir.id,
        there.path.display(),
        dir.id
    );
    Ok(Answer::new(json!({ "success": true, "id": dir.id, "path": there.path }), text))
}
