//! The pull request of a task at its merge.

use crate::app::App;
use crate::drive::forge::{Forge, PrState, PullRequest};
use crate::hooks;
use crate::store::{LockedWorkItem, WorkItem};
use crate::{Error, ErrorKind, Result};

/// The task's pull request, if it is merged; an open or closed one is an error.
pub(super) fn pull_request(app: &App, locked: &mut LockedWorkItem) -> Result<Option<PullRequest>> {
    let forge = app.forge_of(&app.project_of(locked.task())?)?;
    let pr = ask(app, locked, &forge).map_err(|error| {
        let help = format!("{}; or merge here with --local", error.help);
        error.help(help)
    })?;
    merged_one(&forge, pr)
}

pub(super) fn asked_if_merged(app: &App, task: &WorkItem) -> Result<Option<PullRequest>> {
    let forge = app.forge_of(&app.project_of(task)?)?;
    merged_one(&forge, asked_without_a_note(app, task, &forge)?)
}

fn merged_one(forge: &Forge, pr: Option<PullRequest>) -> Result<Option<PullRequest>> {
    let Some(pr) = pr else { return Ok(None) };
    let url = &pr.url;
    match pr.state {
        PrState::Merged => Ok(Some(pr)),
        PrState::Open => {
            Err(Error::new(ErrorKind::Refused, format!("the task's pull request is open: {url}")).help(
                format!(
                    "merge it on {} (`{}`), then repeat this; or merge here with --local",
                    forge.name(),
                    forge.merge_command(url)
                ),
            ))
        }
        PrState::Closed => Err(Error::new(
            ErrorKind::Refused,
            format!("the task's pull request was closed and not merged: {url}"),
        )
        .help("reopen it, merge here with --local, or `orange task cancel` the task")),
    }
}

/// The forge's answer about the task's pull request, or about the one of its branch, which then becomes the task's.
fn ask(app: &App, locked: &mut LockedWorkItem, forge: &Forge) -> Result<Option<PullRequest>> {
    let found = asked_without_a_note(app, locked.task(), forge)?;
    if let Some(pr) = found.as_ref().filter(|_| locked.task().pr_url.is_none()) {
        hooks::pull_request::keep(locked, &pr.url)?;
    }
    Ok(found)
}

fn asked_without_a_note(app: &App, task: &WorkItem, forge: &Forge) -> Result<Option<PullRequest>> {
    if let Some(url) = &task.pr_url {
        app.progress.step(&format!("asking {} about {url}", forge.name()));
        return forge.view(url).map(Some);
    }
    app.progress.step(&format!("asking {} about {}", forge.name(), task.branch));
    hooks::pull_request::find(app, forge, task)
}
