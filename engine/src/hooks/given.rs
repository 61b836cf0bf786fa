//! Files of the repository that a worktree is given: copies and links. They are not work of the task, and go with it.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::OFlags;

use crate::drive::git::{self, BackupContext, Git};
use crate::store::Home;
use crate::{Error, ErrorKind, Result};
use orange_system::files::{self, if_found, real};
use orange_system::{fault, nofollow};

/// The most bytes that a worktree gets copies of.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// Means by which a worktree gets a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    Copy,
    Link,
}

/// Reason for which the worktree does not get a file or a folder of the repository: the repository has none, or has one in git.
///
/// # Errors
/// `refused` for a path behind a link, and for what is neither a file nor a folder.
pub fn why_left_out(repo: &Path, worktree: &Path, path: &str) -> Result<Option<String>> {
    let source = real(repo).join(path);
    if Git::at(repo).has_tracked(worktree, path)? {
        return Ok(Some(format!("{path} is in git, on the task's branch")));
    }
    let Some(found) = if_found(&source, nofollow::metadata(&source)).map_err(|error| outside(error, path))?
    else {
        return Ok(Some(format!("{path} is not in {}", repo.display())));
    };
    if found.is_file() || found.is_dir() { Ok(None) } else { Err(unfit(&source)) }
}

/// Gives the worktree a file or a folder of the repository, which git ignores there. Something else at its place is set aside.
///
/// # Errors
/// `refused` for too much to copy, and for a path that the project keeps git from ignoring.
pub fn give(
    repo: &Path,
    worktree: &Path,
    path: &str,
    means: Means,
    context: &mut BackupContext<'_>,
) -> Result<()> {
    let (source, target) = (real(repo).join(path), worktree.join(path));
    if !Git::at(repo).is_ignored(worktree, path)? {
        let message =
            format!("git would take {path} for work of the task: a `.gitignore` of the project says so");
        return Err(Error::new(ErrorKind::Refused, message).help(format!(
            "take the line with `!` out of that file, or {path} out of the project's settings"
        )));
    }
    if let Some(parent) = target.parent() {
        nofollow::make_folder(parent).map_err(|cause| Error::io("create", parent, &cause))?;
    }
    let there = if_found(&target, nofollow::metadata(&target))?;
    if there.is_some() {
        if is_given(&source, &target, means) {
            return Ok(());
        }
        context.set_aside(&target)?;
    }
    fault::step("give", path);
    hand_over(&source, &target, means)
}

fn hand_over(source: &Path, target: &Path, means: Means) -> Result<()> {
    match means {
        Means::Link => symlink(source, target).map_err(|cause| Error::io("create", target, &cause)),
        Means::Copy => copy(source, target, &mut 0),
    }
}

/// Gives a file or a folder of the repository to a checkout that is removed as a whole; nothing where git has something, or the repository
/// nothing.
///
/// # Errors
/// `refused` for what is neither a file nor a folder, and for too much to copy.
pub fn lend(repo: &Path, checkout: &Path, path: &str, means: Means) -> Result<()> {
    if why_left_out(repo, checkout, path)?.is_some() {
        return Ok(());
    }
    let (source, target) = (real(repo).join(path), checkout.join(path));
    if let Some(parent) = target.parent() {
        nofollow::make_folder(parent).map_err(|cause| Error::io("create", parent, &cause))?;
    }
    hand_over(&source, &target, means)
}

/// Has git ignore, in the worktree of this name alone, what it was given: what is recorded, or else these paths. A path in which the
/// task has something in git is work from then on: what else is there is backed up, too. It is for a worktree that is on the task's
/// branch.
pub fn decide_given(home: &Home, repo: &Path, name: &str, unrecorded: Vec<String>) -> Result<()> {
    let (git, worktree, folder) = (Git::at(repo), home.workspace(name), home.given(name));
    let recorded = git::given(&folder)?.unwrap_or(unrecorded);
    if recorded.is_empty() || !worktree.is_dir() {
        return Ok(());
    }
    let mut paths = Vec::new();
    for path in recorded {
        if !git.has_tracked(&worktree, &path)? {
            paths.push(path);
        }
    }
    git.ignore_given(&worktree, &folder, &paths)
}

