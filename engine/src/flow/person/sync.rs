//! Brings a task's branch up to the branch that it is based on. The commit is planned first, and a conflict changes nothing; the
//! journal has it before the branch moves, so that the same command finishes a sync that was killed, or could not be pushed.

use std::time::Duration;

use crate::app::App;
use crate::drive::git::{Git, MergeObstacle, Strategy, SyncPlan, Unmergeable};
use crate::flow::person::merge_advice::{advised, returned};
use crate::flow::person::update::{UpdateWishes, Updated, update};
use crate::flow::{activity, lock_recovered};
use crate::hooks::reclaim;
use crate::hooks::sync::{self, FinishedSync, SyncAim};
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_api::{AgentState, Success, Synced};

/// The wishes of the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyncWish {
    /// The strategy; `None` for that of the project.
    pub with: Option<Strategy>,
    /// A conflict goes to the worker, by the transition that returns its work.
    pub by_agent: bool,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// A sync that was made, or the conflict that is in its path.
enum SyncEnd {
    Synced(Box<Synced>),
    Conflict(Error),
}

/// Brings a task's branch up to its base, by this strategy or that of the project. The branch is pushed if the remote has it.
///
/// # Errors
/// `refused` for a task that is over, at which an agent works or that has uncommitted work, and if both have changed the same lines and
/// no agent is to resolve that; nothing has changed then.
pub fn sync(app: &App, dir: &WorkItemDir, wish: SyncWish) -> Result<Synced> {
    app.caller.check_person("bring a task's branch up to its base")?;
    let end = if wish.dry_run { would_sync(app, dir, wish)? } else { sync_here(app, dir, wish)? };
    match end {
        SyncEnd::Synced(synced) => Ok(*synced),
        SyncEnd::Conflict(conflict) => give_to_agent(app, dir, wish, &conflict),
    }
}

/// Takes the transition that returns the work to its worker, with the conflict as the feedback.
fn give_to_agent(app: &App, dir: &WorkItemDir, wish: SyncWish, conflict: &Error) -> Result<Synced> {
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let aim = SyncAim::of(app, &task, wish.with)?;
    let (git, branch, base) = (Git::at(&aim.project.path), &task.branch, &aim.project.default_branch);
    let Some(status) = returned(app, &task) else {
        let message =
            format!("{}, and no transition from {} returns its work", conflict.message, task.status());
        return Err(Error::new(conflict.kind, message).help(conflict.help.clone()));
    };
    let newest = git.newest(base)?;
    let feedback = format!(
        "{}.\n\nRun `git merge {newest}` in the worktree, resolve the conflicts so that both changes keep their purpose, and commit.",
        conflict.message
    );
    let wishes = UpdateWishes {
        status: Some(status),
        retry_hooks: false,
        summary: None,
        branch: None,
        feedback: Some(&feedback),
        dry_run: wish.dry_run,
    };
    let returned = match update(app, dir, wishes)? {
        Updated::Status(result) => Some(*result),
        Updated::Fields(_) => None,
    };
    let tip = git.branch_tip(branch)?.unwrap_or_default();
    Ok(Synced {
        success: Success,
        id: task.id.clone(),
        branch: branch.clone(),
        base: base.clone(),
        strategy: aim.strategy.as_str().to_owned(),
        from: tip.clone(),
        commit: tip,
        backup: None,
        pushed: false,
        conflict: Some(conflict.message.clone()),
        returned,
        dry_run: wish.dry_run,
    })
}

fn would_sync(app: &App, dir: &WorkItemDir, wish: SyncWish) -> Result<SyncEnd> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let history = journal.history();
    let aim = SyncAim::of(app, &task, wish.with)?;
    sync::check_restored(&task, &history)?;
    check(app, dir, &task, &history, &aim)?;
    let plan = match sync::plan(&task, &history, &aim, true) {
        Err(flaw) if wish.by_agent && flaw.obstacle == MergeObstacle::Conflict => {
            return Ok(SyncEnd::Conflict(flaw.error));
        }
        plan => plan.map_err(|flaw| explained(app, &task, &aim, flaw))?,
    };
    let pushed = plan.is_new() && Git::at(&aim.project.path).is_on_remote(&task.branch)?;
    Ok(SyncEnd::Synced(Box::new(answer(&task, &aim, plan, None, pushed, true))))
}

