//! The pull request of a task: opened for it, or found.

use std::time::Duration;

use orange_core::section;

use crate::app::App;
use crate::drive::forge::{Forge, NewPullRequest, PrState, PullRequest};
use crate::drive::git::{Git, PullRequestTemplate, REMOTE};
use crate::hooks::{answers, imported};
use crate::store::scalar::Value;
use crate::store::{Event, LockedWorkItem, Set, WorkItem};
use crate::{Error, ErrorKind, Result};

/// A pull request that a task has now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedPullRequest {
    pub url: String,
    /// True if this call has opened it.
    pub is_new: bool,
    /// The template that its text ends with.
    pub template: Option<PullRequestTemplate>,
}

/// Pushes the task's branch and opens a pull request for it, unless it has an open one. Repeating it does no harm.
///
/// # Errors
/// `refused` without a remote, without commits, and while work in the worktree is not committed; `environment` when git or the
/// forge fails.
pub fn open(app: &App, locked: &mut LockedWorkItem) -> Result<LinkedPullRequest> {
    let task = locked.task();
    let project = app.project_of(task)?;
    let (git, forge) = (Git::at(&project.path), app.forge_of(&project)?);
    let known = known(app, task)?;
    app.progress.step(&format!("pushing {}", task.branch));
    git.push(REMOTE, &task.branch)?;
    let opened = match known {
        Some(known) => LinkedPullRequest { url: known.url, is_new: false, template: None },
        None => {
            app.progress.step("opening a pull request");
            let template = git.pull_request_template(&project.default_branch)?;
            let limits = forge.limits();
            let title = title(task, limits.title);
            let body = body(task, template.as_ref(), limits.body);
            let new = NewPullRequest {
                base: &project.default_branch,
                head: &task.branch,
                title: &title,
                body: &body,
            };
            LinkedPullRequest { url: forge.create(&new)?, is_new: true, template }
        }
    };
    keep(locked, &opened.url)?;
    answers::post(app, locked)?;
    Ok(opened)
}

/// The open pull request of a task that could have one.
///
/// # Errors
/// Those of [`open`] before it pushes anything.
pub fn known(app: &App, task: &WorkItem) -> Result<Option<PullRequest>> {
    let project = app.project_of(task)?;
    let (git, forge) = (Git::at(&project.path), app.forge_of(&project)?);
    if !git.has_remote()? {
        return Err(Error::new(ErrorKind::Refused, format!("{} has no remote `{REMOTE}`", project.name))
            .help(format!("add the one on {}: `git remote add origin URL`", forge.name())));
    }
    forge.check(app.path())?;
    imported::take(app, task)?;
    let worktree = task.worktree().map(|name| app.home.workspace(name));
    if let Some(worktree) = worktree.filter(|worktree| worktree.exists()) {
        git.check_all_committed(&worktree, &task.branch)?;
    }
    git.check_has_work(&task.branch, &project.default_branch)?;
    app.progress.step(&format!("asking {} about {}", forge.name(), task.branch));
    Ok(forge.of_branch(&task.branch)?.filter(|known| known.state == PrState::Open))
}

