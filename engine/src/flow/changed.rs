//! Extent of a task's work, by git and by its journal, for answers.

use crate::app::App;
use crate::drive::git::{CommitComparison, Git, Mergeable};
use crate::hooks::imported;
pub use crate::hooks::sync::{begun_merge, check_restored, undone_merge};
use crate::store::effective::{EffectiveMerge, effective};
use crate::store::projects::Project;
use crate::store::{WorkItem, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_api::{ChangeSize, PullRequestFacts};

/// Change that the work of a task has made since it left the default branch, with uncommitted and untracked files of its worktree;
/// `None` where git cannot tell.
pub fn size(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Option<ChangeSize> {
    let compared = compare(app, task, history).ok()?;
    let files = compared.files().ok()?;
    let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let sum = |part: fn((u64, u64)) -> u64| number(files.iter().filter_map(|it| it.lines).map(part).sum());
    Some(ChangeSize {
        commits: compared.commits().ok()?,
        files: number(files.len().try_into().unwrap_or(u64::MAX)),
        added: sum(|(added, _)| added),
        removed: sum(|(_, removed)| removed),
    })
}

/// Compares a task's work with the commit at which it left the default branch: its worktree, or without one its branch, or
/// what was merged of it.
///
/// # Errors
/// `refused` without a branch; `environment` when git fails.
pub fn compare(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<CommitComparison> {
    imported::look(app, task);
    let project = app.project_of(task)?;
    let git = Git::at(&project.path);
    if let Some(worktree) = task.worktree() {
        return git.compare_worktree(&app.home.workspace(worktree), &project.default_branch);
    }
    let tip = match git.branch_tip(&task.branch)? {
        Some(tip) => Some(tip),
        None => history.branch.merge.clone().filter(|_| history.branch.is_merged),
    };
    let Some(commit) = tip else { return Err(nothing(task)) };
    let began = history.branch.made.get(&task.branch).map(String::as_str);
    git.compare_commit(&commit, &project.default_branch, began)
}

fn nothing(task: &WorkItem) -> Error {
    let (word, id) = (task.kind.word(), &task.id);
    Error::new(
        ErrorKind::Refused,
        format!("{word} {id} has no worktree, and there is no branch {}", task.branch),
    )
    .help(format!(
        "`orange {word} show {id}` says whether it was started, and whether its work was backed up"
    ))
}

/// Decides if the work of a task can be merged, as far as git can tell without a fetch.
///
/// # Errors
/// `not_found` without a branch; `environment` when git fails.
pub fn mergeable(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Mergeable> {
    imported::look(app, task);
    let project = app.project_of(task)?;
    let worktree = task.worktree().map(|name| app.home.workspace(name));
    let target = merge_target(task, &project, &effective(&app.home, &project)?.merge)?;
    let (begun, undone) = (begun_merge(history, &target), undone_merge(history, &target));
    let found = Git::at(&project.path).mergeable(
        &task.branch,
        &target,
        worktree.as_deref(),
        begun.as_ref(),
        undone.as_ref(),
    )?;
    Ok(match found {
        found @ (Mergeable::FastForward | Mergeable::WithCommit) => match check_restored(task, history) {
            Ok(()) => found,
            Err(error) => Mergeable::No { error, is_conflict: false },
        },
        found @ (Mergeable::Nothing | Mergeable::No { .. }) => found,
    })
}

/// The settings of merges in the project of a task, unless the command has others.
pub fn merge_settings(app: &App, task: &WorkItem) -> Result<EffectiveMerge> {
    Ok(effective(&app.home, &app.project_of(task)?)?.merge)
}

/// The branch into which a task is merged, unless the command has another: its base, or that of the settings.
///
/// # Errors
/// `not_found` for a branch of the settings that does not exist.
pub fn merge_target(task: &WorkItem, project: &Project, settings: &EffectiveMerge) -> Result<String> {
    let base = &project.default_branch;
    let Some(into) = settings.into.value.as_ref().filter(|into| task.owned.base.is_none() && *into != base)
    else {
        return Ok(base.clone());
    };
    match Git::at(&project.path).check_branch_exists(into) {
        Ok(()) => Ok(into.clone()),
        Err(error) => Err(error.help(format!(
            "`merge.into` of the project names it: make that branch, or name another with `orange project update {} --merge-into BRANCH`",
            project.name
        ))),
    }
}

/// The branch into which a task is merged, by the settings of its project.
pub fn merge_target_of(app: &App, task: &WorkItem) -> Result<String> {
    let project = app.project_of(task)?;
    merge_target(task, &project, &effective(&app.home, &project)?.merge)
}

/// The branch that is checked out in a task's worktree, if that is another one than its own.
pub fn other_branch(app: &App, task: &WorkItem) -> Option<String> {
    let worktree = app.home.workspace(task.worktree()?);
    let current = Git::at(&worktree).current_branch(&worktree).ok()??;
    (current != task.branch).then_some(current)
}

/// The pull request of a task, by its journal.
pub fn pull_request(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Option<PullRequestFacts> {
    let url = task.pr_url.clone()?;
    let checks =
        history.branch.checks.as_ref().filter(|seen| seen.url == url).map(|seen| seen.state.to_string());
    let state = match () {
        () if history.branch.is_merged => Some("merged"),
        () if app.is_over(task) => None,
        () => Some("open"),
    };
    let number = url.trim_end_matches('/').rsplit('/').next().and_then(|last| last.parse().ok());
    Some(PullRequestFacts { url, number, state: state.map(Into::into), checks })
}
