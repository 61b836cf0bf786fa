//! Asks the forge about a task's pull request now, as the monitor does from time to time.

use crate::Result;
use crate::app::App;
pub use crate::drive::forge::PrState;
use crate::drive::forge::{Forge, PullRequest};
use crate::flow::pull_request;
use crate::hooks;
use crate::store::{WorkItem, WorkItemDir};

/// Answer of the forge.
#[derive(Debug)]
pub struct RefreshResult {
    pub change: PrChange,
    /// The pull request, if there is one.
    pub pr: Option<PullRequest>,
    /// Effect of the answer, in words.
    pub story: Option<String>,
}

/// Change of a pull request since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrChange {
    /// The branch has none.
    None,
    /// The branch has one that was not known.
    Linked,
    Unchanged,
    Checked,
    /// It was merged.
    Merged,
    /// It was closed.
    Closed,
}

/// Asks about the pull request of a task, or finds the one that somebody has opened for its branch, and does what follows.
///
/// # Errors
/// `environment` without the program of the forge, or when it fails; those of a transition that follows.
pub fn refresh(app: &App, dir: &WorkItemDir) -> Result<RefreshResult> {
    app.caller.check_person("ask about the pull request of a task")?;
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let forge = app.forge_of(&app.project_of(&task)?)?;
    forge.check(app.path())?;
    app.progress.step(&format!("asking {} about {}", forge.name(), task.branch));
    let Some(url) = &task.pr_url else { return find(app, dir, &task, &forge) };
    let pr = forge.view(url)?;
    let story = pull_request::follow(app, dir, &pr)?;
    let change = match (pr.state, &story) {
        (_, None) => PrChange::Unchanged,
        (PrState::Open, Some(_)) => PrChange::Checked,
        (PrState::Merged, Some(_)) => PrChange::Merged,
        (PrState::Closed, Some(_)) => PrChange::Closed,
    };
    Ok(RefreshResult { change, pr: Some(pr), story })
}

fn find(app: &App, dir: &WorkItemDir, task: &WorkItem, forge: &Forge) -> Result<RefreshResult> {
    let Some(pr) = hooks::pull_request::find(app, forge, task)? else {
        return Ok(RefreshResult { change: PrChange::None, pr: None, story: None });
    };
    let story = Some(pull_request::found(app, dir, &pr)?);
    let change = if pr.state == PrState::Merged { PrChange::Merged } else { PrChange::Linked };
    Ok(RefreshResult { change, pr: Some(pr), story })
}
