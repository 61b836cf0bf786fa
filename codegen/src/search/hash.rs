//! A hash for the small keys of the search. It is no protection from an author who wants collisions; there are few keys
//! that one can choose, and the bounds of the search hold all the same.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds the hasher of a map.
pub(super) type Quick = BuildHasherDefault<Words>;

/// Mixes one word after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words(u64);

impl Hasher for Words {
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    /// Multiplying leaves the low bits poor, and tables read those.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
