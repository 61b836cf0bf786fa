//! Answers that every command can give.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use crate::error::Failure;

/// The answer of a command that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Refusal<'l> {
    /// The error.
    pub error: Cow<'l, Failure>,
}

/// Answer of `orange --version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Version<'l> {
    /// The program and its version.
    pub text: Cow<'l, str>,
    /// The version of all answers with `--json`. It rises when a key goes or gets another meaning.
    pub json_version: u32,
}

/// A help text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Text<'l> {
    /// The text.
    pub text: Cow<'l, str>,
}
