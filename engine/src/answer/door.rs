//! Answers that every command can give.

use serde::Serialize;

use crate::error::Failure;

/// The answer of a command that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Refusal<'l> {
    /// The error.
    pub error: &'l Failure,
}

/// A help text, a manual page or the version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Text<'l> {
    /// The text.
    pub text: &'l str,
}
