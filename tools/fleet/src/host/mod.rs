//! The hosts, which keep missions and schedulers durable: one transaction for each event.

mod packed;
pub mod postgres;
pub mod questions;
pub mod sqlite;
mod unit_of_work;
mod waits;

use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use orange_core::mission::{Mission, StepState, StepStatus};
use orange_core::plan::{Plan, StepId};
use orange_core::scheduler::Scheduler;
use orange_core::{mission, scheduler};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

/// Future answer of a host.
pub type Later<'h, T> = Pin<Box<dyn Future<Output = Result<T, HostError>> + Send + 'h>>;

/// A time: milliseconds since 1970, UTC, by the clock of the store.
pub type Millis = i64;

/// Keeps missions and schedulers. Every host passes the same tests, `tests/conformance`.
pub trait Host: Send + Sync + 'static {
    /// Makes a colony, or finds the one of this name.
    fn create_colony(&self, new: NewColony) -> Later<'_, Colony>;

    /// Makes a mission and begins it, in one transaction.
    fn create_mission(&self, new: NewMission) -> Later<'_, ActorReply>;

    /// Has one event happen to one mission or scheduler, with everything that follows from it in the other.
    ///
    /// A key that is sent again with its event is answered as the first time; with another event it is a conflict. The
    /// answer is given after the event is durable. A refused event changes nothing.
    fn apply(&self, call: ActorCall) -> Later<'_, ActorReply>;

    fn mission(&self, id: &str) -> Later<'_, Option<StoredMission>>;

    /// A page of missions, the newest first.
    fn missions(&self, filter: MissionFilter) -> Later<'_, Vec<MissionListRow>>;

    /// Keeps a text of an attempt in place of the one that it had. Says whether there is such an attempt.
    fn keep_text(&self, of: TextOf, text: String) -> Later<'_, bool>;

    /// A text of an attempt, if it has one.
    fn text(&self, of: TextOf) -> Later<'_, Option<String>>;

    /// The colonies, in the order of their names.
    fn colonies(&self) -> Later<'_, Vec<Colony>>;

    /// The scheduler of a colony, with the times of its crabs.
    fn colony(&self, id: &str) -> Later<'_, Option<ColonyState>>;

    /// Every record after this number, the oldest first, of one mission if it is named.
    fn records(&self, after: u64, mission: Option<String>, limit: u32) -> Later<'_, Vec<HistoryRecord>>;

    /// Counts for the first screen and for metrics.
    fn counts(&self) -> Later<'_, StoreCounts>;

    /// Open questions of steps about which something is due by the clock of the store, what was due first at first; not all of them,
    /// perhaps.
    fn due(&self) -> Later<'_, Vec<OpenQuestion>>;

    /// Does what is due about a question, in one transaction: its people are reminded, which is recorded, or the time for an answer is
    /// over. Says whether anything was due.
    fn remind(&self, question: OpenQuestion) -> Later<'_, bool>;

    /// Removes missions that ended before this time, and keys and records that nobody needs.
    fn forget(&self, ended_before: Millis) -> Later<'_, u64>;

    /// Copies the store while it is in use.
    ///
    /// # Errors
    /// `unsupported` where the database has tools for that.
    fn backup(&self, to: &Path) -> Later<'_, ()>;

    /// The instructions to crabs, from now on. It is a hint: a crab that asks again is answered from the store.
    fn deliveries(&self) -> broadcast::Receiver<Delivery>;

    /// The newest record's number, whenever it changes.
    fn news(&self) -> tokio::sync::watch::Receiver<u64>;
}

/// One event for one actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorCall {
    /// Idempotency key.
    pub key: Option<String>,
    pub event: Event,
    /// Details for the records, beside the event.
    pub about: CallDetails,
}

/// The crab that asks, and details that no decision needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallDetails {
    /// The crab that asks.
    pub crab: Option<String>,
    /// The name of a crab that registers, for people.
    pub name: Option<String>,
    /// The commit that a crab has pushed.
    pub commit: Option<String>,
    /// The worktree in which an agent has started, on the crab's machine.
    pub worktree: Option<String>,
}

/// An event and its actor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "actor", rename_all = "snake_case")]
pub enum Event {
    /// Something happens to a mission.
    Mission { id: String, event: mission::Event },
    /// Something happens to a colony.
    Scheduler { id: String, event: scheduler::Event },
}

