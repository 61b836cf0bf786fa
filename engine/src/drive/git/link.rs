//! The link between a worktree and its repository, which must be right on both sides before anything is done in the worktree.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Git, head, refused};
use crate::Result;
use orange_system::files::{entries, is_same, open_regular};

/// The settings that a worktree may have of its own: none of them names a program or another file with settings.
const HARMLESS: [&str; 9] = [
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.worktree",
    "index.sparse",
    "user.email",
    "user.name",
];

/// The longest `.git` file.
const LONGEST: u64 = 64 * 1024;

impl Git {
    /// This repository seen from one of its worktrees. Every call names the worktree's own part of the repository, so that later
    /// changes of the worktree's `.git` file have no effect, and the part that all worktrees share, so that its file `commondir` has none.
    pub(in crate::drive) fn inside(&self, worktree: &Path) -> Result<Git> {
        if is_same(worktree, &self.repo) {
            return Ok(self.clone());
        }
        let own = self.own_part(worktree)?;
        self.check_settings(&own)?;
        Ok(self.bound(&own, worktree).env("GIT_COMMON_DIR", self.shared_part()?))
    }

    /// A checkout by its folder and its own part of a repository, whatever its `.git` file says.
    pub(super) fn bound(&self, own: &Path, folder: &Path) -> Git {
        let git = Git { repo: folder.to_owned(), env: self.env.clone() };
        git.env("GIT_DIR", own).env("GIT_WORK_TREE", folder)
    }

    /// The part of this repository for one worktree; refuses unless the `.git` file of the folder leads to it and it leads back.
    pub(in crate::drive) fn own_part(&self, worktree: &Path) -> Result<PathBuf> {
        let is_folder = worktree.symlink_metadata().is_ok_and(|found| found.is_dir());
        let parts = self.shared_part()?.join("worktrees");
        let own = link_of(worktree).filter(|_| is_folder);
        let leads_back = |own: &PathBuf| {
            own.parent().is_some_and(|parent| is_same(parent, &parts)) && leads_to(own, worktree)
        };
        own.clone().filter(leads_back).ok_or_else(|| {
            let shown = worktree.display();
            let says = match own {
                Some(own) => format!("its `.git` file leads to {}", own.display()),
                None => "it has no `.git` file of a worktree".to_owned(),
            };
            refused(format!("{shown} has lost its link to the repository: {says}")).help(format!(
                "`git -C '{}' worktree repair` links it again if its files are the task's; else move that folder away",
                self.repo.display()
            ))
        })
    }

    /// The part of this repository for a present or former worktree at this path.
    pub(super) fn remembered(&self, worktree: &Path) -> Result<Option<PathBuf>> {
        let known = entries(&self.shared_part()?.join("worktrees"))?;
        Ok(known.into_iter().map(|entry| entry.path()).find(|own| leads_to(own, worktree)))
    }

    /// Refuses settings of one worktree alone that may name a program: an agent may have left them, and git would run it.
    fn check_settings(&self, own: &Path) -> Result<()> {
        let file = own.join("config.worktree");
        if !file.exists() {
            return Ok(());
        }
        let listed =
            self.call().args(["config", "--no-includes", "--list", "--name-only", "--file"]).arg(&file);
        let listed = listed.text()?;
        match listed.lines().find(|name| !HARMLESS.contains(name)) {
            None => Ok(()),
            Some(name) => Err(refused(format!("{} sets `{name}`", file.display())).help(format!(
                "an agent may have written that file, and git may run what it names; if it is yours, set `{name}` for the whole \
                 repository, else remove the line"
            ))),
        }
    }

    fn shared_part(&self) -> Result<PathBuf> {
        head::repository(&self.repo).map_or_else(|| self.common_dir(), Ok)
    }
}

/// The target of a folder's `.git` file; `None` unless it is a regular file of that form.
pub(super) fn link_of(folder: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    open_regular(&folder.join(".git")).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    let link = text.trim_end().strip_prefix("gitdir: ")?;
    fs::canonicalize(folder.join(link)).ok()
}

fn leads_to(own: &Path, worktree: &Path) -> bool {
    fs::read_to_string(own.join("gitdir"))
        .is_ok_and(|text| is_same(&own.join(text.trim_end()), &worktree.join(".git")))
}
