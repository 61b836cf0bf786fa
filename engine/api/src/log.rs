//! `orange log`.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A line of `orange.log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LogLine<'l> {
    /// Time of writing, RFC 3339 UTC; null in a line that a crashed process left.
    pub time: Option<Cow<'l, str>>,
    /// `error`, `warn`, `info` or `debug`.
    pub level: String,
    /// The command that wrote it; null in a line that a crashed process left.
    pub component: Option<Cow<'l, str>>,
    /// Message of the log, in one line.
    pub message: Cow<'l, str>,
}
