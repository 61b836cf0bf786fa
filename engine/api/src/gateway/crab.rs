//! Crabs: their registration, their wait for work, and their heartbeats.

use serde::{Deserialize, Serialize};

use super::TaskAssigned;
use super::words::words;

words! {
    /// Status of a crab.
    CrabStatus {
        /// It waits for a step.
        Idle = "idle",
        /// It has a step.
        Busy = "busy",
        /// It cannot start steps.
        Faulty = "faulty",
        /// It is not connected.
        Away = "away",
    }
}

/// Registration of a crab. Other fields are passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterBody {
    /// Its id; the gateway makes one if none is named.
    pub crab_id: Option<String>,
    /// The id or the name of its colony.
    pub colony_id: String,
    /// Its name for people.
    pub name: String,
    /// Its role, where it has one; `any` takes every step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its roles, beside `role`.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Its abilities: it checks the `gates` of an assignment, or can make the `wall` that one demands. Steps that need another one go to
    /// other crabs; words of a newer version are passed over.
    #[serde(default)]
    pub abilities: Vec<String>,
}

/// Answer to the registration of a crab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// Id of the crab.
    pub crab_id: String,
    /// The id of its colony.
    pub colony_id: String,
    /// Name of the crab.
    pub name: String,
    /// Its roles, each once.
    pub roles: Vec<String>,
    /// Interval of its heartbeats while it has a run, in milliseconds.
    pub heartbeat_ms: u64,
    /// The longest wait of a long poll, in milliseconds.
    pub poll_ms: u64,
}

/// A worker process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrabAnswer {
    /// Id of the crab.
    pub crab_id: String,
    /// The id of its colony.
    pub colony_id: String,
    /// Name of the crab.
    pub name: String,
    /// Names of its roles.
    pub roles: Vec<String>,
    /// Its abilities: `gates`, `wall`.
    #[serde(default)]
    pub abilities: Vec<String>,
    /// Status of the crab.
    pub status: CrabStatus,
    /// The mission of its step.
    pub mission_id: Option<String>,
    /// The run that it has.
    pub run_id: Option<String>,
    /// Reason that it cannot start steps.
    pub fault: Option<String>,
    /// Time at which it was last heard of.
    pub last_heard_at_ms: i64,
}

/// A page of crabs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crabs {
    /// By colony, and there in the order of their ids.
    pub crabs: Vec<CrabAnswer>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}

/// A wait for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollBody {
    /// The longest wait, in milliseconds; the gateway's own if none is named.
    pub wait_ms: Option<u64>,
}

/// Answer to a wait for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// The oldest first; none if nothing has happened.
    pub messages: Vec<MessageToCrab>,
}

/// A message to a crab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum MessageToCrab {
    /// It has this step.
    TaskAssigned(Box<TaskAssigned>),
    /// It ends the agent of a run, and keeps its work.
    EndAgent {
        /// Id of the run: `<mission>.<step>.<attempt>`.
        run_id: String,
        /// Id of the mission.
        mission_id: String,
        /// The number of its attempt.
        attempt: u32,
    },
    /// The gateway stops.
    Retry {
        /// Time after which the crab connects again, in milliseconds.
        after_ms: u64,
    },
    /// A message of the crab is refused.
    Error {
        /// A word for programs.
        code: String,
        /// Reason, for people.
        message: String,
        /// Advice on what to do next.
        help: String,
    },
    /// A message of a newer gateway, which crabs pass over.
    #[serde(other, skip_serializing)]
    Unknown,
}

/// A message of a crab on its WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum CrabMessage {
    /// It waits for work.
    Park,
    /// These runs are alive.
    Heartbeat {
        /// Ids of the runs.
        runs: Vec<String>,
    },
}

/// Heartbeat of a crab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatBody {
    /// The runs that are alive.
    pub runs: Vec<String>,
}

/// Answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatAnswer {
    /// The runs that the crab has no more: it ends their agents and keeps their work.
    pub ended: Vec<String>,
    /// True if the colony knows the crab. One that it does not know registers again.
    pub is_registered: bool,
}

/// A sweep of leases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TickBody {
    /// The colony whose leases are swept; all colonies if none is named.
    pub colony_id: Option<String>,
}

/// Answer to a sweep of leases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticked {
    /// The steps that crabs have got.
    pub offers: Vec<OfferAnswer>,
}

/// A step that a crab has got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferAnswer {
    /// Id of the crab.
    pub crab_id: String,
    /// Id of the run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    /// The role of the step.
    pub role: String,
}
