//! Numbers that look random and are the same for the same seed.

use std::time::Duration;

/// A generator of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The numbers of this seed, for this user of it.
    pub(crate) fn new(seed: u64, user: &str) -> Dice {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Dice(user.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix))
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end.max(1)
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A time below this one.
    pub(crate) fn time(&mut self, end: Duration) -> Duration {
        Duration::from_millis(self.below(u64::try_from(end.as_millis()).unwrap_or(u64::MAX)))
    }
}
