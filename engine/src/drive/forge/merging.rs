//! Merges of pull requests by their forge, in our words.

use orange_core::forge::AllowedMerges;
use orange_core::merge::Strategy;

/// The rules of a repository for merges of a pull request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeRules {
    pub allowed: AllowedMerges,
    /// True if the target has a queue, which decides the strategy.
    pub has_queue: bool,
    /// True if the pull request is in that queue.
    pub is_queued: bool,
}

/// A merge that a forge is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForgeMerge<'m> {
    pub url: &'m str,
    /// The commit of the pull request's branch: of another one nothing is merged.
    pub commit: &'m str,
    /// The strategy; `None` where the queue decides it.
    pub strategy: Option<Strategy>,
    /// The message of the commit that the merge makes; without one it is the forge's.
    pub message: Option<&'m str>,
}

impl<'m> ForgeMerge<'m> {
    /// The first line of the message, and the rest.
    pub(super) fn message_parts(&self) -> Option<(&'m str, &'m str)> {
        let message = self.message.filter(|_| self.strategy.is_some_and(Strategy::has_message))?.trim();
        let (title, rest) = message.split_once('\n').unwrap_or((message, ""));
        Some((title.trim_end(), rest.trim()))
    }
}

/// The state of a merge that a forge was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgeMergeState {
    /// The pull request is merged, by this commit if the forge says so.
    Merged(Option<String>),
    /// The pull request is in the queue of its repository, or the forge merges it without a name for that.
    Queued,
    /// The forge works at it, under this name.
    Pending(String),
    /// The forge does not merge it, for this reason.
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_title_where_the_merge_makes_a_commit() {
        let merge = ForgeMerge {
            url: "u",
            commit: "c",
            strategy: Some(Strategy::Squash),
            message: Some("Mend it \n\nWhy.\n"),
        };
        assert_eq!(merge.message_parts(), Some(("Mend it", "Why.")));
        assert_eq!(ForgeMerge { message: Some("One"), ..merge }.message_parts(), Some(("One", "")));
        for strategy in [Some(Strategy::Rebase), None] {
            assert_eq!(ForgeMerge { strategy, ..merge }.message_parts(), None);
        }
    }
}
