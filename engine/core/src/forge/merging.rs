//! Merges of pull requests by their forge: the strategy that a repository allows, and the course of a merge that was asked for before.

use crate::merge::Strategy;

/// The strategies that a repository allows for its pull requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowedMerges {
    /// The one that the forge offers first.
    pub usual: Option<Strategy>,
    /// True for a target that moves to the commit of the branch.
    pub fast_forward: bool,
    /// True for a merge commit.
    pub merge: bool,
    /// True for one commit with everything.
    pub squash: bool,
    /// True for each commit again, on top of the target.
    pub rebase: bool,
}

impl AllowedMerges {
    /// True if the repository allows this strategy.
    pub fn allows(&self, strategy: Strategy) -> bool {
        match strategy {
            Strategy::FastForward => self.fast_forward,
            Strategy::Merge => self.merge,
            Strategy::Squash => self.squash,
            Strategy::Rebase => self.rebase,
            Strategy::Auto => self.each().next().is_some(),
        }
    }

    /// The strategies that it allows; of `auto`, the first is taken.
    pub fn each(&self) -> impl Iterator<Item = Strategy> + '_ {
        let order = [Strategy::FastForward, Strategy::Rebase, Strategy::Merge, Strategy::Squash];
        order.into_iter().filter(|strategy| self.allows(*strategy))
    }

    /// The strategy of a merge for which this one is wanted; `None` if the repository does not allow it.
    pub fn choose(&self, wanted: Strategy) -> Option<Strategy> {
        match wanted {
            Strategy::Auto => self.usual.filter(|usual| self.allows(*usual)).or_else(|| self.each().next()),
            Strategy::FastForward | Strategy::Merge | Strategy::Squash | Strategy::Rebase => {
                Some(wanted).filter(|_| self.allows(wanted))
            }
        }
    }
}

/// A merge that a forge was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedMerge<'m> {
    /// The pull request.
    pub url: &'m str,
    /// The commit of its branch.
    pub commit: &'m str,
    /// The forge's name for the merge, while it works at that.
    pub id: Option<&'m str>,
    /// True if the pull request is in the queue of its repository.
    pub is_queued: bool,
}

/// Course of a merge by a forge after an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgeMergeCourse<'m> {
    /// The forge is asked to merge.
    Ask,
    /// The forge is asked about the merge of this name, which it has accepted.
    Follow(&'m str),
}

impl<'m> AskedMerge<'m> {
    /// The course of a merge of this commit that follows this one. A merge that was asked for and not accepted, as far as the journal
    /// knows, is asked for again: the forge then names the one that is under way.
    pub fn course(&self, url: &str, commit: &str) -> ForgeMergeCourse<'m> {
        let is_same = self.url == url && self.commit == commit && !self.is_queued;
        self.id.filter(|_| is_same).map_or(ForgeMergeCourse::Ask, ForgeMergeCourse::Follow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_what_the_repository_offers_first() {
        let all = AllowedMerges {
            usual: Some(Strategy::Squash),
            fast_forward: false,
            merge: true,
            squash: true,
            rebase: true,
        };
        assert_eq!(all.choose(Strategy::Auto), Some(Strategy::Squash));
        let without = AllowedMerges { squash: false, ..all };
        assert_eq!(without.choose(Strategy::Auto), Some(Strategy::Rebase));
        assert_eq!(AllowedMerges { rebase: false, ..without }.choose(Strategy::Auto), Some(Strategy::Merge));
        let forward = AllowedMerges { fast_forward: true, ..AllowedMerges::default() };
        assert_eq!(forward.choose(Strategy::Auto), Some(Strategy::FastForward));
        assert_eq!(AllowedMerges::default().choose(Strategy::Auto), None);
    }

    #[test]
    fn a_strategy_that_is_not_allowed_is_not_replaced() {
        let squash = AllowedMerges { squash: true, ..AllowedMerges::default() };
        for wanted in [Strategy::FastForward, Strategy::Merge, Strategy::Rebase] {
            assert_eq!(squash.choose(wanted), None, "{wanted:?}");
        }
        assert_eq!(squash.choose(Strategy::Squash), Some(Strategy::Squash));
    }

    #[test]
    fn a_merge_that_the_forge_has_accepted_is_followed() {
        let asked = AskedMerge { url: "u", commit: "c", id: Some("i"), is_queued: false };
        assert_eq!(asked.course("u", "c"), ForgeMergeCourse::Follow("i"));
        assert_eq!(asked.course("u", "d"), ForgeMergeCourse::Ask);
        assert_eq!(asked.course("v", "c"), ForgeMergeCourse::Ask);
        assert_eq!(AskedMerge { id: None, ..asked }.course("u", "c"), ForgeMergeCourse::Ask);
        assert_eq!(AskedMerge { is_queued: true, ..asked }.course("u", "c"), ForgeMergeCourse::Ask);
    }
}
