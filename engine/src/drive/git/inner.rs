//! Repositories inside a worktree: git neither reads nor cleans those, so they are kept on their own.

use std::fs;
use std::path::{Path, PathBuf};

use super::backup::{Backup, Keeper, Kept};
use super::{Git, Worktree};
use crate::files::{is_same, real};
use crate::{Error, Result};

/// A repository inside a worktree, by its folder.
pub(super) enum Inner {
    /// Another worktree of the same repository.
    Linked(Worktree),
    /// A submodule: its repository is in the folder that git keeps for the worktree around it, and goes with that.
    Submodule(PathBuf),
    /// One with a repository of its own.
    Foreign(PathBuf),
}

impl Git {
    /// The repositories inside a worktree that git does not ignore, and every worktree of this repository there.
    ///
    /// # Errors
    /// `environment` when git fails.
    pub(super) fn inner(&self, worktree: &Path) -> Result<Vec<Inner>> {
        let around = real(worktree);
        let linked: Vec<Worktree> = self
            .worktrees()?
            .into_iter()
            .filter(|one| {
                one.path.is_dir() && real(&one.path) != around && real(&one.path).starts_with(&around)
            })
            .collect();
        let modules = self.git_dir(worktree)?.join("modules");
        let entries = self.entries(worktree)?;
        let known = entries.into_iter().filter(|entry| entry.is_repository()).map(|entry| entry.path);
        let changes = self.changes(worktree)?;
        let untracked = changes.into_iter().filter(|it| it.is_nested_repository()).map(|change| change.path);
        let mut inner = Vec::new();
        for path in known.chain(untracked).map(|path| worktree.join(path)) {
            let is_linked = linked.iter().any(|one| is_same(&one.path, &path));
            // What a link leads to is not inside, whatever it is.
            let is_inside = real(&path).starts_with(&around) && !path.is_symlink();
            if is_linked || !is_inside || !path.join(".git").exists() {
                continue;
            }
            let is_module = real(&self.git_dir(&path)?).starts_with(real(&modules));
            inner.push(if is_module { Inner::Submodule(path) } else { Inner::Foreign(path) });
        }
        inner.extend(linked.into_iter().map(Inner::Linked));
        Ok(inner)
    }

    /// Keeps what is in such a repository and on no remote of it.
    pub(super) fn back_up_inner(&self, inner: &Inner, keeper: &mut Keeper<'_>) -> Result<()> {
        match inner {
            Inner::Linked(found) => self.back_up(&found.path, &self.inner(&found.path)?, keeper),
            Inner::Submodule(path) => self.back_up_submodule(path, keeper),
            Inner::Foreign(path) => keeper.set_aside(path),
        }
    }

    /// Clears such a repository away, which has been kept.
    pub(super) fn clear(&self, inner: &Inner) -> Result<()> {
        match inner {
            Inner::Linked(found) => self.forget(found),
            Inner::Submodule(path) => {
                let emptied = fs::remove_dir_all(path).and_then(|()| fs::create_dir(path));
                emptied.map_err(|cause| Error::io("empty the submodule", path, &cause))
            }
            Inner::Foreign(_) => Ok(()),
        }
    }

    fn back_up_submodule(&self, path: &Path, keeper: &mut Keeper<'_>) -> Result<()> {
        let theirs = Git { repo: path.to_path_buf(), env: self.env.clone() };
        for inner in theirs.inner(path)? {
            match inner {
                Inner::Linked(Worktree { path, .. }) | Inner::Submodule(path) => {
                    self.back_up_submodule(&path, keeper)?;
                }
                Inner::Foreign(path) => keeper.set_aside(&path)?,
            }
        }
        let snapshot = theirs.snapshot(path, keeper.task)?;
        let mut tips: Vec<String> = snapshot.or(theirs.head(path)?).into_iter().collect();
        tips.extend(theirs.refs(&["refs/heads", "refs/stash"])?.into_iter().map(|one| one.commit));
        tips.dedup();
        for tip in tips {
            if theirs.is_beyond(&tip, ["--remotes".to_owned()])? {
                self.adopt(path, &tip, keeper)?;
            }
        }
        Ok(())
    }

    /// Gives a commit of another repository a ref in this one, with everything that it stands on.
    fn adopt(&self, from: &Path, commit: &str, keeper: &mut Keeper<'_>) -> Result<()> {
        let known = self.backups(keeper.task)?.into_iter().find(|backup| backup.commit == commit);
        let backup = match known {
            Some(backup) => backup,
            None => {
                let reference = self.next_backup(keeper.task)?;
                let call = self.call().args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]);
                call.arg(from).arg(format!("{commit}:{reference}")).run()?.checked()?;
                Backup { reference, commit: commit.to_owned() }
            }
        };
        (keeper.note)(Kept::Work(backup))
    }
}

impl Keeper<'_> {
    /// Moves something out of the worktree as it is: a repository's history, its settings and what it ignores are only
    /// there.
    ///
    /// # Errors
    /// `environment` when it cannot be moved, and what taking notice of it gives.
    pub fn set_aside(&mut self, path: &Path) -> Result<()> {
        let free = (1..).map(|n: u32| self.aside.join(n.to_string())).find(|folder| !folder.exists());
        let (Some(folder), Some(name)) = (free, path.file_name()) else { return Ok(()) };
        let target = folder.join(name);
        (self.note)(Kept::Aside(target.clone()))?;
        let moved = fs::create_dir_all(&folder).and_then(|()| fs::rename(path, &target));
        moved.map_err(|cause| {
            Error::io("set aside", path, &cause).help("move it away by hand, then try again")
        })
    }
}
