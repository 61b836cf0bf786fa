//! Systems whose reports are not read: every watch looks at its interval.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::{FolderChange, FolderId, ReportedWrites};

pub(super) fn open() -> Option<OwnedFd> {
    None
}

pub(super) fn add(_: &OwnedFd, _: &Path, _: ReportedWrites) -> io::Result<Option<FolderId>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn path_of(_: BorrowedFd<'_>) -> PathBuf {
    PathBuf::new()
}

pub(super) fn take(_: &OwnedFd) -> io::Result<Vec<FolderChange>> {
    Err(io::ErrorKind::Unsupported.into())
}
