//! The home's folder: rights, space, locks, and what dead processes have left.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};

use crate::doctor::{Finding, Level, Seen, or_fine};
use crate::files::entries;
use crate::store::{Home, atomic, list, lock};
use crate::{Error, Result};

/// Below this many bytes, nothing can be relied on.
const TOO_LITTLE: u64 = 100 << 20;
/// Below this many bytes, the next worktree may be too much.
const LITTLE: u64 = 1 << 30;

pub(super) fn home(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let root = seen.orange.home.root();
    let found = match fs::metadata(root) {
        Ok(found) => found,
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            return Ok(vec![Finding::fine(format!(
                "{} is made by the first command that needs it",
                root.display()
            ))]);
        }
        Err(cause) => return Err(Error::io("look at", root, &cause)),
    };
    let mut findings = Vec::new();
    let shown = root.display();
    if access(root, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let finding = Finding::new(Level::Broken, format!("{shown} cannot be written"));
        findings.push(finding.remedy(format!("make it yours: `chown -R $USER {shown}`")));
    }
    if found.permissions().mode() & 0o077 != 0 {
        let finding =
            Finding::new(Level::Warning, format!("others can read {shown}, and so prompts and tasks"));
        findings.push(finding.remedy(format!("`chmod 700 {shown}`")));
    }
    // A folder can be locked, too, and nothing has to be written for that.
    if let Ok(folder) = File::open(root)
        && let Err(TryLockError::Error(cause)) = folder.try_lock_shared()
    {
        findings
            .push(Finding::new(Level::Broken, format!("the file system of {shown} has no locks: {cause}")));
    }
    Ok(or_fine(findings, format!("{shown}")))
}

pub(super) fn space(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let root = seen.orange.home.root();
    let Some(there) = root.ancestors().find(|folder| folder.is_dir()) else { return Ok(Vec::new()) };
    let disk = statvfs(there).map_err(|cause| Error::io("look at the disk of", there, &cause.into()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let message = format!("{} free for {}", size(free), root.display());
    // A file system without a count of files says 0 of 0.
    let is_out_of_files = disk.f_files > 0 && disk.f_favail == 0;
    Ok(vec![match free {
        _ if is_out_of_files => Finding::new(Level::Broken, "the disk takes no more files"),
        ..TOO_LITTLE => Finding::new(Level::Broken, message),
        TOO_LITTLE..LITTLE => Finding::new(Level::Warning, message),
        LITTLE.. => Finding::fine(message),
    }])
}

/// A lock that is held is no fault, and one whose holder is dead is free. One that is held for long may hang.
pub(super) fn locks(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let home = &seen.orange.home;
    let mut files = vec![home.root().join(".projects.lock"), home.workspaces().join(".pool.lock")];
    for dir in list::dirs(home, None)? {
        files.extend(dir.path.parent().map(|project| project.join(".lock")));
        files.push(dir.lock_file());
    }
    files.sort_unstable();
    files.dedup();
    let held = files.iter().filter_map(|file| Some((file, lock::held_longer(file, home.patience())?)));
    let told = |(file, holder): (&PathBuf, String)| {
        Finding::new(Level::Warning, format!("{} is held by {holder}", file.display()))
    };
    Ok(or_fine(held.map(told).collect(), "none is held for long"))
}

pub(super) fn leftovers(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let home = &seen.orange.home;
    let mut folders = vec![home.root().to_owned(), home.workspaces()];
    for dir in list::dirs(home, None)? {
        folders.push(dir.path.join("prompts"));
        folders.push(dir.path);
    }
    let left: Vec<PathBuf> = folders.iter().flat_map(|folder| atomic::leftovers(folder)).collect();
    let told = |file: &PathBuf| {
        let shown = file.display();
        Finding::new(Level::Warning, format!("{shown} is of a dead process"))
            .remedy(format!("`rm '{shown}'`"))
    };
    Ok(or_fine(left.iter().map(told).collect(), "none"))
}

pub(super) fn trash(seen: &Seen<'_>) -> Result<Vec<Finding>> {
    let home: &Home = &seen.orange.home;
    let tasks = list::below(&home.trash(), None)?.len();
    let bytes = bytes_in(&home.trash())?;
    Ok(vec![Finding::fine(format!("{tasks} deleted tasks, {}", size(bytes)))])
}

fn bytes_in(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in entries(folder)? {
        let path = entry.path();
        let found = entry.metadata().map_err(|cause| Error::io("look at", &path, &cause))?;
        bytes += if found.is_dir() { bytes_in(&path)? } else { found.len() };
    }
    Ok(bytes)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} B"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        0x4000_0000.. => format!("{} GiB", bytes >> 30),
    }
}
