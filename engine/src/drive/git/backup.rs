//! Backs up what is only in one worktree: every file that git does not ignore, every commit that is on no remote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::look::{CheckoutLook, FoundFile, Tree, is_as_found};
use super::parse::{self, GitObject, IndexEntry};
use super::scratch::ScratchIndex;
use super::{Git, LONG, ListedWorktree, TASK_FILE};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;

/// The author of backup commits.
pub(super) const BACKUP_EMAIL: &str = "orange@localhost";

/// A backup under a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The ref: `refs/orange/backup/<task>/<n>`.
    pub reference: String,
    /// The commit of everything; its parent is what was staged, if that differs.
    pub commit: String,
}

/// Work that was saved before a worktree was cleaned or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedWork {
    /// A commit under a ref.
    Commit(Backup),
    /// The folder with what no ref can hold, such as a nested repository.
    Aside(PathBuf),
}

/// The task of a backup, and the function that records it.
pub struct BackupContext<'k> {
    /// The task; of a worktree without a task, the worktree's name.
    pub task: &'k str,
    /// The branch into which work is merged. What it contains needs no ref.
    pub default_branch: &'k str,
    /// The folder for what no ref can hold.
    pub aside: &'k Path,
    /// Records each backup. If it fails, nothing is cleaned.
    pub note: &'k mut dyn FnMut(SavedWork) -> Result<()>,
}

/// The refs of all backups.
pub(super) const BACKUPS: &str = "refs/orange/backup";

/// The refs of commits that are planned: of merges, syncs and what takes a merge back.
const PLANS: &str = "refs/orange/merge";

/// Git's files beside the refs during an operation: what is being merged or rebased, and what git has stashed meanwhile.
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

/// Git's files about the remaining and the undone commits of a rebase, a cherry-pick or a revert.
const SEQUENCES: [&str; 7] = [
    "sequencer/todo",
    "sequencer/head",
    "rebase-merge/git-rebase-todo",
    "rebase-merge/git-rebase-todo.backup",
    "rebase-merge/done",
    "rebase-merge/stopped-sha",
    "rebase-apply/original-commit",
];

/// Refs of a single worktree.
const OWN_REFS: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// A path with its object in git.
pub(super) type HeldPath = (PathBuf, GitObject);

/// The line of a backup's message after which files are named that only their bytes tell from those of a checkout.
const UNCONVERTED: &str = "These files had the bytes of the commit, which git would convert at a checkout:";

/// A tree to commit for a backup.
struct State<'s> {
    tree: String,
    what: &'s str,
    /// Files in which it does not differ from the commit, though a checkout would make other bytes of them.
    unconverted: Vec<PathBuf>,
}

/// A checkout to back up.
pub(super) struct BackupSource<'s> {
    /// The checkout.
    pub(super) git: Git,
    pub(super) look: &'s CheckoutLook,
    /// The files that were moved out of it, with the folder where each is under its path.
    pub(super) captured: &'s [FoundFile],
    pub(super) place: &'s Path,
    /// Submodules that were moved out of it, with their commits.
    pub(super) modules: &'s [(PathBuf, String)],
}

impl BackupSource<'_> {
    /// The changes to the index that give it the contents of the files.
    fn changes(&self, held: &[HeldPath]) -> Vec<u8> {
        let captured: BTreeSet<&Path> = held.iter().map(|(path, _)| &**path).collect();
        let is_there = |entry: &IndexEntry| self.git.repo.join(&entry.path).symlink_metadata().is_ok();
        let is_removed = |entry: &&IndexEntry| {
            let is_passed_over = entry.is_repository()
                || entry.path == Path::new(TASK_FILE) && !self.look.has_task_file
                // A file that git is told to skip and that is missing was not removed by anybody.
                || entry.is_hidden() && !is_there(entry) && !captured.contains(&*entry.path);
            entry.is_conflict() || !self.look.is_as_in_index(entry) && !is_passed_over
        };
        let removed = self.look.entries.iter().filter(is_removed);
        let removals = removed.flat_map(|entry| parse::info(&entry.path, &entry.object().none_beside()));
        let added = held.iter().flat_map(|(path, object)| parse::info(path, object));
        let module = |commit: &String| GitObject { mode: "160000".to_owned(), id: commit.clone() };
        let modules = self.modules.iter().flat_map(|(path, commit)| parse::info(path, &module(commit)));
        removals.chain(added).chain(modules).collect()
    }
}

