//! Puts a pooled worktree on a task's branch.

use std::path::{Path, PathBuf};

use super::backup::BackupContext;
use super::busy::Patience;
use super::capture::Capture;
use super::look::has_same_attributes;
use super::{BranchState, Git, ListedWorktree, REMOTE, parse, refused};
use crate::store::list;
use crate::{Error, ErrorKind, Result};
use orange_system::files::{is_empty, is_same, remove_folder};

/// A worktree on the task's branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquired {
    /// True if the worktree is new, rather than taken from the pool.
    pub created_worktree: bool,
    /// True if the branch is new.
    pub created_branch: bool,
    pub commit: String,
}

/// State of the path of a pooled worktree.
pub(super) enum FolderState {
    /// Nothing, or an empty folder.
    Free,
    /// A worktree of this repository.
    Ours(ListedWorktree),
    /// Nothing, but the repository lists a worktree here: somebody removed the folder by hand.
    Removed(ListedWorktree),
}

impl Git {
    /// Fetches a branch that is not here, and its base. This may take long: call it before the pool's lock is taken, and
    /// [`Git::acquire`] after. If the remote cannot be reached, it returns the reason as a warning.
    pub fn catch_up(&self, branch: &str, default_branch: &str) -> Result<Option<String>> {
        self.check_branch_name(branch)?;
        if is_here(&self.branch_state(branch)?) { Ok(None) } else { self.fetch(&[branch, default_branch]) }
    }

    /// Makes `worktree` a worktree of this repository, unless it is one, and puts it on `branch`: the local branch, or else a new one
    /// that tracks the remote's, or else a new one from the default branch of the remote or, without that, the local one. A
    /// worktree on the branch stays as it is, with what an unfinished release has taken out of it. It refuses a branch that is
    /// checked out elsewhere, another folder, and a worktree with work in it: nothing is cleaned here.
    pub fn acquire(&self, worktree: &Path, branch: &str, default_branch: &str) -> Result<Acquired> {
        self.check_branch_name(branch)?;
        let place = self.place(worktree)?;
        let state = self.branch_state(branch)?;
        self.check_free_for(worktree, branch, &state)?;
        let is_local = is_here(&state);
        let created_worktree = match &place {
            FolderState::Ours(found) if found.branch.as_deref() == Some(branch) => {
                Capture::of(worktree).give_all_back()?;
                false
            }
            FolderState::Ours(found) => {
                self.check_idle(found)?;
                false
            }
            FolderState::Removed(_) | FolderState::Free => self.prepare(worktree, default_branch)?,
        };
        let before = self.head(worktree)?;
        self.switch(worktree, branch, default_branch)?;
        let commit = self.head(worktree)?.unwrap_or_default();
        if let Some(before) = before.filter(|before| *before != commit)
            && !has_same_attributes(&self.tree(&before)?, &self.tree(&commit)?)
        {
            self.inside(worktree)?.convert_again(&before)?;
        }
        Ok(Acquired { created_worktree, created_branch: !is_local, commit })
    }

    /// Makes `worktree` a worktree of this repository, detached at the default branch; true if it was none before. An existing one
    /// stays as it is; another folder is refused.
    pub fn prepare(&self, worktree: &Path, default_branch: &str) -> Result<bool> {
        match self.place(worktree)? {
            FolderState::Ours(_) => return Ok(false),
            FolderState::Removed(found) => {
                let name = worktree.file_name().unwrap_or_default().to_string_lossy();
                // Its task is unknown, so the refs have the worktree's name.
                let mut context =
                    BackupContext { task: &name, default_branch, aside: worktree, note: &mut |_| Ok(()) };
                self.back_up_removed(&found, &mut context)?;
                self.forget(&found)?;
            }
            FolderState::Free => (),
        }
        self.add_worktree(worktree, &self.base(default_branch)?)?;
        Ok(true)
    }

