//! What every command can answer.

use serde::Serialize;

use crate::error::Failure;

/// What a command answers that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Refusal<'l> {
    /// Why.
    pub error: &'l Failure,
}

/// A help text, a manual page or the version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Text<'l> {
    /// The text.
    pub text: &'l str,
}
