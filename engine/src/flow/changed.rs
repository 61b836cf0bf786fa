//! Extent of a task's work, by git and by its journal, for answers.

use crate::app::App;
use crate::drive::git::{CommitComparison, Git, Mergeable};
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
    let project = app.project_of(task)?;
    let worktree = task.worktree().map(|name| app.home.workspace(name));
    let found =
        Git::at(&project.path).mergeable(&task.branch, &project.default_branch, worktree.as_deref())?;
    Ok(match found {
        // The backup of a reclaimed worktree has what was not committed.
        Mergeable::FastForward | Mergeable::WithCommit if has_uncommitted_backup(history) => {
            let message = "its worktree was reclaimed with uncommitted work".to_owned();
            let help = format!("`orange task merge {}` restores it and then asks for a commit", task.id);
            Mergeable::No { error: Error::new(ErrorKind::Refused, message).help(help), is_conflict: false }
        }
        found @ (Mergeable::FastForward
        | Mergeable::WithCommit
        | Mergeable::Nothing
        | Mergeable::No { .. }) => found,
    })
}

fn has_uncommitted_backup(history: &WorkItemHistory) -> bool {
    history
        .worktree
        .reclaimed
        .as_ref()
        .is_some_and(|reclaim| reclaim.kept.first().is_some_and(|kept| *kept != reclaim.head))
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
