//! A copy of an index, with which git works in place of the index itself, and a folder in place of a checkout.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Error, Result};
use orange_system::files::remove_folder;

/// A copy of an index, which is removed on drop.
pub(super) struct ScratchIndex {
    pub(super) path: PathBuf,
    of: PathBuf,
    pub(super) exists: bool,
    written: SystemTime,
}

/// A folder for files of a moment, which is removed on drop.
pub(super) struct ScratchFolder {
    pub(super) path: PathBuf,
}

impl ScratchIndex {
    pub(super) fn of(index: &Path) -> Result<ScratchIndex> {
        let (path, of) = (index.with_extension(format!("orange-{}", std::process::id())), index.to_owned());
        match copy_with_time(index, &path) {
            Ok(written) => Ok(ScratchIndex { path, of, exists: true, written }),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                Ok(ScratchIndex { path, of, exists: false, written: SystemTime::now() })
            }
            Err(cause) => Err(Error::io("copy", index, &cause)),
        }
    }

    /// An empty one.
    pub(super) fn empty(index: &Path) -> Result<ScratchIndex> {
        let scratch = ScratchIndex::of(index)?;
        if scratch.exists {
            fs::remove_file(&scratch.path).map_err(|cause| Error::io("remove", &scratch.path, &cause))?;
        }
        Ok(scratch)
    }

    /// A new copy of the current index.
    pub(super) fn again(self) -> Result<ScratchIndex> {
        let index = self.of.clone();
        drop(self);
        ScratchIndex::of(&index)
    }

    pub(super) fn seconds(&self) -> u64 {
        self.written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

impl ScratchFolder {
    /// An empty one.
    pub(super) fn new(place: &Path) -> Result<ScratchFolder> {
        let path = place.with_extension(format!("orange-{}", std::process::id()));
        if path.symlink_metadata().is_ok() {
            remove_folder(&path).map_err(|cause| Error::io("remove", &path, &cause))?;
        }
        fs::create_dir(&path).map_err(|cause| Error::io("create", &path, &cause))?;
        Ok(ScratchFolder { path })
    }
}

/// Copies an index with its time: a file that changed in the instant in which its index was written looks unchanged to git
/// otherwise.
fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<SystemTime> {
    let written = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(written)?;
    Ok(written)
}

impl Drop for ScratchIndex {
    fn drop(&mut self) {
        // A file that remains is in git's own folder and harmless.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A folder that remains is in git's own folder and harmless.
        remove_folder(&self.path).unwrap_or_default();
    }
}
