//! A hash for small keys that are numbers: steps, configurations, counters. It is not a protection from an author who wants
//! collisions; there are few such keys that one can choose, and the bounds of the search hold all the same.

use std::hash::{BuildHasherDefault, Hasher};

/// For the maps and sets of such keys.
pub(crate) type Quick = BuildHasherDefault<WordHasher>;

/// Mixes one word after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u16(&mut self, word: u16) {
        self.write_u64(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            self.write_u64(chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    /// Multiplying leaves the low bits poor, and those are read.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
