//! Reads the lines of records forwards, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use orange_system::files::open_regular;

/// The longest line that is parsed, in bytes. No answer of a model is as long.
const LONGEST_LINE: u64 = 16 << 20;

/// Bytes of the records of one conversation that are read.
const MOST: u64 = 1 << 30;

/// Bytes that may still be read of the records of a conversation.
#[derive(Debug)]
pub(super) struct ReadBudget {
    left: u64,
    has_left_out: bool,
}

impl Default for ReadBudget {
    fn default() -> ReadBudget {
        ReadBudget { left: MOST, has_left_out: false }
    }
}

impl ReadBudget {
    /// For tests: this many bytes.
    #[cfg(test)]
    pub(super) fn of(bytes: u64) -> ReadBudget {
        ReadBudget { left: bytes, has_left_out: false }
    }

    /// True if a record was longer than what may be read.
    pub(super) fn left_something(&self) -> bool {
        self.has_left_out
    }

    /// Calls `each` with the lines of this file. Longer ones than the limit are left out.
    pub(super) fn read(&mut self, path: &Path, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let file = open_regular(path)?;
        self.has_left_out |= file.metadata()?.len() > self.left;
        let mut reader = BufReader::with_capacity(1 << 16, file.take(self.left));
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
            self.left = self.left.saturating_sub(read);
            if read == 0 {
                return Ok(());
            }
            if read == LONGEST_LINE && line.last() != Some(&b'\n') {
                self.left = self.left.saturating_sub(skip_line(&mut reader)?);
            } else {
                each(&line);
            }
        }
    }
}

/// Reads the rest of a line, and returns its length.
fn skip_line(reader: &mut BufReader<io::Take<File>>) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let length = end.unwrap_or(buffer.len());
        reader.consume(length);
        skipped += length as u64;
        if end.is_some() || length == 0 {
            return Ok(skipped);
        }
    }
}
