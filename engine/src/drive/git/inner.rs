//! Repositories inside a worktree: git neither reads nor cleans them, so they are backed up separately.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::backup::{BACKUPS, Backup, BackupContext, BackupSource, SavedWork};
use super::capture::{Capture, until_nobody_writes};
use super::link::link_of;
use super::look::{self, Exactness, Tree};
use super::{Git, ListedWorktree, parse, refused};
use crate::{Error, Result};
use orange_system::files::{is_same, real};

/// A repository inside a checkout.
pub(super) enum Inner {
    /// Another worktree of the same repository.
    Linked(ListedWorktree),
    /// A submodule, with its repository, which git keeps in its folder for the outer checkout.
    Submodule(PathBuf),
    /// A repository of its own, or one of unknown origin.
    Foreign,
}

impl Git {
    /// The kind of repository in this folder of the checkout of `there`.
    pub(super) fn inner(&self, there: &Git, folder: &Path) -> Result<Inner> {
        let linked = self.worktrees()?.into_iter().skip(1).find(|one| is_same(&one.path, folder));
        if let Some(linked) = linked.filter(|_| self.own_part(folder).is_ok()) {
            return Ok(Inner::Linked(linked));
        }
        let modules = real(&there.git_dir(&there.repo)?.join("modules"));
        let own = link_of(folder).filter(|own| own.starts_with(&modules) && own.join("HEAD").is_file());
        Ok(own.map_or(Inner::Foreign, Inner::Submodule))
    }

    /// Backs up what nested repositories have and their remotes lack, and moves them out of the worktree. Returns the commits of the
    /// submodules.
    pub(super) fn take_repositories(
        &self,
        there: &Git,
        paths: &[PathBuf],
        capture: &Capture,
        context: &mut BackupContext<'_>,
    ) -> Result<Vec<(PathBuf, String)>> {
        let mut modules = Vec::new();
        for path in paths {
            let folder = there.repo.join(path);
            match self.inner(there, &folder)? {
                Inner::Linked(found) => self.remove(&found.path, context)?,
                Inner::Foreign => context.set_aside(&folder)?,
                Inner::Submodule(own) => {
                    capture.take([&**path])?;
                    let moved = capture.taken().join(path);
                    let head = self.keep_submodule(&own, &moved, context)?;
                    fs::create_dir_all(&folder).map_err(|cause| Error::io("create", &folder, &cause))?;
                    modules.extend(head.map(|head| (path.clone(), head)));
                }
            }
        }
        Ok(modules)
    }

    /// Backs up what a submodule has and its remotes lack, and returns its commit.
    fn keep_submodule(
        &self,
        own: &Path,
        folder: &Path,
        context: &mut BackupContext<'_>,
    ) -> Result<Option<String>> {
        let theirs = self.bound(own, folder);
        until_nobody_writes(folder, folder)?;
        let look = theirs.look(&Tree::new(), Exactness::WithoutFilters)?;
        for path in &look.walk.repositories {
            let inside = folder.join(path);
            match self.inner(&theirs, &inside)? {
                Inner::Submodule(own) => self.keep_submodule(&own, &inside, context).map(drop)?,
                Inner::Linked(_) | Inner::Foreign => context.set_aside(&inside)?,
            }
        }
        for special in &look.walk.special {
            context.set_aside(&folder.join(special))?;
        }
        let captured = look.uncommitted();
        let seen = BackupSource {
            git: theirs.clone(),
            look: &look,
            captured: &captured,
            place: folder,
            modules: &[],
        };
        let snapshot = theirs.snapshot(&seen, context.task)?.0;
        let head = theirs.head(folder)?;
        let mut tips: Vec<String> = snapshot.or(head.clone()).into_iter().collect();
        for found in theirs.refs(&["refs/heads", "refs/tags"])? {
            // A tag may name a file.
            tips.extend(theirs.commit_in(folder, &found.name)?);
        }
        tips.extend(theirs.stashes()?);
        tips.dedup();
        for tip in tips {
            if theirs.is_beyond(&tip, ["--remotes".to_owned()])? {
                self.adopt(own, &tip, context)?;
            }
        }
        until_nobody_writes(folder, folder)?;
        let now = theirs.look(&Tree::new(), Exactness::WithoutFilters)?.uncommitted();
        match now.iter().find(|found| !look::has(&captured, found)) {
            Some(found) => {
                Err(refused(format!("{} was written while it was kept", folder.join(&found.path).display()))
                    .help("end what writes there, then try again"))
            }
            None => Ok(head),
        }
    }

    /// The commits of all stashes.
    fn stashes(&self) -> Result<Vec<String>> {
        if self.refs(&["refs/stash"])?.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self
            .call()
            .args(["log", "--no-show-signature", "--walk-reflogs", "--format=%H", "refs/stash", "--"])
            .text()?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// Gives a commit of another repository a ref in this one, with all its objects.
    fn adopt(&self, from: &Path, commit: &str, context: &mut BackupContext<'_>) -> Result<()> {
        let known = self.backups(context.task)?.into_iter().find(|backup| backup.commit == commit);
        let backup = match known {
            Some(backup) => backup,
            None => {
                // A fetch would use the settings of that repository, which has been moved.
                let theirs = parse::quoted(&from.join("objects"));
                let packs = self.common_dir()?.join("objects/pack/pack");
                let call = self
                    .call()
                    .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsStr::from_bytes(theirs.trim_ascii_end()));
                let known =
                    self.refs(&[&format!("{BACKUPS}/")])?.into_iter().map(|one| format!("^{}\n", one.commit));
                let wanted = format!("{commit}\n{}", known.collect::<String>());
                call.args(["pack-objects", "--quiet", "--revs"])
                    .arg(packs)
                    .input(wanted.as_bytes())
                    .run()?
                    .checked()?;
                let reference = self.next_backup(context.task)?;
                self.patiently(|| self.call().args(["update-ref", &reference, commit, ""]))?.checked()?;
                Backup { reference, commit: commit.to_owned() }
            }
        };
        (context.note)(SavedWork::Commit(backup))
    }
}

impl BackupContext<'_> {
    /// Moves an entry out of the worktree whole: the history, settings and ignored files of a repository exist nowhere else.
    pub fn set_aside(&mut self, path: &Path) -> Result<()> {
        let free = (1..).map(|n: u32| self.aside.join(n.to_string())).find(|folder| !folder.exists());
        let (Some(folder), Some(name)) = (free, path.file_name()) else { return Ok(()) };
        let target = folder.join(name);
        (self.note)(SavedWork::Aside(target.clone()))?;
        let moved = fs::create_dir_all(&folder).and_then(|()| fs::rename(path, &target));
        moved.map_err(|cause| {
            Error::io("set aside", path, &cause).help("move it away by hand, then try again")
        })
    }
}
