//! Giving a worktree back to the pool, or taking it out: first everything in it is kept.

use std::fs;
use std::path::Path;

use super::backup::Keeper;
use super::inner::Inner;
use super::worktree::Place;
use super::{Git, TASK_FILE};
use crate::{Error, Result};

impl Git {
    /// Gives a worktree back: keeps its uncommitted and untracked (not ignored) files and the commits that
    /// are on no remote under `refs/orange/backup/<task>/<n>`, ends a rebase or merge that was under way, and detaches
    /// it, clean, at the default branch. The task's branch stays, and so do ignored files. Repositories inside it are
    /// set aside, submodules emptied. A worktree whose folder was removed by hand counts as given back. Only when the
    /// keeper has taken notice of all that was kept is the worktree cleaned. Nobody else uses it meanwhile.
    ///
    /// # Errors
    /// `refused` when the folder is not a pooled worktree of this repository; `environment` when git
    /// fails; those of taking notice. Nothing is cleaned before it is kept.
    pub fn release(&self, worktree: &Path, keeper: &mut Keeper<'_>) -> Result<()> {
        match self.place(worktree)? {
            Place::Free => Ok(()),
            Place::Removed(found) => {
                self.back_up_removed(&found, keeper)?;
                self.forget(&found)
            }
            Place::Ours(_) => {
                let inner = self.inner(worktree)?;
                self.back_up(worktree, &inner, keeper)?;
                self.clean(worktree, &inner, keeper)
            }
        }
    }

    /// Takes a worktree out of the repository, after keeping what [`Git::release`] keeps. Ignored files go with it.
    ///
    /// # Errors
    /// As [`Git::release`].
    pub fn remove(&self, worktree: &Path, keeper: &mut Keeper<'_>) -> Result<()> {
        let found = match self.place(worktree)? {
            Place::Free => return Ok(()),
            Place::Removed(found) => {
                self.back_up_removed(&found, keeper)?;
                found
            }
            Place::Ours(found) => {
                let inner = self.inner(worktree)?;
                self.back_up(worktree, &inner, keeper)?;
                inner.iter().try_for_each(|one| self.clear(one))?;
                found
            }
        };
        self.forget(&found)
    }

    fn clean(&self, worktree: &Path, inner: &[Inner], keeper: &mut Keeper<'_>) -> Result<()> {
        let base = self.base(keeper.default_branch)?;
        inner.iter().try_for_each(|one| self.clear(one))?;
        self.remove_untracked(worktree)?;
        self.forget_settings(worktree)?;
        // A hook of the project may refuse a checkout; giving a worktree back must not depend on it.
        let at = || self.call_in(worktree).preset(["-c", "core.hooksPath=/dev/null"]);
        self.patiently(|| at().args(["checkout", "--quiet", "--force", "--detach", &base]))?.checked()?;
        self.end_operations(worktree)?;
        // What only the branch ignored is untracked now.
        if self.is_dirty(worktree)? {
            self.back_up(worktree, &[], keeper)?;
            self.remove_untracked(worktree)?;
        }
        Ok(())
    }

    /// Takes back what git was told of this worktree alone: which files not to look at, which ones not to check out.
    fn forget_settings(&self, worktree: &Path) -> Result<()> {
        let (own, shared) = (self.git_dir(worktree)?, self.common_dir()?);
        let settings = own.join("config.worktree");
        // Where the main checkout has such settings, a new worktree begins with them.
        if settings.exists() && !shared.join("config.worktree").exists() {
            fs::remove_file(&settings).map_err(|cause| Error::io("remove", &settings, &cause))?;
        }
        let entries = self.entries(worktree)?;
        let hidden: Vec<_> = entries.iter().filter(|entry| entry.is_hidden()).collect();
        self.show_again(&|| self.call_in(worktree), &hidden)
    }

    fn remove_untracked(&self, worktree: &Path) -> Result<()> {
        let task_file = format!("--exclude=/{TASK_FILE}");
        let verb = ["clean", "--quiet", "--force", "-d", &task_file];
        self.patiently(|| self.call_in(worktree).args(verb))?.checked().map(drop)
    }

    /// Ends what a worktree may be in the middle of, without moving anything. A merge has ended with the
    /// forced checkout.
    fn end_operations(&self, worktree: &Path) -> Result<()> {
        let folder = self.git_dir(worktree)?;
        let under_way: &[(&str, &[&str])] = &[
            ("rebase-apply/applying", &["am", "--quit"]),
            ("rebase-apply", &["rebase", "--quit"]),
            ("rebase-merge", &["rebase", "--quit"]),
            ("sequencer", &["cherry-pick", "--quit"]),
            ("BISECT_LOG", &["bisect", "reset", "HEAD"]),
        ];
        for (name, verb) in under_way {
            if folder.join(name).exists() {
                self.patiently(|| self.call_in(worktree).args(*verb))?.checked()?;
            }
        }
        Ok(())
    }
}
