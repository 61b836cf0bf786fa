//! What is known of a sentence while it is being read.

use std::rc::Rc;

use orange_core::StateId;

use super::words::Role;

/// What a block says about all that stands under it.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub negated: bool,
    pub conditional: bool,
    /// The states that it is about, if it is about some alone.
    pub only_in: Rc<[StateId]>,
    /// Whether it speaks of the status, so that `planning:` under it is a case.
    pub of_status: bool,
}

/// Where a sentence stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Sentence {
    pub scope: Scope,
    /// `without`, or `not` and `forget`: two negations.
    pub twisted: bool,
    /// Between `if` and what is to be done then.
    pub in_case: bool,
    /// Whether that is a `when`.
    pub will_come: bool,
    /// The states that the case names.
    pub cases: Vec<StateId>,
    /// After `before`: commands are spoken of.
    pub spoken: bool,
    pub gerund: bool,
    pub reads: bool,
    /// Whether something is set, run or used.
    pub runs: bool,
    /// What was said last.
    pub before: Before,
    /// Whether nothing but names of states has been said.
    pub is_label: bool,
    /// Whether a command that comes next stands directly behind a label: `Approve: …`.
    pub is_labelled: bool,
    /// The first of its commands, of those that may still turn out to be conditional, and of its clause's sections.
    pub commands: usize,
    pub settled: usize,
    pub sections: usize,
    /// How many clauses have ended since its last command.
    pub clauses: usize,
    /// What it said when its last clause ended, as long as nothing has come after that.
    pub introduced: Option<Scope>,
}

/// What was said last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Before {
    #[default]
    Start,
    Comma,
    Clause,
    Word(Role),
}

impl Sentence {
    /// Whether a command that comes next is only spoken of.
    pub fn is_spoken_of(&self) -> bool {
        self.spoken && self.gerund && !self.twisted
    }
}
