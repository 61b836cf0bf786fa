//! Merging a task's branch into the default branch, here and without a remote.

use std::path::{Path, PathBuf};

use super::{Git, refused};
use crate::{Error, Kind, Result};

/// How a branch is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The default branch moves to the task's branch, and nothing else will do.
    FastForward,
    /// A merge commit, always.
    Merge,
}

/// A branch that is part of the default branch now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The commit that the default branch is at.
    pub commit: String,
    /// Was there nothing to merge, because it was part of it before?
    pub already: bool,
}

impl Git {
    /// Merges `branch` into the local default branch. The new commit is made without touching any
    /// checkout; only when it stands, the checkout that is on the default branch, if there is one, is moved
    /// forward to it. On a conflict, or any other failure, everything is as it was.
    ///
    /// `worktree` is the task's, where it has one.
    ///
    /// # Errors
    /// `refused` when the worktree has uncommitted work or is not on the branch, when the branches
    /// conflict, when `ff` is wanted and not possible, and when uncommitted work in the checkout of the
    /// default branch is in the way; `not_found` when there is no such branch; `environment` when git fails.
    pub fn merge_local(
        &self,
        branch: &str,
        default_branch: &str,
        strategy: Strategy,
        worktree: Option<&Path>,
    ) -> Result<Merged> {
        if let Some(worktree) = worktree.filter(|worktree| worktree.exists()) {
            self.check_all_committed(worktree, branch)?;
        }
        let theirs = self.local(branch)?;
        let Some(ours) = self.commit_in(&self.repo, &format!("refs/heads/{default_branch}"))? else {
            // Only the remote has it so far: the local one begins there.
            let base = self.base(default_branch)?;
            let commit = self.combine(&base, &theirs, branch, default_branch, strategy)?;
            self.move_ref(default_branch, &commit, "")?;
            return Ok(Merged { commit, already: false });
        };
        if self.is_ancestor(&theirs, &ours)? {
            return Ok(Merged { commit: ours, already: true });
        }
        let commit = self.combine(&ours, &theirs, branch, default_branch, strategy)?;
        match self.checkout_of(default_branch)? {
            Some(checkout) => self.advance(&checkout, &commit, default_branch)?,
            None => self.move_ref(default_branch, &commit, &ours)?,
        }
        Ok(Merged { commit, already: false })
    }

    fn check_all_committed(&self, worktree: &Path, branch: &str) -> Result<()> {
        let shown = worktree.display();
        if let Some(change) = self.changes(worktree)?.first() {
            return Err(refused(format!("{shown} has uncommitted work: {}", change.path.display())).help(
                format!("commit it there, or throw it away with `git -C '{shown}' restore` and `clean`"),
            ));
        }
        match self.current_branch(worktree)? {
            Some(current) if current == branch => Ok(()),
            current => {
                let on =
                    current.map_or_else(|| "no branch".to_owned(), |current| format!("branch `{current}`"));
                Err(refused(format!("{shown} is on {on}, not on `{branch}`: work there would be left out"))
                    .help(format!(
                        "run `git -C '{shown}' switch {branch}`, or finish the rebase there; if the branch was renamed, \
                         run `orange task update --branch` there"
                    )))
            }
        }
    }

    /// The commit that the default branch shall move to.
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
                let message = format!("Merge branch '{branch}' into {default_branch}");
                self.call().args(["commit-tree", &tree, "-p", ours, "-p", theirs, "-m", &message]).text()
            }
            Strategy::FastForward if self.is_ancestor(ours, theirs)? => Ok(theirs.to_owned()),
            Strategy::FastForward => Err(refused(format!(
                "`{default_branch}` has moved on: it cannot be fast-forwarded to `{branch}`"
            ))
            .help(format!("use `--strategy merge`, or rebase the branch: `git rebase {default_branch}`"))),
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

    /// Moves the checkout that is on the default branch; git itself refuses when uncommitted work there
    /// is in the way, before it touches a file.
    fn advance(&self, checkout: &Path, commit: &str, default_branch: &str) -> Result<()> {
        let verb = ["merge", "--quiet", "--ff-only", "--no-autostash", commit];
        let output = self.patiently(|| self.call_in(checkout).args(verb))?;
        if output.success() {
            return Ok(());
        }
        let shown = checkout.display();
        let message =
            format!("{shown}, which is on `{default_branch}`, cannot take the merge: {}", output.complaint());
        Err(refused(message)
            .help(format!("commit or stash what is uncommitted in {shown}, then merge again")))
    }

    fn move_ref(&self, default_branch: &str, commit: &str, old: &str) -> Result<()> {
        let name = format!("refs/heads/{default_branch}");
        self.patiently(|| self.call().args(["update-ref", &name, commit, old]))?.checked().map(drop)
    }

    fn checkout_of(&self, branch: &str) -> Result<Option<PathBuf>> {
        let on_it =
            |worktree: &super::Worktree| worktree.branch.as_deref() == Some(branch) && worktree.path.exists();
        Ok(self
            .worktrees()?
            .into_iter()
            .find(|worktree| !worktree.bare && on_it(worktree))
            .map(|worktree| worktree.path))
    }

    fn local(&self, branch: &str) -> Result<String> {
        self.commit_in(&self.repo, &format!("refs/heads/{branch}"))?
            .ok_or_else(|| Error::new(Kind::NotFound, format!("there is no local branch `{branch}`")))
    }

    pub(super) fn is_ancestor(&self, one: &str, of: &str) -> Result<bool> {
        let output = self.call().args(["merge-base", "--is-ancestor", one, of]).run()?;
        match output.code() {
            Some(1) => Ok(false),
            _ => output.checked().map(|_| true),
        }
    }
}