/// Removes everything that the worktree of this name was given.
pub fn take_all(home: &Home, repo: &Path, name: &str) -> Result<()> {
    let (worktree, folder) = (home.workspace(name), home.given(name));
    if worktree.is_dir() {
        for path in git::given(&folder)?.unwrap_or_default() {
            take(repo, &worktree, &path)?;
        }
    }
    fault::step("forget", "what the worktree was given");
    Git::at(repo).forget_given(&folder)
}

/// Removes what the worktree was given, also if an agent has put something else in its place. A file in git stays, and so does one
/// behind a link.
fn take(repo: &Path, worktree: &Path, path: &str) -> Result<()> {
    let target = worktree.join(path);
    let Ok(found) = nofollow::metadata(&target) else { return Ok(()) };
    if Git::at(repo).has_tracked(worktree, path)? {
        return Ok(());
    }
    fault::step("take", path);
    let removed = if found.is_dir() { files::remove_folder(&target) } else { nofollow::remove(&target) };
    match removed {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &target, &cause)),
        Ok(()) | Err(_) => {
            remove_empty(worktree, &target);
            Ok(())
        }
    }
}

/// Removes the folders above a path that are empty now.
fn remove_empty(worktree: &Path, target: &Path) {
    let above = target.ancestors().skip(1).take_while(|folder| *folder != worktree);
    for folder in above {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// True if this is there already, by an earlier process that was killed.
fn is_given(source: &Path, target: &Path, means: Means) -> bool {
    match means {
        Means::Link => fs::read_link(target).is_ok_and(|to| to == source),
        Means::Copy => is_same(source, target).unwrap_or(false),
    }
}

fn is_same(source: &Path, target: &Path) -> io::Result<bool> {
    let (one, other) = (nofollow::metadata(source)?, nofollow::metadata(target)?);
    if one.is_dir() && other.is_dir() {
        let names = |folder: &Path| -> io::Result<Vec<_>> {
            let mut names: Vec<_> = nofollow::entries(folder)?.iter().map(fs::DirEntry::file_name).collect();
            names.sort_unstable();
            Ok(names)
        };
        let inside = names(source)?;
        let all = inside.iter().try_fold(true, |all, name| {
            Ok::<_, io::Error>(all && is_same(&source.join(name), &target.join(name))?)
        })?;
        return Ok(all && inside == names(target)?);
    }
    let is_alike = one.is_file() && other.is_file() && one.size() == other.size();
    Ok(is_alike && nofollow::read(source, MOST_BYTES)? == nofollow::read(target, MOST_BYTES)?)
}

/// Copies a file, or a folder with the files in it. `copied` counts the bytes.
fn copy(source: &Path, target: &Path, copied: &mut u64) -> Result<()> {
    let found = nofollow::metadata(source).map_err(|cause| Error::io("read", source, &cause))?;
    if found.is_dir() {
        nofollow::make_folder(target).map_err(|cause| Error::io("create", target, &cause))?;
        let inside = nofollow::entries(source).map_err(|cause| Error::io("read", source, &cause))?;
        return inside
            .iter()
            .try_for_each(|entry| copy(&entry.path(), &target.join(entry.file_name()), copied));
    }
    if !found.is_file() {
        return Err(unfit(source));
    }
    // The file is opened once: the one that was looked at may have been replaced.
    let from = nofollow::open(source, OFlags::RDONLY).map_err(|cause| Error::io("read", source, &cause))?;
    let left = MOST_BYTES.saturating_sub(*copied);
    let written = write(&from, target, left).map_err(|cause| Error::io("write", target, &cause))?;
    *copied += written;
    if written > left {
        let message = format!("{} and the files beside it have more than 256 MiB", source.display());
        return Err(
            Error::new(ErrorKind::Refused, message).help("link it, or copy less: `orange project show`")
        );
    }
    Ok(())
}

/// Writes at most one byte more than these.
fn write(from: &File, target: &Path, most: u64) -> io::Result<u64> {
    let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let mut to = nofollow::open(target, how)?;
    let written = io::copy(&mut from.take(most.saturating_add(1)), &mut to)?;
    to.set_permissions(Permissions::from_mode(from.metadata()?.permissions().mode() & 0o777))?;
    Ok(written)
}

fn unfit(source: &Path) -> Error {
    let message = format!("{} is neither a file nor a folder, and is not copied or linked", source.display());
    Error::new(ErrorKind::Refused, message)
        .help("a link, a pipe or a device may lead anywhere: put a file in its place")
}

fn outside(error: Error, path: &str) -> Error {
    error.help(format!("no part of {path} may be a link: it could lead out of the repository"))
}
