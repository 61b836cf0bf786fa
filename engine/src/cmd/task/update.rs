//! `orange task update`

use super::create::{admit, check_branch, check_summary};
use super::merge::transition_answer;
use crate::answer::{Success, Update};
use crate::app::App;
use crate::cmd::args::UpdateArgs;
use crate::drive::git::Git;
use crate::flow::{Goal, lock_recovered, rebranch, request, waiting};
use crate::flow::{TaskPreview, dry_run};
use crate::store::scalar::Value;
use crate::store::{LockedTask, Task, TaskDir, list};
use crate::{Error, Kind, Result, store};

/// Refuses what asks for nothing, before any task is looked for.
///
/// # Errors
/// `usage`.
pub fn check(args: &UpdateArgs) -> Result<()> {
    if args.status.is_none() && args.summary.is_none() && args.branch.is_none() {
        return Err(Error::new(Kind::Usage, "nothing to update")
            .help("give --status, --summary or --branch; `orange task next` shows the statuses"));
    }
    check_summary(args.summary.as_deref(), "say in it what is to be done")
}

/// Changes a task's summary and branch, then asks for its status.
pub fn run(app: &App, dir: &TaskDir, args: &UpdateArgs) -> Result<(Update, String)> {
    // A status that is refused leaves the other fields alone too.
    if let Some(status) = args.status.as_ref().filter(|_| args.summary.is_some() || args.branch.is_some()) {
        dry_run(app, dir, Goal::Named(status))?;
    }
    let updated = edit(app, dir, args)?;
    let Some(status) = &args.status else {
        let verb = if args.dry_run { "would update" } else { "updated" };
        let text = format!("{verb} {}", updated.join(", "));
        let (id, dry_run) = (dir.id.clone(), args.dry_run);
        return Ok((Update::Fields { success: Success, id, updated, dry_run }, text));
    };
    let ask = if args.dry_run { dry_run } else { request };
    let result = ask(app, dir, Goal::Named(status))?;
    let (moved, text) = transition_answer(app, dir, result);
    Ok((Update::Status(Box::new(moved)), text))
}

fn edit(app: &App, dir: &TaskDir, args: &UpdateArgs) -> Result<Vec<&'static str>> {
    let branch = match &args.branch {
        Some(name) => Some(branch(app, dir, name.as_deref())?),
        None => None,
    };
    let mut changes = Vec::new();
    changes.extend(args.summary.as_deref().map(|summary| ("summary", Value::Text(summary))));
    changes.extend(branch.as_deref().map(|branch| ("branch", Value::Text(branch))));
    if !changes.is_empty() && args.dry_run {
        let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
        app.check_caller(&task, &history)?;
        if let Some(branch) = &branch {
            admit(app, &list::others_of_branch(&app.home, dir, branch)?)?;
            let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name));
            rebranch::plan(app, &task, worktree.as_deref(), branch)?;
        }
    } else if !changes.is_empty() {
        let mut locked = lock_recovered(app, dir)?;
        app.check_caller(locked.task(), locked.history())?;
        if let Some(branch) = &branch {
            // The project's lock comes before the task's.
            drop(locked);
            let prepare = |locked: &LockedTask| {
                let change = rebranch::plan(app, locked.task(), locked.worktree().as_deref(), branch)?;
                change.make(app, locked.task(), branch)
            };
            store::rebranch(&app.home, dir, branch, &changes, |others| admit(app, others), prepare)?;
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
fn branch(app: &App, dir: &TaskDir, name: Option<&str>) -> Result<String> {
    let (task, _) = Task::read(&app.home, dir)?;
    let project = app.project_of(&task)?;
    let branch = match (name, &task.owned.workspace) {
        (Some(name), _) => name.to_owned(),
        (None, Some(workspace)) => {
            let worktree = app.home.workspace(workspace);
            Git::at(&project.path).current_branch(&worktree)?.ok_or_else(|| {
                Error::new(Kind::Refused, "no branch is checked out in the task's worktree")
                    .help("check one out, or name it: --branch NAME")
            })?
        }
        (None, None) => {
            return Err(Error::new(Kind::Usage, "the task has no worktree to read a branch from")
                .help("name it: --branch NAME"));
        }
    };
    check_branch(&project, &branch)?;
    Ok(branch)
}
