//! Captured output: all of it, or its beginning and end, with more in a file.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The captured part of one pipe.
pub(super) struct CapturedOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: usize,
    /// The number of bytes that are kept without a bound.
    most: usize,
    bound: Option<Bound>,
}

/// The limits of captured output.
#[derive(Clone)]
pub(super) struct Bound {
    /// The number of bytes that are kept of each end.
    pub(super) end: usize,
    /// The file for both pipes of a child, if they are copied.
    pub(super) file: Option<Arc<Mutex<Copied>>>,
}

/// A file with room for so many more bytes.
pub(super) struct Copied {
    pub(super) file: File,
    pub(super) left: u64,
}

impl CapturedOutput {
    pub(super) fn new(most: usize, bound: Option<Bound>) -> CapturedOutput {
        CapturedOutput { head: Vec::new(), tail: Vec::new(), left_out: 0, most, bound }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some(Bound { end, file }) = &self.bound else {
            let free = self.most.saturating_sub(self.head.len()).min(bytes.len());
            return self.head.extend_from_slice(&bytes[..free]);
        };
        if let Some(file) = file {
            file.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        }
        let (first, rest) = bytes.split_at(end.saturating_sub(self.head.len()).min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        // Not at each read, since removal moves the rest.
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
        // A full disk is not a reason for the program to fail.
        self.left = match self.file.write_all(&bytes[..length]) {
            Ok(()) => self.left - length as u64,
            Err(_) => 0,
        };
    }
}
