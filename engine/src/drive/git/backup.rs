//! Keeping what is only in one worktree: every file that git does not ignore, every commit that is on no remote.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::exec::Call;
use super::inner::Inner;
use super::parse::{self, Change, Entry};
use super::{Git, Worktree, without_task_file};
use crate::files::{entries, is_same};
use crate::{Error, Result};

/// Work that was kept under a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The ref that keeps it: `refs/orange/backup/<task>/<n>`.
    pub reference: String,
    /// The commit with all of it; what was staged is its parent where that was something else.
    pub commit: String,
}

/// Something that was kept before a worktree was cleaned or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Under a ref.
    Work(Backup),
    /// What no ref can hold, such as a repository inside the worktree: whole, in this place now.
    Aside(PathBuf),
}

/// On whose behalf work is kept, and who takes notice of it before anything is cleaned.
pub struct Keeper<'k> {
    /// The task whose work it is; of a worktree without one, the worktree's name.
    pub task: &'k str,
    /// The branch that work is merged into. What is part of it needs no ref.
    pub default_branch: &'k str,
    /// The folder that what no ref can hold is moved to.
    pub aside: &'k Path,
    /// Gets everything that was kept. If it fails, nothing is cleaned.
    pub note: &'k mut dyn FnMut(Kept) -> Result<()>,
}

const BACKUPS: &str = "refs/orange/backup";

/// What git keeps beside the refs while it is in the middle of something: what is being merged or rebased, and what it
/// has stashed by itself for the time.
const LOOSE_ENDS: [&str; 8] = [
    "MERGE_HEAD",
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge/orig-head",
    "rebase-merge/autostash",
    "rebase-apply/orig-head",
    "rebase-apply/autostash",
];

impl Backup {
    /// Its number among those of its task.
    pub fn number(&self) -> Option<u32> {
        self.reference.rsplit('/').next()?.parse().ok()
    }
}

impl Git {
    /// The backups of a task, oldest first.
    ///
    /// # Errors
    /// `environment` when git fails.
    pub fn backups(&self, task: &str) -> Result<Vec<Backup>> {
        let refs = self.refs(&[&format!("{BACKUPS}/{task}/")])?;
        let mut backups: Vec<Backup> =
            refs.into_iter().map(|one| Backup { reference: one.name, commit: one.commit }).collect();
        backups.sort_unstable_by_key(Backup::number);
        Ok(backups)
    }

    /// How many backups there are, of all tasks.
    ///
    /// # Errors
    /// `environment` when git fails.
    pub fn count_backups(&self) -> Result<usize> {
        Ok(self.refs(&[BACKUPS])?.len())
    }

    /// Makes a branch at a commit and gives its name: the wanted one, or that with a number when there is another
    /// branch of this name. No branch is moved and no worktree touched.
    ///
    /// # Errors
    /// `environment` when git fails.
    pub fn branch_at(&self, wanted: &str, commit: &str) -> Result<String> {
        let mut name = wanted.to_owned();
        for number in 2.. {
            let full = format!("refs/heads/{name}");
            match self.commit_in(&self.repo, &full)? {
                Some(found) if found == commit => return Ok(name),
                Some(_) => name = format!("{wanted}-{number}"),
                None => {
                    self.patiently(|| self.call().args(["update-ref", &full, commit, ""]))?.checked()?;
                    return Ok(name);
                }
            }
        }
        Ok(name)
    }

    /// Keeps what is only in a worktree, and leaves the worktree as it is.
    ///
    /// # Errors
    /// `environment` when git fails; those of taking notice.
    pub(super) fn back_up(&self, worktree: &Path, inner: &[Inner], keeper: &mut Keeper<'_>) -> Result<()> {
        for repository in inner {
            self.back_up_inner(repository, keeper)?;
        }
        let snapshot = self.snapshot(worktree, keeper.task)?;
        if let Some(commit) = snapshot.or(self.head(worktree)?) {
            self.keep_tip(&commit, keeper)?;
        }
        self.keep_loose_ends(&self.git_dir(worktree)?, keeper)
    }

    /// Keeps what git still knows of a worktree whose folder is gone: its commit, and what was staged in it.
    ///
    /// # Errors
    /// As [`Git::back_up`].
    pub(super) fn back_up_removed(&self, removed: &Worktree, keeper: &mut Keeper<'_>) -> Result<()> {
        let Some(folder) = self.remembered(&removed.path)? else { return Ok(()) };
        let index = Scratch::of(&folder.join("index"))?;
        let written = self.call().env("GIT_INDEX_FILE", &index.path).arg("write-tree").run()?;
        let staged = written.success().then(|| written.text());
        let head = removed.head.as_deref();
        let commit = match staged {
            Some(tree) if index.exists => self.commit_on(head, &[(tree, "staged")], keeper.task, &index)?,
            Some(_) | None => None,
        };
        if let Some(commit) = commit.as_deref().or(head) {
            self.keep_tip(commit, keeper)?;
        }
        self.keep_loose_ends(&folder, keeper)
    }

