//! `orange monitor`.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::Success;
use crate::error::Failure;

/// The result of one look of the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum MonitorLook<'l> {
    /// The monitor has looked.
    Looked {
        /// Number of tasks and missions that may change without a person: they have an agent, or wait for one, or for a time.
        watched: usize,
        /// Events of tasks that this look has led to.
        events: Vec<MonitorEvent<'l>>,
        /// Failures of this look, each for one task; the look goes on after them.
        errors: Vec<MonitorFailure<'l>>,
    },
    /// Another monitor runs, and this one waits for its end.
    StandsBy {
        /// The process of that one; null if that is not known.
        stands_by_for: Option<i32>,
        /// Since when it runs, RFC 3339 UTC.
        since: Option<Cow<'l, str>>,
    },
    /// The other monitor has ended, and this one works from now on.
    TookOver {
        /// Always `true`: the other monitor has ended.
        took_over: Success,
    },
    /// The monitor could not look; without `--once` it looks again.
    NotLooked {
        /// Error that has ended the look.
        error: Cow<'l, Failure>,
    },
}

/// Event of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Happened"))]
pub struct MonitorEvent<'l> {
    /// The task, or the other thing that it happened to.
    pub id: Cow<'l, str>,
    /// Result, in a sentence.
    pub outcome: Cow<'l, str>,
}

/// Failure for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Failed"))]
pub struct MonitorFailure<'l> {
    /// The task, or the other thing that it failed for.
    pub id: Cow<'l, str>,
    /// Message of the error, as a person reads it.
    pub error: Cow<'l, str>,
}
