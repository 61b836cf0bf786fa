//! Opens a path that contains no link, by what the system has for that.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
use rustix::io::{Errno, Result};

/// The flags with which a folder is opened that is only a place for names.
#[cfg(target_os = "linux")]
pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags with which a folder is opened that is only a place for names.
#[cfg(not(target_os = "linux"))]
pub(super) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a path; `LOOP` if it is a link, or one of its folders is.
pub(super) fn open(path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    match at_once(path, flags, mode) {
        // An old kernel, or a sandbox that lacks the system call.
        Err(Errno::NOSYS | Errno::PERM) => walk(path, flags, mode),
        opened => opened,
    }
}

#[cfg(target_os = "linux")]
fn at_once(path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    const NOWHERE_ELSE: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);
    if crate::fault::lacks("openat2") {
        return Err(Errno::NOSYS);
    }
    openat2(CWD, path, flags, mode, NOWHERE_ELSE)
}

#[cfg(target_os = "macos")]
fn at_once(path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    openat(CWD, path, flags | OFlags::NOFOLLOW_ANY, mode)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn at_once(_: &Path, _: OFlags, _: Mode) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Opens a path one folder after the other.
pub(super) fn walk(path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let mut names = Vec::new();
    for part in path.components() {
        if let Component::Normal(name) = part {
            names.push(name);
        }
    }
    let start = if path.is_absolute() { "/" } else { "." };
    let mut folder = openat(CWD, start, FOLDER, Mode::empty())?;
    let Some(last) = names.pop() else { return openat(CWD, start, flags, mode) };
    let next = |folder: &OwnedFd, name: &OsStr, flags, mode| match openat(
        folder,
        name,
        flags | OFlags::NOFOLLOW,
        mode,
    ) {
        Err(Errno::NOTDIR) if is_link(folder, name) => Err(Errno::LOOP),
        opened => opened,
    };
    for name in names {
        folder = next(&folder, name, FOLDER, Mode::empty())?;
    }
    next(&folder, last, flags, mode)
}

fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_symlink())
}
