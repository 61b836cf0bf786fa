//! Restores the work of a reclaimed worktree: every file of its backup, byte for byte.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::look::{Exactness, Tree};
use super::parse::{GitObject, IndexEntry};
use super::{Git, refused};
use crate::{Error, ErrorKind, Result};
use orange_system::{fault, nofollow};

/// Git's files and folders beside a worktree while something is under way that no backup brings back.
const UNDER_WAY: [&str; 7] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

/// The blobs that are read at once.
const AT_ONCE: usize = 64;

impl Git {
    /// Reason for which the work in a worktree could not be restored unchanged; `None` if it can.
    pub fn why_bound(&self, worktree: &Path, branch: &str) -> Result<Option<String>> {
        let there = self.inside(worktree)?;
        if there.current_branch(worktree)?.as_deref() != Some(branch) {
            return Ok(Some(format!("its worktree is not on `{branch}`")));
        }
        let own = there.git_dir(worktree)?;
        if let Some(name) = UNDER_WAY.iter().find(|name| own.join(name).symlink_metadata().is_ok()) {
            return Ok(Some(format!("git has something under way in its worktree ({name})")));
        }
        let look = there.look(&Tree::new(), Exactness::OfGit)?;
        if !look.walk.is_plain() {
            return Ok(Some("its worktree has a repository or a special file in it".to_owned()));
        }
        let is_odd = |entry: &&IndexEntry| entry.is_conflict() || entry.is_repository() || entry.is_hidden();
        let odd = look.entries.iter().find(is_odd);
        Ok(odd.map(|entry| format!("git treats {} in a special manner", entry.path.display())))
    }

    /// Writes into a worktree every file in which a backup differs from the commit under it. Files that are there already stay.
    ///
    /// # Errors
    /// `refused` if the branch has moved from that commit and has changed one of these files; nothing is written then.
    pub fn restore_backup(&self, worktree: &Path, head: &str, backup: &str) -> Result<()> {
        let there = self.inside(worktree)?;
        let (old, new) = (there.tree(head)?, there.tree(backup)?);
        let unconverted = there.unconverted(backup)?;
        let changed = changed(&old, &new, &unconverted);
        let now = there.head(worktree)?.unwrap_or_default();
        if now != head {
            let tree = there.tree(&now)?;
            if let Some(path) = changed.iter().find(|path| tree.get(**path) != old.get(**path)) {
                let message = format!("the branch has moved, and has changed {}, too", path.display());
                return Err(refused(message)
                    .help(format!("the work is in the commit {backup}: take from it what you need")));
            }
        }
        there.write_back(&changed, &new)?;
        // The exit status only says whether something differs from the index.
        there.call().args(["update-index", "-q", "--refresh"]).run()?;
        Ok(())
    }

    /// Gives these files of the checkout the bytes that they have in a tree, or removes them.
    pub(super) fn write_back(&self, paths: &BTreeSet<&PathBuf>, tree: &Tree) -> Result<()> {
        for path in paths.iter().filter(|path| !tree.contains_key(**path)) {
            remove(&self.repo, path).map_err(|cause| Error::io("remove", path, &cause))?;
        }
        let wanted = paths.iter().filter_map(|path| Some((*path, tree.get(*path)?)));
        let (repositories, files): (Vec<(&PathBuf, &GitObject)>, Vec<_>) =
            wanted.partition(|(_, object)| object.is_repository());
        for (path, _) in repositories {
            make_folders(&self.repo, &self.repo.join(path))
                .map_err(|cause| Error::io("create", path, &cause))?;
        }
        for some in files.chunks(AT_ONCE) {
            let contents = self.blobs(some.iter().map(|(_, object)| object.id.as_str()))?;
            for ((path, object), content) in some.iter().zip(contents) {
                fault::step("bring back", path.display());
                write(&self.repo, path, &object.mode, &content)
                    .map_err(|cause| Error::io("write", path, &cause))?;
            }
        }
        Ok(())
    }

    /// The contents of these blobs.
    fn blobs<'i>(&self, ids: impl Iterator<Item = &'i str>) -> Result<Vec<Vec<u8>>> {
        let ids: Vec<&str> = ids.collect();
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let printed =
            self.call().args(["cat-file", "--batch"]).input(input.as_bytes()).run()?.checked()?.stdout;
        let contents = parse_batch(&printed).filter(|contents| contents.len() == ids.len());
        contents.ok_or_else(|| {
            Error::new(ErrorKind::Environment, "`git cat-file` has not read every file of a backup")
        })
    }
}

/// The files in which two trees differ, and these.
pub(super) fn changed<'t>(
    one: &'t Tree,
    other: &'t Tree,
    also: &'t BTreeSet<PathBuf>,
) -> BTreeSet<&'t PathBuf> {
    let differs = |path: &&PathBuf| one.get(*path) != other.get(*path);
    one.keys().chain(other.keys()).filter(differs).chain(also).collect()
}

/// The contents in the output of `git cat-file --batch`; `None` if it lacks one.
fn parse_batch(printed: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut contents, mut rest) = (Vec::new(), printed);
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let header = std::str::from_utf8(&rest[..end]).ok()?;
        let size: usize = header.split(' ').nth(2)?.parse().ok()?;
        let content = rest.get(end + 1..end + 1 + size)?;
        contents.push(content.to_vec());
        rest = rest.get(end + 2 + size..)?;
    }
    Some(contents)
}

/// Removes a file, and the folders above it that are empty then.
fn remove(worktree: &Path, path: &Path) -> io::Result<()> {
    let place = worktree.join(path);
    match clear(&place) {
        Err(cause) if !matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(cause);
        }
        Ok(()) | Err(_) => {}
    }
    for folder in place.ancestors().skip(1).take_while(|folder| *folder != worktree) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes a file, or the empty folder of a repository that was not checked out.
fn clear(place: &Path) -> io::Result<()> {
    if nofollow::metadata(place)?.is_dir() { fs::remove_dir(place) } else { nofollow::remove(place) }
}

/// Writes a file or a link, in the place of what is there.
fn write(worktree: &Path, path: &Path, mode: &str, content: &[u8]) -> io::Result<()> {
    let place = worktree.join(path);
    if let Some(parent) = place.parent().filter(|parent| *parent != worktree) {
        make_folders(worktree, parent)?;
    }
    match clear(&place) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        Ok(()) | Err(_) => {}
    }
    if mode == "120000" {
        return symlink(std::ffi::OsStr::from_bytes(content), &place);
    }
    let mut file = nofollow::open(&place, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    file.write_all(content)?;
    file.set_permissions(Permissions::from_mode(if mode == "100755" { 0o755 } else { 0o644 }))
}

/// Makes the folders of a path, with the permissions that others have.
fn make_folders(worktree: &Path, folder: &Path) -> io::Result<()> {
    if nofollow::metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    if let Some(parent) = folder.parent().filter(|parent| *parent != worktree) {
        make_folders(worktree, parent)?;
    }
    fs::create_dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_read_by_their_lengths() {
        let printed = b"aa blob 3\na\nb\nbb blob 0\n\ncc blob 2\n\xff\n\n";
        let contents = parse_batch(printed).unwrap();
        assert_eq!(contents, [b"a\nb".to_vec(), Vec::new(), b"\xff\n".to_vec()]);
        assert_eq!(parse_batch(b""), Some(Vec::new()));
        for broken in [&b"aa missing\n"[..], b"aa blob 9\nabc\n", b"aa blob 1"] {
            assert_eq!(parse_batch(broken), None);
        }
    }
}
