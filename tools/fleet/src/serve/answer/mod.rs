//! The JSON of answers. `tools/fleet/openapi.json` describes it, and a test holds answers against that.

mod assigned;
mod colony;
mod mission;
mod status;

use serde::Serialize;

pub use self::assigned::{Message, TaskAssigned};
pub use self::colony::{ColonyAnswer, CrabAnswer, Registered};
pub use self::mission::{
    Acted, MissionAnswer, MissionLine, RunAnswer, TaskAnswer, attempt_status, runs, tasks,
};
pub use self::status::{OfferAnswer, RecordAnswer, StatusAnswer, WorkflowAnswer};

/// A page of colonies.
#[derive(Debug, Serialize)]
pub struct Colonies {
    /// In the order of their names.
    pub colonies: Vec<ColonyAnswer>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}

/// A page of crabs.
#[derive(Debug, Serialize)]
pub struct Crabs {
    /// By colony, and there in the order of their ids.
    pub crabs: Vec<CrabAnswer>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}

/// A page of missions.
#[derive(Debug, Serialize)]
pub struct Missions {
    /// The newest first.
    pub missions: Vec<MissionLine>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}

/// The steps of a mission.
#[derive(Debug, Serialize)]
pub struct Tasks {
    /// In the order of the workflow.
    pub tasks: Vec<TaskAnswer>,
}

/// A page of the attempts of a mission.
#[derive(Debug, Serialize)]
pub struct Runs {
    /// The oldest first.
    pub runs: Vec<RunAnswer>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}

/// A page of records.
#[derive(Debug, Serialize)]
pub struct Records {
    /// The oldest first.
    pub events: Vec<RecordAnswer>,
    /// Value of `after` for the next page: it grows with time, so that there always is one.
    pub next: u64,
}

/// The step workflows.
#[derive(Debug, Serialize)]
pub struct WorkflowList {
    /// In the order of their names.
    pub workflows: Vec<WorkflowAnswer>,
}

/// Messages to a crab.
#[derive(Debug, Serialize)]
pub struct Messages {
    /// The oldest first; none if nothing has happened.
    pub messages: Vec<Message>,
}

/// Answer to a heartbeat.
#[derive(Debug, Serialize)]
pub struct Ended {
    /// The runs that the crab has no more: it ends their agents and keeps their work.
    pub ended: Vec<String>,
    /// The colony knows the crab. One that it does not know registers again.
    pub is_registered: bool,
}

/// Answer to a report.
#[derive(Debug, Serialize)]
pub struct Reported {
    pub run_id: String,
    /// `accepted`, or `repeated` if the same report was accepted before.
    pub outcome: &'static str,
}

/// Result of a sweep.
#[derive(Debug, Serialize)]
pub struct Ticked {
    /// The steps that crabs have got.
    pub offers: Vec<OfferAnswer>,
}
