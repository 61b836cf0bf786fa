//! A reader of journals that grow.

use std::io::{Read, Seek, SeekFrom};

use crate::Record;
use crate::read::{Unreadable, parse};

/// The most bytes that one call reads.
const MOST: u64 = 512 << 20;

/// Place up to which a journal has been read.
#[derive(Debug, Default)]
pub struct Follow {
    read: u64,
}

impl Follow {
    /// The records since the last call. A line that is incomplete is read by a later call, and a line that cannot be
    /// parsed is not read again.
    pub fn more(&mut self, journal: &mut (impl Read + Seek)) -> Result<Vec<Record>, Unreadable> {
        let length = journal.seek(SeekFrom::End(0))?;
        if length <= self.read {
            self.read = length;
            return Ok(Vec::new());
        }
        let mut new = Vec::new();
        journal.seek(SeekFrom::Start(self.read))?;
        journal.take(MOST).read_to_end(&mut new)?;
        new.truncate(new.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
        self.read += new.len() as u64;
        Ok(parse(&new)?.records)
    }
}
