//! Looking at folders and paths, the same way wherever somebody has to.

use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// What is in a folder, in no order; nothing when there is no such folder.
///
/// # Errors
/// `environment` when it cannot be read.
pub(crate) fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    let read = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.and_then(Iterator::collect),
    };
    read.map_err(|cause| Error::io("read the folder", folder, &cause))
}

/// Whether nothing is there: an empty folder, or none at all. A folder that cannot be read may have anything in it.
pub(crate) fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => fs::symlink_metadata(folder).is_err(),
    }
}

/// Whether two paths lead to the same place.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    real(one) == real(other)
}

/// The path without links; of a path that does not exist, its existing part without them.
pub(crate) fn real(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Some(parent), Some(name)) => real(parent).join(name),
        (Err(_), _, _) => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_has_nothing_in_it_and_a_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let [gone, file] = ["gone", "file"].map(|name| folder.path().join(name));
        assert!(entries(&gone).unwrap().is_empty() && is_empty(&gone) && is_empty(folder.path()));
        fs::write(&file, "").unwrap();
        assert!(entries(&file).is_err() && !is_empty(&file) && !is_empty(folder.path()));
        assert_eq!(entries(folder.path()).unwrap().len(), 1);
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
