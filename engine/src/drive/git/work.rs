//! The work in a worktree as programs see it: its commit, and everything that differs from that.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::look::{CheckoutLook, Exactness, FoundFile, Tree};
use super::parse::{self, ChangedFile, GitObject, IndexEntry};
use super::{Git, TASK_FILE};
use crate::{Error, ErrorKind, Result};

/// The content of a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeContent {
    /// Its commit; empty on a branch without commits.
    pub commit: String,
    /// The hash of what differs from the commit: what is staged, changed, removed, or new and not ignored. Empty if nothing does.
    pub changes: String,
}

/// Differences of files from the commit: the mode and object of each, or that it is gone.
pub(super) type WorktreeChanges = BTreeMap<PathBuf, String>;

impl Git {
    /// The content of a worktree of this repository. It writes nothing: neither an index nor an object.
    pub fn work(&self, worktree: &Path) -> Result<WorktreeContent> {
        self.inside(worktree)?.content(Exactness::WithFilters)
    }

    /// The content of the checkout of this `Git`.
    fn content(&self, exactness: Exactness) -> Result<WorktreeContent> {
        const ATTEMPTS: usize = 3;
        let mut failure = None;
        // A file may vanish between two looks.
        for _ in 0..ATTEMPTS {
            match self.content_at_once(exactness) {
                Ok(work) => return Ok(work),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(unread))
    }

    /// The submodules that a worktree has checked out and whose content differs from their commit, as git compares them: nobody could
    /// commit another difference.
    pub(super) fn changed_submodules(&self) -> Result<Vec<ChangedFile>> {
        if !self.repo.join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let mut changes = Vec::new();
        for entry in self.entries(&self.repo)?.into_iter().filter(IndexEntry::is_repository) {
            let inner = Git { repo: self.repo.join(&entry.path), env: Vec::new() };
            if inner.repo.join(".git").exists() && !inner.content(Exactness::OfGit)?.changes.is_empty() {
                changes.push(ChangedFile { code: " M".to_owned(), path: entry.path });
            }
        }
        Ok(changes)
    }

    fn content_at_once(&self, exactness: Exactness) -> Result<WorktreeContent> {
        let commit = self.head(&self.repo)?.unwrap_or_default();
        let look = self.look(&Tree::new(), exactness)?;
        let staged = self.staged(&commit)?;
        let mut changed = removed(&look);
        changed.extend(self.hashed(&look.uncommitted())?);
        for repository in &look.walk.repositories {
            let inner = Git { repo: self.repo.join(repository), env: Vec::new() };
            let exactness = if exactness == Exactness::OfGit { exactness } else { Exactness::WithoutFilters };
            let WorktreeContent { commit, changes: inside } = inner.content(exactness)?;
            changed.insert(repository.clone(), format!("repository {commit} {inside}"));
        }
        let lines: Vec<u8> = [("staged", staged), ("changed", changed)].into_iter().flat_map(lines).collect();
        if lines.is_empty() {
            return Ok(WorktreeContent { commit, changes: String::new() });
        }
        Ok(WorktreeContent {
            commit,
            changes: self.call().args(["hash-object", "--stdin"]).input(&lines).text()?,
        })
    }

    /// The files whose index differs from the commit.
    fn staged(&self, commit: &str) -> Result<WorktreeChanges> {
        let committed = if commit.is_empty() { Tree::new() } else { self.tree(commit)? };
        let entries = self.entries(&self.repo)?;
        let is_new = |entry: &&IndexEntry| committed.get(&entry.path) != Some(&entry.object());
        let mut changes: WorktreeChanges =
            entries.iter().filter(is_new).map(|entry| (entry.path.clone(), words(&entry.object()))).collect();
        let known: BTreeSet<&Path> = entries.iter().map(|entry| &*entry.path).collect();
        let gone = committed.keys().filter(|path| !known.contains(&***path));
        changes.extend(gone.map(|path| (path.clone(), GONE.to_owned())));
        Ok(changes)
    }

    /// The objects of the bytes of these files, and the targets of links.
    pub(super) fn hashed(&self, files: &[FoundFile]) -> Result<WorktreeChanges> {
        let (links, files): (Vec<&FoundFile>, Vec<&FoundFile>) =
            files.iter().partition(|file| file.print.is_link);
        let mut changes = WorktreeChanges::new();
        for link in links {
            let target = std::fs::read_link(self.repo.join(&link.path)).map_err(|_| unread())?;
            changes.insert(link.path.clone(), format!("{} {}", link.mode(), target.display()));
        }
        if files.is_empty() {
            return Ok(changes);
        }
        let lines: Vec<u8> =
            files.iter().flat_map(|file| parse::quoted(&self.repo.join(&file.path))).collect();
        let call = self.call().args(["hash-object", "--no-filters", "--stdin-paths"]);
        let printed = call.input(&lines).text()?;
        if printed.lines().count() != files.len() {
            return Err(unread());
        }
        let hashed = files.iter().zip(printed.lines());
        changes.extend(hashed.map(|(file, id)| (file.path.clone(), format!("{} {id}", file.mode()))));
        Ok(changes)
    }
}

const GONE: &str = "gone";

/// A line for each file but the task's. A program can see the index, too, so that staging a change counts as one.
fn lines((place, changes): (&str, WorktreeChanges)) -> Vec<u8> {
    let others = changes.iter().filter(|(path, _)| **path != Path::new(TASK_FILE));
    let line = |(path, how): (&PathBuf, &String)| {
        [place.as_bytes(), b" ", how.as_bytes(), b" ", path.as_os_str().as_bytes(), &[0]].concat()
    };
    others.flat_map(line).collect()
}

fn words(GitObject { mode, id }: &GitObject) -> String {
    format!("{mode} {id}")
}

/// The files of the index that the worktree lacks. One that git is told to skip was not removed by anybody.
fn removed(look: &CheckoutLook) -> WorktreeChanges {
    let found: BTreeSet<&Path> = look.walk.files.iter().map(|found| &*found.path).collect();
    let is_gone =
        |entry: &&IndexEntry| !entry.is_repository() && !entry.is_hidden() && !found.contains(&*entry.path);
    let gone = look.entries.iter().filter(is_gone);
    gone.map(|entry| (entry.path.clone(), GONE.to_owned())).collect()
}

fn unread() -> Error {
    Error::new(ErrorKind::Environment, "git has not read every file of the worktree")
        .help("something writes there all the time: end it, then repeat this")
}