fn sync_here(app: &App, dir: &WorkItemDir, wish: SyncWish) -> Result<SyncEnd> {
    let mut locked = lock_recovered(app, dir)?;
    let aim = SyncAim::of(app, locked.task(), wish.with)?;
    if sync::check_restored(locked.task(), locked.history()).is_err() {
        locked = reclaim::restore(app, locked)?;
    }
    check(app, dir, locked.task(), locked.history(), &aim)?;
    // The base stays where it is meanwhile, and no merge into the branch goes on.
    let _turn = sync::lock_merges(&app.home, &aim.project, &aim.project.default_branch, Duration::ZERO)?;
    sync::fetch(app, locked.task(), &aim)?;
    let mut first: Option<Synced> = None;
    loop {
        let plan = match sync::plan(locked.task(), locked.history(), &aim, false) {
            Err(flaw) if wish.by_agent && flaw.obstacle == MergeObstacle::Conflict => {
                return Ok(SyncEnd::Conflict(flaw.error));
            }
            plan => plan.map_err(|flaw| explained(app, locked.task(), &aim, flaw))?,
        };
        let (is_begun, is_new) = (plan.is_begun, plan.is_new());
        if let Some(first) = first.take_if(|_| !is_new) {
            return Ok(SyncEnd::Synced(Box::new(first)));
        }
        let synced = finished(app, &mut locked, &aim, plan)?;
        let synced = match first.take() {
            Some(first) => {
                Synced { from: first.from, backup: synced.backup.clone().or(first.backup), ..synced }
            }
            None => synced,
        };
        if !is_begun {
            return Ok(SyncEnd::Synced(Box::new(synced)));
        }
        // The base may have moved since that one was begun.
        first = Some(synced);
    }
}

/// Refuses a task whose branch may not move.
fn check(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
    aim: &SyncAim,
) -> Result<()> {
    let id = &task.id;
    if app.is_over(task) {
        let message = format!("task {id} is {}: its branch has no more work to come", task.status());
        return Err(Error::new(ErrorKind::Refused, message).help(format!(
            "a task that goes on can be synced; `orange task undo {id}` takes a cancellation back"
        )));
    }
    if task.branch == aim.project.default_branch {
        let message = format!("`{}` is the branch of the task and its base", task.branch);
        return Err(Error::new(ErrorKind::Refused, message).help(
            "a task is based on another branch: create it with `--base BRANCH`, or give it a branch of its own",
        ));
    }
    let agents = activity::of_task(app, dir, task, history, || app.tmux.panes().ok());
    let is_at_work = |state: AgentState| !matches!(state, AgentState::Idle | AgentState::Ended);
    if let Some(agent) = agents.iter().find(|agent| is_at_work(agent.assessment.state)) {
        let message = format!("agent {} is at work on `{}`", agent.spawn, task.branch);
        return Err(Error::new(ErrorKind::Refused, message).help(format!(
            "wait until it has ended, or stop it with `orange task stop {id}`; then repeat this"
        )));
    }
    match sync::worktree(app, task) {
        Some(worktree) => Git::at(&aim.project.path).check_all_committed(&worktree, &task.branch),
        None => Ok(()),
    }
}

/// The error of a sync that is not made, with who can do what about it.
fn explained(app: &App, task: &WorkItem, aim: &SyncAim, flaw: Unmergeable) -> Error {
    match flaw.obstacle {
        MergeObstacle::Replay => flaw.help("use `--with merge`, which takes the whole"),
        MergeObstacle::Conflict | MergeObstacle::MovedOn | MergeObstacle::Other => {
            advised(app, task, &aim.project.default_branch, "then go on", flaw)
        }
    }
}

/// Carries a plan out.
fn finished(app: &App, locked: &mut LockedWorkItem, aim: &SyncAim, plan: SyncPlan) -> Result<Synced> {
    let FinishedSync { backup, is_pushed } = sync::finish(app, locked, aim, &plan)?;
    Ok(answer(locked.task(), aim, plan, backup, is_pushed, false))
}

fn answer(
    task: &WorkItem,
    aim: &SyncAim,
    plan: SyncPlan,
    backup: Option<String>,
    pushed: bool,
    dry_run: bool,
) -> Synced {
    Synced {
        success: Success,
        id: task.id.clone(),
        branch: task.branch.clone(),
        base: aim.project.default_branch.clone(),
        strategy: plan.strategy.as_str().to_owned(),
        from: plan.from,
        commit: plan.commit,
        backup,
        pushed,
        conflict: None,
        returned: None,
        dry_run,
    }
}
