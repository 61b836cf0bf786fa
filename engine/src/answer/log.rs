//! `orange log`.

use serde::Serialize;

/// A line of `orange.log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LogLine<'l> {
    /// When it was written, RFC 3339 UTC; null in a line that a crashed process left.
    pub time: Option<&'l str>,
    /// `error`, `warn`, `info` or `debug`.
    pub level: &'static str,
    /// The command that wrote it; null in a line that a crashed process left.
    pub component: Option<&'l str>,
    /// The message.
    pub message: &'l str,
}
