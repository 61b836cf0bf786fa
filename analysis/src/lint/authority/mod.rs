//! Who decides: whether somebody else judges the work, and whether a person is asked before it is merged.

mod judge_of_own_work;
mod judges;
mod nobody_asked;
mod unknown_writer;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;

use super::Facts;

pub(crate) use judges::{Judges, Writer};
pub(crate) use nobody_asked::{unasked, unasked_run};

super::group! {
    CA0 "judge-of-own-work" Warn judge_of_own_work;
    CA1 "unknown-writer" Warn unknown_writer;
    CA2 "nobody-asked" Warn nobody_asked;
}

/// What several of these lints ask for, found out when the first one does.
#[derive(Debug, Default)]
pub struct Shared {
    judges: OnceCell<Judges>,
}

impl Facts<'_> {
    /// Who works and who judges.
    pub(crate) fn judges(&self) -> &Judges {
        self.authority.judges.get_or_init(|| Judges::of(self))
    }
}
