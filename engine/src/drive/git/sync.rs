//! Brings a task's branch up to its base: the commit is planned without a checkout, and then the branch moves to it.

use std::path::Path;

use orange_core::merge::{BegunMerge, BegunSync, Strategy, SyncCourse, SyncSides, UndoneMerge};

use super::combine::{MergeForm, PlanResult, Sides, Taken};
use super::merge::TargetTips;
use super::{Git, REMOTE, refused};
use crate::Result;

/// The form of a sync.
#[derive(Clone, Copy, Debug)]
pub struct SyncForm<'s> {
    /// `merge` or `rebase`.
    pub strategy: Strategy,
    /// The sync that was begun and has not ended.
    pub begun: Option<BegunSync<'s>>,
    /// The last merge of the branch into its base.
    pub merged: Option<BegunMerge<'s>>,
    /// The merge of the branch into its base that was taken back.
    pub undone: Option<UndoneMerge<'s>>,
    /// True for a dry run: nothing is signed.
    pub is_trial: bool,
}

/// A possible sync: its commit exists, and no branch has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncPlan {
    /// The commit of the branch before.
    pub from: String,
    /// The commit of the base.
    pub onto: String,
    /// The future commit of the branch; `from` if that has everything of the base.
    pub commit: String,
    /// The strategy.
    pub strategy: Strategy,
    /// True if the journal has this sync already.
    pub is_begun: bool,
}

impl SyncPlan {
    /// True if the branch changes.
    pub fn is_new(&self) -> bool {
        self.from != self.commit
    }
}

impl Git {
    /// Plans what brings a branch up to its base, with the commits that only the remote's base has, by the last fetch. It changes
    /// no branch and no checkout. After a sync that was begun, it goes on with that.
    ///
    /// It refuses if both have changed the same lines, if the result contains the task's own file or a repository without its
    /// files, if the base has diverged from the remote's, and if the remote's branch has commits that the branch lacks.
    pub fn plan_sync(&self, branch: &str, base: &str, form: SyncForm<'_>) -> PlanResult<SyncPlan> {
        let SyncForm { strategy, begun, merged, undone, is_trial } = form;
        self.check_no_rebase(branch)?;
        let tip = self.tip(branch)?;
        let TargetTips { newest: onto, .. } = self.target_tips(base)?;
        let course = begun.map_or(Ok(SyncCourse::Whole), |begun| {
            let exists = self.has_commit(begun.commit)?;
            let contains = exists && self.is_ancestor(begun.commit, &tip)?;
            let now = SyncSides { tip: &tip, base: &onto, strategy, exists, contains };
            Ok::<_, crate::Error>(begun.course(&now))
        })?;
        match (course, begun) {
            (SyncCourse::Done | SyncCourse::Repeat, Some(BegunSync { from, onto, commit, strategy })) => {
                let [from, onto, commit] = [from, onto, commit].map(str::to_owned);
                return Ok(SyncPlan { from, onto, commit, strategy, is_begun: true });
            }
            (SyncCourse::Whole, _) | (_, None) => {}
        }
        self.check_has_pushed(branch, &tip)?;
        let plan = |commit: String| SyncPlan {
            from: tip.clone(),
            onto: onto.clone(),
            commit,
            strategy,
            is_begun: false,
        };
        if self.is_ancestor(&onto, &tip)? {
            return Ok(plan(tip.clone()));
        }
        // The base has the commits of a merge that it took back, and not what they change.
        let fork = self.taken_back(undone.as_ref(), &onto, &tip)?;
        let commit = if fork.is_none() && self.is_ancestor(&tip, &onto)? {
            onto.clone()
        } else {
            let taken = match (&fork, undone) {
                (Some(fork), Some(undone)) => {
                    Taken { since: Some(fork), before: Some(undone.onto), source: None }
                }
                (None, _) | (_, None) => self.taken(merged.as_ref(), &onto, &tip)?,
            };
            let sides = Sides { ours: &onto, theirs: &tip, branch, target: base, taken };
            self.caught_up(&sides, &MergeForm { strategy, is_trial, ..MergeForm::default() })?
        };
        self.check_is_work(&commit, branch, base)?;
        Ok(plan(commit))
    }

    /// True if the history of a commit has this other one.
    pub fn contains(&self, commit: &str, other: &str) -> Result<bool> {
        self.is_ancestor(other, commit)
    }

    /// Refuses a branch of which the remote has commits that are not here.
    fn check_has_pushed(&self, branch: &str, tip: &str) -> Result<()> {
        let there = self.commit_in(&self.repo, &format!("refs/remotes/{REMOTE}/{branch}"))?;
        let Some(there) = there else { return Ok(()) };
        if self.is_ancestor(&there, tip)? {
            return Ok(());
        }
        Err(refused(format!("`{branch}` on `{REMOTE}` has commits that `{branch}` here lacks")).help(format!(
            "take them in, where `{branch}` is checked out: `git pull --rebase {REMOTE} {branch}`; then repeat this"
        )))
    }

    /// Moves the branch to the commit of the plan: in its worktree, or where it has none, its ref alone. On a failure nothing has
    /// changed.
    pub fn sync(&self, plan: &SyncPlan, branch: &str, worktree: Option<&Path>) -> Result<()> {
        let SyncPlan { from, commit, .. } = plan;
        let here = self.branch_tip(branch)?;
        if let Some(here) = &here
            && self.is_ancestor(commit, here)?
        {
            return Ok(());
        }
        let Some(worktree) = worktree.filter(|worktree| worktree.exists()) else {
            if let Some(checkout) = self.checkout_of(branch)? {
                let shown = checkout.display();
                return Err(refused(format!(
                    "`{branch}` is checked out in {shown}, which is not the task's worktree"
                ))
                .help(format!(
                    "leave the branch there with `git -C '{shown}' switch --detach`, then repeat this"
                )));
            }
            let old = here.map_or("", |_| from.as_str());
            return self.move_ref(branch, commit, old);
        };
        if self.is_ancestor(from, commit)? {
            // Git refuses here if somebody has moved the branch meanwhile.
            return self.advance(worktree, commit, branch);
        }
        self.check_on_branch(worktree, branch)?;
        self.reset(worktree, branch, from, commit)
    }

    /// Moves the branch that is checked out in a worktree from this commit to another one. Git refuses, before it changes a file, if
    /// uncommitted work is in the way.
    pub(super) fn reset(&self, worktree: &Path, branch: &str, from: &str, commit: &str) -> Result<()> {
        if self.branch_tip(branch)?.as_deref() != Some(from) {
            return Err(refused(format!("`{branch}` has moved meanwhile")).help("repeat this"));
        }
        let there = self.inside(worktree)?;
        let output = there.patiently(|| there.call().args(["reset", "--quiet", "--keep", commit]))?;
        if output.success() {
            return Ok(());
        }
        let shown = worktree.display();
        let message = format!("{shown}, which is on `{branch}`, cannot follow it: {}", output.complaint());
        Err(refused(message).help(format!(
            "commit or stash what is in the way in {shown}, or mend what git names; then repeat this"
        )))
    }
}
