//! Takes the merge of a finished task back, before the task is open again. Where the remote does not have the merge, the target goes back to its
//! commit before; otherwise it gets a commit that takes the merge back, which is pushed without force, or becomes a pull request.

use std::time::Duration;

use crate::app::App;
use crate::drive::forge::{NewPullRequest, PrState};
use crate::drive::git::{Git, REMOTE, UndoForm, UndoPlan};
use crate::flow::changed::undone_merge;
use crate::flow::person::merge::{check_target, lock_merges};
use crate::store::projects::Project;
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
    let pushed = has_remote && plan.reverts;
    if let Some(commit) = plan.commit.as_deref().filter(|_| pushed)
        && !git.is_pushed(commit, into)?
    {
        app.progress.step(&format!("pushing {into}"));
        fault::step("push", into);
        if let Err(error) = git.push_commit(commit, into) {
            let error =
                error.help(format!("nothing has changed: mend the push to `{into}`, then repeat this"));
            return match is_declined(&error.message) {
                true => propose(app, &project, locked.task(), done, commit, error),
                false => Err(error),
            };
        }
    }
    fault::step("take back", into);
    git.take_back(&plan, into)?;
    git.drop_planned(&id)?;
    Ok(answer(done, plan, pushed))
}

/// True for the words of a remote that takes no push to a branch by its rules, such as those of a protected one. Of a push that comes too
/// late, or breaks off, the words are others.
fn is_declined(complaint: &str) -> bool {
    let mut refusals = complaint.split("[remote rejected]").skip(1);
    refusals.any(|words| words.contains("declined"))
}

/// Opens a pull request with the commit that takes the merge back, or finds the one that is open. The target and the task stay as they
/// are until it is merged.
fn propose(
    app: &App,
    project: &Project,
    task: &WorkItem,
    done: &DoneMerge,
    commit: &str,
    declined: Error,
) -> Result<TakenBack> {
    let (git, forge) = (Git::at(&project.path), app.forge_of(project)?);
    if forge.check(app.path()).is_err() {
        let help = format!(
            "{}, or install `{}`, with which it becomes a pull request",
            declined.help,
            forge.kind().program()
        );
        return Err(declined.help(help));
    }
    let head = revert_branch(&task.branch, &done.merged);
    app.progress.step(&format!("asking {} about {head}", forge.name()));
    let known = forge.of_branch(&head)?.filter(|known| known.state == PrState::Open);
    let url = match known {
        Some(known) => known.url,
        None => {
            app.progress.step(&format!("opening a pull request for {head}"));
            fault::step("propose", &head);
            git.push_commit(commit, &head)?;
            let title = format!("Revert the merge of branch '{}'", task.branch);
            let body = format!("This takes back {}..{}, by `orange task undo`.", done.onto, done.merged);
            forge.create(&NewPullRequest { base: &done.into, head: &head, title: &title, body: &body })?
        }
    };
    let commit = Some(commit.to_owned());
    Ok(TakenBack { into: done.into.clone(), commit, reverts: true, pushed: false, pr_url: Some(url) })
}

/// The branch of the commit that takes this merge of a branch back.
fn revert_branch(branch: &str, merged: &str) -> String {
    format!("revert-{branch}-{}", merged.get(..7).unwrap_or(merged))
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
    TakenBack { into: done.into.clone(), commit: plan.commit, reverts: plan.reverts, pushed, pr_url: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_branch_declines_a_push() {
        for words in [
            "remote: error: GH006: Protected branch update failed for refs/heads/main.\n ! [remote rejected] c -> main (protected branch hook declined)",
            "remote: error: GH013: Repository rule violations found\n ! [remote rejected] c -> main (push declined due to repository rule violations)",
            "remote: GitLab: You are not allowed to push code to protected branches on this project.\n ! [remote rejected] c -> main (pre-receive hook declined)",
        ] {
            assert!(is_declined(words), "{words}");
        }
        for words in [
            " ! [rejected] c -> main (fetch first)",
            " ! [rejected] c -> main (non-fast-forward)",
            " ! [remote rejected] c -> main (cannot lock ref 'refs/heads/main')",
            "error: failed to push: hook declined",
            "fatal: unable to access 'https://github.com/': Could not resolve host",
        ] {
            assert!(!is_declined(words), "{words}");
        }
    }

    #[test]
    fn each_merge_has_a_branch_that_takes_it_back() {
        assert_eq!(revert_branch("fix/login", "0123456789abcdef"), "revert-fix/login-0123456");
        assert_eq!(revert_branch("fix", "01"), "revert-fix-01");
    }
}
