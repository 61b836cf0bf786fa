//! `history.jsonl`: one JSON object a line, only ever appended to.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rustix::fs::OFlags;
use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, Visitor};

use crate::nofollow::Unfit;
use crate::store::clock;
use crate::store::event::{Event, Record};
use crate::store::fold::{Owned, TaskHistory};
use crate::store::set::Set;
use crate::{Error, Kind, Result, fault, nofollow};

/// How long a journal may be.
pub(crate) const LONGEST: u64 = 512 * 1024 * 1024;

/// How long one of its lines may be.
const LONGEST_LINE: u64 = nofollow::LONGEST;

/// A journal as it was read.
#[derive(Debug, Default, PartialEq)]
pub struct Journal {
    /// Its records, in order, or the last of them.
    pub records: Vec<Record>,
    /// How many records there are before these.
    pub left_out: usize,
    /// What a killed or powered-off writer left behind the last record.
    pub torn: Option<Torn>,
    /// Whether the last record is whole but its line is not ended.
    pub unended: bool,
    history: TaskHistory,
}

/// A last line that was not written to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// What there is of it; bytes that are no text are replaced.
    pub text: String,
}

/// Reads the journal and changes nothing.
///
/// # Errors
/// `corrupt` when a line other than a torn last one cannot be understood, or the file is missing; `environment`.
pub fn read(path: &Path) -> Result<Journal> {
    read_last(path, usize::MAX)
}

/// Reads the journal, adds up all of it and keeps so many of its last records: memory does not grow with its length.
///
/// # Errors
/// As [`read`].
pub fn read_last(path: &Path, keep: usize) -> Result<Journal> {
    let file = open(path).map_err(|cause| unreadable(path, &cause))?;
    understand(BufReader::with_capacity(1 << 16, file), path, keep)
}

/// Cuts off a torn last line, or ends one that is whole. Call it under the task's lock only: a line that is being
/// written looks torn.
///
/// # Errors
/// `environment` when the disk refuses.
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

/// How long the part of the journal is that has whole lines; 0 when it cannot be read.
pub fn length(path: &Path) -> u64 {
    open(path).and_then(|mut file| whole_lines(&mut file)).unwrap_or_default()
}

/// Looks for the last line break from the end: lines are short, and a journal may be long.
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

/// The events behind the first so many bytes, as far as they can be read: for telling what has just happened.
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

/// Appends these records in one write and waits until they are on the disk.
///
/// # Errors
/// `environment` when the disk refuses; the journal then ends as before, or with a torn line that the next reader
/// passes over.
pub fn append(path: &Path, records: &[Record]) -> Result<()> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)
            .map_err(|cause| Error::new(Kind::Environment, format!("cannot write an event: {cause}")))?;
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

/// Understands the bytes of a journal.
///
/// # Errors
/// `corrupt`, naming the line.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Journal> {
    understand(bytes, path, usize::MAX)
}

fn understand(mut from: impl BufRead, path: &Path, keep: usize) -> Result<Journal> {
    let unreadable = |cause| unreadable(path, &cause);
    let mut journal = Journal::default();
    let (mut offset, mut line) = (0, Vec::new());
    for number in 1.. {
        line.clear();
        if from.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            break;
        }
        if line.len() as u64 > LONGEST_LINE {
            return Err(corrupt(path, number, &Unfit::TooLong(LONGEST_LINE).to_string()));
        }
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Record>(&line) {
                Ok(record) => journal.push(record, keep).map_err(|what| corrupt(path, number, &what))?,
                Err(cause) if !cause.is_data() && from.fill_buf().map_err(unreadable)?.is_empty() => {
                    let text = String::from_utf8_lossy(&line).into_owned();
                    journal.torn = Some(Torn { offset, text });
                }
                Err(cause) => return Err(corrupt(path, number, &cause.to_string())),
            }
        }
        offset += line.len() as u64;
        journal.unended = journal.torn.is_none() && !line.ends_with(b"\n");
    }
    journal.forget_before(keep);
    Ok(journal)
}