impl State<'_> {
    fn message(&self, task: &str) -> Vec<u8> {
        let mut message = format!("{} of {task}\n", self.what).into_bytes();
        if !self.unconverted.is_empty() {
            message.extend(format!("\n{UNCONVERTED}\n").into_bytes());
            message.extend(self.unconverted.iter().flat_map(|path| parse::quoted(path)));
        }
        message
    }
}

/// The words of these lines that look like a commit's name, which may be abbreviated.
fn words_of(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let is_name = |word: &&str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lines = text.lines().filter(|line| wanted(line));
    lines.flat_map(|line| line.split_whitespace().take(3).filter(is_name)).map(str::to_owned).collect()
}

impl Backup {
    /// Its task, or the name of its worktree.
    pub fn task(&self) -> &str {
        self.reference.rsplit('/').nth(1).unwrap_or_default()
    }

    /// Its number among the backups of its task.
    pub fn number(&self) -> Option<u32> {
        self.reference.rsplit('/').next()?.parse().ok()
    }
}

impl Git {
    /// The backups of a task, oldest first.
    pub fn backups(&self, task: &str) -> Result<Vec<Backup>> {
        let refs = self.refs(&[&format!("{BACKUPS}/{task}/")])?;
        let mut backups: Vec<Backup> =
            refs.into_iter().map(|one| Backup { reference: one.name, commit: one.commit }).collect();
        backups.sort_unstable_by_key(Backup::number);
        Ok(backups)
    }

    /// The number of backups of all tasks.
    pub fn count_backups(&self) -> Result<usize> {
        Ok(self.refs(&[BACKUPS])?.len())
    }

    /// Creates a branch at a commit and returns its name: the wanted one, with a number if that exists. It changes no branch and no
    /// worktree.
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

    /// Backs up what is only in a checkout, of which some files have been moved elsewhere, each under its path.
    pub(super) fn back_up(&self, seen: &BackupSource<'_>, context: &mut BackupContext<'_>) -> Result<()> {
        let (commit, held) = seen.git.snapshot(seen, context.task)?;
        if let Some(commit) = commit.or(seen.git.head(&seen.git.repo)?) {
            self.keep_tip(&commit, context)?;
            self.check_held(&commit, &held)?;
        }
        self.keep_loose_ends(&seen.git, context)
    }

    /// Checks that a commit has exactly these files.
    fn check_held(&self, commit: &str, files: &[HeldPath]) -> Result<()> {
        let tree = if files.is_empty() { Tree::new() } else { self.tree(commit)? };
        match files.iter().find(|(path, object)| tree.get(path) != Some(object)) {
            Some((path, _)) => {
                let message =
                    format!("{} is not in the backup {commit}, so nothing is removed", path.display());
                Err(Error::new(ErrorKind::Environment, message)
                    .help("move that file away; then `orange workspace gc` gives the worktree back"))
            }
            None => Ok(()),
        }
    }

    /// Backs up what git still knows of a worktree whose folder is gone: its commit, and what was staged.
    pub(super) fn back_up_removed(
        &self,
        removed: &ListedWorktree,
        context: &mut BackupContext<'_>,
    ) -> Result<()> {
        let Some(folder) = self.remembered(&removed.path)? else { return Ok(()) };
        let index = ScratchIndex::of(&folder.join("index"))?;
        let written = self.call().env("GIT_INDEX_FILE", &index.path).arg("write-tree").run()?;
        let staged = written.success().then(|| written.text());
        let head = removed.head.as_deref();
        let commit = match staged {
            Some(tree) if index.exists => {
                let state = State { tree, what: "staged", unconverted: Vec::new() };
                self.commit_on(head, &[state], context.task, &index)?
            }
            Some(_) | None => None,
        };
        if let Some(commit) = commit.as_deref().or(head) {
            self.keep_tip(commit, context)?;
        }
        self.keep_loose_ends(&self.bound(&folder, &self.repo), context)
    }

    /// Gives a commit a ref, unless it is on a remote or part of the default branch.
    fn keep_tip(&self, commit: &str, context: &mut BackupContext<'_>) -> Result<()> {
        let merged = format!("refs/heads/{}", context.default_branch);
        let merged = self.refs(&[&merged])?.into_iter().map(|one| one.commit);
        if self.is_beyond(commit, ["--remotes".to_owned()].into_iter().chain(merged))? {
            self.keep(commit, context)?;
        }
        Ok(())
    }

    /// Gives a commit a ref, unless it is part of a branch, a remote or a tag.
    fn keep_loose(&self, commit: &str, context: &mut BackupContext<'_>) -> Result<()> {
        if self.is_beyond(commit, ["--branches", "--remotes", "--tags"].map(str::to_owned))? {
            self.keep(commit, context)?;
        }
        Ok(())
    }