/// Result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", content = "of", rename_all = "snake_case")]
pub enum ActorReply {
    /// The event has happened.
    Done {
        /// The version of the mission or the scheduler: how many events it has accepted.
        version: u64,
        /// The mission, for a call that makes one.
        mission: Option<String>,
        /// The event had been accepted before, and nothing has changed.
        is_repeated: bool,
        /// Effect of the answer to a pause.
        answered: Option<mission::AnswerEffect>,
        /// Offers that were made.
        offers: Vec<(String, scheduler::Item)>,
    },
    /// The mission refuses it.
    MissionRefused(mission::Refusal),
    /// The scheduler refuses it.
    SchedulerRefused(scheduler::Refusal),
    /// There is no such mission or colony.
    NotFound,
    /// The key was used for something else.
    Conflict,
    /// Another mission of the colony has the branch, also if it has ended: it could be retried.
    BranchTaken {
        /// That mission.
        mission: String,
    },
}

/// Error of a host that gives no answer. Nothing is known to have happened; the same call with the same key is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// The database does not answer.
    Unavailable(String),
    /// The stored state cannot be understood.
    Corrupt(String),
    /// The host cannot do it.
    Unsupported(&'static str),
    /// The process stops.
    Stopping,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::Unavailable(cause) => write!(f, "the store does not answer: {cause}"),
            HostError::Corrupt(cause) => write!(f, "the store cannot be understood: {cause}"),
            HostError::Unsupported(what) => f.write_str(what),
            HostError::Stopping => f.write_str("the program is stopping"),
        }
    }
}

impl std::error::Error for HostError {}

/// A colony to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewColony {
    /// Its name, unique.
    pub name: String,
    /// The repository: an address or a path for git.
    pub repository: String,
    /// The branch that work starts from; the repository's own if none is named.
    pub base: Option<String>,
}

/// A group of crabs that work on one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colony {
    pub id: String,
    pub name: String,
    /// Its repository.
    pub repository: String,
    /// The branch that work starts from.
    pub base: Option<String>,
    /// Time of creation.
    pub created: Millis,
}

/// A mission to make.
#[derive(Clone, Debug)]
pub struct NewMission {
    /// Idempotency key.
    pub key: Option<String>,
    pub colony: String,
    /// Its plan, which is stored with it.
    pub plan: &'static Plan<'static>,
    /// Description of the work to do.
    pub prompt: String,
    /// Its branch, which no other mission of the colony may have; made from its id if none is named.
    pub branch: Option<String>,
    /// Rules for its pauses.
    pub policy: orange_core::plan::Policy,
    /// The values of its inputs.
    pub inputs: orange_core::plan::Inputs,
}

/// Number of days that the gateway keeps a mission after its end, unless `--keep` says otherwise.
pub const KEPT_BY_GATEWAYS: u32 = 90;

/// Number of days that a crab keeps what an attempt has left in its home, unless `--keep` says otherwise.
pub const KEPT_BY_CRABS: u32 = 30;

/// A mission as it is stored.
#[derive(Clone, Debug)]
pub struct StoredMission {
    /// The mission as lists show it.
    pub row: MissionListRow,
    pub plan: &'static Plan<'static>,
    /// State of the mission.
    pub mission: Mission,
    /// Description of the work to do, in full.
    pub prompt: String,
    /// Its attempts with their crabs and times, the oldest first.
    pub runs: Vec<AttemptRow>,
}

impl StoredMission {
    /// The mission as people see it: a queued step that a crab has is assigned.
    pub fn seen(&self) -> Mission {
        let mut seen = self.mission.clone();
        let held = |(id, state): &(StepId, &mut StepState)| {
            state.status == StepStatus::Queued && self.crab_of(*id).is_some()
        };
        self.plan
            .step_ids()
            .zip(&mut seen.steps)
            .filter(held)
            .for_each(|(_, state)| state.status = StepStatus::Assigned);
        seen
    }