/// The engine-owned values alone, from no more of each line than they take: for lists of thousands of tasks. `None` when
/// only `parse` can tell.
pub fn owned(bytes: &[u8]) -> Option<Owned> {
    // Inside a string these quotes would be escaped.
    const SET: &str = "\"set\"";
    let mut owned = Owned::default();
    let mut last = 0;
    for line in std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split('\n') {
        last = seq_of(line).filter(|seq| *seq > last)?;
        // Most lines have none, and looking from the front is the faster way to find that out.
        if line.contains(SET)
            && let Some(at) = line.rfind(SET)
        {
            let last_member = line[at + SET.len()..].strip_prefix(':')?.strip_suffix('}')?;
            let mut set = serde_json::Deserializer::from_str(last_member);
            SetInto(&mut owned).deserialize(&mut set).and_then(|()| set.end()).ok()?;
        }
    }
    (!owned.status.is_empty()).then_some(owned)
}

/// The number of a line that begins and ends as this program writes one.
fn seq_of(line: &str) -> Option<u64> {
    let (seq, rest) = line.strip_prefix("{\"seq\":")?.split_once(',')?;
    let is_event = rest.starts_with("\"timestamp\":\"") && rest.ends_with('}');
    seq.parse().ok().filter(|_| is_event)
}

/// Takes a set over into the values, without building it first.
struct SetInto<'a>(&'a mut Owned);

impl<'de> DeserializeSeed<'de> for SetInto<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, set: D) -> std::result::Result<(), D::Error> {
        set.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SetInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the values of a set")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut set: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = set.next_key::<&str>()? {
            self.0.apply_one(key, set.next_value()?);
        }
        Ok(())
    }
}

impl Journal {
    /// What all records add up to.
    pub fn history(&self) -> TaskHistory {
        self.history.clone()
    }

    fn push(&mut self, record: Record, keep: usize) -> std::result::Result<(), String> {
        let is_first = self.records.is_empty() && self.left_out == 0;
        if !is_first && self.history.last_seq >= record.seq {
            return Err(format!("seq {} after {}", record.seq, self.history.last_seq));
        }
        self.history.apply(&record);
        self.records.push(record);
        // Not with each record, since all that are kept move.
        if self.records.len() / 2 > keep {
            self.forget_before(keep);
        }
        Ok(())
    }

    fn forget_before(&mut self, keep: usize) {
        let old = self.records.len().saturating_sub(keep);
        self.records.drain(..old);
        self.left_out += old;
    }
}

/// The length of a file that ends with a whole line. After a failed write there may be a torn one, which must not
/// come to stand in the middle: the next to lock the task cuts it off.
fn whole_length(file: &mut File) -> std::io::Result<u64> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] { Ok(length) } else { Err(std::io::Error::other("its last line is torn")) }
}

/// Writes all of it; or takes back what was written, as far as the disk lets us.
fn write_whole(file: &mut File, lines: &[u8], before: u64) -> std::io::Result<()> {
    let written = file.write_all(lines).and_then(|()| {
        fault::step("sync", "the journal");
        file.sync_data()
    });
    if written.is_err() {
        // The first failure is the one to tell; a line that stays is torn, and the next to lock the task cuts it off.
        file.set_len(before).unwrap_or_default();
    }
    written
}

/// Opens the journal to be read, unless it is longer than one can be.
fn open(path: &Path) -> std::io::Result<File> {
    let file = nofollow::open(path, OFlags::RDONLY)?;
    if file.metadata()?.len() > LONGEST { Err(Unfit::TooLong(LONGEST).into()) } else { Ok(file) }
}

fn unreadable(path: &Path, cause: &std::io::Error) -> Error {
    if cause.kind() == ErrorKind::NotFound {
        return Error::new(Kind::Corrupt, format!("{} is missing", path.display()));
    }
    Error::io("read", path, cause)
}

fn corrupt(path: &Path, line: usize, what: &str) -> Error {
    Error::new(Kind::Corrupt, format!("{}:{line}: not a history event: {what}", path.display()))
        .help("restore the file from a backup, or mend that line: each line is one JSON object with seq, timestamp, type")
}

#[cfg(test)]
mod tests;
