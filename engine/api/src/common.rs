//! Answers that every command can give: a refusal, a text, the version.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use crate::error::Failure;

/// The answer of a command that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Refusal<'l> {
    /// Error with its kind and remedy.
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

/// Help text or version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Text<'l> {
    /// Text as people see it.
    pub text: Cow<'l, str>,
}
