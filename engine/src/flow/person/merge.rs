//! Merges a task on GitHub's word about its pull request, or else here; then takes the transition with its cleanup.

use orange_core::{LifeTurn, Machine};

use crate::app::App;
use crate::caller::Caller;
use crate::drive::gh::{Gh, PrState, PullRequest};
pub use crate::drive::git::Strategy;
use crate::drive::git::{Git, Mergeable, REMOTE, has_moved_on};
use crate::flow::life::{self, TurnRecord};
use crate::flow::request::transition_result;
use crate::flow::request::{Goal, asked, carry_out, decide};
use crate::flow::{TaskPreview, changed, lock_recovered, pull_request};
use crate::hooks;
use crate::store::lock::{self, Lock, LockRank};
use crate::store::projects::Project;
use crate::store::{Event, Home, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, event};
use crate::{Error, ErrorKind, Result};
use orange_api::Merged;

/// The wishes of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeWish {
    /// The strategy of a merge here.
    pub strategy: Strategy,
    /// Merge here, whatever the pull request says.
    pub local: bool,
    /// Merge although the workflow refuses or the branch is empty. For persons only.
    pub force: bool,
}

/// Merges a task's branch and finishes the task; one that was finished without a merge keeps its status. Nothing is merged
/// unless the core allows the transition, nothing is pushed before all local steps have succeeded, and the transition is
/// taken after the push. The command can be repeated after a failure at any point. Another merge in the project is waited
/// for.
pub fn merge(app: &App, dir: &WorkItemDir, wish: MergeWish) -> Result<Merged> {
    let mut locked = asked(app, lock_recovered(app, dir)?, Goal::Merge { force: wish.force })?;
    let machine = app.machine_of(&locked.task().owned)?;
    let turn = turn(app, machine, locked.task(), locked.history(), wish)?;
    let room = hooks::preflight(app, locked.task(), turn.hooks())?;
    let (branch, into) = (locked.task().branch.clone(), app.project_of(locked.task())?.default_branch);
    let pr = if wish.local { None } else { pull_request(app, &mut locked)? };
    let strategy = if pr.is_some() { "pr" } else { wish.strategy.as_str() };
    let (mut events, pushed, commit) = match pr {
        Some(pr) => (pull_request::merged(app, locked.task(), &pr)?, false, pr.commit),
        None => merge_here(app, &mut locked, wish)?,
    };
    if wish.force {
        let from = locked.task().status().to_owned();
        events.iter_mut().for_each(|event| mark_forced(event, &from));
    }
    let events = events.into_iter().map(Into::into).collect();
    let result = if turn.events.is_empty() {
        // The task is in the merged state, and its branch was not merged before.
        locked.append_many(events)?;
        transition_result::staying(locked.task())
    } else {
        life::record(machine, &mut locked, &turn, TurnRecord { led_to_it: events, room, agent: None })?;
        carry_out(app, locked)?
    };
    Ok(Merged { result, branch, into, strategy: strategy.into(), pushed, commit })
}

/// Dry run of [`merge`]. It asks GitHub, and git without a fetch.
pub fn would_merge(app: &App, dir: &WorkItemDir, wish: MergeWish) -> Result<Merged> {
    let preview = TaskPreview::of(app, dir)?;
    let (task, history) = (&preview.task, &preview.history);
    let machine = app.machine_of(&task.owned)?;
    let turn = turn(app, machine, task, history, wish)?;
    hooks::dry_run(app, task, turn.hooks())?;
    let project = app.project_of(task)?;
    let pr = if wish.local { None } else { merged_one(asked_without_a_note(app, task)?)? };
    let git = Git::at(&project.path);
    if pr.is_none() && history.branch.merge.is_none() && !wish.force {
        let tip = git.branch_tip(&task.branch)?;
        if tip.is_none() || git.is_merged(&task.branch, &project.default_branch)? {
            return Err(nothing_to_merge(&task.branch, &project));
        }
    }
    if pr.is_none() && history.branch.merge.is_none() {
        check_mergeable(app, task, history, wish)?;
    }
    Ok(Merged {
        result: preview.planned(machine, &turn),
        branch: task.branch.clone(),
        strategy: if pr.is_some() { "pr".into() } else { wish.strategy.as_str().into() },
        pushed: pr.is_none() && git.has_remote()?,
        commit: pr.and_then(|pr| pr.commit),
        into: project.default_branch,
    })
}

/// Refuses what git would refuse.
fn check_mergeable(app: &App, task: &WorkItem, history: &WorkItemHistory, wish: MergeWish) -> Result<()> {
    match changed::mergeable(app, task, history)? {
        Mergeable::No { error, .. } => Err(error),
        Mergeable::WithCommit if wish.strategy == Strategy::FastForward => {
            Err(has_moved_on(&task.branch, &app.project_of(task)?.default_branch))
        }
        Mergeable::WithCommit | Mergeable::FastForward | Mergeable::Nothing => Ok(()),
    }
}

/// Advice for a task that has come to the state of merged tasks without a merge. An error while reading does not fail the command:
/// the transition is made.
pub fn unmerged(app: &App, dir: &WorkItemDir, to: &str) -> Option<String> {
    let (task, journal) = WorkItem::read(&app.home, dir).ok()?;
    let machine = app.machine_of(&task.owned).ok()?;
    let is_end = machine.commands.merge.is_some_and(|merge| machine.state(merge).name == to);
    if !is_end || journal.history().branch.is_merged {
        return None;
    }
    let Project { path, default_branch: into, .. } = app.project_of(&task).ok()?;
    let WorkItem { id, branch, .. } = task;
    let is_merged = Git::at(&path).is_merged(&branch, &into).ok()?;
    (!is_merged).then(|| format!("{branch} is not merged into {into}: `orange task merge {id}` merges it"))
}

