//! `history.jsonl`: one JSON object a line, only ever appended to.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::store::clock;
use crate::store::event::{Event, Record, Set};
use crate::store::fold::Log;
use crate::{Error, Kind, Result};

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
    let mended = match &journal.torn {
        Some(torn) => OpenOptions::new().write(true).open(path).and_then(|file| {
            file.set_len(torn.offset)?;
            file.sync_all()
        }),
        None if journal.unended => {
            OpenOptions::new().append(true).open(path).and_then(|mut file| write_whole(&mut file, b"\n"))
        }
        None => Ok(()),
    };
    mended.map_err(|cause| Error::io("mend the last line of", path, &cause))
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
    let open = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    let mut file = open.map_err(|cause| Error::io("open", path, &cause))?;
    write_whole(&mut file, &lines).map_err(|cause| {
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

/// Writes all or, as far as the disk lets us, nothing.
fn write_whole(file: &mut File, lines: &[u8]) -> std::io::Result<()> {
    let before = file.metadata()?.len();
    let written = file.write_all(lines).and_then(|()| file.sync_data());
    written.or_else(|cause| file.set_len(before).and(Err(cause)))
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
