//! Reads the commit of a worktree from git's files: a transition has no time for a process.

use std::fs;
use std::path::{Path, PathBuf};

use super::Git;
use crate::Result;

/// The commit of a worktree; `None` on a branch without commits. Where git's files are not plain (a repository with reftables, a
/// symbolic ref), git is asked.
pub fn stands_on(worktree: &Path) -> Result<Option<String>> {
    match from_files(worktree) {
        Some(commit) => Ok(Some(commit)),
        None => Git::at(worktree).head(worktree),
    }
}

/// True if the index of a worktree may have a top-level file of this name: only git knows, but a request has no time for that.
pub fn may_have(worktree: &Path, name: &str) -> bool {
    let index = git_folder(worktree).and_then(|folder| fs::read(folder.join("index")).ok());
    index.is_some_and(|index| index.windows(name.len()).any(|part| part == name.as_bytes()))
}

/// True if the index of a worktree may name a repository inside: by the mode of its entry, which other bytes may resemble, or by a
/// second index, which is not read.
pub fn may_have_repository(worktree: &Path) -> bool {
    const MODE: &[u8] = &[0, 0, 0xe0, 0];
    let index = git_folder(worktree).and_then(|folder| fs::read(folder.join("index")).ok());
    index.is_some_and(|index| index.windows(4).any(|part| part == MODE || part == b"link"))
}

/// The branch of a worktree by git's files; `None` if it has none, or if only git knows.
pub(super) fn branch(worktree: &Path) -> Option<String> {
    let head = line(&git_folder(worktree)?.join("HEAD"))?;
    head.strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// The commit by git's files; `None` if only git knows.
pub(super) fn from_files(worktree: &Path) -> Option<String> {
    let folder = git_folder(worktree)?;
    let head = line(&folder.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref: ") else { return commit(&head) };
    let common = common_folder(&folder);
    // In this order, since git packs a ref before it removes the loose one.
    loose(&common, name).or_else(|| packed(&common, name))
}

/// The shared part of the repository of this worktree.
pub(super) fn repository(top: &Path) -> Option<PathBuf> {
    git_folder(top).map(|folder| common_folder(&folder))
}

/// The worktree's own part of the repository: `.git`, or the target of a linked worktree's `.git` file.
fn git_folder(worktree: &Path) -> Option<PathBuf> {
    let path = worktree.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    Some(worktree.join(line(&path)?.strip_prefix("gitdir: ")?))
}

/// The part of the repository that all worktrees share, which has the branches.
fn common_folder(folder: &Path) -> PathBuf {
    line(&folder.join("commondir")).map_or_else(|| folder.to_owned(), |common| folder.join(common))
}

fn loose(common: &Path, name: &str) -> Option<String> {
    commit(&line(&common.join(name))?)
}

fn packed(common: &Path, name: &str) -> Option<String> {
    let refs = fs::read_to_string(common.join("packed-refs")).ok()?;
    refs.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').and_then(commit))
}

/// A full commit name, SHA-1 or SHA-256.
fn commit(text: &str) -> Option<String> {
    let is_whole = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_whole.then(|| text.to_owned())
}

fn line(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim_end().to_owned())
}
