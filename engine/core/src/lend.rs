//! Decision whether a task that waits for a person gives its worktree to another task.

/// Facts that a driver knows of a task and of those beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lender {
    /// True if its project wants worktrees to be given away.
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
    /// True if an actor has asked for its worktree since it entered its state.
    pub is_wanted_back: bool,
    /// True if another task waits for a worktree, and none is free.
    pub others_wait: bool,
}

/// Reason for which a task keeps its worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// Its project does not want that.
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
    /// A person is about to go on with it.
    WantedBack,
    /// Nobody waits for a worktree.
    NobodyWaits,
}

impl Lender {
    /// Decides it.
    ///
    /// # Errors
    /// The first reason to keep the worktree.
    pub const fn may_lend(self) -> Result<(), Stays> {
        if !self.is_allowed {
            return Err(Stays::NotAllowed);
        }
        if !self.has_worktree {
            return Err(Stays::NoWorktree);
        }
        if !self.waits_for_person {
            return Err(Stays::NotWaiting);
        }
        if self.has_agent {
            return Err(Stays::Agent);
        }
        if self.is_busy {
            return Err(Stays::Busy);
        }
        if self.has_limit {
            return Err(Stays::Limit);
        }
        if self.is_wanted_back {
            return Err(Stays::WantedBack);
        }
        if !self.others_wait {
            return Err(Stays::NobodyWaits);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVES: Lender = Lender {
        is_allowed: true,
        has_worktree: true,
        waits_for_person: true,
        has_agent: false,
        is_busy: false,
        has_limit: false,
        is_wanted_back: false,
        others_wait: true,
    };

    #[test]
    fn a_task_lends_only_where_nothing_but_a_person_moves_it() {
        assert_eq!(GIVES.may_lend(), Ok(()));
        for (lender, expect) in [
            (Lender { is_allowed: false, ..GIVES }, Stays::NotAllowed),
            (Lender { has_worktree: false, ..GIVES }, Stays::NoWorktree),
            (Lender { waits_for_person: false, ..GIVES }, Stays::NotWaiting),
            (Lender { has_agent: true, ..GIVES }, Stays::Agent),
            (Lender { is_busy: true, ..GIVES }, Stays::Busy),
            (Lender { has_limit: true, ..GIVES }, Stays::Limit),
            (Lender { is_wanted_back: true, ..GIVES }, Stays::WantedBack),
            (Lender { others_wait: false, ..GIVES }, Stays::NobodyWaits),
            (Lender::default(), Stays::NotAllowed),
        ] {
            assert_eq!(lender.may_lend(), Err(expect), "{lender:?}");
        }
    }
}
