//! The protocol of the fleet's gateway over HTTP: answers, bodies of requests, and messages between it and crabs.
//!
//! `tools/fleet/openapi.json` describes the same types for other readers. Times are milliseconds since 1970, UTC, by the clock of
//! the gateway's store.

mod words;

mod colony;
mod crab;
mod mission;
mod run;
mod status;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use colony::{Colonies, ColonyAnswer, NewColonyBody};
pub use crab::{
    CrabAnswer, CrabMessage, CrabStatus, Crabs, HeartbeatAnswer, HeartbeatBody, MessageToCrab, Messages,
    OfferAnswer, PollBody, RegisterBody, Registered, TickBody, Ticked,
};
pub use mission::{
    Acted, AnswerBody, AskAnswer, AskAnswered, ContinueBody, MissionAnswer, MissionLine, Missions,
    NewMissionBody, Nothing, PauseAnswer, PauseCause, PauseEffect, PauseOffer, RetryBody, TaskAnswer, Tasks,
};
pub use run::{
    CompleteBody, GiveBackBody, ReportOutcome, Reported, RunAnswer, RunEnd, RunStatus, Runs, StartBody,
    TaskAssigned,
};
pub use status::{CrabCounts, RecordAnswer, Records, StatusAnswer, WorkflowAnswer, WorkflowList};

/// Answer to a call that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCall {
    /// Complaint of the gateway.
    pub error: Complaint,
}

/// Reason for the refusal of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Complaint {
    /// A word for programs, which stays as it is.
    pub code: String,
    /// Reason, for people.
    pub message: String,
    /// Advice on what to do next.
    pub help: String,
}
