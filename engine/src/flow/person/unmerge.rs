//! Takes the merge of a finished task back, before the task is open again. Where the remote does not have the merge, the target goes back to its
//! commit before; otherwise it gets a commit that takes the merge back, which is pushed without force.

use std::time::Duration;

use crate::app::App;
use crate::drive::git::{Git, REMOTE, UndoForm, UndoPlan};
use crate::flow::changed::undone_merge;
use crate::flow::person::merge::{check_target, lock_merges};
use crate::store::{Event, LockedWorkItem, Record, Set, WorkItem, WorkItemHistory, event};
use crate::{Error, ErrorKind, Result};
use orange_api::TakenBack;
use orange_system::fault;

/// The merge that finished a task, by its journal.
pub(super) struct DoneMerge {
    pub into: String,
    /// The commit of the target before.
    pub onto: String,
    /// The commit of the target after it.
    pub merged: String,
    /// The commit of the task's branch.
    pub source: String,
}

/// The merge that finished a task.
///
/// # Errors
/// `refused` for the merge of a pull request, and for one of an older version, whose journal lacks the commits.
pub(super) fn done(task: &WorkItem, records: &[Record]) -> Result<DoneMerge> {
    let refused = |message: String, help: &str| Err(Error::new(ErrorKind::Refused, message).help(help));
    let is_end = |event: &Event| {
        matches!(event, Event::TaskMerged { kept: false, .. } | Event::TaskForceMerged { .. })
    };
    let end = records.iter().rposition(|record| is_end(&record.event)).unwrap_or_default();
    let strategy = match records.get(end).map(|record| &record.event) {
        Some(Event::TaskMerged { strategy, .. } | Event::TaskForceMerged { strategy, .. }) => {
            strategy.as_str()
        }
        Some(_) | None => "",
    };
    if strategy == event::Strategy::PullRequest.as_str() {
        let message = format!("task {} was merged by its pull request", task.id);
        return refused(message, "take it back there: the page of the pull request has the button Revert");
    }
    let begun = records.iter().take(end).rev().find_map(|record| {
        let Event::MergeStarted { into, commit, onto, source, .. } = &record.event else { return None };
        let (onto, source) = (onto.clone()?, source.clone()?);
        Some(DoneMerge { into: into.clone(), onto, merged: commit.clone(), source })
    });
    match begun {
        Some(begun) => Ok(begun),
        None => refused(
            format!("the journal of task {} does not say where its target was before the merge", task.id),
            "take the merge back by hand with `git revert`; `orange task migrate` opens the task again",
        ),
    }
}

/// Dry run of [`take_back`], without a fetch.
pub(super) fn would_take_back(app: &App, task: &WorkItem, done: &DoneMerge) -> Result<TakenBack> {
    let git = Git::at(&app.project_of(task)?.path);
    let plan = git.plan_undo(UndoForm { is_trial: true, ..form(task, done, None) })?;
    let pushed = plan.reverts && git.has_remote()?;
    Ok(answer(done, plan, pushed))
}

/// Takes the merge back, and pushes that where others may have the merge. It can be repeated after a failure at any point.
pub(super) fn take_back(app: &App, locked: &mut LockedWorkItem, done: &DoneMerge) -> Result<TakenBack> {
    let project = app.project_of(locked.task())?;
    let (git, into) = (Git::at(&project.path), &done.into);
    check_target(app, &project, locked.task(), into)?;
    let _turn = lock_merges(&app.home, &project, into, Duration::ZERO)?;
    let has_remote = git.has_remote()?;
    if has_remote {
        app.progress.step(&format!("fetching {into} from {REMOTE}"));
        if let Some(warning) = git.fetch(&[into])? {
            return Err(Error::new(ErrorKind::Environment, warning)
                .help("nothing was changed, since others may have the merge: mend that, then repeat this"));
        }
    }
    let begun = begun(locked.history(), done).map(|(from, commit)| (from.to_owned(), commit.to_owned()));
    let begun = begun.as_ref().map(|(from, commit)| (from.as_str(), commit.as_str()));
    let plan = git.plan_undo(form(locked.task(), done, begun))?;
    app.progress.step(&format!("taking the merge into {into} back"));
    let id = locked.task().id.clone();
    if let Some(commit) = plan.commit.as_deref()
        && begun.map(|(_, commit)| commit) != Some(commit)
    {
        git.keep_planned(commit, &id)?;
        // A branch that was merged and taken back before has left its target before that merge.
        let before = undone_merge(locked.history(), into);
        let is_again = git.has_taken_back(before.as_ref(), &done.onto, &done.source)?;
        let onto = before.filter(|_| is_again).map_or(done.onto.as_str(), |before| before.onto).to_owned();
        let undoing = event::MergeUndo {
            into: into.clone(),
            merged: done.merged.clone(),
            onto,
            source: done.source.clone(),
            from: plan.from.clone(),
            commit: plan.commit.clone(),
            reverts: plan.reverts,
        };
        locked.append(Event::MergeUndoing(undoing), Set::new())?;
    }
    fault::step("take back", into);
    git.take_back(&plan, into)?;
    git.drop_planned(&id)?;
    let pushed = has_remote && plan.reverts;
    if pushed {
        app.progress.step(&format!("pushing {into}"));
        fault::step("push", into);
        git.push(REMOTE, into).map_err(|error| {
            error.help(format!(
                "the commit that takes the merge back is here and not pushed; if `{into}` is protected, open a pull request \
                 for it; then repeat this"
            ))
        })?;
    }
    Ok(answer(done, plan, pushed))
}

/// The commits of the target before and after an undo of this merge that was begun.
fn begun<'h>(history: &'h WorkItemHistory, done: &DoneMerge) -> Option<(&'h str, &'h str)> {
    let undone =
        history.branch.undone.as_ref().filter(|undone| undone.reverts && undone.into == done.into)?;
    (undone.merged == done.merged).then_some((undone.from.as_str(), undone.commit.as_deref()?))
}

fn form<'f>(task: &'f WorkItem, done: &'f DoneMerge, begun: Option<(&'f str, &'f str)>) -> UndoForm<'f> {
    let DoneMerge { into, onto, merged, .. } = done;
    UndoForm { branch: &task.branch, into, onto, merged, begun, is_trial: false }
}

fn answer(done: &DoneMerge, plan: UndoPlan, pushed: bool) -> TakenBack {
    TakenBack { into: done.into.clone(), commit: plan.commit, reverts: plan.reverts, pushed }
}
