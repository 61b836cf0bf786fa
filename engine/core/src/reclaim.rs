//! Decision whether the worktree of a task that waits for a person is reclaimed for another task.

/// Facts that decide whether the worktree of a task is reclaimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReclaimFacts {
    /// True if its project allows it (`reclaim_when_waiting`).
    pub is_allowed: bool,
    /// True if it holds a worktree.
    pub has_worktree: bool,
    /// True if only a person moves it on from its state.
    pub waits_for_person: bool,
    /// True if an agent of it is alive, or its end is not recorded.
    pub has_agent: bool,
    /// True if something goes on: a transition or its hooks are not finished, a gate asks, or an agent is to start again.
    pub is_busy: bool,
    /// True if a time in its state moves it on without a person.
    pub has_limit: bool,
    /// True if its worktree was restored since it entered its state.
    pub was_restored: bool,
    /// True if another task waits for a worktree, and none is free.
    pub others_wait: bool,
}

/// Reason for which a task keeps its worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepReason {
    /// Its project does not allow it.
    NotAllowed,
    /// It holds none.
    NoWorktree,
    /// It does not wait for a person.
    NotWaiting,
    /// An agent is at work.
    Agent,
    /// Something goes on.
    Busy,
    /// A time moves it on.
    Limit,
    /// Its worktree was restored: a person is about to go on with it.
    Restored,
    /// No other task waits for a worktree.
    NotNeeded,
}

impl ReclaimFacts {
    /// Decides whether the worktree is reclaimed.
    ///
    /// # Errors
    /// The first reason to keep the worktree.
    pub const fn may_reclaim(self) -> Result<(), KeepReason> {
        if !self.is_allowed {
            return Err(KeepReason::NotAllowed);
        }
        if !self.has_worktree {
            return Err(KeepReason::NoWorktree);
        }
        if !self.waits_for_person {
            return Err(KeepReason::NotWaiting);
        }
        if self.has_agent {
            return Err(KeepReason::Agent);
        }
        if self.is_busy {
            return Err(KeepReason::Busy);
        }
        if self.has_limit {
            return Err(KeepReason::Limit);
        }
        if self.was_restored {
            return Err(KeepReason::Restored);
        }
        if !self.others_wait {
            return Err(KeepReason::NotNeeded);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECLAIMABLE: ReclaimFacts = ReclaimFacts {
        is_allowed: true,
        has_worktree: true,
        waits_for_person: true,
        has_agent: false,
        is_busy: false,
        has_limit: false,
        was_restored: false,
        others_wait: true,
    };

    #[test]
    fn a_worktree_is_reclaimed_only_while_its_task_waits() {
        assert_eq!(RECLAIMABLE.may_reclaim(), Ok(()));
        for (facts, expect) in [
            (ReclaimFacts { is_allowed: false, ..RECLAIMABLE }, KeepReason::NotAllowed),
            (ReclaimFacts { has_worktree: false, ..RECLAIMABLE }, KeepReason::NoWorktree),
            (ReclaimFacts { waits_for_person: false, ..RECLAIMABLE }, KeepReason::NotWaiting),
            (ReclaimFacts { has_agent: true, ..RECLAIMABLE }, KeepReason::Agent),
            (ReclaimFacts { is_busy: true, ..RECLAIMABLE }, KeepReason::Busy),
            (ReclaimFacts { has_limit: true, ..RECLAIMABLE }, KeepReason::Limit),
            (ReclaimFacts { was_restored: true, ..RECLAIMABLE }, KeepReason::Restored),
            (ReclaimFacts { others_wait: false, ..RECLAIMABLE }, KeepReason::NotNeeded),
            (ReclaimFacts::default(), KeepReason::NotAllowed),
        ] {
            assert_eq!(facts.may_reclaim(), Err(expect), "{facts:?}");
        }
    }
}
