//! Points at which a test has the process die, as by `kill -9`, in builds with the feature `fail-points`.
//!
//! `ORANGE_FLEET_FAIL=<point>:<n>` aborts at the n-th passing of a point; `ORANGE_FLEET_CLOCK` moves the clock by this many
//! milliseconds. In any other build this does nothing.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::host::Millis;

/// Every point, in the order in which a call passes them.
pub const POINTS: [&str; 7] = [
    "before-reduce",
    "after-reduce",
    "before-save",
    "before-commit",
    "after-commit",
    "before-deliver",
    "before-answer",
];

/// Passes a point.
#[cfg(not(feature = "fail-points"))]
pub fn point(_name: &str) {}

/// Passes a point.
#[cfg(feature = "fail-points")]
pub fn point(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static ARMED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);
    let armed = ARMED.get_or_init(|| {
        let (point, times) = std::env::var("ORANGE_FLEET_FAIL")
            .ok()?
            .split_once(':')
            .map(|(point, times)| (point.to_owned(), times.parse().ok()))?;
        Some((point, times?))
    });
    if let Some((point, times)) = armed
        && point == name
        && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *times
    {
        std::process::abort();
    }
}

/// The time of day.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX).saturating_add(offset())
}

#[cfg(not(feature = "fail-points"))]
fn offset() -> Millis {
    0
}

#[cfg(feature = "fail-points")]
fn offset() -> Millis {
    std::env::var("ORANGE_FLEET_CLOCK").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}
