//! `orange task merge` and `orange task create-pr`

use serde_json::json;

use super::cancel::confirm;
use super::doings;
use crate::app::App;
use crate::caller::Caller;
use crate::cmd::answer::Answer;
use crate::cmd::args::MergeArgs;
use crate::drive::git::Git;
use crate::flow::merge::{Merged, Wish, merge};
use crate::flow::refusal::short;
use crate::flow::snapshot::status_of;
use crate::flow::{TransitionResult, lock_recovered};
use crate::hooks::pull_request;
use crate::store::projects::Project;
use crate::store::{Task, TaskDir};
use crate::{Error, Kind, Result};

/// Merges a task's branch and finishes the task.
pub fn run(app: &App, dir: &TaskDir, args: &MergeArgs, as_json: bool) -> Result<Answer> {
    let MergeArgs { strategy, local, force, yes, .. } = *args;
    if force && !yes && app.caller == Caller::Person {
        confirm_ends(app, dir, as_json)?;
    }
    let Merged { result, branch, into, strategy, pushed, commit } =
        merge(app, dir, Wish { strategy, local, force })?;
    let at = commit.as_deref().map(|commit| format!(", {}", short(commit))).unwrap_or_default();
    let then = if pushed { "; pushed" } else { "" };
    let text = format!("{}\nmerged {branch} into {into} ({strategy}{at}){then}", result.text());
    let mut json = result.json();
    json["branch"] = branch.into();
    json["into"] = into.into();
    json["strategy"] = strategy.into();
    json["pushed"] = pushed.into();
    json["commit"] = commit.into();
    Ok(Answer::new(json, text))
}

/// What does not go through a review may still be in the hands of agents, and they are ended.
fn confirm_ends(app: &App, dir: &TaskDir, as_json: bool) -> Result<()> {
    let (task, _) = Task::read(&app.home, dir)?;
    let agents = doings::of(app, dir, &task, || app.tmux.panes().ok());
    let agents: Vec<_> =
        agents.iter().map(|agent| format!("agent {} ({})", agent.spawn, agent.actor)).collect();
    if agents.is_empty() {
        return Ok(());
    }
    confirm(&format!("End {} and merge", agents.join(" and ")), &task, as_json)
}

/// The answer to a transition. One to where merged tasks go says if the branch is not merged.
pub fn transition_answer(app: &App, dir: &TaskDir, result: &TransitionResult) -> Answer {
    let mut answer = Answer::new(result.json(), result.text());
    if let Some(hint) = unmerged(app, dir, &result.to) {
        answer.text += &format!("\n{hint}");
        answer.json["merged"] = false.into();
        answer.json["hints"] = json!([hint]);
    }
    answer
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
pub fn create_pr(app: &App, dir: &TaskDir) -> Result<Answer> {
    app.caller.check_person("open a pull request")?;
    let mut open = lock_recovered(app, dir)?;
    let machine = app.machine_of(&open.task().owned)?;
    if machine.state(status_of(machine, open.task())?).terminal {
        return Err(Error::new(Kind::Refused, format!("the task is over: it is {}", open.task().status()))
            .help("create a new task for what is still to be done"));
    }
    let opened = pull_request::open(app, &mut open)?;
    let template = opened.template.as_ref();
    let json = json!({
        "success": true,
        "id": dir.id,
        "pr_url": opened.url,
        "created": opened.is_new,
        "template": template.map(|template| &template.path),
    });
    let mut text = opened.url.clone();
    if !opened.is_new {
        text += "  (it was open already)";
    }
    if let Some(template) = template.filter(|template| !template.others.is_empty()) {
        text += &format!("\ntemplate: {}; there is also {}", template.path, template.others.join(", "));
    }
    Ok(Answer::new(json, text))
}
