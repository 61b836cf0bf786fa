//! `orange task cancel`

use crate::Result;
use crate::app::App;
use crate::cmd::answer::one_line;
use crate::cmd::confirm;
use crate::flow;
use crate::flow::names::KnownNames;
use crate::flow::request::transition_result;
use crate::store::{WorkItem, WorkItemDir};
use orange_api::TransitionResult;

/// Cancels a task, after a question if a terminal is there.
pub fn run(app: &App, dir: &WorkItemDir, yes: bool, as_json: bool) -> Result<(TransitionResult, String)> {
    if !yes {
        let (task, _) = WorkItem::read(&app.home, dir)?;
        confirm(app, dir, "Cancel", &task, as_json)?;
    }
    let result = flow::cancel(app, dir)?;
    let text = transition_result::text(&result);
    Ok((result, text))
}

/// Asks whether to do this to the task or mission.
///
/// # Errors
/// `refused` when the answer is no; `usage` without a terminal to ask on.
pub fn confirm(app: &App, dir: &WorkItemDir, what: &str, task: &WorkItem, as_json: bool) -> Result<()> {
    let name = KnownNames::of(app).name(dir);
    let question = format!("{what} {name} ({}: {})?", task.status(), one_line(&task.summary, 60));
    let unasked = format!("{what} {name}? This wants a yes");
    confirm::confirm(&question, unasked, "repeat it with --yes", as_json)
}