    /// Gives a commit a ref, unless it is on a remote or part of the default branch.
    fn keep_tip(&self, commit: &str, keeper: &mut Keeper<'_>) -> Result<()> {
        let merged = format!("refs/heads/{}", keeper.default_branch);
        let merged = self.refs(&[&merged])?.into_iter().map(|one| one.commit);
        if self.is_beyond(commit, ["--remotes".to_owned()].into_iter().chain(merged))? {
            self.keep(commit, keeper)?;
        }
        Ok(())
    }

    /// Gives a commit a ref, unless a branch, a remote or a tag has it.
    fn keep_loose(&self, commit: &str, keeper: &mut Keeper<'_>) -> Result<()> {
        if self.is_beyond(commit, ["--branches", "--remotes", "--tags"].map(str::to_owned))? {
            self.keep(commit, keeper)?;
        }
        Ok(())
    }

    /// Is this commit on no branch, remote, tag or backup?
    pub(super) fn is_lost_without(&self, commit: &str) -> Result<bool> {
        let backups = format!("--glob={BACKUPS}/*");
        self.is_beyond(commit, ["--branches", "--remotes", "--tags", &backups].map(str::to_owned))
    }

    /// Where git keeps what belongs to this worktree alone, its index among it.
    pub(super) fn git_dir(&self, worktree: &Path) -> Result<PathBuf> {
        Ok(PathBuf::from(self.call_in(worktree).args(["rev-parse", "--absolute-git-dir"]).text()?))
    }

    /// The next free ref of the task; none is ever used twice.
    pub(super) fn next_backup(&self, task: &str) -> Result<String> {
        let last = self.backups(task)?.last().and_then(Backup::number).unwrap_or_default();
        Ok(format!("{BACKUPS}/{task}/{}", last + 1))
    }

    /// A commit of everything in the worktree, made beside its index so that nothing there changes; none
    /// when that is the same as its head.
    pub(super) fn snapshot(&self, worktree: &Path, task: &str) -> Result<Option<String>> {
        let changes = self.changes(worktree)?;
        let entries = self.entries(worktree)?;
        // A file that git was told to pass over, and that is not there, is none that anybody has removed.
        let is_there = |entry: &&Entry| worktree.join(&entry.path).symlink_metadata().is_ok();
        let hidden: Vec<&Entry> = entries.iter().filter(|entry| entry.is_hidden()).filter(is_there).collect();
        if changes.is_empty() && hidden.is_empty() {
            return Ok(None);
        }
        let head = self.head(worktree)?;
        let index = Scratch::of(&self.git_dir(worktree)?.join("index"))?;
        let at = || self.call_in(worktree).env("GIT_INDEX_FILE", &index.path);
        // An index with conflicts has no tree.
        let conflicts: Vec<&Entry> = entries.iter().filter(|entry| entry.is_conflict()).collect();
        self.update_index(&at, &["-z", "--index-info"], &parse::sides(&conflicts))?;
        let staged = at().arg("write-tree").text()?;
        self.show_again(&at, &hidden)?;
        self.add_all(worktree, &at, &changes)?;
        let there: Vec<&Entry> =
            conflicts.into_iter().filter(|entry| worktree.join(&entry.path).is_file()).collect();
        self.update_index(&at, &["--add", "-z", "--stdin"], &parse::lines(&there))?;
        let whole = at().arg("write-tree").text()?;
        let states = [(staged, "staged in the index"), (whole, "uncommitted work")];
        self.commit_on(head.as_deref(), &states, task, &index)
    }

    /// Adds every file that is not ignored to the index, byte for byte.
    fn add_all(&self, worktree: &Path, at: &dyn Fn() -> Call, changes: &[Change]) -> Result<()> {
        let empty = self.call_in(worktree).args(["hash-object", "-t", "tree", "/dev/null"]).text()?;
        let nested = changes.iter().filter(|change| change.is_nested_repository());
        at().env("GIT_ATTR_SOURCE", empty)
            .preset(["-c", "core.autocrlf=false", "-c", "core.eol=lf", "-c", "core.safecrlf=false"])
            .preset(["-c", "core.attributesFile=/dev/null"])
            .args(["add", "--all", "--", ":/", without_task_file()])
            .args(nested.map(|change| format!(":(top,exclude,literal){}", change.path.display())))
            .run()?
            .checked()
            .map(drop)
    }

