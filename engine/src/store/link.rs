//! The `TASK.md` in a worktree: a link to the task's own, and what to do when an editor put a file in its place.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::store::frontmatter::Document;
use crate::store::{TaskDir, atomic, late, task};
use crate::{Error, Kind, Result, fault};

/// A file that stands where the link was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Its path.
    pub path: PathBuf,
    /// Its body: all of it when it has no frontmatter.
    pub body: String,
    saved: SystemTime,
}

/// What is at the place of the link.
enum Found {
    /// The link.
    Link,
    /// A link to another task's file, or to where this one's was before the home was moved.
    OldLink,
    /// Nothing.
    Nothing,
    /// Something that is not ours.
    Other,
}

/// Puts the link into a worktree that has become the task's. A link to another task's file is replaced.
///
/// # Errors
/// `refused` when the project has a `TASK.md` of its own there; `environment`.
pub fn make(dir: &TaskDir, worktree: &Path) -> Result<()> {
    let (path, target) = (worktree.join("TASK.md"), dir.task_md());
    fault::step("link", path.display());
    match look(&path, &target) {
        Found::Link => Ok(()),
        Found::OldLink => replace(&path, &target),
        Found::Nothing => symlink(&target, &path).map_err(|cause| Error::io("make the link", &path, &cause)),
        Found::Other => {
            Err(Error::new(Kind::Refused, format!("{} is in the way of the task's link", path.display()))
                .help("move it away; if it is the project's own file, rename it on the default branch"))
        }
    }
}

/// Puts the link into a worktree from which it was removed, or where it leads astray. What is not ours stays, and so
/// does the absence of a worktree.
///
/// # Errors
/// `environment`.
pub fn make_again(dir: &TaskDir, worktree: &Path) -> Result<()> {
    match look(&worktree.join("TASK.md"), &dir.task_md()) {
        Found::OldLink | Found::Nothing if worktree.is_dir() => make(dir, worktree),
        Found::OldLink | Found::Nothing | Found::Link | Found::Other => Ok(()),
    }
}

/// Puts the link back into its place, over a file whose body was taken. That file becomes a former version of the task's
/// own, so that what comes into it late is found.
///
/// # Errors
/// `environment`.
pub fn restore(dir: &TaskDir, replaced: &Replacement) -> Result<()> {
    let fail = |cause: std::io::Error| Error::io("make the link", &replaced.path, &cause);
    let former = late::name(&atomic::target_of(&dir.task_md())?, &replaced.body);
    let link = staged(&replaced.path, &dir.task_md())?;
    fault::step("swap", replaced.path.display());
    match atomic::exchange(&link, &replaced.path) {
        Ok(()) => keep(&link, &former).map_err(fail),
        Err(cause) if matches!(cause.kind(), ErrorKind::Unsupported | ErrorKind::NotFound) => {
            keep(&replaced.path, &former)
                .or_else(|cause| unless_gone(&replaced.path, cause))
                .map_err(fail)?;
            fs::rename(&link, &replaced.path).map_err(fail)
        }
        Err(cause) => Err(fail(cause)),
    }
}

/// The file that an editor or an agent put in the place of the worktree's link, if there is one, once it is whole.
///
/// # Errors
/// `corrupt` when it cannot be understood or is another task's; `environment`.
pub fn replacement(dir: &TaskDir, worktree: &Path) -> Result<Option<Replacement>> {
    task::once_whole(&worktree.join("TASK.md"), || glance(dir, worktree))
}

fn glance(dir: &TaskDir, worktree: &Path) -> Result<Option<Replacement>> {
    let path = worktree.join("TASK.md");
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Ok(None),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(cause) => return Err(Error::io("look at", &path, &cause)),
    }
    let fail = |cause: std::io::Error| Error::io("read", &path, &cause);
    let saved = fs::metadata(&path).and_then(|metadata| metadata.modified()).map_err(fail)?;
    let contents = fs::read(&path).map_err(fail)?;
    let body = body_of(dir, &contents, &path)?;
    Ok(Some(Replacement { path, body, saved }))
}

impl Replacement {
    /// What the task's body becomes with it. If somebody has written to the task's own file since, the lines of that which it
    /// lacks are added.
    pub fn body_over(&self, dir: &TaskDir, own: &str) -> String {
        let written = fs::metadata(dir.task_md()).and_then(|metadata| metadata.modified());
        match written {
            Ok(written) if written <= self.saved => self.body.clone(),
            Ok(_) | Err(_) => late::united(&self.body, own).unwrap_or_else(|| self.body.clone()),
        }
    }
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

fn look(path: &Path, target: &Path) -> Found {
    match fs::read_link(path) {
        Ok(found) if found == target => Found::Link,
        Ok(found) if is_of_a_task(&found) => Found::OldLink,
        Err(cause) if cause.kind() == ErrorKind::NotFound => Found::Nothing,
        Ok(_) | Err(_) => Found::Other,
    }
}

/// Whether a link leads to `…/tasks/<project>/<id>/TASK.md`.
fn is_of_a_task(found: &Path) -> bool {
    let tasks = found.ancestors().nth(3).and_then(Path::file_name);
    found.is_absolute() && found.ends_with("TASK.md") && tasks.is_some_and(|name| name == "tasks")
}

/// Makes the link under a temporary name and renames it, so that there is no moment without a `TASK.md`.
fn replace(path: &Path, target: &Path) -> Result<()> {
    let temporary = staged(path, target)?;
    fs::rename(&temporary, path).map_err(|cause| Error::io("make the link", path, &cause))
}

/// The link under a temporary name.
fn staged(path: &Path, target: &Path) -> Result<PathBuf> {
    atomic::sweep(path.parent().unwrap_or(path));
    let temporary = atomic::temporary(path);
    symlink(target, &temporary).map_err(|cause| Error::io("make the link", path, &cause))?;
    Ok(temporary)
}

/// Moves a file, to another file system too.
fn keep(file: &Path, former: &Path) -> std::io::Result<()> {
    fault::step("rename to", former.display());
    match fs::rename(file, former) {
        Err(cause) if cause.kind() == ErrorKind::CrossesDevices => {
            fs::copy(file, former)?;
            fs::remove_file(file)
        }
        moved => moved,
    }
}

fn unless_gone(path: &Path, cause: std::io::Error) -> std::io::Result<()> {
    if path.exists() { Err(cause) } else { Ok(()) }
}
