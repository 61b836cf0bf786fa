//! `orange task merge`: the merge itself, then the transition with its cleanup hooks (seed 000).

use crate::cmd::answer::Answer;
use crate::cmd::args::Strategy;
use crate::drive::git::{self, Git};
use crate::flow::begin::begin;
use crate::flow::request::{Goal, carry_out, decide};
use crate::flow::settled;
use crate::hooks;
use crate::orange::Orange;
use crate::store::{Event, Open, Set, TaskDir};
use crate::{Error, Kind, Result};

/// Merges a task's branch and finishes the task. Nothing is merged unless the transition is open, and the transition is
/// not taken unless the merge worked.
pub fn run(orange: &Orange, dir: &TaskDir, strategy: Strategy, local: bool) -> Result<Answer> {
    let mut open = settled(orange, dir)?;
    let machine = orange.machine_of(open.task())?;
    let decision = decide(orange, machine, &open, Goal::Merge)?;
    if let Some(url) = open.task().pr_url.as_ref().filter(|_| !local) {
        return Err(Error::new(Kind::Refused, format!("the task has a pull request: {url}"))
            .help("merge it there, or merge here with --local"));
    }
    let room = hooks::preflight(orange, open.task(), &decision.effects)?;
    let pushed = merge(orange, &mut open, strategy)?;
    begin(machine, &mut open, &decision, Vec::new(), room)?;
    let moved = carry_out(orange, open)?;
    let mut json = moved.json();
    json["pushed"] = pushed.into();
    Ok(Answer::new(json, moved.text()))
}

fn merge(orange: &Orange, open: &mut Open, strategy: Strategy) -> Result<bool> {
    let task = open.task();
    let project = orange.project_of(task)?;
    let git = Git::at(&project.path);
    let worktree = task.owned.workspace.as_ref().map(|name| orange.home.workspace(name));
    let (way, word) = match strategy {
        Strategy::Ff => (git::Strategy::FastForward, "ff"),
        Strategy::Merge => (git::Strategy::Merge, "merge"),
    };
    let merged = git.merge_local(&task.branch, &project.default_branch, way, worktree.as_deref())?;
    let event = Event::TaskMerged {
        strategy: word.to_owned(),
        into: project.default_branch.clone(),
        commit: Some(merged.commit),
    };
    open.append(event, Set::new())?;
    if !git.has_remote()? {
        return Ok(false);
    }
    git.push(git::REMOTE, &project.default_branch).map(|()| true).map_err(|error| {
        let help =
            "the merge is done here and not pushed; the task stays as it is: mend the push and merge again";
        error.help(help)
    })
}
