//! The reports of Linux.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, Event, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use super::{FolderChange, FolderId, ReportedWrites};

pub(super) fn open() -> Option<OwnedFd> {
    init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()
}

/// Fails if the system can watch no more folders. `None` if this one cannot be opened.
pub(super) fn add(reports: &OwnedFd, path: &Path, writes: ReportedWrites) -> io::Result<Option<FolderId>> {
    let written = match writes {
        ReportedWrites::Each => WatchFlags::MODIFY,
        ReportedWrites::Closed => WatchFlags::CLOSE_WRITE,
    };
    let changes = WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::MOVE_SELF;
    match add_watch(reports, path, written | changes) {
        Ok(id) => Ok(Some(FolderId(id))),
        Err(error @ (Errno::NOSPC | Errno::NOMEM)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// A path of an open folder that names it wherever it is.
pub(super) fn path_of(folder: BorrowedFd<'_>) -> PathBuf {
    format!("/proc/self/fd/{}", folder.as_raw_fd()).into()
}

pub(super) fn take(reports: &OwnedFd) -> io::Result<Vec<FolderChange>> {
    let mut buffer = [MaybeUninit::uninit(); 8192];
    let mut reader = Reader::new(reports, &mut buffer);
    let mut changes = Vec::new();
    loop {
        match reader.next() {
            Ok(event) => changes.push(change(&event)),
            Err(Errno::AGAIN) => return Ok(changes),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn change(event: &Event<'_>) -> FolderChange {
    let (folder, what) = (FolderId(event.wd()), event.events());
    if what.contains(ReadFlags::QUEUE_OVERFLOW) {
        return FolderChange::Lost;
    }
    if what.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
        return FolderChange::Gone(folder);
    }
    let is_new = what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
    // A watched file has no entries, and its reports no name.
    let name = event.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    FolderChange::Entry { folder, name, is_new_folder: is_new && what.contains(ReadFlags::ISDIR) }
}
