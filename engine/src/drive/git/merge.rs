//! Merges a task's branch into the default branch, locally.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Git, REMOTE, refused};
use crate::{Error, ErrorKind, Result};

/// The time limit for a signature, which may need the user.
const SIGNING: Duration = Duration::from_secs(120);

/// The strategy of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The default branch moves to the task's branch; otherwise the merge fails.
    FastForward,
    /// A merge commit, always.
    Merge,
}

impl Strategy {
    /// The word in arguments, answers and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Strategy::FastForward => "ff",
            Strategy::Merge => "merge",
        }
    }
}

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
    /// The future commit of the default branch.
    pub commit: String,
    /// True if the branch has commits that the default branch lacks, here or on the remote.
    pub is_new: bool,
    /// The commit of the local default branch, if that exists.
    from: Option<String>,
}

impl Git {
    /// Checks what a merge of `branch` into the default branch takes, and creates its commit without changing any branch or checkout.
    /// Commits that only the remote's default branch has, by the last fetch, are included. `worktree` is the task's.
    ///
    /// It refuses if the worktree has uncommitted work or is on another branch, if the branch contains the task's own file or a
    /// repository without its files or conflicts, if `ff` is wanted and impossible, if the default branch has diverged from the remote's or is being rebased, and if
    /// a commit lacks the signature that the user's settings require.
    pub fn plan_merge(
        &self,
        branch: &str,
        default_branch: &str,
        strategy: Strategy,
        worktree: Option<&Path>,
    ) -> Result<Merge> {
        if let Some(worktree) = worktree.filter(|worktree| worktree.exists()) {
            self.check_all_committed(worktree, branch)?;
        }
        self.check_no_rebase(default_branch)?;
        let theirs = self.tip(branch)?;
        self.check_is_work(&theirs, branch, default_branch)?;
        let from = self.commit_in(&self.repo, &format!("refs/heads/{default_branch}"))?;
        let remote = self.commit_in(&self.repo, &format!("refs/remotes/{REMOTE}/{default_branch}"))?;
        let ours = match (&from, &remote) {
            (Some(from), Some(remote)) => self.newer(from, remote, default_branch)?,
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => self.base(default_branch)?,
        };
        let mut is_new = false;
        for side in [&from, &remote].into_iter().flatten() {
            is_new |= !self.is_ancestor(&theirs, side)?;
        }
        if from.as_ref().is_some_and(|from| *from != ours) {
            self.check_signed(&ours, &format!("{REMOTE}/{default_branch}"))?;
        }
        let commit = if self.is_ancestor(&theirs, &ours)? {
            ours
        } else {
            self.check_signed(&theirs, branch)?;
            self.combine(&ours, &theirs, branch, default_branch, strategy)?
        };
        Ok(Merge { commit, is_new, from })
    }

