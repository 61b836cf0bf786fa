//! `history.jsonl`: one JSON object a line, only ever appended to.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, Visitor};

use crate::store::clock;
use crate::store::event::{Event, Record};
use crate::store::fold::{Log, Owned};
use crate::store::set::Set;
use crate::{Error, Kind, Result, fault};

/// A journal as it was read.
#[derive(Debug, Default, PartialEq)]
pub struct Journal {
    /// Its records, in order.
    pub records: Vec<Record>,
    /// What a killed or powered-off writer left behind the last record.
    pub torn: Option<Torn>,
    /// Whether the last record is whole but its line is not ended.
    pub unended: bool,
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
    parse(&fs::read(path).map_err(|cause| unreadable(path, &cause))?, path)
}

/// Cuts off a torn last line, or ends one that is whole. Call it under the task's lock only: a line that is being
/// written looks torn.
///
/// # Errors
/// `environment` when the disk refuses.
pub fn mend(path: &Path, journal: &Journal) -> Result<()> {
    fault::step("mend", path.display());
    let mended = match &journal.torn {
        Some(torn) => OpenOptions::new().write(true).open(path).and_then(|file| {
            file.set_len(torn.offset)?;
            file.sync_all()
        }),
        None if journal.unended => {
            OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(b"\n"))
        }
        None => Ok(()),
    };
    mended.map_err(|cause| Error::io("mend the last line of", path, &cause))
}

/// How long the part of the journal is that has whole lines; 0 when it cannot be read.
pub fn length(path: &Path) -> usize {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

/// The events behind the first so many bytes, as far as they can be read: for telling what has just happened.
pub fn since(path: &Path, length: usize) -> Vec<Event> {
    let bytes = fs::read(path).unwrap_or_default();
    let lines = bytes.get(length..).unwrap_or_default().split(|&byte| byte == b'\n');
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
    let open = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
    let mut file = open.map_err(|cause| Error::io("open", path, &cause))?;
    let appended = whole_length(&mut file).and_then(|length| write_whole(&mut file, &lines, length));
    appended.map_err(|cause| {
        Error::io("append to", path, &cause).help("free space or mend the permissions, then try again")
    })
}

/// Understands the bytes of a journal.
///
/// # Errors
/// `corrupt`, naming the line.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Journal> {
    let mut journal = Journal::default();
    let mut offset = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let is_last = offset + line.len() == bytes.len();
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Record>(line) {
                Ok(record) => journal.push(record).map_err(|what| corrupt(path, index + 1, &what))?,
                Err(cause) if is_last && !cause.is_data() => {
                    let text = String::from_utf8_lossy(line).into_owned();
                    journal.torn = Some(Torn { offset: offset as u64, text });
                }
                Err(cause) => return Err(corrupt(path, index + 1, &cause.to_string())),
            }
        }
        offset += line.len();
    }
    journal.unended = journal.torn.is_none() && !bytes.is_empty() && !bytes.ends_with(b"\n");
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
    /// What the records add up to.
    pub fn log(&self) -> Log {
        Log::fold(&self.records)
    }

    fn push(&mut self, record: Record) -> std::result::Result<(), String> {
        match self.records.last() {
            Some(last) if last.seq >= record.seq => Err(format!("seq {} after {}", record.seq, last.seq)),
            Some(_) | None => {
                self.records.push(record);
                Ok(())
            }
        }
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
