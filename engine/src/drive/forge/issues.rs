//! Labelled issues, in our words.

use super::{Author, Issue};

/// The most answers with labelled issues that are asked for.
pub(super) const MOST_PAGES: usize = 4;

/// Open issues with a label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelledIssues {
    /// The oldest first.
    pub issues: Vec<LabelledIssue>,
    /// True if the forge has more of them than were asked for.
    pub has_more: bool,
}

/// An open issue with a label. Times are in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledIssue {
    pub issue: Issue,
    /// `None` for an account that is gone.
    pub author: Option<Author>,
    /// The last event of the label, if the forge shows it.
    pub label: Option<AppliedLabel>,
    /// Time of the last change of its title or its text.
    pub edited_at: Option<u64>,
    /// Its open blockers, by their numbers; `None` for those of other repositories, and for those that were not asked for.
    pub blockers: Vec<Option<u64>>,
}

/// The event by which an issue got a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedLabel {
    pub id: String,
    /// `None` for an account that is gone.
    pub by: Option<Author>,
    pub at: u64,
}

/// A time of a forge, in milliseconds since 1970.
pub(super) fn millis(time: &str) -> Option<u64> {
    let since = orange_system::clock::parse(time)?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}
