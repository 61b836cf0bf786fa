//! Helpers for files and folders.

use std::fs::{self, DirEntry, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, statvfs};

use crate::{Error, Result};

/// The longest path of a socket.
pub const LONGEST_SOCKET: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Opens a regular file for reading. It refuses links and everything that another process could make wait, with
/// `InvalidInput`.
pub fn open_regular(path: &Path) -> io::Result<File> {
    const REFUSED: &str = "it is not a regular file";
    let is_regular = |metadata: Metadata| match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, REFUSED)),
    };
    is_regular(fs::symlink_metadata(path)?)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    is_regular(file.metadata()?).map(|()| file)
}

/// The value read from this path; `None` if nothing is there.
pub fn if_found<T>(path: &Path, read: io::Result<T>) -> Result<Option<T>> {
    match read {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|cause| Error::io("read", path, &cause)),
    }
}

/// The entries of a folder, in no order; none if there is no such folder.
pub fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    read_folder(folder).map_err(|cause| Error::io("read the folder", folder, &cause))
}

/// The entries of a folder, in no order, or the system's error; none if there is no such folder.
pub fn read_folder(folder: &Path) -> io::Result<Vec<DirEntry>> {
    match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        opened => opened.and_then(Iterator::collect),
    }
}

/// True if a folder is empty or absent. A folder that cannot be read counts as full.
pub fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => fs::symlink_metadata(folder).is_err(),
    }
}

/// Gives this user the permission to read their own file or to enter their own folder, and returns its metadata.
pub fn permit(path: &Path, found: Metadata) -> io::Result<Metadata> {
    let wanted = if found.is_dir() { 0o700 } else { 0o400 };
    let mode = found.permissions().mode();
    if found.is_symlink() || mode & wanted == wanted {
        return Ok(found);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode | wanted))?;
    fs::symlink_metadata(path)
}

/// Removes a folder with its contents, also from folders without write permission, such as Go's module cache.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
            permit_folders(folder)?;
            fs::remove_dir_all(folder)
        }
        removed => removed,
    }
}

fn permit_folders(top: &Path) -> io::Result<()> {
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        permit(&folder, fs::symlink_metadata(&folder)?)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

/// True if two paths lead to the same file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    // A disk that takes letters for the same whatever their case has one folder for several texts.
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    match (identity(one), identity(other)) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), Err(_)) => real(one) == real(other),
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

/// The path without links; of a path that does not exist, its existing part is resolved.
pub fn real(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Some(parent), Some(name)) => real(parent).join(name),
        (Err(_), _, _) => path.to_path_buf(),
    }
}

/// The total size of the files in a folder; no link is followed.
pub fn bytes_in(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in entries(folder)? {
        let path = entry.path();
        let found = entry.metadata().map_err(|cause| Error::io("look at", &path, &cause))?;
        bytes += if found.is_dir() { bytes_in(&path)? } else { found.len() };
    }
    Ok(bytes)
}

/// Space that a disk has for a program.
#[derive(Clone, Copy, Debug)]
pub struct DiskSpace {
    /// In bytes.
    pub free: u64,
    /// False if it takes no more files, however small.
    pub takes_files: bool,
}

/// The space on the disk of this folder.
pub fn disk_space(folder: &Path) -> Result<DiskSpace> {
    let disk = statvfs(folder).map_err(|cause| Error::io("look at the disk of", folder, &cause.into()))?;
    // A file system without a count of files reports 0 of 0.
    let takes_files = disk.f_files == 0 || disk.f_favail > 0;
    Ok(DiskSpace { free: disk.f_bavail.saturating_mul(disk.f_frsize), takes_files })
}

/// A number of bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} B"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        0x4000_0000.. => format!("{} GiB", bytes >> 30),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_empty_and_a_file_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let [gone, file] = ["gone", "file"].map(|name| folder.path().join(name));
        assert!(entries(&gone).unwrap().is_empty() && is_empty(&gone) && is_empty(folder.path()));
        fs::write(&file, "").unwrap();
        assert!(entries(&file).is_err() && !is_empty(&file) && !is_empty(folder.path()));
        assert_eq!(entries(folder.path()).unwrap().len(), 1);
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, fifo, gone] = ["file", "link", "fifo", "gone"].map(|name| folder.path().join(name));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        orange_testkit::make_fifo(&fifo);
        assert_eq!(open_regular(&file).unwrap().metadata().unwrap().len(), 1);
        let kind = |path: &Path| open_regular(path).unwrap_err().kind();
        for other in [&link, &fifo, Path::new("/dev/null"), folder.path()] {
            assert_eq!(kind(other), io::ErrorKind::InvalidInput, "{}", other.display());
        }
        assert_eq!(kind(&gone), io::ErrorKind::NotFound);
    }

    #[test]
    fn links_are_followed_as_far_as_anything_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let [there, link] = ["there", "link"].map(|name| folder.path().join(name));
        fs::create_dir(&there).unwrap();
        std::os::unix::fs::symlink(&there, &link).unwrap();
        assert!(is_same(&link.join("a/b"), &there.join("a/b")) && !is_same(&link.join("a"), &there));
    }
}
