//! `history.jsonl`: one JSON object for each line, only ever appended to.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use orange_journal::read::{self, Unreadable};
use rustix::fs::OFlags;

pub use orange_journal::Journal;

use crate::store::{Event, Record, Set, snapshot};
use crate::{Error, ErrorKind, Result};
use orange_api::Unfit;
use orange_system::{clock, fault, nofollow};

/// The longest journal that is read.
pub(crate) const LONGEST: u64 = 512 * 1024 * 1024;

/// Reads the journal.
#[cfg(test)]
pub fn read(path: &Path) -> Result<Journal> {
    read_last(path, usize::MAX)
}

/// Reads the journal and folds it, and keeps the last `keep` records: memory does not grow with its length.
pub fn read_last(path: &Path, keep: usize) -> Result<Journal> {
    let file = open(path).map_err(|cause| unreadable(path, &cause))?;
    // Who asks for all records reads all lines.
    if keep < usize::MAX
        && snapshot::is_long(&file)
        && let Some(journal) = snapshot::read(path, &file, keep)
    {
        return Ok(journal);
    }
    read::read(BufReader::with_capacity(1 << 16, file), keep).map_err(|cause| misread(path, &cause))
}

/// Cuts off an incomplete last line, or ends a complete one. The caller holds the task's lock: a line that is being written
/// looks incomplete, too.
pub fn mend(path: &Path, journal: &Journal) -> Result<()> {
    fault::step("mend", path.display());
    let mended = match &journal.torn {
        Some(torn) => nofollow::open(path, OFlags::WRONLY).and_then(|file| {
            file.set_len(torn.offset)?;
            file.sync_all()
        }),
        None if journal.unended => {
            nofollow::open(path, OFlags::WRONLY | OFlags::APPEND).and_then(|mut file| file.write_all(b"\n"))
        }
        None => Ok(()),
    };
    mended.map_err(|cause| Error::io("mend the last line of", path, &cause))
}

/// The length of the journal's complete lines; 0 if it cannot be read.
pub fn length(path: &Path) -> u64 {
    open(path).and_then(|mut file| whole_lines(&mut file)).unwrap_or_default()
}

/// Searches for the last line break from the end: lines are short, and a journal may be long.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    const STEP: u64 = 1 << 16;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let begin = end.saturating_sub(STEP);
        let mut chunk = Vec::new();
        file.seek(SeekFrom::Start(begin))?;
        file.take(end - begin).read_to_end(&mut chunk)?;
        if let Some(last) = chunk.iter().rposition(|&byte| byte == b'\n') {
            return Ok(begin + last as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

/// The events after the first `length` bytes, as far as they can be read, for a report of what has just happened.
pub fn since(path: &Path, length: u64) -> Vec<Event> {
    let behind = || -> std::io::Result<Vec<u8>> {
        let (mut file, mut bytes) = (open(path)?, Vec::new());
        file.seek(SeekFrom::Start(length))?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = behind().unwrap_or_default();
    let lines = bytes.split(|&byte| byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<Record>(line).ok()).map(|record| record.event).collect()
}

/// Numbers and dates these events as the next ones after `last_seq`.
pub fn records(last_seq: u64, events: Vec<(Event, Set)>) -> Vec<Record> {
    let timestamp = clock::now();
    let numbered = (last_seq + 1..).zip(events);
    numbered.map(|(seq, (event, set))| Record { seq, timestamp: timestamp.clone(), event, set }).collect()
}

/// Appends these records in one write and waits until they are on disk. After a failure the journal ends as before, or with
/// an incomplete line that the next reader ignores.
pub fn append(path: &Path, records: &[Record]) -> Result<()> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)
            .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot write an event: {cause}")))?;
        lines.push(b'\n');
    }
    fault::step("append to", path.display());
    let file = nofollow::open(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE);
    append_to(file.map_err(|cause| Error::io("open", path, &cause))?, path, &lines)
}

fn append_to(mut file: File, path: &Path, lines: &[u8]) -> Result<()> {
    let appended = whole_length(&mut file).and_then(|length| write_whole(&mut file, lines, length));
    appended.map_err(|cause| {
        Error::io("append to", path, &cause).help("free space or mend the permissions, then try again")
    })
}

/// The length of a file whose last line is complete. A failed write may leave an incomplete one, which must not get into the
/// middle: the next process that locks the task cuts it off.
fn whole_length(file: &mut File) -> std::io::Result<u64> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] { Ok(length) } else { Err(std::io::Error::other("its last line is torn")) }
}

/// Writes all lines, or undoes the write as far as the disk allows.
fn write_whole(file: &mut File, lines: &[u8], before: u64) -> std::io::Result<()> {
    let written = file.write_all(lines).and_then(|()| {
        fault::step("sync", "the journal");
        file.sync_data()
    });
    if written.is_err() {
        // The first failure is reported; the next process that locks the task cuts off an incomplete line.
        file.set_len(before).unwrap_or_default();
    }
    written
}

/// Opens the journal for reading, unless it is too long.
fn open(path: &Path) -> std::io::Result<File> {
    let file = nofollow::open(path, OFlags::RDONLY)?;
    if file.metadata()?.len() > LONGEST { Err(Unfit::TooLong(LONGEST).into()) } else { Ok(file) }
}

fn unreadable(path: &Path, cause: &std::io::Error) -> Error {
    if cause.kind() == io::ErrorKind::NotFound {
        return Error::new(ErrorKind::Corrupt, format!("{} is missing", path.display()));
    }
    Error::io("read", path, cause)
}

/// Error for a journal whose contents cannot be read.
pub(crate) fn misread(path: &Path, cause: &Unreadable) -> Error {
    match cause {
        Unreadable::Io(cause) => unreadable(path, cause),
        Unreadable::Line { number, what } => Error::new(
            ErrorKind::Corrupt,
            format!("{}:{number}: not a history event: {what}", path.display()),
        )
        .help(HELP),
    }
}

const HELP: &str = "restore the file from a backup, or mend that line: each line is one JSON object with seq, timestamp, type";

#[cfg(test)]
mod tests;
