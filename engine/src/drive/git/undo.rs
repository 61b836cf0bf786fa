//! Takes a merge back: the target goes back to its commit before, or gets a commit that takes it back.

use orange_core::merge::UndoneMerge;

use super::combine::{MergeForm, MergedTrees, Sides, Taken};
use super::merge::TargetTips;
use super::{Git, Merge, refused};
use crate::Result;

/// A merge that is to be taken back.
#[derive(Clone, Copy, Debug)]
pub struct UndoForm<'m> {
    /// The task's branch.
    pub branch: &'m str,
    /// The target branch.
    pub into: &'m str,
    /// The commit of the target before the merge.
    pub onto: &'m str,
    /// The commit of the target after it.
    pub merged: &'m str,
    /// The commits of the target before and after what was begun to take it back: the second takes the merge back.
    pub begun: Option<(&'m str, &'m str)>,
    /// True for a dry run: nothing is signed.
    pub is_trial: bool,
}

/// A possible undo of a merge: its commit exists, and no branch has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoPlan {
    /// The commit of the target, here or on the remote: the newer one.
    pub from: String,
    /// The commit of the local target, if that exists.
    pub local: Option<String>,
    /// The future commit of the target; `None` if it has nothing of the merge.
    pub commit: Option<String>,
    /// True if that is a commit of its own.
    pub reverts: bool,
}

impl Git {
    /// Plans what takes a merge back, with the commits that only the remote's target has, by the last fetch. It changes no branch and
    /// no checkout.
    ///
    /// It refuses if later commits of the target have changed the same lines.
    pub fn plan_undo(&self, form: UndoForm<'_>) -> Result<UndoPlan> {
        let UndoForm { branch, into, onto, merged, begun, is_trial } = form;
        self.check_no_rebase(into)?;
        let TargetTips { local, remote, newest } = self.target_tips(into)?;
        let plan = |commit, reverts| UndoPlan { from: newest.clone(), local: local.clone(), commit, reverts };
        if let Some((from, commit)) = begun
            && self.has_commit(commit)?
            && (self.is_ancestor(commit, &newest)? || from == newest)
        {
            return Ok(plan(Some(commit.to_owned()), true));
        }
        let exists = self.has_commit(merged)? && self.has_commit(onto)?;
        if onto == merged || !exists || !self.is_ancestor(merged, &newest)? {
            return Ok(plan(None, false));
        }
        let is_pushed = remote.as_ref().is_some_and(|remote| *remote == newest);
        if !is_pushed && newest == merged {
            return Ok(plan(Some(onto.to_owned()), false));
        }
        self.check_merge_base()?;
        let taken = Taken { since: Some(merged), ..Taken::default() };
        let sides = Sides { ours: &newest, theirs: onto, branch, target: into, taken };
        let tree = match self.merge_trees(&sides)? {
            MergedTrees::Clean(tree) => tree,
            MergedTrees::Conflict(files) => {
                let message = format!(
                    "the merge of `{branch}` cannot be taken back: later commits of `{into}` have changed the same lines in {}",
                    files.join(", ")
                );
                return Err(refused(message).help(format!(
                    "take it back by hand where `{into}` is checked out; then `orange task create` a task for what is to be done again"
                )));
            }
        };
        if tree == self.tree_of(&newest)? {
            // Where that was proposed, the target has it by another commit.
            let by = begun.map(|_| newest.clone());
            let reverts = by.is_some();
            return Ok(plan(by, reverts));
        }
        let message = format!("Revert the merge of branch '{branch}'\n\nThis takes back {onto}..{merged}.\n");
        let form = MergeForm { is_trial, ..MergeForm::default() };
        let commit = self.commit_tree(&tree, &[&newest], &message, None, &form)?;
        Ok(plan(Some(commit), true))
    }

    /// Moves the target to the commit of the plan, and the checkout that is on it. On a failure nothing has changed.
    pub fn take_back(&self, plan: &UndoPlan, into: &str) -> Result<()> {
        let UndoPlan { from, local, commit: Some(commit), reverts } = plan else { return Ok(()) };
        if *reverts {
            let merge = Merge {
                commit: commit.clone(),
                is_new: true,
                is_begun: false,
                strategy: Default::default(),
                from: local.clone(),
                onto: from.clone(),
                source: commit.clone(),
            };
            let is_there = local.as_ref().map(|local| self.is_ancestor(commit, local)).transpose()?;
            return if is_there == Some(true) { Ok(()) } else { self.merge(&merge, into) };
        }
        match self.checkout_of(into)? {
            Some(checkout) => self.reset(&checkout, into, from, commit),
            None => self.move_ref(into, commit, from),
        }
    }

    /// True if the target has the commits of a branch, and took them back.
    pub fn has_taken_back(&self, undone: Option<&UndoneMerge<'_>>, ours: &str, theirs: &str) -> Result<bool> {
        self.taken_back(undone, ours, theirs).map(|fork| fork.is_some())
    }

    /// The commit at which a branch left its target before a merge that the target has taken back. `None` if git does not take the
    /// branch for merged, and where the branch has that commit of the target itself.
    pub(super) fn taken_back(
        &self,
        undone: Option<&UndoneMerge<'_>>,
        ours: &str,
        theirs: &str,
    ) -> Result<Option<String>> {
        let Some(UndoneMerge { onto, source, commit }) = undone else { return Ok(None) };
        for known in [onto, source, commit] {
            if !self.has_commit(known)? {
                return Ok(None);
            }
        }
        let applies = self.is_ancestor(source, ours)?
            && self.is_ancestor(commit, ours)?
            && self.is_ancestor(source, theirs)?
            && !self.is_ancestor(commit, theirs)?;
        if !applies {
            return Ok(None);
        }
        let output = self.call().args(["merge-base", onto, source]).run()?;
        if output.code() == Some(1) { Ok(None) } else { Ok(Some(output.checked()?.text())) }
    }
}