    /// True if a task could have this worktree: its path is free, or it is a worktree of this repository without work in it.
    pub fn is_usable(&self, worktree: &Path) -> Result<bool> {
        let looked_at = self.place(worktree).and_then(|place| match place {
            FolderState::Ours(found) => self.check_idle(&found),
            FolderState::Free | FolderState::Removed(_) => Ok(()),
        });
        match looked_at {
            Ok(()) => Ok(true),
            Err(error) if error.kind == ErrorKind::Refused => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Refuses a worktree unless it leads to its own part of this repository, and that leads back.
    pub fn check_link(&self, worktree: &Path) -> Result<()> {
        self.own_part(worktree).map(drop)
    }

    /// True if the repository lists this folder as a worktree, even if it is gone.
    pub fn has_worktree(&self, folder: &Path) -> Result<bool> {
        Ok(self.worktrees()?.iter().skip(1).any(|one| is_same(&one.path, folder)))
    }

    /// Repairs the links of these worktrees after a folder was moved by hand.
    pub fn repair(&self, worktrees: &[PathBuf]) -> Result<()> {
        self.call().args(["worktree", "repair"]).args(worktrees).run()?.checked().map(drop)
    }

    /// State of the path of a pooled worktree; refuses the main checkout, another repository and a non-empty folder.
    pub(super) fn place(&self, worktree: &Path) -> Result<FolderState> {
        let shown = worktree.display();
        if worktree.is_symlink() {
            return Err(refused(format!(
                "{shown} is a symbolic link, not a worktree of {}",
                self.repo.display()
            ))
            .help("move that link away"));
        }
        let known = self.worktrees()?;
        let position = known.iter().position(|one| is_same(&one.path, worktree));
        let found = position.and_then(|position| known.into_iter().nth(position));
        match (position, found) {
            (Some(0), _) => {
                Err(refused(format!("{shown} is the project's main checkout, not a pooled worktree")))
            }
            (_, Some(found)) if !worktree.exists() => Ok(FolderState::Removed(found)),
            (_, Some(found)) => self.own_part(worktree).map(|_| FolderState::Ours(found)),
            (_, None) if is_empty(worktree) => Ok(FolderState::Free),
            (_, None) => {
                Err(refused(format!("{shown} exists and is not a worktree of {}", self.repo.display()))
                    .help("move that folder away"))
            }
        }
    }

    /// Removes a worktree from the list, and the rest of its folder.
    pub(super) fn forget(&self, removed: &ListedWorktree) -> Result<()> {
        let call = || self.call().args(["worktree", "remove", "--force", "--force"]).arg(&removed.path);
        self.patiently(call)?.checked().map(drop)
    }

    /// Refuses a branch that is checked out in another worktree.
    pub fn check_branch_free(&self, branch: &str, worktree: &Path) -> Result<()> {
        self.check_free_for(worktree, branch, &self.branch_state(branch)?)
    }

    fn check_free_for(&self, worktree: &Path, branch: &str, state: &BranchState) -> Result<()> {
        match state {
            BranchState::CheckedOutAt(path) if !is_same(path, worktree) => {
                let help = if path.exists() {
                    format!("choose another branch, or run `git -C '{}' switch --detach`", path.display())
                } else {
                    format!("that folder is gone: run `git worktree prune` in {}", self.repo.display())
                };
                Err(refused(format!("branch `{branch}` is checked out at {}", path.display())).help(help))
            }
            BranchState::CheckedOutAt(_) | BranchState::Local => Ok(()),
            BranchState::Nowhere | BranchState::OnlyRemote(_) => self.check_room_for(branch),
        }
    }

    /// Refuses a branch that git cannot have beside another one, here or on the remote as of the last fetch: `fix` and `fix/login` are a
    /// file and a folder.
    pub fn check_room_for(&self, branch: &str) -> Result<()> {
        let (here, remote) = ("refs/heads/".to_owned(), format!("refs/remotes/{REMOTE}/"));
        let above = branch.match_indices('/').map(|(at, _)| &branch[..at]);
        let names: Vec<String> = above
            .chain([branch])
            .flat_map(|name| [&here, &remote].map(|place| format!("{place}{name}")))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let refs = self.refs(&names)?;
        self.check_case(branch, &here)?;
        let in_the_way = |place: &str| {
            let mut others = refs.iter().filter_map(|one| one.name.strip_prefix(place));
            others.find(|other| *other != branch && list::exclude_each_other(other, branch))
        };
        if let Some(other) = in_the_way(&here) {
            return Err(refused(format!("git can have no branch `{branch}` beside the branch `{other}`"))
                .help("choose another branch, or rename that one with `git branch -m`"));
        }
        match in_the_way(&remote) {
            Some(other) => {
                let message = format!("`{REMOTE}` can have no branch `{branch}` beside its branch `{other}`");
                Err(refused(message).help(format!(
                    "choose another branch; if that one is gone from `{REMOTE}`, run `git fetch --prune {REMOTE}`"
                )))
            }
            None => Ok(()),
        }
    }

    /// Refuses a branch that differs only in case from another one, or from a folder of others, where the disk takes both for the same
    /// file: git writes that down when it makes a repository there.
    fn check_case(&self, branch: &str, here: &str) -> Result<()> {
        let is_set = self.call().args(["config", "--type=bool", "--get", "core.ignoreCase"]).run()?;
        if is_set.text().trim() != "true" {
            return Ok(());
        }
        let refs = self.refs(&[here])?;
        let mut others = refs.iter().filter_map(|one| one.name.strip_prefix(here));
        match others.find(|other| differs_in_case(other, branch)) {
            Some(other) => Err(refused(format!(
                "this disk takes the branch `{branch}` for the branch `{other}`, which differs only in case"
            ))
            .help("choose another branch, or go on with that one")),
            None => Ok(()),
        }
    }

    /// Refuses a pooled worktree that would lose something on another branch.
    fn check_idle(&self, found: &ListedWorktree) -> Result<()> {
        let shown = found.path.display();
        if let Some(change) = self.changes(&found.path)?.first() {
            return Err(refused(format!(
                "the pooled worktree {shown} holds uncommitted work: {}",
                change.path.display()
            ))
            .help("commit it, or move it away; nothing there is cleaned without a backup"));
        }
        match &found.head {
            Some(head) if found.branch.is_none() && self.is_lost_without(head)? => {
                Err(refused(format!("the pooled worktree {shown} stands on commits that no branch has"))
                    .help(format!("keep them with `git -C '{shown}' branch NAME`")))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn add_worktree(&self, worktree: &Path, commit: &str) -> Result<()> {
        let call = || self.call().args(["worktree", "add", "--quiet", "--detach"]).arg(worktree).arg(commit);
        let output = self.patiently(call)?;
        // A post-checkout hook may fail: git undoes an incomplete checkout itself.
        let is_done = output.success() || self.own_part(worktree).is_ok();
        if is_done { Ok(()) } else { Err(output.failure()) }
    }

    /// Makes a checkout of a commit, for a moment.
    pub fn add_checkout(&self, folder: &Path, commit: &str) -> Result<()> {
        self.add_worktree(folder, commit)
    }

    /// Removes a checkout with everything in it, if it is there.
    pub fn remove_checkout(&self, folder: &Path) -> Result<()> {
        if folder.symlink_metadata().is_ok() {
            remove_folder(folder).map_err(|cause| Error::io("remove", folder, &cause))?;
        }
        match self.worktrees()?.iter().skip(1).find(|one| one.path == folder) {
            Some(removed) => self.forget(removed),
            None => Ok(()),
        }
    }

    /// Puts a clean worktree on the branch. A git call that met a lock may have done half of it, so each attempt checks the branch
    /// again.
    fn switch(&self, worktree: &Path, branch: &str, default_branch: &str) -> Result<()> {
        let there = self.inside(worktree)?;
        let mut patience = Patience::new();
        loop {
            let call = there.call().preset(["-c", "branch.autoSetupMerge=true"]).args(["switch", "--quiet"]);
            let call = match self.branch_state(branch)? {
                BranchState::CheckedOutAt(path) if is_same(&path, worktree) => return Ok(()),
                BranchState::Local | BranchState::CheckedOutAt(_) => call.args(["--no-guess", branch]),
                BranchState::OnlyRemote(remote) => {
                    // `--track` fails in a clone of a single branch; this does not.
                    let start = format!("refs/remotes/{remote}/{branch}");
                    call.args(["--create", branch, &start])
                }
                BranchState::Nowhere => {
                    call.args(["--no-track", "--create", branch, &self.base(default_branch)?])
                }
            };
            let output = call.run()?;
            // A failure with the branch checked out was that of the post-checkout hook.
            if there.current_branch(worktree)?.as_deref() == Some(branch) {
                return Ok(());
            }
            if output.success() {
                let shown = worktree.display();
                return Err(refused(format!("{shown} is not on `{branch}`, though git has put it there"))
                    .help("another process changes it at the same time: end that, then try again"));
            }
            if !parse::says_busy(&output.complaint()) {
                return Err(output.failure());
            }
            patience.wait(self, &output)?;
        }
    }
}

fn is_here(state: &BranchState) -> bool {
    match state {
        BranchState::Local | BranchState::CheckedOutAt(_) => true,
        BranchState::Nowhere | BranchState::OnlyRemote(_) => false,
    }
}

/// True if one of two branches, or a folder of it, is spelled as the other one but for case.
fn differs_in_case(one: &str, other: &str) -> bool {
    let mut parts = one.split('/').zip(other.split('/'));
    // Below folders that differ, nothing meets.
    let first = parts.find(|(one, other)| one != other);
    first.is_some_and(|(one, other)| one.to_lowercase() == other.to_lowercase())
}
