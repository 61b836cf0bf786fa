//! Lints of authority: they ask whether an agent judges its own work, whether a person is asked before the work is merged, and whether
//! the verdict is about the work that is merged.

mod judge_of_own_work;
mod judges;
mod nobody_asked;
mod unknown_writer;
mod unwalled_decides;
mod verdict_in_shared_file;
mod verdict_of_other_work;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;

use super::Facts;

pub(crate) use judges::{Judges, VerdictWriter};
pub(crate) use nobody_asked::{unasked, unasked_run};
pub(crate) use unwalled_decides::{demands_wall, forged, forged_run};

super::group! {
    CA0 "judge-of-own-work" Warn judge_of_own_work;
    CA1 "unknown-writer" Warn unknown_writer;
    CA2 "nobody-asked" Warn nobody_asked;
    CA3 "verdict-of-other-work" Warn verdict_of_other_work;
    CA4 "unwalled-decides" Deny unwalled_decides;
    CA5 "verdict-in-shared-file" Warn verdict_in_shared_file;
}

/// Facts that several of these lints ask for, computed when the first one does.
#[derive(Debug, Default)]
pub struct AuthorityLintFacts {
    judges: OnceCell<Judges>,
}

impl Facts<'_> {
    /// Agents that work and agents that judge.
    pub(crate) fn judges(&self) -> &Judges {
        self.authority.judges.get_or_init(|| Judges::of(self))
    }
}
