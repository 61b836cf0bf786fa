//! Reads files at paths where anything may be: only a bounded regular file is read, and no link is followed.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::OFlags;

use crate::nofollow;
use crate::{Error, ErrorKind, Result};
use orange_api::Unfit;

/// The longest `TASK.md`.
pub const LIMIT: u64 = 4 * 1024 * 1024;

/// Entry at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathEntry {
    Nothing,
    /// A symbolic link.
    Link,
    /// A regular file with this text, and when it was last written.
    File(Vec<u8>, SystemTime),
    /// A regular file that is longer than [`LIMIT`].
    TooLong,
    /// A folder, a pipe, a socket or a device.
    Other,
}

/// Reads a regular file, or returns what else is at the path.
pub fn read(path: &Path) -> io::Result<PathEntry> {
    let read = || -> io::Result<_> {
        let file = nofollow::open(path, OFlags::RDONLY)?;
        let written = file.metadata()?.modified()?;
        Ok((nofollow::read_all(&file, LIMIT)?, written))
    };
    match read() {
        Ok((bytes, written)) => Ok(PathEntry::File(bytes, written)),
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(PathEntry::Nothing)
        }
        Err(cause) => match Unfit::of(&cause) {
            Some(Unfit::Link) => Ok(PathEntry::Link),
            Some(Unfit::NoFile) => Ok(PathEntry::Other),
            Some(Unfit::TooLong(_)) => Ok(PathEntry::TooLong),
            None => Err(cause),
        },
    }
}

/// Refuses a text that is too long for a `TASK.md`.
pub fn check_length(text: &str) -> Result<()> {
    const MIB: u64 = 1024 * 1024;
    if text.len() as u64 <= LIMIT {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, format!("the task's text would be longer than {} MiB", LIMIT / MIB))
        .help("move what is long into a file of its own, and name that here"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let longest = "x".repeat(usize::try_from(LIMIT).unwrap());
        check_length(&longest).unwrap();
        assert_eq!(check_length(&(longest + "x")).unwrap_err().kind, ErrorKind::Refused);
    }

    #[test]
    fn only_a_bounded_regular_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("TASK.md");
        assert_eq!(read(&path).unwrap(), PathEntry::Nothing);
        assert_eq!(read(&path.join("below")).unwrap(), PathEntry::Nothing);
        fs::write(&path, "text").unwrap();
        assert!(matches!(read(&path).unwrap(), PathEntry::File(text, _) if text == b"text"));
        fs::write(&path, vec![b'x'; usize::try_from(LIMIT).unwrap()]).unwrap();
        assert!(matches!(read(&path).unwrap(), PathEntry::File(..)));
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&path).unwrap(), PathEntry::TooLong);
        fs::remove_file(&path).unwrap();

        fs::write(folder.path().join("secret"), "secret").unwrap();
        symlink(folder.path().join("secret"), &path).unwrap();
        assert_eq!(read(&path).unwrap(), PathEntry::Link);
        fs::remove_file(&path).unwrap();
        symlink("/nowhere", &path).unwrap();
        assert_eq!(read(&path).unwrap(), PathEntry::Link);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(read(&path).unwrap(), PathEntry::Other);
        fs::remove_dir(&path).unwrap();
        orange_testkit::make_fifo(&path);
        assert_eq!(read(&path).unwrap(), PathEntry::Other);
        fs::remove_file(&path).unwrap();
        let _socket = UnixListener::bind(&path).unwrap();
        assert_eq!(read(&path).unwrap(), PathEntry::Other);
    }
}