    /// True if this commit is on no branch, remote, tag or backup.
    pub(super) fn is_lost_without(&self, commit: &str) -> Result<bool> {
        let backups = format!("--glob={BACKUPS}/*");
        self.is_beyond(commit, ["--branches", "--remotes", "--tags", &backups].map(str::to_owned))
    }

    /// Git's folder for this worktree, which has its index.
    pub(super) fn git_dir(&self, worktree: &Path) -> Result<PathBuf> {
        Ok(PathBuf::from(self.call_in(worktree).args(["rev-parse", "--absolute-git-dir"]).text()?))
    }

    /// The next ref of the task; no ref is used twice.
    pub(super) fn next_backup(&self, task: &str) -> Result<String> {
        let last = self.backups(task)?.last().and_then(Backup::number).unwrap_or_default();
        Ok(format!("{BACKUPS}/{task}/{}", last + 1))
    }

    /// A commit of everything in the checkout, made with a copy of its index; `None` if that equals its head. Also returns the
    /// object of each captured file.
    pub(super) fn snapshot(
        &self,
        seen: &BackupSource<'_>,
        task: &str,
    ) -> Result<(Option<String>, Vec<HeldPath>)> {
        let index = ScratchIndex::of(&self.git_dir(&self.repo)?.join("index"))?;
        // Git filters files again that are as old as the index.
        let quiet = self.without_filters()?;
        let at = || {
            let call = self.call().env("GIT_INDEX_FILE", &index.path);
            call.preset(&quiet).preset(["-c", "core.protectNTFS=false"])
        };
        let arguments = ["-z", "--index-info"];
        // An index with conflicts has no tree.
        let conflicts: Vec<&IndexEntry> =
            seen.look.entries.iter().filter(|entry| entry.is_conflict()).collect();
        self.update_index(&at, &arguments, &parse::sides(&conflicts))?;
        let staged = at().arg("write-tree").text()?;
        let index = index.again()?;
        let at = || {
            let call = self.call().env("GIT_INDEX_FILE", &index.path);
            call.preset(&quiet).preset(["-c", "core.protectNTFS=false"])
        };
        let held = self.held(seen)?;
        self.update_index(&at, &arguments, &seen.changes(&held))?;
        let whole = at().arg("write-tree").text()?;
        let is_unconverted = |(path, object): &&HeldPath| {
            seen.look.unlike.contains(path) && seen.look.committed.get(path) == Some(object)
        };
        let unconverted = held.iter().filter(is_unconverted).map(|(path, _)| path.clone()).collect();
        let states = [
            State { tree: staged, what: "staged in the index", unconverted: Vec::new() },
            State { tree: whole, what: "uncommitted work", unconverted },
        ];
        let head = self.head(&self.repo)?;
        Ok((self.commit_on(head.as_deref(), &states, task, &index)?, held))
    }

    /// The files of a backup that had the bytes of the commit under it, of which a checkout makes others.
    pub(super) fn unconverted(&self, backup: &str) -> Result<BTreeSet<PathBuf>> {
        let commit = self.call().args(["cat-file", "commit", backup]).run()?.checked()?.stdout;
        let heading = format!("\n{UNCONVERTED}\n").into_bytes();
        let found = commit.windows(heading.len()).position(|part| part == heading);
        Ok(found.map(|at| parse::unquoted(&commit[at + heading.len()..])).unwrap_or_default())
    }

    /// The object of each captured file: from the index if it is unchanged, or else of its bytes.
    fn held(&self, seen: &BackupSource<'_>) -> Result<Vec<HeldPath>> {
        let known: BTreeMap<&Path, &IndexEntry> = seen
            .look
            .entries
            .iter()
            .filter(|entry| seen.look.is_as_in_index(entry))
            .map(|entry| (&*entry.path, entry))
            .collect();
        let as_known = |found: &FoundFile| {
            let entry = known.get(&*found.path)?;
            is_as_found(found, &seen.look.walk.files).then(|| entry.object())
        };
        let mut held = Vec::new();
        let mut others = Vec::new();
        for found in seen.captured {
            match as_known(found) {
                Some(object) => held.push((found.path.clone(), object)),
                None => others.push(found),
            }
        }
        let (links, files): (Vec<&FoundFile>, Vec<&FoundFile>) =
            others.into_iter().partition(|found| found.print.is_link);
        let ids = self.stored(files.iter().map(|file| seen.place.join(&file.path)).collect())?;
        for (found, id) in files.iter().zip(ids) {
            held.push((found.path.clone(), GitObject { mode: found.mode().to_owned(), id }));
        }
        held.extend(self.held_links(seen.place, &links)?);
        Ok(held)
    }

