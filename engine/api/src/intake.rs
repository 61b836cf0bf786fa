//! `orange intake`.

use serde::{Deserialize, Serialize};

/// The intake of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Intake {
    /// Name of the project.
    pub project: String,
    /// The labels whose issues become tasks; none while intake is off.
    pub labels: Vec<String>,
    /// Reason for which the `orange.toml` of the repository does not count; null if it counts, or if there is none.
    pub warning: Option<String>,
    /// True if the forge was asked now, and nothing was changed.
    pub dry_run: bool,
    /// The issue that a person has asked to take again.
    pub retried: Option<u64>,
    /// In a dry run, every open issue with one of the labels; otherwise those that wait for a person since the last look of the monitor.
    pub issues: Vec<IntakeIssue>,
    /// The issues that were taken, the oldest first.
    pub taken: Vec<TakenIssue>,
}

/// An issue and the decision about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IntakeIssue {
    /// Number of the issue in its repository.
    pub number: u64,
    /// Title of the issue, as other people write it.
    pub title: String,
    /// Address of the page of the issue.
    pub url: String,
    /// The label.
    pub label: String,
    /// The account that added the label; null where that was not asked for, or the account is gone.
    pub labelled_by: Option<String>,
    /// `take`, `closed`, `known`, `quarantined`, `no-label-event`, `labelled-by`, `author`, `edited`, `blocked`, `max-open` or
    /// `max-per-day`.
    pub decision: String,
    /// The rule that made the decision, in words.
    pub rule: String,
    /// True if only a person can change the decision.
    pub person: bool,
    /// Ids of the tasks that its task would wait for.
    pub blocked_by: Vec<String>,
}

/// An issue that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TakenIssue {
    /// Its number; null if its source cannot be read.
    pub number: Option<u64>,
    /// The repository, the issue, and the event of the label, as in `TASK.md`.
    pub source: String,
    /// The label.
    pub label: String,
    /// The account that added the label.
    pub labelled_by: Option<String>,
    /// Time at which it was taken, RFC 3339 UTC.
    pub at: String,
    /// Id of its task; null if none could be made.
    pub task: Option<String>,
    /// The branch of its task; null if the task is gone.
    pub branch: Option<String>,
    /// The status of its task; null if the task is gone.
    pub status: Option<String>,
    /// `open`, `done` or `failed`.
    pub state: String,
    /// True if the issue has a comment about the task.
    pub commented: bool,
    /// True if the issue was closed while its task was open.
    pub closed: bool,
    /// The last error with which no task could be made.
    pub error: Option<String>,
    /// The failures of the issue in a row; with three, it is taken no more.
    pub failures: u32,
}
