//! Writes files whole or not at all: a temporary file beside the target, fsync, rename, fsync of the folder.

use std::fs::{self, DirEntry};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{OFlags, RenameFlags};

use crate::files::real;
use crate::nofollow::{self, Stamp};
use crate::regular;
use crate::{Error, Result, fault};
use orange_api::Unfit;

/// New contents of a file, on disk under a temporary name, which are removed unless they are committed.
struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

/// Disk space that is reserved for a file of a bounded length, and released unless it is written.
pub struct FileRoom {
    staged: Staged,
    length: usize,
}

/// Reserves space for a file of at most `length` bytes, so that it can be written later even on a full disk.
pub fn make_room(path: &Path, length: usize) -> Result<FileRoom> {
    Ok(FileRoom { staged: stage(path, &vec![b' '; length])?, length })
}

impl FileRoom {
    /// Writes these contents, padded with blanks to the reserved length.
    pub fn write(self, contents: &[u8]) -> Result<()> {
        let path = &self.staged.target;
        let fail = |cause: std::io::Error| no_space(path, &cause);
        if contents.len() > self.length {
            return Err(fail(io::ErrorKind::FileTooLarge.into()));
        }
        fault::step("write", self.staged.temporary.display());
        let mut file = nofollow::open(&self.staged.temporary, OFlags::WRONLY).map_err(fail)?;
        file.write_all(contents).and_then(|()| file.sync_all()).map_err(fail)?;
        self.staged.commit()
    }
}

/// Replaces the contents of a file. A file that exists keeps its mode and, on failure, its contents. No link is followed.
pub fn write(path: &Path, contents: &[u8]) -> Result<()> {
    stage(path, contents)?.commit()
}

/// Replaces the contents of a person's file: if it is a link, the target is written and the link stays.
pub fn write_linked(path: &Path, contents: &[u8]) -> Result<()> {
    write(&real(path), contents)
}

/// As [`write_linked()`], for a program that says itself what failed. The path may begin at the current folder, and others may
/// read a new file.
pub fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let path = real(&std::path::absolute(path)?);
    let staged = Staged { temporary: temporary(&path), target: path };
    let file = nofollow::create_public(&staged.temporary)?;
    fill_file(file, &staged.temporary, contents, mode_of(&staged.target)?, Durability::Yes)?;
    staged.rename()?;
    nofollow::sync_folder(folder_of(&staged.target))
}

/// Replaces the contents of a file if they are still `before`, and returns whether they were. The old file gets the name
/// `former`, so that a write between the comparison and the exchange is not lost. On failure the file is unchanged.
pub fn swap(path: &Path, before: &[u8], contents: &[u8], former: &Path) -> Result<bool> {
    let staged = stage(path, contents)?;
    match nofollow::read(&staged.target, before.len() as u64) {
        Ok(now) if now == before => staged.swap(former).map(|()| true),
        Ok(_) => Ok(false),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound || is_too_long(&cause) => Ok(false),
        Err(cause) => Err(Error::io("read", path, &cause)),
    }
}

/// As [`write()`], without waiting for the disk: after a power cut, the file may be empty, cut off, or an older one.
pub fn write_unsynced(path: &Path, contents: &[u8]) -> Result<()> {
    let fail = |cause: std::io::Error| no_space(path, &cause);
    let staged = Staged { temporary: temporary(path), target: path.to_owned() };
    fill(&staged.temporary, contents, None, Durability::No).map_err(fail)?;
    fault::step("rename to", path.display());
    nofollow::rename(&staged.temporary, path).map_err(fail)
}

/// A file that is being replaced: its new contents come from what is read after its stamp.
pub struct BegunFile {
    staged: Staged,
    file: fs::File,
    /// The stamp of the temporary file: its time is that of the file system.
    pub stamp: Stamp,
}