/// The core's answer to the merge.
fn turn(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    wish: MergeWish,
) -> Result<LifeTurn<'static>> {
    if wish.force {
        app.caller.check_person("force a merge")?;
    }
    let ask = |force| decide(app, machine, task, history, Goal::Merge { force });
    ask(wish.force).map_err(|refusal| {
        let is_rule =
            matches!(refusal.kind, ErrorKind::NoTransition | ErrorKind::GuardFailed | ErrorKind::GateFailed);
        if is_rule && app.caller == Caller::Person && ask(true).is_ok() {
            let help = format!("{}; `orange task merge --force` merges all the same", refusal.help);
            return refusal.help(help);
        }
        refusal
    })
}

/// The task's pull request, if it is merged; an open or closed one is an error.
fn pull_request(app: &App, locked: &mut LockedWorkItem) -> Result<Option<PullRequest>> {
    let pr = ask(app, locked).map_err(|error| {
        let help = format!("{}; or merge here with --local", error.help);
        error.help(help)
    })?;
    merged_one(pr)
}

fn merged_one(pr: Option<PullRequest>) -> Result<Option<PullRequest>> {
    let Some(pr) = pr else { return Ok(None) };
    let url = &pr.url;
    match pr.state {
        PrState::Merged => Ok(Some(pr)),
        PrState::Open => {
            Err(Error::new(ErrorKind::Refused, format!("the task's pull request is open: {url}")).help(
                format!(
                    "merge it on GitHub (`gh pr merge {url}`), then repeat this; or merge here with --local"
                ),
            ))
        }
        PrState::Closed => Err(Error::new(
            ErrorKind::Refused,
            format!("the task's pull request was closed and not merged: {url}"),
        )
        .help("reopen it, merge here with --local, or `orange task cancel` the task")),
    }
}

/// GitHub's answer about the task's pull request, or about the one of its branch, which then becomes the task's.
fn ask(app: &App, locked: &mut LockedWorkItem) -> Result<Option<PullRequest>> {
    let found = asked_without_a_note(app, locked.task())?;
    if let Some(pr) = found.as_ref().filter(|_| locked.task().pr_url.is_none()) {
        hooks::pull_request::keep(locked, &pr.url)?;
    }
    Ok(found)
}

fn asked_without_a_note(app: &App, task: &WorkItem) -> Result<Option<PullRequest>> {
    let gh = Gh::at(&app.project_of(task)?.path);
    if let Some(url) = &task.pr_url {
        app.progress.step(&format!("asking GitHub about {url}"));
        return gh.view(url).map(Some);
    }
    app.progress.step(&format!("asking GitHub about {}", task.branch));
    hooks::pull_request::find(app, &gh, task)
}

/// Merges here and pushes. Returns the events, which belong to the transition that follows.
fn merge_here(
    app: &App,
    locked: &mut LockedWorkItem,
    wish: MergeWish,
) -> Result<(Vec<Event>, bool, Option<String>)> {
    let project = app.project_of(locked.task())?;
    let branch = locked.task().branch.clone();
    let into = project.default_branch.clone();
    let git = Git::at(&project.path);
    // A second merge begins where the first has left the default branch.
    let _turn = lock_merges(&app.home, &project)?;
    let has_remote = git.has_remote()?;
    if has_remote {
        app.progress.step(&format!("fetching {into} from {REMOTE}"));
        if let Some(warning) = git.fetch(&[&into, &branch])? {
            return Err(Error::new(ErrorKind::Environment, warning)
                .help("nothing was merged, since it could not be pushed: mend that, then merge again"));
        }
    }
    let plan = git.plan_merge(&branch, &into, wish.strategy, locked.worktree().as_deref())?;
    // After a merge that was not pushed, or was killed, there is nothing new.
    if !plan.is_new && locked.history().branch.merge.is_none() && !wish.force {
        return Err(nothing_to_merge(&branch, &project));
    }
    app.progress.step(&format!("merging {branch} into {into}"));
    locked.append(Event::MergeStarted { into: into.clone(), commit: plan.commit.clone() }, Set::new())?;
    git.merge(&plan, &into)?;
    if has_remote {
        app.progress.step(&format!("pushing {into}"));
        git.push(REMOTE, &into).map_err(not_pushed)?;
    }
    let strategy = event::Strategy::from(wish.strategy.as_str());
    let merged = Event::TaskMerged { strategy, into, commit: Some(plan.commit.clone()) };
    Ok((vec![merged], has_remote, Some(plan.commit)))
}

fn lock_merges(home: &Home, project: &Project) -> Result<Lock> {
    let path = home.tasks().join(&project.name).join(".merge.lock");
    lock::acquire(
        home,
        &path,
        LockRank::Merge,
        &format!("the branch {} of {}", project.default_branch, project.name),
    )
}

fn nothing_to_merge(branch: &str, project: &Project) -> Error {
    let into = &project.default_branch;
    let message = format!("nothing to merge: `{branch}` has no commit that `{into}` has not");
    Error::new(ErrorKind::Refused, message)
        .help("if it was merged by hand, or nothing was to be done, `orange task merge --force` finishes the task; else `orange task cancel`")
}

fn not_pushed(error: Error) -> Error {
    error
        .help("the merge is done here and not pushed; the task stays as it is: mend the push and merge again")
}

fn mark_forced(event: &mut Event, from: &str) {
    if let Event::TaskMerged { strategy, into, commit } = event {
        *event = Event::TaskForceMerged {
            from: from.to_owned(),
            strategy: std::mem::take(strategy),
            into: std::mem::take(into),
            commit: commit.take(),
        };
    }
}
