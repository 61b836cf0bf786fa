//! Giving a worktree back to the pool: first everything in it is kept, then it is cleaned.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::exec::Call;
use super::parse::Change;
use super::worktree::Place;
use super::{Git, TASK_FILE, without_task_file};
use crate::{Error, Result};

/// Work that was kept before a worktree was cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The ref that keeps it: `refs/orange/backup/<task>/<n>`.
    pub reference: String,
    /// The commit with all of it; what was staged is its parent where that was something else.
    pub commit: String,
}

const BACKUPS: &str = "refs/orange/backup";

impl Git {
    /// Gives a worktree back: keeps its uncommitted and untracked (not ignored) files and the commits that
    /// no branch, remote or tag has under `refs/orange/backup/<task>/<n>`, ends a rebase or merge that was
    /// under way, and detaches it, clean, at the default branch. The task's branch stays. A worktree whose
    /// folder was removed by hand counts as given back. What was kept is given to `note`, and only when that has
    /// noted it is the worktree cleaned. Nobody else uses the worktree meanwhile.
    ///
    /// # Errors
    /// `refused` when the folder is not a pooled worktree of this repository; `environment` when git
    /// fails; those of `note`. Nothing is cleaned before it is kept.
    pub fn release(
        &self,
        worktree: &Path,
        default_branch: &str,
        task: &str,
        note: impl FnOnce(Backup) -> Result<()>,
    ) -> Result<()> {
        let place = self.place(worktree)?;
        let backup = match &place {
            Place::Free => return Ok(()),
            Place::Removed(found) => self.keep_head(found, task)?,
            Place::Ours(_) => self.back_up(worktree, task)?,
        };
        backup.map_or(Ok(()), note)?;
        match place {
            Place::Free => Ok(()),
            Place::Removed(found) => self.forget(&found),
            Place::Ours(_) => self.clean(worktree, default_branch),
        }
    }

    /// Keeps what is only in a worktree, and leaves the worktree as it is. None when everything is on a
    /// branch, a remote or a tag already.
    ///
    /// # Errors
    /// `environment` when git fails.
    pub fn back_up(&self, worktree: &Path, task: &str) -> Result<Option<Backup>> {
        let changes = self.changes(worktree)?;
        let head = self.head(worktree)?;
        let snapshot =
            if changes.is_empty() { None } else { self.snapshot(worktree, head.as_deref(), &changes, task)? };
        match snapshot.or(head) {
            Some(commit) => self.keep(&commit, task),
            None => Ok(None),
        }
    }

    /// Gives a commit a ref of the task's own, unless something keeps it already.
    pub(super) fn keep(&self, commit: &str, task: &str) -> Result<Option<Backup>> {
        if self.is_kept(commit)? {
            return Ok(None);
        }
        let folder = format!("{BACKUPS}/{task}/");
        let taken = self.refs(&[&folder])?;
        let numbers = taken.iter().filter_map(|one| one.name.strip_prefix(&folder)?.parse::<u32>().ok());
        let reference = format!("{folder}{}", numbers.max().unwrap_or(0) + 1);
        // The empty old value makes git refuse to overwrite a ref.
        self.patiently(|| self.call().args(["update-ref", &reference, commit, ""]))?.checked()?;
        Ok(Some(Backup { reference, commit: commit.to_owned() }))
    }

    /// Is this commit part of a branch, a remote's branch, a tag or a backup?
    pub(super) fn is_kept(&self, commit: &str) -> Result<bool> {
        let backups = format!("--glob={BACKUPS}/*");
        let asked =
            ["rev-list", "--max-count=1", commit, "--not", "--branches", "--remotes", "--tags", &backups];
        Ok(self.call().args(asked).text()?.is_empty())
    }

    /// A commit of everything in the worktree, made beside its index so that nothing there changes; none
    /// when that is the same as its head.
    fn snapshot(
        &self,
        worktree: &Path,
        head: Option<&str>,
        changes: &[Change],
        task: &str,
    ) -> Result<Option<String>> {
        let index = Scratch::of(&self.git_dir(worktree)?.join("index"))?;
        let at = || self.call_in(worktree).env("GIT_INDEX_FILE", &index.path);
        let before = match head {
            Some(head) => Some(at().args(["rev-parse", &format!("{head}^{{tree}}")]).text()?),
            None => None,
        };
        // An index with conflicts has no tree; all of its contents are in the files then.
        let staged = at().arg("write-tree").run()?;
        let staged = staged.success().then(|| staged.text());
        let nested = changes.iter().filter(|change| change.is_nested_repository());
        at().preset(["-c", "core.safecrlf=false"])
            .args(["add", "--all", "--", ":/", without_task_file()])
            .args(nested.map(|change| format!(":(top,exclude,literal){}", change.path.display())))
            .run()?
            .checked()?;
        let whole = at().arg("write-tree").text()?;

        let mut parent = head.map(str::to_owned);
        let mut last = before;
        let states = [(staged, "staged in the index"), (Some(whole), "uncommitted work")];
        for (tree, what) in states {
            if let Some(tree) = tree.filter(|tree| last.as_ref() != Some(tree)) {
                parent = Some(self.commit(&tree, parent.as_deref(), &format!("{what} of task {task}"))?);
                last = Some(tree);
            }
        }
        Ok(parent)
    }

    /// A commit under a name of our own: a backup must not fail because git does not know the user's.
    fn commit(&self, tree: &str, parent: Option<&str>, message: &str) -> Result<String> {
        let identity = |call: Call, who: &str| {
            call.env(format!("GIT_{who}_NAME"), "orange").env(format!("GIT_{who}_EMAIL"), "orange@localhost")
        };
        let call =
            identity(identity(self.call(), "AUTHOR"), "COMMITTER").args(["commit-tree", tree, "-m", message]);
        parent.iter().fold(call, |call, parent| call.args(["-p", parent])).text()
    }

    fn clean(&self, worktree: &Path, default_branch: &str) -> Result<()> {
        let base = self.base(default_branch)?;
        // A hook of the project may refuse a checkout; giving a worktree back must not depend on it.
        let at = || self.call_in(worktree).preset(["-c", "core.hooksPath=/dev/null"]);
        self.patiently(|| at().args(["checkout", "--quiet", "--force", "--detach", &base]))?.checked()?;
        self.end_operations(worktree)?;
        let task_file = format!("--exclude=/{TASK_FILE}");
        self.patiently(|| at().args(["clean", "--quiet", "--force", "-d", &task_file]))?.checked().map(drop)
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
                self.call_in(worktree).args(*verb).run()?.checked()?;
            }
        }
        Ok(())
    }

    /// Where git keeps what belongs to this worktree alone, its index among it.
    fn git_dir(&self, worktree: &Path) -> Result<PathBuf> {
        Ok(PathBuf::from(self.call_in(worktree).args(["rev-parse", "--absolute-git-dir"]).text()?))
    }
}

/// A copy of an index, gone when dropped.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn of(index: &Path) -> Result<Scratch> {
        let path = index.with_extension(format!("orange-{}", std::process::id()));
        match fs::copy(index, &path) {
            Ok(_) => Ok(Scratch { path }),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Scratch { path }),
            Err(cause) => Err(Error::io("copy", index, &cause)),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left lies in git's own folder and harms nothing.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}
