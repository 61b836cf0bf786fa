//! Limits of a search, and the one that has cut it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::task::{MAX_COUNTERS, MAX_SECTIONS};

/// More configurations than this are not looked at.
pub const MAX_CONFIGURATIONS: usize = 100_000;

/// More steps than this are not looked at. Every hook of a step counts as one, and so does every transition and exit rule
/// that the core is asked about.
pub const MAX_STEPS: usize = 2_000_000;

/// Reason why a search is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// There are more configurations than this.
    Configurations(usize),
    /// There are more steps, hooks and decisions than this.
    Steps(usize),
    /// Guards tell the values of more counters apart than [`MAX_COUNTERS`].
    Counters(usize),
    /// Gates read more sections than [`MAX_SECTIONS`].
    Sections(usize),
    /// The gates on some section tell more contents apart than this.
    Contents(usize),
    /// Somebody has stopped it.
    Stopped,
}

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits<'a> {
    /// More configurations than this are not looked at.
    pub configurations: usize,
    /// More steps than this are not looked at.
    pub steps: usize,
    /// Flag by which another thread stops the search.
    pub stop: Option<&'a AtomicBool>,
    /// False to tell apart what no decision does: reviewers that can be exchanged, and sections that count for nothing any more.
    pub is_reduced: bool,
}

impl Default for SearchLimits<'_> {
    fn default() -> Self {
        Self { configurations: MAX_CONFIGURATIONS, steps: MAX_STEPS, stop: None, is_reduced: true }
    }
}

impl SearchLimits<'_> {
    /// True if somebody has stopped the search, and everything that follows from it.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|it| it.load(Ordering::Relaxed))
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configurations(limit) => write!(f, "there are more than {limit} configurations"),
            Self::Steps(limit) => write!(f, "there are more than {limit} steps, hooks and decisions"),
            Self::Counters(found) => {
                write!(f, "guards compare {found} counters that rise, and the limit is {MAX_COUNTERS}")
            }
            Self::Sections(found) => {
                write!(f, "gates read {found} sections, and the limit is {MAX_SECTIONS}")
            }
            Self::Contents(most) => write!(f, "gates tell more than {most} contents of a section apart"),
            Self::Stopped => f.write_str("it was stopped"),
        }
    }
}
