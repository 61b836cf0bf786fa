//! Merges a task's branch into its target, locally.

use std::path::{Path, PathBuf};

use orange_core::merge::{BegunMerge, MergeCourse, MergeSides, Strategy, UndoneMerge};

use super::combine::{Combined, MergeForm, MergedTrees, PlanResult, SIGNING, Sides, Taken, conflict};
use super::{Git, REMOTE, refused};
use crate::{Error, ErrorKind, Result};

/// Result of the check whether a branch can be merged.
#[derive(Clone, Debug)]
pub enum Mergeable {
    /// The default branch can move to it.
    FastForward,
    /// Both have commits that the other lacks; a merge commit joins them.
    WithCommit,
    /// The default branch has everything of it.
    Nothing,
    No {
        error: Error,
        /// True if the two change the same lines.
        is_conflict: bool,
    },
}

/// A possible merge: its commit exists, and no branch has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The future commit of the target.
    pub commit: String,
    /// True if the branch has commits that the target lacks, here or on the remote.
    pub is_new: bool,
    /// True if the journal has this merge already.
    pub is_begun: bool,
    /// The strategy; never `auto`.
    pub strategy: Strategy,
    /// The commit of the local target, if that exists.
    pub from: Option<String>,
    /// The commit of the target, here or on the remote: the newer one.
    pub onto: String,
    /// The commit of the branch.
    pub source: String,
}

/// The commits of a target.
pub(super) struct TargetTips {
    /// Here, if it exists.
    pub local: Option<String>,
    /// On the remote, if it exists there.
    pub remote: Option<String>,
    /// The one that contains the other.
    pub newest: String,
}

