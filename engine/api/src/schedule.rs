//! `orange schedule`.

use serde::{Deserialize, Serialize};

/// The schedules of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Schedules {
    /// Name of the project.
    pub project: String,
    /// Reason for which the `orange.toml` of the repository does not count; null if it counts, or if there is none.
    pub warning: Option<String>,
    /// The schedules, in the order of the file.
    pub schedules: Vec<ScheduleRow>,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ScheduleRow {
    /// Name of the schedule.
    pub name: String,
    /// The cron expression.
    pub cron: String,
    /// The zone of its times.
    pub tz: String,
    /// The step workflow of its missions.
    pub mission: String,
    /// Local time of the next slot, such as `2026-11-27T07:00`; null if there is none, or its zone is not known.
    pub next: Option<String>,
    /// Instant of the next slot, RFC 3339 UTC.
    pub next_at: Option<String>,
    /// Local time of the slot that waits.
    pub owed: Option<String>,
    /// Reason for which it waits: `overlap`, `limit`, or `starting`.
    pub owed_reason: Option<String>,
    /// Local time of the last slot with a decision.
    pub last: Option<String>,
    /// Result of that slot, in words.
    pub last_result: Option<String>,
    /// Ids of its missions, the oldest first.
    pub missions: Vec<String>,
    /// Reason for which it starts nothing, such as a zone that is not known.
    pub error: Option<String>,
}
