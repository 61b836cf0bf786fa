//! The error of generated `FromStr` implementations.

use alloc::string::String;
use core::fmt;

/// A name that no state, transition or prompt of a workflow has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of name: `state`.
    pub kind: &'static str,
    /// The name that was given.
    pub given: String,
    /// The names that there are.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, given, known } = self;
        if known.is_empty() {
            return write!(f, "no {kind} `{given}`: there is none at all");
        }
        write!(f, "no {kind} `{given}`; there is: {}", known.join(", "))
    }
}

impl core::error::Error for UnknownName {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[track_caller]
    fn check(known: &'static [&'static str], expect: &str) {
        let error = UnknownName { kind: "state", given: "wroking".into(), known };
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn it_says_what_was_given_and_what_there_is() {
        check(&["pending", "working"], "no state `wroking`; there is: pending, working");
        check(&[], "no state `wroking`: there is none at all");
    }
}