impl Git {
    /// Checks what a merge of `branch` into the target takes, and creates its commit without changing any branch or checkout.
    /// Commits that only the remote's target has, by the last fetch, are included. `worktree` is the task's. After a merge
    /// that was begun before, it goes on with that.
    ///
    /// It refuses if the worktree has uncommitted work or is on another branch, if the branch contains the task's own file or a
    /// repository without its files or conflicts, if the strategy is impossible, if the target has diverged from the remote's or is
    /// being rebased, and if a commit lacks the signature that the user's settings require.
    pub fn plan_merge<'f>(
        &self,
        branch: &str,
        target: &str,
        form: impl Into<MergeForm<'f>>,
        worktree: Option<&Path>,
    ) -> PlanResult<Merge> {
        let form = form.into();
        if let Some(worktree) = worktree.filter(|worktree| worktree.exists()) {
            self.check_all_committed(worktree, branch)?;
        }
        if !form.leaves_target {
            self.check_no_rebase(target)?;
        }
        let theirs = self.tip(branch)?;
        self.check_is_work(&theirs, branch, target)?;
        let TargetTips { local: from, remote, newest: ours } = self.target_tips(target)?;
        let strategy = form.strategy;
        let course = form.begun.map_or(Ok(MergeCourse::Whole), |begun| {
            self.course(&begun, from.as_deref(), &ours, &theirs, strategy)
        })?;
        let plan = |combined: Combined, is_new, is_begun| Merge {
            commit: combined.commit,
            strategy: combined.strategy,
            is_new,
            is_begun,
            from: from.clone(),
            onto: ours.clone(),
            source: theirs.clone(),
        };
        let taken = match (course, form.begun) {
            (MergeCourse::Done, Some(begun)) => {
                return Ok(plan(Combined { commit: ours.clone(), strategy: begun.strategy }, false, true));
            }
            (MergeCourse::Repeat, Some(begun)) => {
                let commit = begun.commit.to_owned();
                return Ok(plan(Combined { commit, strategy: begun.strategy }, true, true));
            }
            (MergeCourse::Rest, Some(begun)) => self.rest(&begun, &theirs)?,
            (MergeCourse::Whole, _) | (_, None) => Taken::default(),
        };
        let mut is_new = false;
        for side in [&from, &remote].into_iter().flatten() {
            is_new |= !self.is_ancestor(&theirs, side)?;
        }
        let made_by = if strategy == Strategy::Auto { Strategy::FastForward } else { strategy };
        let fork = self.taken_back(form.undone.as_ref(), &ours, &theirs)?;
        let taken = match (&fork, form.undone) {
            (Some(fork), Some(undone)) => {
                Taken { since: Some(fork), before: Some(undone.onto), source: None }
            }
            (None, _) | (_, None) => taken,
        };
        if fork.is_none() && self.is_ancestor(&theirs, &ours)? {
            return Ok(plan(Combined { commit: ours.clone(), strategy: made_by }, is_new, false));
        }
        self.check_signed(&theirs, branch)?;
        let sides = Sides { ours: &ours, theirs: &theirs, branch, target, taken };
        Ok(match self.combine(&sides, &form)? {
            Some(combined) => plan(combined, is_new || fork.is_some(), false),
            None => plan(Combined { commit: ours.clone(), strategy: made_by }, false, false),
        })
    }

    /// The commits of a target, as of the last fetch.
    pub(super) fn target_tips(&self, target: &str) -> Result<TargetTips> {
        let local = self.commit_in(&self.repo, &format!("refs/heads/{target}"))?;
        let remote = self.commit_in(&self.repo, &format!("refs/remotes/{REMOTE}/{target}"))?;
        let newest = match (&local, &remote) {
            (Some(local), Some(remote)) => self.newer(local, remote, target)?,
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => self.base(target)?,
        };
        if local.as_ref().is_some_and(|local| *local != newest) {
            self.check_signed(&newest, &format!("{REMOTE}/{target}"))?;
        }
        Ok(TargetTips { local, remote, newest })
    }

    /// The newest commit of the target, here or on the remote, as of the last fetch.
    pub fn newest_commit(&self, target: &str) -> Result<String> {
        self.target_tips(target).map(|tips| tips.newest)
    }

    /// The name of the target, here or on the remote: of the one that contains the other, as of the last fetch.
    pub fn newest(&self, target: &str) -> Result<String> {
        let TargetTips { local, newest, .. } = self.target_tips(target)?;
        Ok(if local.is_none_or(|local| local == newest) {
            target.to_owned()
        } else {
            format!("{REMOTE}/{target}")
        })
    }

    /// The part of the branch that the target has by a merge before, if there is more now.
    pub(super) fn taken<'m>(
        &self,
        begun: Option<&BegunMerge<'m>>,
        ours: &str,
        theirs: &str,
    ) -> Result<Taken<'m>> {
        let Some(begun) = begun else { return Ok(Taken::default()) };
        match self.course(begun, None, ours, theirs, begun.strategy)? {
            MergeCourse::Rest => self.rest(begun, theirs),
            MergeCourse::Done | MergeCourse::Repeat | MergeCourse::Whole => Ok(Taken::default()),
        }
    }

    /// The part that the earlier merge has taken. A branch that has that merge itself, since it was brought up to its base, and the target
    /// have a common commit behind it.
    fn rest<'m>(&self, begun: &BegunMerge<'m>, theirs: &str) -> Result<Taken<'m>> {
        let has_merge = self.is_ancestor(begun.commit, theirs)?;
        let since = (!has_merge).then_some(begun.source);
        Ok(Taken { source: Some(begun.source), since, before: None })
    }

    /// The course of a merge that follows another.
    fn course(
        &self,
        begun: &BegunMerge<'_>,
        target: Option<&str>,
        ours: &str,
        source: &str,
        strategy: Strategy,
    ) -> Result<MergeCourse> {
        let exists = self.has_commit(begun.commit)? && self.has_commit(begun.source)?;
        Ok(begun.course(&MergeSides {
            target,
            source,
            strategy,
            contains: exists && self.is_ancestor(begun.commit, ours)?,
            continues: exists && self.is_ancestor(begun.source, source)?,
            // Somebody may have pushed since.
            follows: exists && self.is_ancestor(ours, begun.commit)?,
        }))
    }

    /// Checks whether `branch` can be merged, as far as git knows without a fetch. It moves no branch.
    pub fn mergeable(
        &self,
        branch: &str,
        target: &str,
        worktree: Option<&Path>,
        begun: Option<&BegunMerge<'_>>,
        undone: Option<&UndoneMerge<'_>>,
    ) -> Result<Mergeable> {
        if let Some(worktree) = worktree.filter(|worktree| worktree.exists())
            && let Err(error) = self.check_all_committed(worktree, branch)
        {
            return Ok(Mergeable::No { error, is_conflict: false });
        }
        if let Err(error) = self.check_no_rebase(target) {
            return Ok(Mergeable::No { error, is_conflict: false });
        }
        let (ours, theirs) = match self.sides(branch, target)? {
            Ok(sides) => sides,
            Err(error) => return Ok(Mergeable::No { error, is_conflict: false }),
        };
        let output = self.call().args(["merge-base", &ours, &theirs]).run()?;
        let base = if output.code() == Some(1) { String::new() } else { output.checked()?.text() };
        let fork = self.taken_back(undone, &ours, &theirs)?;
        if base == theirs && fork.is_none() {
            return Ok(Mergeable::Nothing);
        }
        match self.check_is_work(&theirs, branch, target) {
            Err(error) if error.kind == ErrorKind::Refused => {
                return Ok(Mergeable::No { error, is_conflict: false });
            }
            checked => checked?,
        }
        if base == ours {
            return Ok(Mergeable::FastForward);
        }
        let course =
            begun.map(|begun| self.course(begun, None, &ours, &theirs, begun.strategy)).transpose()?;
        let taken = match (course, begun) {
            (Some(MergeCourse::Done), _) => return Ok(Mergeable::Nothing),
            (Some(MergeCourse::Rest), Some(begun)) => self.rest(begun, &theirs)?,
            (Some(_) | None, _) => Taken { since: fork.as_deref(), ..Taken::default() },
        };
        let sides = Sides { ours: &ours, theirs: &theirs, branch, target, taken };
        let merged = self.check_sides(&sides).and_then(|()| self.merge_trees(&sides));
        Ok(match merged {
            Ok(MergedTrees::Clean(_)) => Mergeable::WithCommit,
            Ok(MergedTrees::Conflict(files)) => {
                Mergeable::No { error: conflict(&files, &sides), is_conflict: true }
            }
            Err(error) => Mergeable::No { error, is_conflict: false },
        })
    }

    /// The files in which a branch conflicts with its target, as far as git knows without a fetch, and the commit of the branch.
    pub fn conflicts(&self, branch: &str, target: &str) -> Result<(String, Vec<String>)> {
        let (ours, theirs) = self.sides(branch, target)??;
        let sides = Sides { ours: &ours, theirs: &theirs, branch, target, taken: Taken::default() };
        let files = match self.merge_trees(&sides)? {
            MergedTrees::Clean(_) => Vec::new(),
            MergedTrees::Conflict(files) => files,
        };
        Ok((theirs, files))
    }

    /// The commits of the default branch and of a branch, here or on the remote, with one call of git where they do not differ.
    fn sides(&self, branch: &str, default_branch: &str) -> Result<Result<(String, String)>> {
        let here = |name: &str| format!("refs/heads/{name}");
        let there = |name: &str| format!("refs/remotes/{REMOTE}/{name}");
        let names = [here(default_branch), there(default_branch), here(branch), there(branch)];
        let refs = self.refs(&[&names[0], &names[1], &names[2], &names[3]])?;
        let [local, remote, branch_here, branch_there] = names.map(|name| {
            let found = refs.iter().find(|one| one.name == name);
            found.map(|one| one.commit.clone())
        });
        let ours = match (local, remote) {
            (Some(local), Some(remote)) if local != remote => {
                match self.newer(&local, &remote, default_branch) {
                    Ok(newer) => newer,
                    Err(error) if error.kind == ErrorKind::Refused => return Ok(Err(error)),
                    Err(error) => return Err(error),
                }
            }
            (Some(commit), _) | (None, Some(commit)) => commit,
            (None, None) => self.base(default_branch)?,
        };
        let theirs = match branch_here.or(branch_there) {
            Some(commit) => commit,
            None => self.tip(branch)?,
        };
        Ok(Ok((ours, theirs)))
    }

    /// Moves the default branch to the commit of the plan, and fast-forwards the checkout that is on it. On a failure nothing has
    /// changed.
    pub fn merge(&self, plan: &Merge, default_branch: &str) -> Result<()> {
        let Merge { commit, from, .. } = plan;
        if from.as_ref() == Some(commit) {
            return Ok(());
        }
        match self.checkout_of(default_branch)? {
            Some(checkout) => self.advance(&checkout, commit, default_branch),
            None => self.move_ref(default_branch, commit, from.as_deref().unwrap_or_default()),
        }
    }

    /// Refuses a branch that has no commits beyond the default branch, or contains the task's own file.
    pub fn check_has_work(&self, branch: &str, default_branch: &str) -> Result<()> {
        let (base, tip) = (self.base(default_branch)?, self.tip(branch)?);
        self.check_is_work(&tip, branch, default_branch)?;
        if !self.is_ancestor(&tip, &base)? {
            return Ok(());
        }
        Err(refused(format!("`{branch}` has no commit that `{default_branch}` has not"))
            .help("there is nothing to open a pull request for: commit the work first"))
    }

    /// The one of two commits of the default branch that contains the other.
    fn newer(&self, local: &str, remote: &str, default_branch: &str) -> Result<String> {
        if self.is_ancestor(remote, local)? {
            Ok(local.to_owned())
        } else if self.is_ancestor(local, remote)? {
            Ok(remote.to_owned())
        } else {
            let message = format!(
                "`{default_branch}` and `{REMOTE}/{default_branch}` have diverged: a push would be refused"
            );
            Err(refused(message).help(format!(
                "run `git pull --rebase` on `{default_branch}` in {}, then repeat this",
                self.repo.display()
            )))
        }
    }

    /// Refuses during a rebase of the default branch, whose end would move the branch and undo the merge.
    pub(super) fn check_no_rebase(&self, default_branch: &str) -> Result<()> {
        let folder = self.common_dir()?;
        let name = format!("refs/heads/{default_branch}");
        let is_rebased = |kind: &str| {
            std::fs::read_to_string(folder.join(kind).join("head-name")).is_ok_and(|head| head.trim() == name)
        };
        if !["rebase-merge", "rebase-apply"].into_iter().any(is_rebased) {
            return Ok(());
        }
        Err(refused(format!("`{default_branch}` is being rebased in {}", self.repo.display())).help(
            "finish that with `git rebase --continue`, or leave it with `git rebase --abort`, then repeat this",
        ))
    }

    /// Refuses a worktree with uncommitted work, or on another branch.
    pub fn check_all_committed(&self, worktree: &Path, branch: &str) -> Result<()> {
        let shown = worktree.display();
        if let Some(change) = self.changes(worktree)?.first() {
            return Err(refused(format!("{shown} has uncommitted work: {}", change.path.display())).help(
                format!("commit it there, or put it aside with `git -C '{shown}' stash --include-untracked`"),
            ));
        }
        self.check_on_branch(worktree, branch)
    }

    /// Refuses what `git merge` refuses with `merge.verifySignatures`: a branch whose last commit has no signature of a trusted
    /// key.
    fn check_signed(&self, commit: &str, branch: &str) -> Result<()> {
        if !self.is_set("merge.verifySignatures")? {
            return Ok(());
        }
        let trust = self.setting("gpg.minTrustLevel")?.unwrap_or_else(|| "marginal".to_owned());
        let call = self.call().preset(["-c", &format!("gpg.minTrustLevel={trust}")]).bound(SIGNING);
        let output = call.args(["verify-commit", commit]).run()?;
        if output.success() {
            return Ok(());
        }
        let message = format!(
            "`merge.verifySignatures` asks for a signature, and the last commit of `{branch}` has no good one {}",
            output.complaint()
        );
        Err(refused(message.trim_end().to_owned()).help(format!(
            "look at it with `git verify-commit {commit}`, sign it with `git commit --amend --no-edit --gpg-sign`, then \
             merge again; or set `merge.verifySignatures` to false in this repository"
        )))
    }

    pub(super) fn is_set(&self, name: &str) -> Result<bool> {
        let output = self.call().args(["config", "--type=bool", "--get", name]).run()?;
        match output.code() {
            Some(1) => Ok(false),
            _ => Ok(output.checked()?.text() == "true"),
        }
    }

    pub(super) fn setting(&self, name: &str) -> Result<Option<String>> {
        let output = self.call().args(["config", "--get", name]).run()?;
        match output.code() {
            Some(1) => Ok(None),
            _ => Ok(Some(output.checked()?.text())),
        }
    }

    /// Fast-forwards the checkout on the default branch; git itself refuses, before it changes a file, if uncommitted work is in the
    /// way.
    pub(super) fn advance(&self, checkout: &Path, commit: &str, default_branch: &str) -> Result<()> {
        // The branch may have options (`branch.NAME.mergeOptions`). Signatures have been checked.
        let verb = [
            "merge",
            "--quiet",
            "--ff-only",
            "--no-squash",
            "--no-autostash",
            "--no-verify-signatures",
            commit,
        ];
        let there = self.inside(checkout)?;
        let output = there.patiently(|| there.call().args(verb))?;
        if output.success() {
            return Ok(());
        }
        let shown = checkout.display();
        let message =
            format!("{shown}, which is on `{default_branch}`, cannot take the merge: {}", output.complaint());
        Err(refused(message).help(format!(
            "commit or stash what is in the way in {shown}, or mend what git names; then repeat this"
        )))
    }

    pub(super) fn move_ref(&self, default_branch: &str, commit: &str, old: &str) -> Result<()> {
        let name = format!("refs/heads/{default_branch}");
        self.patiently(|| self.call().args(["update-ref", &name, commit, old]))?.checked().map(drop)
    }

    pub(super) fn checkout_of(&self, branch: &str) -> Result<Option<PathBuf>> {
        let on_it = |worktree: &super::ListedWorktree| {
            worktree.branch.as_deref() == Some(branch) && worktree.path.exists()
        };
        Ok(self
            .worktrees()?
            .into_iter()
            .find(|worktree| !worktree.bare && on_it(worktree))
            .map(|worktree| worktree.path))
    }

    /// True if the default branch, here or on the remote as of the last fetch, contains a branch.
    pub fn is_merged(&self, branch: &str, default_branch: &str) -> Result<bool> {
        let tip = self.tip(branch)?;
        for into in self.tips(default_branch)? {
            if self.is_ancestor(&tip, &into)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commit of a branch here, or else on the remote.
    pub(super) fn tip(&self, branch: &str) -> Result<String> {
        for name in [format!("refs/heads/{branch}"), format!("refs/remotes/{REMOTE}/{branch}")] {
            if let Some(commit) = self.commit_in(&self.repo, &name)? {
                return Ok(commit);
            }
        }
        Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no branch `{branch}`, neither here nor on `{REMOTE}`"),
        )
        .help("a task that has had no worktree has no work to merge; if the branch was renamed, `orange task update --branch NAME` says so"))
    }

    pub(in crate::drive) fn is_ancestor(&self, one: &str, of: &str) -> Result<bool> {
        let output = self.call().args(["merge-base", "--is-ancestor", one, of]).run()?;
        match output.code() {
            Some(1) => Ok(false),
            _ => output.checked().map(|_| true),
        }
    }
}
