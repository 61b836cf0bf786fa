//! The whole fleet in one answer, and what happens in it.

use orange_api::gateway::{CrabCounts, RecordAnswer, StatusAnswer, WorkflowAnswer};
use orange_core::plan::Plan;

use crate::host::{HistoryRecord, StoreCounts};

/// The counts of a store.
pub fn status(counts: StoreCounts, newest_event: u64) -> StatusAnswer {
    let StoreCounts { missions, crabs: [known, idle, busy, faulty], waiting, alarms, asking } = counts;
    StatusAnswer {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        missions: missions.into_iter().collect(),
        crabs: CrabCounts { known, idle, busy, faulty },
        waiting,
        asking,
        alarms,
        newest_event,
    }
}

impl From<HistoryRecord> for RecordAnswer {
    fn from(record: HistoryRecord) -> RecordAnswer {
        let HistoryRecord { seq, time, colony, mission, kind, data } = record;
        RecordAnswer { seq, time_ms: time, colony_id: colony, mission_id: mission, kind, data }
    }
}

/// A workflow that missions can follow.
pub fn workflow(plan: &Plan<'_>) -> WorkflowAnswer {
    WorkflowAnswer {
        name: plan.name.to_owned(),
        version: plan.version.to_owned(),
        description: plan.description.to_owned(),
        definition: plan.source_hash.to_owned(),
        execution: plan.policy.execution,
        intervene: plan.policy.intervene,
        roles: plan.roles.iter().map(|it| (*it).to_owned()).collect(),
        steps: plan.steps.iter().map(|step| step.id.to_owned()).collect(),
    }
}