/// Takes over the open pull request that the branch of a new task has already, if the forge answers quickly; no answer is
/// not a failure.
pub fn adopt(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    let project = app.project_of(locked.task())?;
    let branch = &locked.task().branch;
    if !Git::at(&project.path).is_on_remote(branch)? {
        return Ok(());
    }
    let forge = app.forge_of(&project)?;
    if forge.check(app.path()).is_err() {
        return Ok(());
    }
    match forge.patience(Duration::from_secs(5)).of_branch(branch) {
        Ok(Some(pr)) if pr.state == PrState::Open => keep(locked, &pr.url),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Asks the forge for the pull request that somebody else has opened for the branch of a task without one. The answer
/// is the task's pull request: it is open, or was merged since the task was created. `None` where the forge is not in use.
pub fn find(app: &App, forge: &Forge, task: &WorkItem) -> Result<Option<PullRequest>> {
    let found = forge.of_branch_if_used(&task.branch, app.path())?;
    Ok(found.filter(|pr| is_of(task, pr)))
}

/// A branch may have been another task's before, and its pull request with it.
fn is_of(task: &WorkItem, pr: &PullRequest) -> bool {
    match pr.state {
        PrState::Open => true,
        PrState::Merged => pr.merged_at.as_ref().is_some_and(|at| seconds(at) >= seconds(&task.created_at)),
        PrState::Closed => false,
    }
}

/// A time in RFC 3339 and UTC without its fraction of a second: such times sort as texts.
fn seconds(time: &str) -> &str {
    time.get(..19).unwrap_or(time)
}

/// Keeps the address of a pull request of the task, once.
pub fn keep(locked: &mut LockedWorkItem, url: &str) -> Result<()> {
    if locked.history().branch.pr.as_deref() != Some(url) {
        locked.append(Event::PrCreated { url: url.to_owned() }, Set::new())?;
    }
    if locked.task().pr_url.as_deref() != Some(url) {
        locked.edit(&[("pr_url", Value::Text(url))])?;
    }
    Ok(())
}

/// The first line of the summary; a task without one has its branch.
fn title(task: &WorkItem, longest: usize) -> String {
    let line = task.summary.lines().map(str::trim).find(|line| !line.is_empty());
    cut(line.unwrap_or(&task.branch), longest)
}

/// Summary, context and the repository's template.
fn body(task: &WorkItem, template: Option<&PullRequestTemplate>, longest: usize) -> String {
    let context = section(&task.body, "## Context").unwrap_or_default();
    let template = template.map(|template| template.text.as_str()).unwrap_or_default();
    let parts = [task.summary.as_str(), context, template].map(str::trim);
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    cut(&parts.join("\n\n"), longest)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some(_) => text.chars().take(longest - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(summary: &str, text: &str, template: &str, expect: (&str, &str)) {
        let task = WorkItem {
            branch: "fix".to_owned(),
            summary: summary.to_owned(),
            body: text.to_owned(),
            ..WorkItem::default()
        };
        let template =
            PullRequestTemplate { path: String::new(), text: template.to_owned(), others: Vec::new() };
        assert_eq!((title(&task, 256).as_str(), body(&task, Some(&template), 65_000).as_str()), expect);
    }

    #[test]
    fn a_pull_request_merged_before_the_task_is_another_task_s() {
        let task = WorkItem { created_at: "2026-03-01T10:00:00.5Z".to_owned(), ..WorkItem::default() };
        let is_of = |state, merged_at: Option<&str>| {
            let merged_at = merged_at.map(str::to_owned);
            super::is_of(
                &task,
                &PullRequest { url: String::new(), state, commit: None, merged_at, checks: None },
            )
        };
        assert!(is_of(PrState::Open, None));
        assert!(is_of(PrState::Merged, Some("2026-03-01T10:00:00Z")));
        assert!(!is_of(PrState::Merged, Some("2026-03-01T09:59:59Z")));
        assert!(!is_of(PrState::Merged, None));
        assert!(!is_of(PrState::Closed, None));
    }

    #[test]
    fn a_pull_request_says_what_the_task_is_about() {
        check(
            "Mend it",
            "\n## Context\n\nSince *Monday*.\n\n## Notes\n\nx\n",
            "- [ ] tested\n",
            ("Mend it", "Mend it\n\nSince *Monday*.\n\n- [ ] tested"),
        );
        check("\n Mend it \nand $(that)", "", "", ("Mend it", "Mend it \nand $(that)"));
        check("", "", "", ("fix", ""));
        let long = "ä".repeat(300);
        let short = format!("{}…", "ä".repeat(255));
        check(&long, "", "", (&short, &long));
    }
}
