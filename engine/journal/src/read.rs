//! A journal out of its lines: one JSON object each, only ever appended to.

use std::io::{self, BufRead, Read};

use crate::Record;
use crate::fold::TaskHistory;

/// How long a line may be.
const LONGEST_LINE: u64 = 64 << 20;

const TOO_LONG: &str = "it is longer than 64 MiB";

/// Why a journal cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// What it is read from fails.
    Io(io::Error),
    /// A line in it is no record.
    Line {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
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

/// Understands the bytes of a journal.
///
/// # Errors
/// The first line that cannot be understood.
pub fn parse(bytes: &[u8]) -> Result<Journal, Unreadable> {
    read(bytes, usize::MAX)
}

/// Understands a journal, adds up all of it and keeps so many of its last records.
///
/// # Errors
/// The first line that cannot be understood, other than a torn last one; those of the source.
pub fn read(mut from: impl BufRead, keep: usize) -> Result<Journal, Unreadable> {
    let mut journal = Journal::default();
    let (mut offset, mut line) = (0, Vec::new());
    for number in 1.. {
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
    }
    journal.forget_before(keep);
    Ok(journal)
}

impl Journal {
    /// What all records add up to.
    pub fn history(&self) -> TaskHistory {
        self.history.clone()
    }

    fn push(&mut self, record: Record, keep: usize) -> Result<(), String> {
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

#[cfg(test)]
mod tests;