    /// A commit for each of these trees that differs from the one before it, on top of each other; the last one, if
    /// there is any. They are made under a name of our own, since a backup must not fail because git does not know the
    /// user's; and as of when the index was written, so that what is kept twice is one commit.
    fn commit_on(
        &self,
        head: Option<&str>,
        states: &[(String, &str)],
        task: &str,
        index: &Scratch,
    ) -> Result<Option<String>> {
        let tree_of = |commit: &str| self.call().args(["rev-parse", &format!("{commit}^{{tree}}")]).text();
        let mut last = head.map(tree_of).transpose()?;
        let mut tip: Option<String> = None;
        for (tree, what) in states.iter().filter(|(tree, _)| !tree.is_empty()) {
            if last.as_ref() == Some(tree) {
                continue;
            }
            let message = format!("{what} of task {task}");
            let call = ["AUTHOR", "COMMITTER"].iter().fold(self.call(), |call, who| {
                call.env(format!("GIT_{who}_NAME"), "orange")
                    .env(format!("GIT_{who}_EMAIL"), "orange@localhost")
                    .env(format!("GIT_{who}_DATE"), format!("@{} +0000", index.seconds()))
            });
            let call = call.args(["commit-tree", tree, "-m", &message]);
            let parent = tip.as_deref().or(head);
            tip = Some(parent.iter().fold(call, |call, parent| call.args(["-p", parent])).text()?);
            last = Some(tree.clone());
        }
        Ok(tip)
    }

    /// Has git look at these files again.
    pub(super) fn show_again(&self, at: &dyn Fn() -> Call, hidden: &[&Entry]) -> Result<()> {
        let lines = parse::lines(hidden);
        self.update_index(at, &["--no-assume-unchanged", "-z", "--stdin"], &lines)?;
        self.update_index(at, &["--no-skip-worktree", "-z", "--stdin"], &lines)
    }

    fn update_index(&self, at: &dyn Fn() -> Call, words: &[&str], lines: &[u8]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.patiently(|| at().arg("update-index").args(words).input(lines))?.checked().map(drop)
    }

    fn keep_loose_ends(&self, git_dir: &Path, keeper: &mut Keeper<'_>) -> Result<()> {
        for name in LOOSE_ENDS {
            let Ok(text) = fs::read_to_string(git_dir.join(name)) else { continue };
            for commit in text.lines().filter(|line| line.bytes().all(|byte| byte.is_ascii_hexdigit())) {
                self.keep_loose(commit, keeper)?;
            }
        }
        Ok(())
    }

    /// Is it reachable from none of these? They are revisions, or options that stand for some.
    pub(super) fn is_beyond(&self, commit: &str, known: impl IntoIterator<Item = String>) -> Result<bool> {
        let call = self.call().args(["rev-list", "--max-count=1", commit, "--not"]).args(known);
        Ok(!call.text()?.is_empty())
    }

    /// Gives a commit a ref of the task's own, or finds the one that it has.
    fn keep(&self, commit: &str, keeper: &mut Keeper<'_>) -> Result<()> {
        let known = self.backups(keeper.task)?;
        if let Some(backup) = known.into_iter().find(|backup| backup.commit == commit) {
            return (keeper.note)(Kept::Work(backup));
        }
        if !self.is_beyond(commit, [format!("--glob={BACKUPS}/{}/*", keeper.task)])? {
            return Ok(());
        }
        let reference = self.next_backup(keeper.task)?;
        // The empty old value makes git refuse to overwrite a ref.
        self.patiently(|| self.call().args(["update-ref", &reference, commit, ""]))?.checked()?;
        (keeper.note)(Kept::Work(Backup { reference, commit: commit.to_owned() }))
    }

    /// The index of a worktree.
    pub(super) fn entries(&self, worktree: &Path) -> Result<Vec<Entry>> {
        let output = self.call_in(worktree).args(["ls-files", "-v", "--stage", "--full-name", "-z"]).run()?;
        Ok(parse::parse_entries(&output.checked()?.stdout))
    }

    /// Where git keeps what belonged to a worktree whose folder is gone.
    fn remembered(&self, worktree: &Path) -> Result<Option<PathBuf>> {
        let folder = self.common_dir()?.join("worktrees");
        let link = worktree.join(".git");
        let is_it = |folder: &PathBuf| {
            fs::read_to_string(folder.join("gitdir"))
                .is_ok_and(|text| is_same(&folder.join(text.trim_end()), &link))
        };
        Ok(entries(&folder)?.into_iter().map(|entry| entry.path()).find(is_it))
    }
}

/// A copy of an index, gone when dropped.
struct Scratch {
    path: PathBuf,
    exists: bool,
    written: SystemTime,
}

impl Scratch {
    fn of(index: &Path) -> Result<Scratch> {
        let path = index.with_extension(format!("orange-{}", std::process::id()));
        match copy_with_time(index, &path) {
            Ok(written) => Ok(Scratch { path, exists: true, written }),
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                Ok(Scratch { path, exists: false, written: SystemTime::now() })
            }
            Err(cause) => Err(Error::io("copy", index, &cause)),
        }
    }

    fn seconds(&self) -> u64 {
        self.written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// A file that was changed in the same instant in which its index was written looks unchanged to git unless the index
/// keeps its time.
fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<SystemTime> {
    let written = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(written)?;
    Ok(written)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left lies in git's own folder and harms nothing.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}
