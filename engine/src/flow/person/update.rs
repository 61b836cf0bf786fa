//! Changes the summary and the branch of a task, adds feedback to it, then asks for its status.

use crate::app::App;
use crate::drive::git::Git;
use crate::flow::person::create::{admit, check_branch, check_summary};
use crate::flow::request::retry;
use crate::flow::{Goal, TaskPreview, dry_run, lock_recovered, rebranch, request, waiting};
use crate::hooks::imported;
use crate::store::scalar::Value;
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir, list};
use crate::{Error, ErrorKind, Result, store};
use orange_api::{Feedback, TransitionResult};

/// The wishes of the caller.
#[derive(Clone, Copy, Debug)]
pub struct UpdateWishes<'a> {
    /// The status to ask for.
    pub status: Option<&'a str>,
    /// Run the hooks that wait.
    pub retry_hooks: bool,
    /// The new summary.
    pub summary: Option<&'a str>,
    /// The new branch; without a name, the one that is checked out.
    pub branch: Option<Option<&'a str>>,
    /// Changes that the agent should make, for the section [`Feedback::HEADING`].
    pub feedback: Option<&'a str>,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// Change of a task.
#[derive(Debug)]
pub enum Updated {
    /// These fields.
    Fields(Vec<&'static str>),
    /// The status, and what was asked for beside it.
    Status(Box<TransitionResult>),
}

impl UpdateWishes<'_> {
    /// Refuses what asks for nothing, before any task is looked for.
    pub fn check(&self) -> Result<()> {
        if self.status.is_none() && !self.changes_fields() && !self.retry_hooks {
            return Err(Error::new(ErrorKind::Usage, "nothing to update").help(
                "give --status, --summary, --branch or --retry-hooks; `orange task next` shows the statuses",
            ));
        }
        if self.feedback.is_some_and(|text| text.trim().is_empty()) {
            return Err(Error::new(ErrorKind::Usage, "the feedback is empty")
                .help("say what is to change, or leave --feedback out"));
        }
        check_summary(self.summary, "say in it what is to be done")
    }

    fn changes_fields(&self) -> bool {
        self.summary.is_some() || self.branch.is_some() || self.feedback.is_some()
    }
}

/// Carries the wishes out. A status that is refused leaves the other fields alone too.
pub fn update(app: &App, dir: &WorkItemDir, wishes: UpdateWishes<'_>) -> Result<Updated> {
    let goal = wishes.status.map(Goal::Named);
    if let Some(goal) = goal.filter(|_| wishes.changes_fields()) {
        dry_run(app, dir, goal)?;
    }
    let mut updated = edit(app, dir, wishes)?;
    updated.extend(feedback(app, dir, wishes)?);
    if wishes.retry_hooks {
        let ask = if wishes.dry_run { retry::dry_run } else { retry::retry_hooks };
        return ask(app, dir).map(|result| Updated::Status(Box::new(result)));
    }
    let Some(goal) = goal else { return Ok(Updated::Fields(updated)) };
    let ask = if wishes.dry_run { dry_run } else { request };
    ask(app, dir, goal).map(|result| Updated::Status(Box::new(result)))
}

/// Adds the feedback to the task's text, where the next agent reads it.
fn feedback(app: &App, dir: &WorkItemDir, wishes: UpdateWishes<'_>) -> Result<Option<&'static str>> {
    let Some(text) = wishes.feedback else { return Ok(None) };
    if wishes.dry_run {
        let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
        app.check_caller(&task, &history)?;
    } else {
        let mut locked = lock_recovered(app, dir)?;
        app.check_caller(locked.task(), locked.history())?;
        locked.append_section(Feedback::HEADING, text)?;
    }
    Ok(Some("feedback"))
}

fn edit(app: &App, dir: &WorkItemDir, wishes: UpdateWishes<'_>) -> Result<Vec<&'static str>> {
    let branch = wishes.branch.map(|name| branch(app, dir, name)).transpose()?;
    let mut changes = Vec::new();
    changes.extend(wishes.summary.map(|summary| ("summary", Value::Text(summary))));
    changes.extend(branch.as_deref().map(|branch| ("branch", Value::Text(branch))));
    if !changes.is_empty() && wishes.dry_run {
        let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
        app.check_caller(&task, &history)?;
        if let Some(branch) = &branch {
            admit(
                app,
                &list::others_of_branch(&app.home, dir, branch, &|kind, owned| app.is_done(kind, owned))?,
            )?;
            let worktree = task.worktree().map(|name| app.home.workspace(name));
            rebranch::plan(app, &task, worktree.as_deref(), branch)?;
        }
    } else if !changes.is_empty() {
        let mut locked = lock_recovered(app, dir)?;
        app.check_caller(locked.task(), locked.history())?;
        if let Some(branch) = &branch {
            // The project's lock comes before the task's.
            drop(locked);
            let prepare = |locked: &LockedWorkItem| {
                let change = rebranch::plan(app, locked.task(), locked.worktree().as_deref(), branch)?;
                change.make(app, locked.task(), branch)
            };
            store::rebranch(
                &app.home,
                dir,
                branch,
                &changes,
                &|kind, owned| app.is_done(kind, owned),
                |others| admit(app, others),
                prepare,
            )?;
        } else {
            locked.edit(&changes)?;
            drop(locked);
        }
        // Nobody may have come back for it: the process that was to was killed, and no monitor runs.
        waiting::overdue(app, dir)?;
    }
    Ok(changes.into_iter().map(|(key, _)| key).collect())
}

/// The branch of this name, or the one that is checked out in the task's worktree.
fn branch(app: &App, dir: &WorkItemDir, name: Option<&str>) -> Result<String> {
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let project = app.project_of(&task)?;
    let branch = match (name, task.worktree()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(workspace)) => {
            let worktree = app.home.workspace(workspace);
            let current = match imported::checked_out(app, &task)? {
                Some(renamed) => Some(renamed),
                None => Git::at(&project.path).current_branch(&worktree)?,
            };
            current.ok_or_else(|| {
                Error::new(ErrorKind::Refused, "no branch is checked out in the task's worktree")
                    .help("check one out, or name it: --branch NAME")
            })?
        }
        (None, None) => {
            return Err(Error::new(ErrorKind::Usage, "the task has no worktree to read a branch from")
                .help("name it: --branch NAME"));
        }
    };
    check_branch(&project, &branch)?;
    Ok(branch)
}
