//! The whole fleet in one answer, its records, and the workflows that it can follow.

use std::collections::BTreeMap;

use orange_core::plan::{Execution, Intervene};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The fleet at one glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusAnswer {
    /// The version of the gateway.
    pub version: String,
    /// Number of missions, by status.
    pub missions: BTreeMap<String, u64>,
    /// Number of crabs.
    pub crabs: CrabCounts,
    /// Number of steps that wait for a crab.
    pub waiting: u64,
    /// Number of missions that run, and have a question of a step that waits for an answer.
    #[serde(default)]
    pub asking: u64,
    /// Number of messages that were set aside because they cannot be understood.
    pub alarms: u64,
    /// The number of the newest record.
    pub newest_event: u64,
}

/// Number of crabs, by status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrabCounts {
    /// All that have registered.
    pub known: u64,
    /// Those that wait for a step.
    pub idle: u64,
    /// Those that have a step.
    pub busy: u64,
    /// Those that cannot start steps.
    pub faulty: u64,
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordAnswer {
    /// Its number, which grows with every record.
    pub seq: u64,
    /// Time of the event, in milliseconds since 1970.
    pub time_ms: i64,
    /// Id of the colony.
    pub colony_id: String,
    /// The mission, if it is about one.
    pub mission_id: Option<String>,
    /// Its kind, such as `run.completed`.
    pub kind: String,
    /// Further details.
    pub data: Value,
}

/// A page of records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// The oldest first.
    pub events: Vec<RecordAnswer>,
    /// Value of `after` for the next page: it grows with time, so that there always is one.
    pub next: u64,
}

/// A step workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowAnswer {
    /// Name of the workflow.
    pub name: String,
    /// Its version, as its author writes it.
    pub version: String,
    /// Purpose of the workflow.
    pub description: String,
    /// The hash of its source and its prompts.
    pub definition: String,
    /// Mode of execution.
    pub execution: Execution,
    /// At which ends of steps missions pause.
    pub intervene: Intervene,
    /// The roles of its steps.
    pub roles: Vec<String>,
    /// Its steps, in the order of the file.
    pub steps: Vec<String>,
}

/// The step workflows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowList {
    /// In the order of their names.
    pub workflows: Vec<WorkflowAnswer>,
}
