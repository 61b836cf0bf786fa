//! How much of what a child writes is kept: all of it, or its beginning and its end, and more of it in a file.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// What is kept of one pipe.
#[derive(Default)]
pub(super) struct CapturedOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: usize,
    bound: Option<Bound>,
}

/// What bounds it.
#[derive(Clone)]
pub(super) struct Bound {
    /// How many bytes of each end are kept.
    pub(super) end: usize,
    /// Where both pipes of a child are written to as they come.
    pub(super) file: Arc<Mutex<Copied>>,
}

/// A file that takes so many bytes more.
pub(super) struct Copied {
    pub(super) file: File,
    pub(super) left: u64,
}

impl CapturedOutput {
    pub(super) fn new(bound: Option<Bound>) -> CapturedOutput {
        CapturedOutput { bound, ..CapturedOutput::default() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some(Bound { end, file }) = &self.bound else { return self.head.extend_from_slice(bytes) };
        file.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        let (first, rest) = bytes.split_at(end.saturating_sub(self.head.len()).min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        // Not with each piece, since all that is kept moves.
        if self.tail.len() > 2 * end {
            let old = self.tail.len() - end;
            self.tail.drain(..old);
            self.left_out += old;
        }
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        let mut taken = std::mem::take(&mut self.head);
        if self.left_out > 0 {
            taken.extend_from_slice(format!("\n… {} bytes …\n", self.left_out).as_bytes());
        }
        taken.append(&mut self.tail);
        taken
    }
}

impl Copied {
    fn push(&mut self, bytes: &[u8]) {
        let length = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        // What the disk does not take is left out: the program is not to fail for that.
        self.left = match self.file.write_all(&bytes[..length]) {
            Ok(()) => self.left - length as u64,
            Err(_) => 0,
        };
    }
}
