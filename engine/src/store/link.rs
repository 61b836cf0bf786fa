//! The `TASK.md` in a worktree: a link to the task's own, and what to do when an editor put a file in its place.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::store::frontmatter::Document;
use crate::store::{TaskDir, atomic};
use crate::{Error, Kind, Result};

/// A file that stands where the link was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Its path.
    pub path: PathBuf,
    /// Its whole contents.
    pub contents: Vec<u8>,
    /// Its body: all of it when it has no frontmatter.
    pub body: String,
}

/// Puts the link into a worktree that has become the task's. A link to another task's file is replaced.
///
/// # Errors
/// `refused` when the project has a `TASK.md` of its own there; `environment`.
pub fn make(dir: &TaskDir, worktree: &Path) -> Result<()> {
    let path = worktree.join("TASK.md");
    let target = dir.task_md();
    match fs::read_link(&path) {
        Ok(found) if found == target => Ok(()),
        Ok(found) if found.ends_with("TASK.md") && is_a_task(&found, &target) => put(&path, &target),
        Err(cause) if cause.kind() == ErrorKind::NotFound => new(&path, &target),
        Ok(_) | Err(_) => {
            Err(Error::new(Kind::Refused, format!("{} is the project's own file", path.display())).help(
                "orange keeps the task under this name: rename TASK.md in the project's default branch",
            ))
        }
    }
}

/// Puts the link back into a worktree from which it was removed. Whatever else is there stays, and so does its absence
/// where there is no worktree.
///
/// # Errors
/// `environment`.
pub fn make_again(dir: &TaskDir, worktree: &Path) -> Result<()> {
    let path = worktree.join("TASK.md");
    let is_missing = fs::symlink_metadata(&path).is_err_and(|cause| cause.kind() == ErrorKind::NotFound);
    if is_missing && worktree.is_dir() { new(&path, &dir.task_md()) } else { Ok(()) }
}

/// Puts the link back into its place, over a file whose contents were taken; `false` when that file has changed since.
///
/// # Errors
/// `environment`.
pub fn restore(dir: &TaskDir, replaced: &Replacement) -> Result<bool> {
    let now = fs::read(&replaced.path).map_err(|cause| Error::io("read", &replaced.path, &cause))?;
    if now != replaced.contents {
        return Ok(false);
    }
    put(&replaced.path, &dir.task_md()).map(|()| true)
}

/// The file that an editor or an agent put in the place of the worktree's link, if there is one.
///
/// # Errors
/// `corrupt` when it cannot be understood or is another task's; `environment`.
pub fn replacement(dir: &TaskDir, worktree: &Path) -> Result<Option<Replacement>> {
    let path = worktree.join("TASK.md");
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Ok(None),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(cause) => return Err(Error::io("look at", &path, &cause)),
    }
    let contents = fs::read(&path).map_err(|cause| Error::io("read", &path, &cause))?;
    let body = body_of(dir, &contents, &path)?;
    Ok(Some(Replacement { path, contents, body }))
}

fn body_of(dir: &TaskDir, contents: &[u8], path: &Path) -> Result<String> {
    let without_frontmatter = std::str::from_utf8(contents).ok().filter(|text| {
        let text = text.trim_start_matches('\u{FEFF}');
        !text.starts_with("---") && !text.trim().is_empty()
    });
    let text = match without_frontmatter {
        Some(body) => format!("---\n---\n{body}").into_bytes(),
        None => contents.to_owned(),
    };
    let added_lines = if without_frontmatter.is_some() { 2 } else { 0 };
    let place = |line: usize| match line.saturating_sub(added_lines) {
        0 => path.display().to_string(),
        line => format!("{}:{line}", path.display()),
    };
    let document = Document::parse(&text).map_err(|flaw| {
        Error::new(Kind::Corrupt, format!("{}: {flaw}", place(flaw.line))).help(format!(
            "an editor put this file in the place of a link to {}: {}, or remove it; nothing was changed",
            dir.task_md().display(),
            flaw.mend
        ))
    })?;
    match document.get("id") {
        Ok(Some(id)) if id != dir.id => Err(Error::new(
            Kind::Corrupt,
            format!("{} belongs to task {id}, not to {}", path.display(), dir.id),
        )
        .help("move it away: the link to this task's own file comes back by itself; nothing was changed")),
        Ok(_) | Err(_) => Ok(document.into_body()),
    }
}

fn new(path: &Path, target: &Path) -> Result<()> {
    symlink(target, path).map_err(|cause| Error::io("make the link", path, &cause))
}

/// Makes the link under a temporary name and renames it, so that there is no moment without a `TASK.md`.
fn put(path: &Path, target: &Path) -> Result<()> {
    atomic::sweep(path.parent().unwrap_or(path));
    let temporary = atomic::temporary(path);
    symlink(target, &temporary)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|cause| Error::io("make the link", path, &cause))
}

/// Whether a link leads to some task of the same home: `tasks/<project>/<id>/TASK.md`.
fn is_a_task(found: &Path, target: &Path) -> bool {
    let tasks = target.ancestors().nth(3);
    tasks.is_some() && found.ancestors().nth(3) == tasks
}
