//! Brings a task's branch up to the branch that it is based on: the hook `sync_branch`, and what `orange task sync` shares with it.
//! The commit is planned first, and a conflict changes nothing; the journal has it before the branch moves.

use std::path::PathBuf;
use std::time::Duration;

use crate::app::App;
use crate::drive::git::{
    BegunMerge, BegunSync, Git, PlanResult, REMOTE, Strategy, SyncForm, SyncPlan, UndoneMerge,
};
use crate::hooks::agent_processes::check_gone;
use crate::hooks::imported;
use crate::store::effective::effective;
use crate::store::lock::{self, Lock, LockRank};
use crate::store::projects::Project;
use crate::store::{Event, Home, LockedWorkItem, Set, WorkItem, WorkItemHistory, event};
use crate::{Error, ErrorKind, Result};
use orange_system::fault;

/// The strategy of a sync, and where it applies.
pub struct SyncAim {
    pub project: Project,
    pub strategy: Strategy,
}

/// A sync that was carried out.
#[derive(Debug, Default)]
pub struct FinishedSync {
    /// The reference that keeps the commits from before, if they are no longer on the branch.
    pub backup: Option<String>,
    /// True if the remote has the branch.
    pub is_pushed: bool,
}

/// Brings the branch of a task up to its base, by this strategy or that of the project. Nothing happens where the base has nothing new.
///
/// # Errors
/// `refused` while an agent is alive, for uncommitted work, and if both have changed the same lines; nothing has changed then.
pub fn sync_branch(app: &App, locked: &mut LockedWorkItem, with: &str) -> Result<()> {
    let with = if with.is_empty() { None } else { Strategy::parse(with) };
    let aim = SyncAim::of(app, locked.task(), with)?;
    let branch = locked.task().branch.clone();
    if branch == aim.project.default_branch {
        let message = format!("`{branch}` is the branch of the task and its base");
        return Err(Error::new(ErrorKind::Refused, message)
            .help("a task is based on another branch: create it with `--base BRANCH`"));
    }
    check_restored(locked.task(), locked.history())?;
    check_gone(app, locked)?;
    imported::take(app, locked.task())?;
    if let Some(worktree) = worktree(app, locked.task()) {
        Git::at(&aim.project.path).check_all_committed(&worktree, &branch)?;
    }
    // The base stays where it is meanwhile.
    let _turn = lock_merges(&app.home, &aim.project, &aim.project.default_branch, Duration::ZERO)?;
    fetch(app, locked.task(), &aim)?;
    loop {
        let plan = plan(locked.task(), locked.history(), &aim, false).map_err(|flaw| flaw.error)?;
        finish(app, locked, &aim, &plan)?;
        // The base may have moved since one was begun that a kill has interrupted.
        if !plan.is_begun || !plan.is_new() {
            return Ok(());
        }
    }
}

impl SyncAim {
    /// The strategy that is wished, or that of the project.
    pub fn of(app: &App, task: &WorkItem, with: Option<Strategy>) -> Result<SyncAim> {
        let project = app.project_of(task)?;
        let strategy = match with {
            Some(strategy) => strategy,
            None => effective(&app.home, &project)?.merge.sync.value,
        };
        Ok(SyncAim { project, strategy })
    }
}

/// The worktree of a task, if it has one.
pub fn worktree(app: &App, task: &WorkItem) -> Option<PathBuf> {
    task.worktree().map(|name| app.home.workspace(name)).filter(|folder| folder.exists())
}