    /// Stores the bytes of these files, and returns their objects. Git writes more than 100 objects as one pack: a file for each of
    /// thousands would take most of the time of a release.
    fn stored(&self, files: Vec<PathBuf>) -> Result<Vec<String>> {
        let count = files.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        let call = self.call().bound(LONG).args(["fast-import", "--quiet", "--done", "--depth=0"]);
        let printed = call.input_by(move |pipe| write_blobs(&files, pipe)).text()?;
        let ids: Vec<String> = printed.lines().map(str::to_owned).collect();
        if ids.len() != count {
            return Err(Error::new(ErrorKind::Environment, "`git fast-import` has not stored every file"));
        }
        Ok(ids)
    }

    /// The objects of these links, in one call: there may be thousands.
    fn held_links(&self, place: &Path, links: &[&FoundFile]) -> Result<Vec<HeldPath>> {
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let index = ScratchIndex::empty(&self.git_dir(&self.repo)?.join("links"))?;
        let at = || {
            let call = self.call().env("GIT_INDEX_FILE", &index.path).env("GIT_WORK_TREE", place).bound(LONG);
            call.preset(["-c", "core.symlinks=true", "-c", "core.protectNTFS=false"])
        };
        let paths: Vec<u8> =
            links.iter().flat_map(|link| [link.path.as_os_str().as_bytes(), &[0]].concat()).collect();
        self.update_index(&at, &["--add", "-z", "--stdin"], &paths)?;
        let listed = at().args(["ls-files", "-v", "--stage", "-z"]).run()?.checked()?;
        let held = parse::parse_entries(&listed.stdout).into_iter();
        Ok(held.map(|entry| (entry.path.clone(), entry.object())).collect())
    }

    /// Sets aside an index that git cannot read, as after a power cut, and creates one with what is committed.
    pub(super) fn set_broken_index_aside(&self, context: &mut BackupContext<'_>) -> Result<()> {
        let read = self.call().args(["ls-files", "--stage", "-z"]).run()?;
        if read.success() || !parse::says_broken_index(&read.complaint()) {
            return Ok(());
        }
        context.set_aside(&self.git_dir(&self.repo)?.join("index"))?;
        match self.head(&self.repo)? {
            Some(head) => self.patiently(|| self.call().args(["read-tree", &head]))?.checked().map(drop),
            None => Ok(()),
        }
    }

