//! Files of the home with one JSON object for each line, only ever appended to, under a lock.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rustix::fs::OFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, ErrorKind, Result};
use orange_api::Unfit;
use orange_system::files::if_found;
use orange_system::{fault, nofollow};

/// The longest file that is read.
const LONGEST: u64 = 64 << 20;

/// The objects of a file, none if there is no file. A last line that a kill has cut off does not count.
///
/// # Errors
/// `corrupt` with the number of a line that has no meaning; `environment` when the file cannot be read.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let bytes = if_found(path, nofollow::read(path, LONGEST))?.unwrap_or_default();
    let mut objects = Vec::new();
    for (index, line) in whole_lines(&bytes).split_inclusive(|byte| *byte == b'\n').enumerate() {
        let wrong = |cause: serde_json::Error| {
            let place = format!("{}:{}", path.display(), index + 1);
            Error::new(ErrorKind::Corrupt, format!("{place}: {cause}"))
                .help("mend that line, or restore the file from a backup")
        };
        objects.push(serde_json::from_slice(line).map_err(wrong)?);
    }
    Ok(objects)
}

/// Appends an object and waits until it is on disk. The caller holds the lock of the file: what is left of a killed process is cut off.
///
/// # Errors
/// `environment` when the file cannot be written.
pub fn append<T: Serialize>(path: &Path, object: &T) -> Result<()> {
    let mut line = serde_json::to_vec(object)
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot write an event: {cause}")))?;
    line.push(b'\n');
    fault::step("append to", path.display());
    append_line(path, &line).map_err(|cause| {
        Error::io("append to", path, &cause).help("free space or mend the permissions, then try again")
    })
}

fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = nofollow::open(path, OFlags::RDWR | OFlags::CREATE)?;
    if file.metadata()?.len() > LONGEST {
        return Err(Unfit::TooLong(LONGEST).into());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = whole_lines(&bytes).len() as u64;
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(whole))?;
    file.write_all(line)?;
    file.sync_data()
}

fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.jsonl");
        assert!(read::<u32>(&path).unwrap().is_empty());
        append(&path, &1).unwrap();
        std::fs::write(&path, "1\n2\n3").unwrap();
        assert_eq!(read::<u32>(&path).unwrap(), [1, 2]);
        append(&path, &4).unwrap();
        assert_eq!(read::<u32>(&path).unwrap(), [1, 2, 4]);
        std::fs::write(&path, "1\nx\n3\n").unwrap();
        let error = read::<u32>(&path).unwrap_err();
        assert!(error.kind == ErrorKind::Corrupt && error.message.contains("lines.jsonl:2"), "{error:?}");
    }
}
