//! Numbers that look random and are the same for the same seed.

use std::time::Duration;

use orange_testkit::Random;

/// Numbers of one user of a seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Random);

impl Dice {
    /// The numbers of this seed, for this user of it.
    pub(crate) fn new(seed: u64, user: &str) -> Dice {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Dice(Random::new(user.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix)))
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.number() % end.max(1)
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