    /// Commits each of these states that differs from the one before it, and returns the last commit, if any. The author is our own,
    /// since a backup must not fail because git does not know the user's; the date is that of the index, so that a repeated
    /// backup is the same commit.
    fn commit_on(
        &self,
        head: Option<&str>,
        states: &[State<'_>],
        task: &str,
        index: &ScratchIndex,
    ) -> Result<Option<String>> {
        let tree_of = |commit: &str| self.call().args(["rev-parse", &format!("{commit}^{{tree}}")]).text();
        let mut last = head.map(tree_of).transpose()?;
        let mut tip: Option<String> = None;
        for state in states.iter().filter(|state| !state.tree.is_empty()) {
            let tree = &state.tree;
            if last.as_ref() == Some(tree) && state.unconverted.is_empty() {
                continue;
            }
            let call = ["AUTHOR", "COMMITTER"].iter().fold(self.call(), |call, who| {
                call.env(format!("GIT_{who}_NAME"), "orange")
                    .env(format!("GIT_{who}_EMAIL"), BACKUP_EMAIL)
                    .env(format!("GIT_{who}_DATE"), format!("@{} +0000", index.seconds()))
            });
            let call = call.args(["commit-tree", tree, "-F", "-"]).input(&state.message(task));
            let parent = tip.as_deref().or(head);
            tip = Some(parent.iter().fold(call, |call, parent| call.args(["-p", parent])).text()?);
            last = Some(tree.clone());
        }
        Ok(tip)
    }

    /// Makes git check these files again.
    pub(super) fn show_again(&self, at: &dyn Fn() -> ProgramCall, hidden: &[&IndexEntry]) -> Result<()> {
        let lines = parse::lines(hidden);
        self.update_index(at, &["--no-assume-unchanged", "-z", "--stdin"], &lines)?;
        self.update_index(at, &["--no-skip-worktree", "-z", "--stdin"], &lines)
    }

    fn update_index(&self, at: &dyn Fn() -> ProgramCall, words: &[&str], lines: &[u8]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.patiently(|| at().arg("update-index").args(words).input(lines))?.checked().map(drop)
    }

    /// Backs up the commits of an unfinished operation, and those of refs of this worktree alone, such as a bisection's.
    fn keep_loose_ends(&self, checkout: &Git, context: &mut BackupContext<'_>) -> Result<()> {
        let own = checkout.git_dir(&checkout.repo)?;
        let read = |name: &&str| fs::read_to_string(own.join(name)).ok();
        let of_heads = LOOSE_ENDS.iter().filter_map(read).flat_map(|text| words_of(&text, |_| true));
        let mut commits: Vec<String> = of_heads.collect();
        // The last commit comes first: in most sequences it contains all others.
        commits.extend(
            SEQUENCES
                .iter()
                .filter_map(read)
                .flat_map(|text| words_of(&text, |line| !line.starts_with('#')))
                .rev(),
        );
        commits.extend(checkout.refs(&OWN_REFS)?.into_iter().map(|one| one.commit));
        let mut looked_at = BTreeSet::new();
        for commit in commits.into_iter().filter(|commit| looked_at.insert(commit.clone())) {
            // A word that looks like a commit may be part of a subject.
            if let Some(commit) = self.commit_in(&self.repo, &commit)? {
                self.keep_loose(&commit, context)?;
            }
        }
        Ok(())
    }

    /// True if it is reachable from none of these revisions or options.
    pub(super) fn is_beyond(&self, commit: &str, known: impl IntoIterator<Item = String>) -> Result<bool> {
        let call = self.call().args(["rev-list", "--max-count=1", commit, "--not"]).args(known);
        Ok(!call.text()?.is_empty())
    }

    /// Gives a commit a ref of the task, unless it has one.
    fn keep(&self, commit: &str, context: &mut BackupContext<'_>) -> Result<()> {
        let known = self.backups(context.task)?;
        if let Some(backup) = known.into_iter().find(|backup| backup.commit == commit) {
            return (context.note)(SavedWork::Commit(backup));
        }
        if !self.is_beyond(commit, [format!("--glob={BACKUPS}/{}/*", context.task)])? {
            return Ok(());
        }
        let backup = self.keep_commit(commit, context.task)?;
        (context.note)(SavedWork::Commit(backup))
    }

    /// Keeps the commit of a plan from git's garbage collection, until the branch has it.
    pub fn keep_planned(&self, commit: &str, task: &str) -> Result<()> {
        let call = || self.call().args(["update-ref", &format!("{PLANS}/{task}"), commit]);
        self.patiently(call)?.checked().map(drop)
    }

    /// Drops what [`Git::keep_planned`] keeps.
    pub fn drop_planned(&self, task: &str) -> Result<()> {
        let call = || self.call().args(["update-ref", "-d", &format!("{PLANS}/{task}")]);
        self.patiently(call)?.checked().map(drop)
    }

    /// Gives a commit the next ref of the task, unless the last one has it.
    pub fn keep_commit(&self, commit: &str, task: &str) -> Result<Backup> {
        if let Some(last) = self.backups(task)?.pop().filter(|last| last.commit == commit) {
            return Ok(last);
        }
        let reference = self.next_backup(task)?;
        // With an empty old value git refuses to overwrite a ref.
        self.patiently(|| self.call().args(["update-ref", &reference, commit, ""]))?.checked()?;
        Ok(Backup { reference, commit: commit.to_owned() })
    }

    /// The index of a worktree.
    pub(super) fn entries(&self, worktree: &Path) -> Result<Vec<IndexEntry>> {
        let output = self.call_in(worktree).args(["ls-files", "-v", "--stage", "--full-name", "-z"]).run()?;
        Ok(parse::parse_entries(&output.checked()?.stdout))
    }
}

/// Writes files as commands of `git fast-import`, with a question for the object of each. No filter sees their bytes, so none can fail.
fn write_blobs(files: &[PathBuf], pipe: &mut dyn Write) -> io::Result<()> {
    let mut commands = BufWriter::with_capacity(1 << 16, pipe);
    for (mark, path) in (1_usize..).zip(files) {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        write!(commands, "blob\nmark :{mark}\ndata {length}\n")?;
        // Git waits for the rest of a file that got shorter, and then misses `done`.
        if io::copy(&mut file.take(length), &mut commands)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        write!(commands, "\nget-mark :{mark}\n")?;
    }
    commands.write_all(b"done\n")?;
    commands.flush()
}
