//! The whole fleet in one answer, and what happens in it.

use std::collections::BTreeMap;

use orange_core::plan::Plan;
use serde::Serialize;
use serde_json::Value;

use crate::host::{Counts, Millis, Record};

/// The fleet at one glance.
#[derive(Debug, Serialize)]
pub struct StatusAnswer {
    /// The version of the gateway.
    pub version: &'static str,
    /// Number of missions, by status.
    pub missions: BTreeMap<String, u64>,
    pub crabs: CrabCounts,
    /// Number of steps that wait for a crab.
    pub waiting: u64,
    /// Number of messages that were set aside because they cannot be understood.
    pub alarms: u64,
    /// The number of the newest record.
    pub newest_event: u64,
}

/// Crabs by what they do.
#[derive(Debug, Serialize)]
pub struct CrabCounts {
    /// All that have registered.
    pub known: u64,
    /// They wait for a step.
    pub idle: u64,
    /// They have a step.
    pub busy: u64,
    /// They cannot start steps.
    pub faulty: u64,
}

/// Something that has happened.
#[derive(Debug, Serialize)]
pub struct RecordAnswer {
    pub seq: u64,
    pub time_ms: Millis,
    pub colony_id: String,
    /// The mission, if it is about one.
    pub mission_id: Option<String>,
    /// Its kind, such as `run.completed`.
    pub kind: String,
    /// Further details.
    pub data: Value,
}

/// A step that a crab has got.
#[derive(Debug, Serialize)]
pub struct OfferAnswer {
    pub crab_id: String,
    pub run_id: String,
    pub role: String,
}

/// A step workflow.
#[derive(Debug, Serialize)]
pub struct WorkflowAnswer {
    pub name: &'static str,
    /// Its version, as its author writes it.
    pub version: &'static str,
    /// Purpose of the workflow.
    pub description: &'static str,
    /// The hash of its source and its prompts.
    pub definition: &'static str,
    /// `step`: missions pause after every step; `auto`: they go on.
    pub execution: &'static str,
    /// At which ends of steps missions pause.
    pub intervene: &'static str,
    /// The roles of its steps.
    pub roles: Vec<&'static str>,
    /// Its steps, in the order of the file.
    pub steps: Vec<&'static str>,
}

impl StatusAnswer {
    /// The counts of a store.
    pub fn new(counts: Counts, newest_event: u64) -> StatusAnswer {
        let Counts { missions, crabs: [known, idle, busy, faulty], waiting, alarms } = counts;
        let crabs = CrabCounts { known, idle, busy, faulty };
        let version = env!("CARGO_PKG_VERSION");
        StatusAnswer {
            version,
            missions: missions.into_iter().collect(),
            crabs,
            waiting,
            alarms,
            newest_event,
        }
    }
}

impl From<Record> for RecordAnswer {
    fn from(record: Record) -> RecordAnswer {
        let Record { seq, time, colony, mission, kind, data } = record;
        RecordAnswer { seq, time_ms: time, colony_id: colony, mission_id: mission, kind, data }
    }
}

impl From<&'static Plan<'static>> for WorkflowAnswer {
    fn from(plan: &'static Plan<'static>) -> WorkflowAnswer {
        WorkflowAnswer {
            name: plan.name,
            version: plan.version,
            description: plan.description,
            definition: plan.source_hash,
            execution: plan.policy.execution.as_str(),
            intervene: plan.policy.intervene.as_str(),
            roles: plan.roles.to_vec(),
            steps: plan.steps.iter().map(|step| step.id).collect(),
        }
    }
}
