//! Brings a task's branch up to the branch that it is based on. The commit is planned first, and a conflict changes nothing; the
//! journal has it before the branch moves, so that the same command finishes a sync that was killed, or could not be pushed.

use std::path::PathBuf;
use std::time::Duration;

use crate::app::App;
use crate::drive::git::{
    BegunSync, Git, MergeObstacle, PlanResult, REMOTE, Strategy, SyncForm, SyncPlan, Unmergeable,
};
use crate::flow::person::merge::{advised, lock_merges, returned};
use crate::flow::person::update::{UpdateWishes, Updated, update};
use crate::flow::{activity, changed, lock_recovered};
use crate::hooks::reclaim;
use crate::store::projects::Project;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, event};
use crate::{Error, ErrorKind, Result};
use orange_api::{AgentState, Success, Synced};
use orange_system::fault;

/// The wishes of the caller, and where they apply.
struct SyncAim {
    project: Project,
    strategy: Strategy,
}

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
    let aim = aim(app, &task, wish.with)?;
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
    let aim = aim(app, &task, wish.with)?;
    changed::check_restored(&task, &history)?;
    check(app, dir, &task, &history, &aim)?;
    let plan = match plan(&task, &history, &aim, true) {
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
    let aim = aim(app, locked.task(), wish.with)?;
    if changed::check_restored(locked.task(), locked.history()).is_err() {
        locked = reclaim::restore(app, locked)?;
    }
    check(app, dir, locked.task(), locked.history(), &aim)?;
    // The base stays where it is meanwhile, and no merge into the branch goes on.
    let _turn = lock_merges(&app.home, &aim.project, &aim.project.default_branch, Duration::ZERO)?;
    fetch(app, locked.task(), &aim)?;
    let mut first: Option<Synced> = None;
    loop {
        let plan = match plan(locked.task(), locked.history(), &aim, false) {
            Err(flaw) if wish.by_agent && flaw.obstacle == MergeObstacle::Conflict => {
                return Ok(SyncEnd::Conflict(flaw.error));
            }
            plan => plan.map_err(|flaw| explained(app, locked.task(), &aim, flaw))?,
        };
        let (is_begun, is_new) = (plan.is_begun, plan.is_new());
        if let Some(first) = first.take_if(|_| !is_new) {
            return Ok(SyncEnd::Synced(Box::new(first)));
        }
        let synced = finish(app, &mut locked, &aim, plan)?;
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

fn aim(app: &App, task: &WorkItem, with: Option<Strategy>) -> Result<SyncAim> {
    let strategy = with.map_or_else(|| changed::sync_strategy(app, task), Ok)?;
    Ok(SyncAim { project: app.project_of(task)?, strategy })
}

fn worktree(app: &App, task: &WorkItem) -> Option<PathBuf> {
    task.worktree().map(|name| app.home.workspace(name)).filter(|folder| folder.exists())
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
    match worktree(app, task) {
        Some(worktree) => Git::at(&aim.project.path).check_all_committed(&worktree, &task.branch),
        None => Ok(()),
    }
}

fn fetch(app: &App, task: &WorkItem, aim: &SyncAim) -> Result<()> {
    let (git, base) = (Git::at(&aim.project.path), &aim.project.default_branch);
    if !git.has_remote()? {
        return Ok(());
    }
    app.progress.step(&format!("fetching {base} from {REMOTE}"));
    match git.fetch(&[base, &task.branch])? {
        Some(warning) => Err(Error::new(ErrorKind::Environment, warning)
            .help("nothing was changed, since the base may be old: mend that, then repeat this")),
        None => Ok(()),
    }
}

fn plan(task: &WorkItem, history: &WorkItemHistory, aim: &SyncAim, is_trial: bool) -> PlanResult<SyncPlan> {
    let base = &aim.project.default_branch;
    let begun = history.branch.syncing.as_ref().filter(|begun| begun.base == *base);
    let begun = begun.and_then(|begun| {
        let event::BranchSync { from, onto, commit, .. } = begun;
        Some(BegunSync { from, onto, commit, strategy: Strategy::parse(begun.strategy.as_str())? })
    });
    let merged = changed::begun_merge(history, base);
    let undone = changed::undone_merge(history, base);
    let form = SyncForm { strategy: aim.strategy, begun, merged, undone, is_trial };
    Git::at(&aim.project.path).plan_sync(&task.branch, base, form)
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

/// Moves the branch to the commit of the plan, pushes it where the remote has it, and journals that.
fn finish(app: &App, locked: &mut LockedWorkItem, aim: &SyncAim, plan: SyncPlan) -> Result<Synced> {
    if !plan.is_new() {
        return Ok(answer(locked.task(), aim, plan, None, false, false));
    }
    let git = Git::at(&aim.project.path);
    let (id, branch) = (locked.task().id.clone(), locked.task().branch.clone());
    let base = &aim.project.default_branch;
    let has_remote = git.has_remote()?;
    let pushed_at = if has_remote { git.tip_on_remote(&branch)? } else { None };
    app.progress.step(&format!("bringing {branch} up to {base}"));
    let begun = event::BranchSync {
        base: base.clone(),
        onto: plan.onto.clone(),
        from: plan.from.clone(),
        commit: plan.commit.clone(),
        strategy: plan.strategy.as_str().into(),
        backup: None,
    };
    if !plan.is_begun {
        git.keep_planned(&plan.commit, &id)?;
        locked.append(Event::SyncStarted(begun.clone()), Set::new())?;
    }
    let is_forward = git.contains(&plan.commit, &plan.from)?;
    fault::step("back up", &branch);
    let backup = if is_forward { None } else { Some(git.keep_commit(&plan.from, &id)?.reference) };
    fault::step("sync", &branch);
    git.sync(&plan, &branch, worktree(app, locked.task()).as_deref())?;
    git.drop_planned(&id)?;
    let is_pushed = |old: &str| Ok(git.has_commit(old)? && git.contains(old, &plan.commit)?);
    if let Some(old) = &pushed_at
        && !is_pushed(old)?
    {
        app.progress.step(&format!("pushing {branch}"));
        fault::step("push", &branch);
        let pushed =
            if is_forward { git.push(REMOTE, &branch) } else { push_over(&git, &plan, &branch, old) };
        pushed.map_err(|error| {
            error.help("the branch is up to date here and not pushed: mend the push and repeat this")
        })?;
    }
    fault::step("record", "the sync");
    locked.append(Event::WorkSynced(event::BranchSync { backup: backup.clone(), ..begun }), Set::new())?;
    Ok(answer(locked.task(), aim, plan, backup, pushed_at.is_some(), false))
}

/// Pushes a branch that was rebased, unless another clone has pushed to it since.
fn push_over(git: &Git, plan: &SyncPlan, branch: &str, old: &str) -> Result<()> {
    if git.has_commit(old)? && git.contains(&plan.from, old)? {
        return git.push_over(branch, old);
    }
    let message = format!("`{branch}` on `{REMOTE}` has commits that are not here");
    Err(Error::new(ErrorKind::Refused, message))
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
