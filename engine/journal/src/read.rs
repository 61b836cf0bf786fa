//! Reads a journal: one JSON object in each line.

use std::io::{self, BufRead, Read};

use crate::Record;
use crate::history::WorkItemHistory;

/// Limit for the length of a line, in bytes.
const LONGEST_LINE: u64 = 64 << 20;

const TOO_LONG: &str = "it is longer than 64 MiB";

/// Reason for which a journal is unreadable.
#[derive(Debug)]
pub enum Unreadable {
    /// Reading fails.
    Io(io::Error),
    /// A line is not a record.
    Line {
        /// Its number, from 1.
        number: usize,
        /// Problem of the line.
        what: String,
    },
}

impl Unreadable {
    fn line(number: usize, what: impl Into<String>) -> Unreadable {
        Unreadable::Line { number, what: what.into() }
    }
}

impl From<io::Error> for Unreadable {
    fn from(cause: io::Error) -> Unreadable {
        Unreadable::Io(cause)
    }
}

/// A journal that has been read.
#[derive(Debug, Default, PartialEq)]
pub struct Journal {
    /// Its records, in order, or the last of them.
    pub records: Vec<Record>,
    /// The number of records before these.
    pub left_out: usize,
    /// The incomplete last line of a writer that was killed.
    pub torn: Option<Torn>,
    /// True if the last record is complete but its line has no end.
    pub unended: bool,
    /// The length of its complete lines, and their number.
    length: u64,
    lines: usize,
    history: WorkItemHistory,
}

/// State that the first lines of a journal fold to: a reader may go on behind them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    /// The length of these lines.
    pub length: u64,
    lines: usize,
    records: usize,
    history: WorkItemHistory,
}

/// An incomplete last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The byte at which the line begins.
    pub offset: u64,
    /// Its text; invalid UTF-8 is replaced.
    pub text: String,
}

/// Parses the bytes of a journal.
pub fn parse(bytes: &[u8]) -> Result<Journal, Unreadable> {
    read(bytes, usize::MAX)
}

/// Reads a journal and folds it, and keeps the last `keep` records. The error names the first line that cannot be parsed,
/// except an incomplete last one.
pub fn read(from: impl BufRead, keep: usize) -> Result<Journal, Unreadable> {
    read_on(Snapshot::default(), from, keep)
}

/// Reads and folds a journal of which `from` has the rest behind the lines of a snapshot, and keeps the last `keep` records.
pub fn read_on(snapshot: Snapshot, mut from: impl BufRead, keep: usize) -> Result<Journal, Unreadable> {
    let Snapshot { length, lines, records, history } = snapshot;
    let mut journal = Journal { left_out: records, length, lines, history, ..Journal::default() };
    let (mut offset, mut line) = (length, Vec::new());
    for number in lines + 1.. {
        line.clear();
        if Read::by_ref(&mut from).take(LONGEST_LINE + 1).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 > LONGEST_LINE {
            return Err(Unreadable::line(number, TOO_LONG));
        }
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Record>(&line) {
                Ok(record) => journal.push(record, keep).map_err(|what| Unreadable::line(number, what))?,
                Err(cause) if !cause.is_data() && from.fill_buf()?.is_empty() => {
                    let text = String::from_utf8_lossy(&line).into_owned();
                    journal.torn = Some(Torn { offset, text });
                }
                Err(cause) => return Err(Unreadable::line(number, cause.to_string())),
            }
        }
        offset += line.len() as u64;
        journal.unended = journal.torn.is_none() && !line.ends_with(b"\n");
        (journal.length, journal.lines) = (offset, number);
    }
    journal.forget_before(keep);
    Ok(journal)
}

impl Journal {
    /// The state that all records fold to.
    pub fn history(&self) -> WorkItemHistory {
        self.history.clone()
    }

    /// The state that all lines fold to; `None` if the last one is not complete.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let &Journal { ref records, left_out, length, lines, ref history, .. } = self;
        let is_whole = self.torn.is_none() && !self.unended;
        is_whole.then(|| Snapshot {
            length,
            lines,
            records: left_out + records.len(),
            history: history.clone(),
        })
    }

    /// Adds the records that come before those that were kept.
    pub fn put_before(&mut self, records: Vec<Record>) {
        self.left_out = self.left_out.saturating_sub(records.len());
        self.records.splice(..0, records);
    }

    fn push(&mut self, record: Record, keep: usize) -> Result<(), String> {
        let is_first = self.records.is_empty() && self.left_out == 0;
        if !is_first && self.history.last_seq >= record.seq {
            return Err(format!("seq {} after {}", record.seq, self.history.last_seq));
        }
        self.history.apply(&record);
        self.records.push(record);
        // Not at each record, since removal moves all records that are kept.
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

#[cfg(test)]
mod tests;
