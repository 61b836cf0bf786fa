//! `activity.jsonl`: what the harness of an agent reports while it runs. Many processes append to it without a lock. It is
//! bounded, and nothing depends on it alone: the next process that locks the task copies what matters into the journal.

mod fold;
mod note;
#[cfg(test)]
pub(in crate::store) mod tests;

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FlockOperation, OFlags, flock};

pub use fold::{Activity, ReportedDoing, ReportedLimit};
pub use note::{ActivityNote, NoteKind};

use crate::store::WorkItemDir;
use orange_system::nofollow;

/// The length at which the file is renamed and replaces the former one.
pub const LONGEST_FILE: u64 = 256 * 1024;

/// Longer lines are ignored.
const LONGEST_LINE: usize = 80 * 1024;

/// Appends a note with one write, so that the lines of many processes do not mix. The task's folder must exist.
pub fn append(dir: &WorkItemDir, note: &ActivityNote) -> io::Result<()> {
    let path = dir.activity();
    let mut file = nofollow::open(&path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?;
    // The line begins with a line break, so that a torn line before it spoils only itself.
    let mut line = vec![b'\n'];
    serde_json::to_writer(&mut line, &note.bounded())?;
    line.push(b'\n');
    file.write_all(&line)?;
    if file.metadata()?.len() > LONGEST_FILE { rotate(dir, &file) } else { Ok(()) }
}

/// Renames the file unless another process does. It never waits for the file's lock.
fn rotate(dir: &WorkItemDir, file: &File) -> io::Result<()> {
    if flock(file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    let path = dir.activity();
    let is_current = path.symlink_metadata().is_ok_and(|now| is_same(&now, file));
    if is_current { nofollow::rename(&path, &dir.former_activity()) } else { Ok(()) }
}

/// The notes in both files, oldest first; other lines are ignored.
pub fn read(dir: &WorkItemDir) -> Vec<ActivityNote> {
    let current = tail(&dir.activity());
    let former = tail(&dir.former_activity());
    // The current file may have been renamed between the two reads.
    let is_one = matches!((&current, &former), (Some((a, _)), Some((b, _))) if a == b);
    let texts = [former.filter(|_| !is_one), current];
    texts.into_iter().flatten().flat_map(|(_, bytes)| parse(&bytes)).collect()
}

/// The notes in these bytes, each cut to one bounded line.
pub fn parse(bytes: &[u8]) -> Vec<ActivityNote> {
    let lines =
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line.len() < LONGEST_LINE);
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .map(|note: ActivityNote| note.bounded())
        .collect()
}

/// The device and inode of a file, and its last bytes; `None` for anything but a regular file.
fn tail(path: &std::path::Path) -> Option<((u64, u64), Vec<u8>)> {
    const MOST: u64 = 2 * LONGEST_FILE;
    let mut file = nofollow::open(path, OFlags::RDONLY).ok()?;
    let metadata = file.metadata().ok()?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(MOST))).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(((metadata.dev(), metadata.ino()), bytes))
}

fn is_same(now: &fs::Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (now.dev(), now.ino()))
}