/// Fetches the base and the branch, if there is a remote.
pub fn fetch(app: &App, task: &WorkItem, aim: &SyncAim) -> Result<()> {
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

/// The plan of a sync, or that of one which was begun.
pub fn plan(
    task: &WorkItem,
    history: &WorkItemHistory,
    aim: &SyncAim,
    is_trial: bool,
) -> PlanResult<SyncPlan> {
    let base = &aim.project.default_branch;
    let begun = history.branch.syncing.as_ref().filter(|begun| begun.base == *base);
    let begun = begun.and_then(|begun| {
        let event::BranchSync { from, onto, commit, .. } = begun;
        Some(BegunSync { from, onto, commit, strategy: Strategy::parse(begun.strategy.as_str())? })
    });
    let merged = begun_merge(history, base);
    let undone = undone_merge(history, base);
    let form = SyncForm { strategy: aim.strategy, begun, merged, undone, is_trial };
    Git::at(&aim.project.path).plan_sync(&task.branch, base, form)
}

/// Moves the branch to the commit of the plan, pushes it where the remote has it, and journals that.
pub fn finish(
    app: &App,
    locked: &mut LockedWorkItem,
    aim: &SyncAim,
    plan: &SyncPlan,
) -> Result<FinishedSync> {
    if !plan.is_new() {
        return Ok(FinishedSync::default());
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
    git.sync(plan, &branch, worktree(app, locked.task()).as_deref())?;
    git.drop_planned(&id)?;
    let is_pushed = |old: &str| Ok(git.has_commit(old)? && git.contains(old, &plan.commit)?);
    if let Some(old) = &pushed_at
        && !is_pushed(old)?
    {
        app.progress.step(&format!("pushing {branch}"));
        fault::step("push", &branch);
        let pushed = if is_forward { git.push(REMOTE, &branch) } else { push_over(&git, plan, &branch, old) };
        pushed.map_err(|error| {
            error.help("the branch is up to date here and not pushed: mend the push and repeat this")
        })?;
    }
    fault::step("record", "the sync");
    locked.append(Event::WorkSynced(event::BranchSync { backup: backup.clone(), ..begun }), Set::new())?;
    Ok(FinishedSync { backup, is_pushed: pushed_at.is_some() })
}

/// Pushes a branch that was rebased, unless another clone has pushed to it since.
fn push_over(git: &Git, plan: &SyncPlan, branch: &str, old: &str) -> Result<()> {
    if git.has_commit(old)? && git.contains(&plan.from, old)? {
        return git.push_over(branch, old);
    }
    let message = format!("`{branch}` on `{REMOTE}` has commits that are not here");
    Err(Error::new(ErrorKind::Refused, message))
}

/// The last merge of the task's branch into this target that was begun here.
pub fn begun_merge<'h>(history: &'h WorkItemHistory, into: &str) -> Option<BegunMerge<'h>> {
    let begun = history.branch.begun.as_ref().filter(|begun| begun.into == into)?;
    Some(BegunMerge {
        from: begun.from.as_deref(),
        commit: &begun.commit,
        source: &begun.source,
        strategy: Strategy::parse(begun.strategy.as_str())?,
    })
}

/// The last merge of the task's branch into this target that a commit there has taken back.
pub fn undone_merge<'h>(history: &'h WorkItemHistory, into: &str) -> Option<UndoneMerge<'h>> {
    let undone = history.branch.undone.as_ref().filter(|undone| undone.into == into && undone.reverts)?;
    Some(UndoneMerge { onto: &undone.onto, source: &undone.source, commit: undone.commit.as_deref()? })
}

/// Refuses a task whose uncommitted work is in the backup of a reclaimed worktree.
pub fn check_restored(task: &WorkItem, history: &WorkItemHistory) -> Result<()> {
    let reclaimed = history.worktree.reclaimed.as_ref();
    let has_uncommitted =
        reclaimed.is_some_and(|reclaim| reclaim.kept.first().is_some_and(|kept| *kept != reclaim.head));
    if !has_uncommitted {
        return Ok(());
    }
    let message = "its worktree was reclaimed with uncommitted work".to_owned();
    let help = format!("`orange task merge {}` restores it and then asks for a commit", task.id);
    Err(Error::new(ErrorKind::Refused, message).help(help))
}

/// Waits for other merges of the project, so much longer than for other locks.
pub fn lock_merges(home: &Home, project: &Project, into: &str, longer: Duration) -> Result<Lock> {
    let path = home.tasks().join(&project.name).join(".merge.lock");
    let home = home.clone().patient(home.patience().saturating_add(longer));
    lock::acquire(&home, &path, LockRank::Merge, &format!("the branch {into} of {}", project.name))
}
