//! Numbers of tokens, by the kinds that have prices of their own.

/// Numbers of tokens, by the kinds that have prices of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Read by the model, without those of a cache.
    pub input: u64,
    /// Written by the model, with its reasoning.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Counted without a kind, and so without a price.
    pub other: u64,
}

impl TokenCounts {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.each().into_iter().fold(0, u64::saturating_add)
    }

    /// The sum of each kind.
    #[must_use]
    pub fn plus(self, more: TokenCounts) -> TokenCounts {
        self.with(more, u64::saturating_add)
    }

    /// The difference of each kind, not below 0.
    #[must_use]
    pub fn minus(self, less: TokenCounts) -> TokenCounts {
        self.with(less, u64::saturating_sub)
    }

    fn each(self) -> [u64; 6] {
        let TokenCounts { input, output, cache_read, cache_write_5m, cache_write_1h, other } = self;
        [input, output, cache_read, cache_write_5m, cache_write_1h, other]
    }

    fn with(self, second: TokenCounts, op: fn(u64, u64) -> u64) -> TokenCounts {
        TokenCounts {
            input: op(self.input, second.input),
            output: op(self.output, second.output),
            cache_read: op(self.cache_read, second.cache_read),
            cache_write_5m: op(self.cache_write_5m, second.cache_write_5m),
            cache_write_1h: op(self.cache_write_1h, second.cache_write_1h),
            other: op(self.other, second.other),
        }
    }
}