    /// Checks whether `branch` can be merged, as far as git knows without a fetch. It moves no branch.
    pub fn mergeable(
        &self,
        branch: &str,
        default_branch: &str,
        worktree: Option<&Path>,
    ) -> Result<Mergeable> {
        if let Some(worktree) = worktree.filter(|worktree| worktree.exists())
            && let Err(error) = self.check_all_committed(worktree, branch)
        {
            return Ok(Mergeable::No { error, is_conflict: false });
        }
        if let Err(error) = self.check_no_rebase(default_branch) {
            return Ok(Mergeable::No { error, is_conflict: false });
        }
        let (ours, theirs) = match self.sides(branch, default_branch)? {
            Ok(sides) => sides,
            Err(error) => return Ok(Mergeable::No { error, is_conflict: false }),
        };
        let output = self.call().args(["merge-base", &ours, &theirs]).run()?;
        let base = if output.code() == Some(1) { String::new() } else { output.checked()?.text() };
        if base == theirs {
            return Ok(Mergeable::Nothing);
        }
        match self.check_is_work(&theirs, branch, default_branch) {
            Err(error) if error.kind == ErrorKind::Refused => {
                return Ok(Mergeable::No { error, is_conflict: false });
            }
            checked => checked?,
        }
        if base == ours {
            return Ok(Mergeable::FastForward);
        }
        Ok(match self.merged_tree(&ours, &theirs, branch, default_branch) {
            Ok(_) => Mergeable::WithCommit,
            Err(error) => {
                let is_conflict = error.kind == ErrorKind::Refused;
                Mergeable::No { error, is_conflict }
            }
        })
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
                "run `git pull --rebase` on `{default_branch}` in {}, then merge again",
                self.repo.display()
            )))
        }
    }

    /// Refuses during a rebase of the default branch, whose end would move the branch and undo the merge.
    fn check_no_rebase(&self, default_branch: &str) -> Result<()> {
        let folder = self.common_dir()?;
        let name = format!("refs/heads/{default_branch}");
        let is_rebased = |kind: &str| {
            std::fs::read_to_string(folder.join(kind).join("head-name")).is_ok_and(|head| head.trim() == name)
        };
        if !["rebase-merge", "rebase-apply"].into_iter().any(is_rebased) {
            return Ok(());
        }
        Err(refused(format!("`{default_branch}` is being rebased in {}", self.repo.display())).help(
            "finish that with `git rebase --continue`, or leave it with `git rebase --abort`, then merge again",
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

    /// The future commit of the default branch.
    fn combine(
        &self,
        ours: &str,
        theirs: &str,
        branch: &str,
        default_branch: &str,
        strategy: Strategy,
    ) -> Result<String> {
        match strategy {
            Strategy::Merge => {
                let tree = self.merged_tree(ours, theirs, branch, default_branch)?;
                self.merge_commit(
                    &tree,
                    [ours, theirs],
                    &format!("Merge branch '{branch}' into {default_branch}"),
                )
            }
            Strategy::FastForward if self.is_ancestor(ours, theirs)? => Ok(theirs.to_owned()),
            Strategy::FastForward => {
                // A merge commit helps only where nothing conflicts.
                self.merged_tree(ours, theirs, branch, default_branch)?;
                Err(has_moved_on(branch, default_branch))
            }
        }
    }

    /// Creates a merge commit; with `commit.gpgSign`, it is signed.
    fn merge_commit(&self, tree: &str, parents: [&str; 2], message: &str) -> Result<String> {
        let [ours, theirs] = parents;
        let call = self.call().args(["commit-tree", tree, "-p", ours, "-p", theirs, "-m", message]);
        if !self.is_set("commit.gpgSign")? {
            return call.text();
        }
        call.arg("--gpg-sign").bound(SIGNING).text().map_err(|error| {
            error.help(
                "`commit.gpgSign` asks for a signature: see that `git commit --gpg-sign` works without asking for \
                 anything, or merge with `--strategy ff`, which makes no commit",
            )
        })
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

    fn is_set(&self, name: &str) -> Result<bool> {
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

    fn merged_tree(&self, ours: &str, theirs: &str, branch: &str, default_branch: &str) -> Result<String> {
        let call = self.call().args([
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
            ours,
            theirs,
        ]);
        let output = call.run()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut fields = printed.split('\0').filter(|field| !field.is_empty());
        let tree = fields.next().unwrap_or_default().to_owned();
        match output.code() {
            Some(0) => Ok(tree),
            Some(1) => {
                let files: Vec<&str> = fields.collect();
                Err(refused(format!("`{branch}` conflicts with `{default_branch}` in {}", files.join(", ")))
                    .help(format!("in the task's worktree, run `git merge {default_branch}`, resolve, commit; then merge again")))
            }
            _ => Err(output.failure()),
        }
    }

    /// Fast-forwards the checkout on the default branch; git itself refuses, before it changes a file, if uncommitted work is in the
    /// way.
    fn advance(&self, checkout: &Path, commit: &str, default_branch: &str) -> Result<()> {
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
            "commit or stash what is in the way in {shown}, or mend what git names; then merge again"
        )))
    }

    fn move_ref(&self, default_branch: &str, commit: &str, old: &str) -> Result<()> {
        let name = format!("refs/heads/{default_branch}");
        self.patiently(|| self.call().args(["update-ref", &name, commit, old]))?.checked().map(drop)
    }

    fn checkout_of(&self, branch: &str) -> Result<Option<PathBuf>> {
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
    fn tip(&self, branch: &str) -> Result<String> {
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

    pub(super) fn is_ancestor(&self, one: &str, of: &str) -> Result<bool> {
        let output = self.call().args(["merge-base", "--is-ancestor", one, of]).run()?;
        match output.code() {
            Some(1) => Ok(false),
            _ => output.checked().map(|_| true),
        }
    }
}

/// The refusal of a fast-forward to a branch that lacks commits of the default branch.
pub fn has_moved_on(branch: &str, default_branch: &str) -> Error {
    refused(format!("`{default_branch}` has moved on: it cannot be fast-forwarded to `{branch}`"))
        .help(format!("use `--strategy merge`, or rebase the branch: `git rebase {default_branch}`"))
}
