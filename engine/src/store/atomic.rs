//! Writes of files that are whole or not at all: a temporary file beside it, fsync, rename, fsync of the folder.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use crate::{Error, Result, fault};

/// New contents of a file, on the disk but not yet in its place; dropped uncommitted, they are removed.
struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

/// Gives the file these contents. A file that exists keeps its mode; a symlink stays, and what it points to is written.
///
/// # Errors
/// `environment` when the disk refuses; the file then has its old contents.
pub fn write(path: &Path, contents: &[u8]) -> Result<()> {
    stage(path, contents)?.commit()
}

/// Gives the file these contents if it still has those of `before`, and says whether it had. What was there gets the name
/// `former`, so that nothing is lost which somebody wrote between the look and the swap.
///
/// # Errors
/// `environment` when the disk refuses; the file then has its old contents.
pub fn swap(path: &Path, before: &[u8], contents: &[u8], former: &Path) -> Result<bool> {
    let staged = stage(path, contents)?;
    match fs::read(&staged.target) {
        Ok(now) if now == before => staged.swap(former).map(|()| true),
        Ok(_) => Ok(false),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(Error::io("read", path, &cause)),
    }
}

/// Exchanges two files, so that there is no moment at which one of the names leads nowhere.
///
/// # Errors
/// Those of the system; `Unsupported` where it cannot do that.
pub(crate) fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    match rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(ErrorKind::Unsupported.into()),
        exchanged => Ok(exchanged?),
    }
}

/// Removes what killed writers left in this folder. Failing to is harmless, and so not an error.
pub fn sweep(folder: &Path) {
    for left in leftovers(folder) {
        fs::remove_file(left).unwrap_or_default();
    }
}

/// What killed writers left in this folder; nothing of a folder that cannot be read.
pub fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_left = |name: &std::ffi::OsStr| name.to_str().and_then(writer).is_some_and(|pid| !is_alive(pid));
    entries.filter(|entry| is_left(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// Makes renames and new names in this folder survive a power cut.
///
/// # Errors
/// `environment` when the disk refuses.
pub fn sync_folder(folder: &Path) -> Result<()> {
    fault::step("sync", folder.display());
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|cause| Error::io("sync", folder, &cause))
}

/// A name in the same folder that no other writer uses, and that tells whose it is.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{count}.tmp", std::process::id()))
}

fn stage(path: &Path, contents: &[u8]) -> Result<Staged> {
    let target = target_of(path)?;
    let mode = fs::metadata(&target).ok().map(|old| old.permissions().mode() & 0o7777);
    let staged = Staged { temporary: temporary(&target), target };
    fill(&staged.temporary, contents, mode).map_err(|cause| {
        Error::io("write", path, &cause)
            .help("free space or mend the permissions; the file has its old contents")
    })?;
    Ok(staged)
}

/// What a symlink points to, or the path itself.
///
/// # Errors
/// `environment` when a link leads nowhere.
pub(crate) fn target_of(path: &Path) -> Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            fs::canonicalize(path).map_err(|cause| Error::io("follow the link", path, &cause))
        }
        Ok(_) => Ok(path.to_owned()),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(cause) => Err(Error::io("look at", path, &cause)),
    }
}

fn fill(path: &Path, contents: &[u8], mode: Option<u32>) -> std::io::Result<()> {
    fault::step("create", path.display());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    fault::step("write", path.display());
    file.write_all(contents)?;
    if let Some(mode) = mode {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    fault::step("sync", path.display());
    file.sync_all()
}

impl Staged {
    fn commit(self) -> Result<()> {
        fault::step("rename to", self.target.display());
        fs::rename(&self.temporary, &self.target)
            .map_err(|cause| Error::io("write", &self.target, &cause))?;
        sync_folder(self.target.parent().unwrap_or(Path::new("/")))
    }
}

impl Staged {
    /// As `commit`, and keeps what was there. The new contents have the former's name first, so that a kill cannot leave what
    /// was there under a name that is swept away.
    fn swap(self, former: &Path) -> Result<()> {
        let fail = |cause: std::io::Error| Error::io("write", &self.target, &cause);
        fault::step("rename to", former.display());
        fs::rename(&self.temporary, former).map_err(fail)?;
        fault::step("swap", self.target.display());
        if let Err(cause) = exchange(former, &self.target) {
            fs::rename(former, &self.temporary).map_err(fail)?;
            if cause.kind() != ErrorKind::Unsupported {
                return Err(fail(cause));
            }
            fs::hard_link(&self.target, former).map_err(fail)?;
            fs::rename(&self.temporary, &self.target).map_err(fail)?;
        }
        sync_folder(self.target.parent().unwrap_or(Path::new("/")))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a commit there is nothing left under this name; before it, the sweep would find it too.
        fs::remove_file(&self.temporary).unwrap_or_default();
    }
}

/// The process that made this temporary file, if it is one.
fn writer(name: &str) -> Option<i32> {
    let mut parts = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit('.');
    let _count: u64 = parts.next()?.parse().ok()?;
    let pid = parts.next()?.parse().ok()?;
    parts.next().map(|_| pid)
}

fn is_alive(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}