    /// The crab that has the current attempt of a step, which has not ended.
    pub fn crab_of(&self, id: StepId) -> Option<&str> {
        let (step, attempt) = (self.plan.step(id).id, self.mission.step(id).attempt());
        let run = self.runs.iter().find(|it| it.step == step && it.attempt == attempt)?;
        run.crab.as_deref().filter(|_| run.offered.is_some() && run.ended.is_none())
    }
}

/// A mission in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissionListRow {
    /// Its id: time-ordered, so that a page begins after an id.
    pub id: String,
    pub colony: String,
    /// The name of its workflow.
    pub workflow: String,
    /// The first line of its prompt.
    pub summary: String,
    pub branch: String,
    /// Its status, a word of `MissionStatus`.
    pub status: String,
    /// The step that runs or comes next, or about which it asks.
    pub step: Option<String>,
    /// The number of the pause that waits for an answer.
    pub pause: Option<u32>,
    /// The steps whose questions wait for an answer.
    pub asks: Vec<String>,
    /// Number of events that it has accepted.
    pub version: u64,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

/// An attempt, with what the host knows of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptRow {
    pub step: String,
    pub attempt: u32,
    /// The crab that had it.
    pub crab: Option<String>,
    /// Start of its wait for a crab.
    pub queued: Millis,
    /// Time at which a crab got it.
    pub offered: Option<Millis>,
    /// Time at which its agent started, or its question was put.
    pub started: Option<Millis>,
    /// Time of its end.
    pub ended: Option<Millis>,
    /// The commit that its crab has pushed.
    pub commit: Option<String>,
    /// The worktree in which its agent has started, on the crab's machine.
    pub worktree: Option<String>,
    /// The length of its transcript in bytes, if its crab has sent one.
    pub transcript: Option<u32>,
    /// The length of its diff in bytes, if its crab has sent one.
    pub diff: Option<u32>,
}

/// A question of a step that has not been answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    pub mission: String,
    pub step: StepId,
    pub attempt: u32,
}

/// A long text of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOf {
    pub mission: String,
    pub step: StepId,
    pub attempt: u32,
    pub kind: TextKind,
}

/// Kind of a long text of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Everything that its agent has said and done.
    Transcript,
    /// Its changes to the repository.
    Diff,
}

impl TextKind {
    /// Its word, in stores and addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            TextKind::Transcript => "transcript",
            TextKind::Diff => "diff",
        }
    }
}

/// Filter for a list of missions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissionFilter {
    /// Of this colony.
    pub colony: Option<String>,
    /// With one of these statuses; any if none is named.
    pub statuses: Vec<String>,
    /// With this text in prompt, branch or workflow.
    pub text: Option<String>,
    /// With a question of a step that waits for an answer.
    pub asks: bool,
    /// Older than this mission.
    pub before: Option<String>,
    /// At most this many.
    pub limit: u32,
}

/// A colony and its scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColonyState {
    pub colony: Colony,
    /// Its scheduler.
    pub scheduler: Scheduler,
    /// The names of its crabs by id, and when each was last heard of.
    pub crabs: Vec<(String, String, Millis)>,
    /// Number of waiting steps, by role.
    pub waiting: Vec<(String, u64)>,
}

/// Something that has happened, for histories and followers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRecord {
    /// Its number; rises with every record of the store.
    pub seq: u64,
    pub time: Millis,
    pub colony: String,
    /// The mission, if it is about one.
    pub mission: Option<String>,
    /// Its kind, such as `mission.created`, `step.queued`, `run.started`, `run.completed`, `mission.paused`, `crab.registered`, `lease.lost`.
    pub kind: String,
    /// Further details, as a JSON object.
    pub data: serde_json::Value,
}

/// Counts of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// Missions by status.
    pub missions: Vec<(String, u64)>,
    /// Crabs: known, parked, with a lease, with a fault.
    pub crabs: [u64; 4],
    /// Steps that wait.
    pub waiting: u64,
    /// Messages that were set aside since nobody understands them.
    pub alarms: u64,
    /// Missions that run, and have a question of a step that waits for an answer.
    pub asking: u64,
}

/// An instruction to a crab, with its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub colony: String,
    pub crab: String,
    pub what: Instruction,
}

/// An instruction to a crab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instruction {
    /// It has this step.
    Offer(scheduler::Item),
    /// It ends the agent of an attempt, and keeps its work.
    EndAgent {
        mission: String,
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
}
