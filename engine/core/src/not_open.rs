//! The error of generated `resolve` functions.

use core::fmt;

use crate::{Rejection, StateId};

/// Reason for which no transition from a state to another is open, before actors and gates are asked. `S` is the workflow's own
/// type of states, so that the error names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOpen<S> {
    /// No transition is declared for this pair.
    NoTransition {
        /// The current state of the task.
        from: S,
        /// The requested state.
        to: S,
    },
    /// Transitions are declared for this pair, and none of their guards holds.
    GuardFailed {
        /// The current state of the task.
        from: S,
        /// The requested state.
        to: S,
    },
}

impl<S> NotOpen<S> {
    /// The rejection of the tables that says the same; `id` gives the number of a state: `State::id`.
    pub fn rejection(self, id: impl Fn(S) -> StateId) -> Rejection {
        match self {
            Self::NoTransition { from, to } => Rejection::NoTransition { from: id(from), to: id(to) },
            Self::GuardFailed { from, to } => Rejection::GuardFailed { from: id(from), to: id(to) },
        }
    }
}

impl<S: fmt::Display> fmt::Display for NotOpen<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTransition { from, to } => write!(f, "no transition leads from {from} to {to}"),
            Self::GuardFailed { from, to } => write!(f, "no guard of {from} → {to} holds"),
        }
    }
}

impl<S: fmt::Debug + fmt::Display> core::error::Error for NotOpen<S> {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn it_names_the_states() {
        let (from, to) = ("working", "done");
        let none = NotOpen::NoTransition { from, to };
        assert_eq!(none.to_string(), "no transition leads from working to done");
        let closed = NotOpen::GuardFailed { from, to };
        assert_eq!(closed.to_string(), "no guard of working → done holds");
        let id = |name: &str| StateId(name.len() as u16);
        assert_eq!(closed.rejection(id), Rejection::GuardFailed { from: StateId(7), to: StateId(4) });
    }
}
