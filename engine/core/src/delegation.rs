//! Delegation: tasks that a task's agent has created, and for which the task waits.

use crate::queue::Standing;

/// The most tasks below one that no agent has created, at every depth together.
pub const MOST_BELOW_ROOT: u32 = 20;

/// Permission of a state: its agent may create tasks, which wait until the task leaves the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delegates<'a> {
    /// The most tasks that a task may create, all its rounds together; at least 1.
    pub most: u32,
    /// The deepest level of a created task, counted from the task that no agent has created; at least 1.
    pub depth: u32,
    /// The workflow of the created tasks; `None` for the project's.
    pub workflow: Option<&'a str>,
    /// The branch into which their work is merged.
    pub into: DelegateInto,
}

impl Delegates<'_> {
    /// The depth of a workflow that does not say one.
    pub const DEPTH: u32 = 1;
}

/// The target of the work of delegated tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelegateInto {
    /// The branch of the task that has created them. The engine merges what is ready.
    Parent,
    /// The base of the project. Each is merged as any other task.
    Base,
}

impl DelegateInto {
    /// Every target.
    pub const ALL: [DelegateInto; 2] = [DelegateInto::Parent, DelegateInto::Base];

    /// The word in a workflow.
    pub const fn as_str(self) -> &'static str {
        match self {
            DelegateInto::Parent => "parent",
            DelegateInto::Base => "base",
        }
    }
}

/// The tasks that a task has created, as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Children {
    /// There are none.
    #[default]
    None,
    /// One is not over.
    Open,
    /// All are over and merged.
    Merged,
    /// All are over, and one was not merged or is gone.
    Ended,
}

impl Children {
    /// The whole of these tasks.
    pub fn of(each: impl IntoIterator<Item = Standing>) -> Children {
        each.into_iter().fold(Children::None, |all, one| match (all, one) {
            (Children::Open, _) | (_, Standing::Open) => Children::Open,
            (Children::Ended, _) | (_, Standing::Ended | Standing::Gone) => Children::Ended,
            (Children::None | Children::Merged, Standing::Merged) => Children::Merged,
        })
    }

    /// Reason for which a gate that wants this does not pass, in one sentence; `None` if it does.
    pub const fn failure(self, wanted: OpenChildren) -> Option<&'static str> {
        match (self, wanted) {
            (Children::Open, OpenChildren::Some)
            | (Children::None | Children::Merged | Children::Ended, OpenChildren::None) => None,
            (Children::None, OpenChildren::Some) => Some("the task has created no task"),
            (Children::Merged | Children::Ended, OpenChildren::Some) => {
                Some("no task that it has created is open")
            }
            (Children::Open, OpenChildren::None) => Some("a task that it has created is open"),
        }
    }
}

/// Open tasks among those that a task has created, as a gate asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenChildren {
    /// One is open.
    Some,
    /// None is open.
    None,
}

impl OpenChildren {
    /// Both demands.
    pub const ALL: [OpenChildren; 2] = [OpenChildren::Some, OpenChildren::None];

    /// The word in a workflow.
    pub const fn as_str(self) -> &'static str {
        match self {
            OpenChildren::Some => "some",
            OpenChildren::None => "none",
        }
    }

    /// Remedy if the demand is not met, as the beginning of a sentence about what to run next.
    pub const fn remedy(self) -> &'static str {
        match self {
            OpenChildren::Some => "create one with `orange task create BRANCH SUMMARY`",
            OpenChildren::None => "ask for the state in which the task waits for it",
        }
    }
}

/// Numbers that decide whether one more task may be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delegated {
    /// Tasks that the task has created so far, deleted ones too.
    pub own: u32,
    /// The level of the task that creates one; 0 for one that no agent has created.
    pub depth: u32,
    /// Tasks below the one at level 0.
    pub below_root: u32,
}

/// The limit that one more task would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelegationLimit {
    /// `most` of the state.
    Most(u32),
    /// `depth` of the state.
    Depth(u32),
    /// [`MOST_BELOW_ROOT`].
    BelowRoot,
}

/// Checks that a task may create one more.
///
/// # Errors
/// The first limit that it would exceed.
pub const fn admit(delegates: &Delegates<'_>, facts: Delegated) -> Result<(), DelegationLimit> {
    if facts.depth >= delegates.depth {
        Err(DelegationLimit::Depth(delegates.depth))
    } else if facts.own >= delegates.most {
        Err(DelegationLimit::Most(delegates.most))
    } else if facts.below_root >= MOST_BELOW_ROOT {
        Err(DelegationLimit::BelowRoot)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_open_while_one_is() {
        use Standing::{Ended, Gone, Merged, Open};
        let check = |each: &[Standing], expect| assert_eq!(Children::of(each.iter().copied()), expect);
        check(&[], Children::None);
        check(&[Merged, Merged], Children::Merged);
        for order in [[Open, Ended, Merged], [Merged, Open, Gone], [Ended, Gone, Open]] {
            check(&order, Children::Open);
        }
        for order in [[Ended, Merged], [Merged, Gone], [Gone, Ended]] {
            check(&order, Children::Ended);
        }
    }

    #[test]
    fn a_gate_asks_for_open_tasks_or_for_none() {
        for children in [Children::None, Children::Open, Children::Merged, Children::Ended] {
            let is_open = children == Children::Open;
            assert_eq!(children.failure(OpenChildren::Some).is_none(), is_open);
            assert_eq!(children.failure(OpenChildren::None).is_none(), !is_open);
        }
    }

    #[test]
    fn no_limit_is_exceeded() {
        let delegates = Delegates { most: 3, depth: 2, workflow: None, into: DelegateInto::Parent };
        let facts = |own, depth, below_root| admit(&delegates, Delegated { own, depth, below_root });
        assert_eq!(facts(2, 1, 19), Ok(()));
        assert_eq!(facts(3, 0, 3), Err(DelegationLimit::Most(3)));
        assert_eq!(facts(0, 2, 3), Err(DelegationLimit::Depth(2)));
        assert_eq!(facts(0, 1, 20), Err(DelegationLimit::BelowRoot));
    }
}