/// Begins to replace a file.
pub fn begin(path: &Path) -> std::io::Result<BegunFile> {
    let staged = Staged { temporary: temporary(path), target: path.to_owned() };
    fault::step("create", staged.temporary.display());
    let file = nofollow::open(&staged.temporary, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    let stamp = Stamp::of_file(&file)?;
    Ok(BegunFile { staged, file, stamp })
}

impl BegunFile {
    /// Replaces the file, without waiting for the disk: after a power cut, it may be empty, cut off, or an older one.
    pub fn finish(mut self, contents: &[u8]) -> std::io::Result<()> {
        fault::step("write", self.staged.temporary.display());
        self.file.write_all(contents)?;
        fault::step("rename to", self.staged.target.display());
        nofollow::rename(&self.staged.temporary, &self.staged.target)
    }
}

/// Removes a file, if it exists.
pub fn remove(path: &Path) -> Result<()> {
    fault::step("remove", path.display());
    match nofollow::remove(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, &cause)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The result of [`put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The contents are in place. The old file has the name `former`.
    Done,
    /// Another process has created, replaced or removed the file meanwhile. Nothing was changed.
    Changed,
}

/// Writes a file in another folder whole, without waiting for the disk. The old file gets the name `former`; with `None`, no
/// file may exist. On failure nothing is changed.
pub fn put(path: &Path, contents: &[u8], scratch: &Path, former: Option<&Path>) -> Result<Put> {
    let mode = mode_of(path).unwrap_or_default();
    // The old file is not copied if that can be avoided: another process may still write into it.
    let mut staged = Staged { temporary: temporary(scratch), target: path.to_owned() };
    let done = fill(&staged.temporary, contents, mode, Durability::No).and_then(|()| staged.put(former));
    let done = match done {
        Err(cause) if cause.kind() == io::ErrorKind::CrossesDevices => {
            staged = Staged { temporary: temporary(path), target: path.to_owned() };
            fill(&staged.temporary, contents, mode, Durability::No).and_then(|()| staged.put_across(former))
        }
        done => done,
    };
    match done {
        Ok(()) => Ok(Put::Done),
        Err(cause) if matches!(cause.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
            Ok(Put::Changed)
        }
        Err(cause) => Err(no_space(path, &cause)),
    }
}

/// Moves a file out of its folder, also to another file system.
pub fn take_out(file: &Path, former: &Path) -> std::io::Result<()> {
    fault::step("rename to", former.display());
    match nofollow::rename(file, former) {
        Err(cause) if cause.kind() == io::ErrorKind::CrossesDevices => {
            copy(file, former)?;
            nofollow::remove(file)
        }
        moved => moved,
    }
}

/// Exchanges two files atomically. The error is `Unsupported` on file systems that cannot do that.
pub fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    nofollow::rename_with(one, other, RenameFlags::EXCHANGE)
}

/// Removes the temporary files of killed writers from this folder. A failure is harmless and ignored.
pub fn sweep(folder: &Path) {
    for left in leftovers(folder) {
        nofollow::remove(&left).unwrap_or_default();
    }
}

/// The temporary files of killed writers in this folder; none if the folder cannot be read.
pub fn leftovers(folder: &Path) -> Vec<PathBuf> {
    left_in(&nofollow::entries(folder).unwrap_or_default())
}

/// The temporary files of killed writers in this folder and in its folder with the name `inner`, if there is one.
pub fn leftovers_with(folder: &Path, inner: &str) -> Vec<PathBuf> {
    let entries = nofollow::entries(folder).unwrap_or_default();
    let mut found = left_in(&entries);
    if let Some(inner) = entries.iter().find(|entry| entry.file_name() == inner) {
        found.extend(leftovers(&inner.path()));
    }
    found
}

fn left_in(entries: &[DirEntry]) -> Vec<PathBuf> {
    let is_left = |name: &std::ffi::OsStr| name.to_str().and_then(writer).is_some_and(|pid| !is_alive(pid));
    entries.iter().filter(|entry| is_left(&entry.file_name())).map(DirEntry::path).collect()
}

/// Makes renames and new names in this folder survive a power cut.
pub fn sync_folder(folder: &Path) -> Result<()> {
    fault::step("sync", folder.display());
    nofollow::sync_folder(folder).map_err(|cause| Error::io("sync", folder, &cause))
}

/// A name in the same folder that no other writer uses; it contains the id of this process.
pub fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{count}.tmp", std::process::id()))
}

fn stage(path: &Path, contents: &[u8]) -> Result<Staged> {
    let mode = mode_of(path).map_err(|cause| no_space(path, &cause))?;
    let staged = Staged { temporary: temporary(path), target: path.to_owned() };
    fill(&staged.temporary, contents, mode, Durability::Yes).map_err(|cause| no_space(path, &cause))?;
    Ok(staged)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn no_space(path: &Path, cause: &std::io::Error) -> Error {
    let error = Error::io("write", path, cause);
    if Unfit::of(cause).is_some() {
        return error;
    }
    error.help("free space or mend the permissions; the file has its old contents")
}

/// The mode of the file that is replaced; `None` if there is none.
fn mode_of(path: &Path) -> std::io::Result<Option<u32>> {
    match nofollow::metadata(path) {
        Ok(found) if found.is_symlink() => Err(Unfit::Link.into()),
        Ok(found) if !found.is_file() => Err(Unfit::NoFile.into()),
        Ok(found) => Ok(Some(found.permissions().mode() & 0o7777)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(cause),
    }
}

fn is_too_long(cause: &std::io::Error) -> bool {
    matches!(Unfit::of(cause), Some(Unfit::TooLong(_)))
}

/// Copies a file to a free path.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let bytes = nofollow::read(from, nofollow::LONGEST)?;
    nofollow::open(to, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?.write_all(&bytes)
}

/// Durability of a write: `Yes` waits until the contents are on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    Yes,
    No,
}

fn fill(path: &Path, contents: &[u8], mode: Option<u32>, wait: Durability) -> std::io::Result<()> {
    fault::step("create", path.display());
    let file = nofollow::open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    fill_file(file, path, contents, mode, wait)
}

fn fill_file(
    mut file: fs::File,
    path: &Path,
    contents: &[u8],
    mode: Option<u32>,
    wait: Durability,
) -> io::Result<()> {
    fault::step("write", path.display());
    file.write_all(contents)?;
    if let Some(mode) = mode {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    if wait == Durability::No {
        return Ok(());
    }
    fault::step("sync", path.display());
    file.sync_all()
}

impl Staged {
    fn commit(self) -> Result<()> {
        self.rename().map_err(|cause| Error::io("write", &self.target, &cause))?;
        sync_folder(folder_of(&self.target))
    }

    fn rename(&self) -> io::Result<()> {
        fault::step("rename to", self.target.display());
        nofollow::rename(&self.temporary, &self.target)
    }
}

impl Staged {
    /// As `commit`, but the old file is renamed. The new contents first get the name `former`, so that a kill cannot leave the
    /// old file under a temporary name, which would be removed.
    fn swap(self, former: &Path) -> Result<()> {
        let fail = |cause: std::io::Error| Error::io("write", &self.target, &cause);
        fault::step("rename to", former.display());
        nofollow::rename(&self.temporary, former).map_err(fail)?;
        fault::step("swap", self.target.display());
        if let Err(cause) = exchange(former, &self.target) {
            nofollow::rename(former, &self.temporary).map_err(fail)?;
            if cause.kind() != io::ErrorKind::Unsupported {
                return Err(fail(cause));
            }
            nofollow::hard_link(&self.target, former).map_err(fail)?;
            nofollow::rename(&self.temporary, &self.target).map_err(fail)?;
        }
        sync_folder(folder_of(&self.target))
    }
}

impl Staged {
    /// Moves the new contents to a path on the same file system.
    fn put(&self, former: Option<&Path>) -> std::io::Result<()> {
        let Some(former) = former else { return self.put_where_nothing_is() };
        fault::step("rename to", former.display());
        nofollow::rename(&self.temporary, former)?;
        fault::step("swap", self.target.display());
        let Err(cause) = exchange(former, &self.target) else { return Ok(()) };
        nofollow::rename(former, &self.temporary)?;
        if cause.kind() != io::ErrorKind::Unsupported {
            return Err(cause);
        }
        nofollow::hard_link(&self.target, former)?;
        nofollow::rename(&self.temporary, &self.target)
    }

    /// Moves the new contents from the target's folder to the target, where `former` is on another file system.
    fn put_across(&self, former: Option<&Path>) -> std::io::Result<()> {
        let Some(former) = former else { return self.put_where_nothing_is() };
        fault::step("swap", self.target.display());
        match exchange(&self.temporary, &self.target) {
            Ok(()) => take_out(&self.temporary, former),
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                if let regular::PathEntry::File(bytes, _) = regular::read(&self.target)? {
                    nofollow::open(former, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?
                        .write_all(&bytes)?;
                }
                nofollow::rename(&self.temporary, &self.target)
            }
            Err(cause) => Err(cause),
        }
    }

    fn put_where_nothing_is(&self) -> std::io::Result<()> {
        fault::step("rename to", self.target.display());
        match nofollow::rename_with(&self.temporary, &self.target, RenameFlags::NOREPLACE) {
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                nofollow::hard_link(&self.temporary, &self.target)?;
                nofollow::remove(&self.temporary)
            }
            renamed => renamed,
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a commit no file has this name.
        nofollow::remove(&self.temporary).unwrap_or_default();
    }
}

/// The process that created this temporary file, if it is one.
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
