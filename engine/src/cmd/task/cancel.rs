//! `orange task cancel`

use crate::app::App;
use crate::cmd::answer::one_line;
use crate::cmd::confirm;
use crate::flow::names::KnownNames;
use crate::flow::request::transition_result;
use crate::flow::{self, delegation};
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, Result};
use orange_api::TransitionResult;
use orange_core::queue::Standing;

/// Cancels a task, after a question if a terminal is there, and then the unfinished tasks that its agents have created.
pub fn run(
    app: &App,
    dir: &WorkItemDir,
    yes: bool,
    with_children: bool,
    as_json: bool,
) -> Result<(TransitionResult, String)> {
    let created = if with_children { below(app, dir)? } else { Vec::new() };
    if !yes {
        let (task, _) = WorkItem::read(&app.home, dir)?;
        let what = match created.len() {
            0 => "Cancel".to_owned(),
            1 => "Cancel (with a task that it has created)".to_owned(),
            several => format!("Cancel (with {several} tasks that it has created)"),
        };
        confirm(app, dir, &what, &task, as_json)?;
    }
    let mut result = flow::cancel(app, dir)?;
    let text = transition_result::text(&result);
    // Those may have got others meanwhile; the task itself creates none any more.
    for child in if with_children { below(app, dir)? } else { Vec::new() } {
        flow::cancel(app, &app.home.task(&child.project, &child.id))
            .map_err(|error| not_cancelled(error, &child))?;
        result.also_cancelled.push(child.branch);
    }
    let also = result.also_cancelled.iter().map(|branch| format!("\nalso cancelled: {branch}"));
    let text = also.fold(text, |text, line| text + &line);
    Ok((result, text))
}

fn not_cancelled(error: Error, child: &WorkItem) -> Error {
    let message = format!("the task is cancelled, and {} is not: {}", child.branch, error.message);
    Error::new(error.kind, message).help(error.help.clone())
}

/// The branches of these tasks.
pub fn branches(tasks: &[WorkItem]) -> Vec<String> {
    tasks.iter().map(|task| task.branch.clone()).collect()
}

/// The unfinished tasks below a task.
pub fn below(app: &App, dir: &WorkItemDir) -> Result<Vec<WorkItem>> {
    let (task, _) = WorkItem::read_last(&app.home, dir, 0)?;
    let open = delegation::below(app, &task)?.into_iter().filter(|child| child.standing == Standing::Open);
    Ok(open.map(|child| child.task).collect())
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
