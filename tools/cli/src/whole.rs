//! Writes a file whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use orange_system::atomic;

use crate::answer::Failure;

/// Writes a text to a file, whole or not at all. The permissions stay, and a link stays a link: the file behind it is
/// written. A pipe or a device is written directly.
///
/// # Errors
///
/// The folder is not there or cannot be written to, or the disk is full.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => fs::write(path, text),
        Ok(_) | Err(_) => atomic::replace(path, text.as_bytes()),
    }
}

/// Writes a text to a file that still has the text that was read from it.
///
/// # Errors
///
/// It has another text by now, or it cannot be written.
pub(crate) fn write_over(path: &Path, before: &str, after: &str) -> Result<(), Failure> {
    let shown = path.display();
    let cannot = |error| {
        Failure::new(
            format!("cannot write {shown}: {error}"),
            "see whether you may write to it and its folder",
        )
    };
    if fs::read(path).map_err(cannot)? != before.as_bytes() {
        let message = format!("{shown} has changed since it was read, and is left as it is");
        return Err(Failure::new(message, "run the command again"));
    }
    write(path, after).map_err(cannot)
}

/// Writes a text to a new file, and makes its folder where that is not there.
///
/// # Errors
///
/// It is there, or it cannot be written.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    path.parent().filter(|folder| !folder.exists()).map_or(Ok(()), fs::create_dir_all)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes()).or_else(|error| discard(path, error))
}

/// Removes the begun file. Only the first error is reported.
fn discard(path: &Path, error: io::Error) -> io::Result<()> {
    match fs::remove_file(path) {
        Ok(()) => Err(error),
        Err(second) if second.kind() == ErrorKind::NotFound => Err(error),
        Err(second) => {
            Err(io::Error::new(error.kind(), format!("{error}; {} is left: {second}", path.display())))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn permissions_and_links_stay() {
        let folder = tempfile::TempDir::new().unwrap();
        let [file, link] = ["a.yml", "b.yml"].map(|it| folder.path().join(it));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a.yml", &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_there_is_not_created_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("a.yml");
        create(&file, "first").unwrap();
        assert_eq!(create(&file, "second").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&file).unwrap(), "first");
        assert!(write(&folder.path().join("no/such"), "x").is_err());
    }
}
