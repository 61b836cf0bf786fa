//! `orange task merge` and `orange task create-pr`

use super::cancel::confirm;
use super::doings;
use crate::answer::{Merged, OpenedPullRequest, StatusChange, Success, TransitionResult};
use crate::app::App;
use crate::caller::Caller;
use crate::cmd::args::MergeArgs;
use crate::drive::git::Git;
use crate::flow::lock_recovered;
use crate::flow::merge::{Wish, merge};
use crate::flow::refusal::short;
use crate::flow::snapshot::status_of;
use crate::hooks::pull_request::{self, Opened};
use crate::store::projects::Project;
use crate::store::{Task, TaskDir};
use crate::{Error, Kind, Result};

/// Merges a task's branch and finishes the task.
pub fn run(app: &App, dir: &TaskDir, args: &MergeArgs, as_json: bool) -> Result<(Merged, String)> {
    let MergeArgs { strategy, local, force, yes, .. } = *args;
    if force && !yes && app.caller == Caller::Person {
        confirm_ends(app, dir, as_json)?;
    }
    let merged = merge(app, dir, Wish { strategy, local, force })?;
    let Merged { result, branch, into, strategy, pushed, commit } = &merged;
    let at = commit.as_deref().map(|commit| format!(", {}", short(commit))).unwrap_or_default();
    let then = if *pushed { "; pushed" } else { "" };
    let text = format!("{}\nmerged {branch} into {into} ({strategy}{at}){then}", result.text());
    Ok((merged, text))
}

/// What does not go through a review may still be in the hands of agents, and they are ended.
fn confirm_ends(app: &App, dir: &TaskDir, as_json: bool) -> Result<()> {
    let (task, _) = Task::read(&app.home, dir)?;
    let (agents, _) = doings::of(app, dir, &task, || app.tmux.panes().ok());
    let agents: Vec<_> =
        agents.iter().map(|agent| format!("agent {} ({})", agent.spawn, agent.actor)).collect();
    if agents.is_empty() {
        return Ok(());
    }
    confirm(&format!("End {} and merge", agents.join(" and ")), &task, as_json)
}

/// The answer to a transition. One to where merged tasks go says if the branch is not merged.
pub fn transition_answer(app: &App, dir: &TaskDir, result: TransitionResult) -> (StatusChange, String) {
    let hint = unmerged(app, dir, &result.to);
    let text = [result.text()].into_iter().chain(hint.clone()).collect::<Vec<_>>().join("\n");
    let merged = hint.as_ref().map(|_| false);
    (StatusChange { result, merged, hints: hint.into_iter().collect() }, text)
}

/// What cannot be told is no reason to fail: the transition is made.
fn unmerged(app: &App, dir: &TaskDir, to: &str) -> Option<String> {
    let (task, journal) = Task::read(&app.home, dir).ok()?;
    let machine = app.machine_of(&task.owned).ok()?;
    let is_end = machine.commands.merge.is_some_and(|merge| machine.state(merge).name == to);
    if !is_end || journal.history().is_merged {
        return None;
    }
    let Project { path, default_branch, .. } = app.project_of(&task).ok()?;
    let branch = &task.branch;
    let is_merged = Git::at(&path).is_merged(branch, &default_branch).ok()?;
    (!is_merged).then(|| {
        format!("{branch} is not merged into {default_branch}: `orange task merge {}` merges it", task.id)
    })
}

/// Opens a pull request for a task, or finds the one that is open.
pub fn create_pr(app: &App, dir: &TaskDir) -> Result<(OpenedPullRequest, String)> {
    app.caller.check_person("open a pull request")?;
    let mut open = lock_recovered(app, dir)?;
    let machine = app.machine_of(&open.task().owned)?;
    if machine.state(status_of(machine, open.task())?).terminal {
        return Err(Error::new(Kind::Refused, format!("the task is over: it is {}", open.task().status()))
            .help("create a new task for what is still to be done"));
    }
    let Opened { url, is_new, template } = pull_request::open(app, &mut open)?;
    let mut text = url.clone();
    if !is_new {
        text += "  (it was open already)";
    }
    if let Some(template) = template.as_ref().filter(|template| !template.others.is_empty()) {
        text += &format!("\ntemplate: {}; there is also {}", template.path, template.others.join(", "));
    }
    let template = template.map(|template| template.path);
    Ok((
        OpenedPullRequest { success: Success, id: dir.id.clone(), pr_url: url, created: is_new, template },
        text,
    ))
}
