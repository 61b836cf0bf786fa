//! Interface between a unit of work and a store: rows to read, and the rows of a transaction to write.

use std::collections::BTreeMap;

use orange_core::scheduler::Waiting;

use super::Failed;
use crate::host::packed::Packed;
use crate::host::{Colony, Delivery, Millis, OpenQuestion, TextOf};

/// Number of waiting steps of a role that are loaded at a time.
pub const PAGE: usize = 64;

/// A store, as the unit of work uses it: from one thread, a transaction at a time. Between [`Rows::begin`] and [`Rows::commit`] no other
/// program writes.
pub trait Rows {
    /// Begins a transaction, and looks up the answers to calls with these keys.
    fn begin(&mut self, keys: &[String]) -> Result<Begun, Failed>;

    /// The newest of everything, as the transaction finds it.
    fn newest(&mut self) -> Result<Newest, Failed>;

    /// The missions with these ids that there are.
    fn missions(&mut self, ids: &[String]) -> Result<Vec<MissionFound>, Failed>;

    /// The scheduler of a colony, with the first waiting steps of each role.
    fn colony(&mut self, id: &str) -> Result<Option<ColonyFound>, Failed>;

    /// The colony of this name.
    fn colony_named(&mut self, name: &str) -> Result<Option<Colony>, Failed>;

    /// The newest mission of a colony on this branch.
    fn mission_on(&mut self, colony: &str, branch: &str) -> Result<Option<String>, Failed>;

    /// The first waiting steps of a lane, at most [`PAGE`].
    fn waiting(&mut self, colony: &str, lane: &str) -> Result<Vec<Waiting>, Failed>;

    /// The text of a plan.
    fn plan(&mut self, hash: &str) -> Result<Option<String>, Failed>;

    /// Actors that were set aside: kinds and ids.
    fn alarms(&mut self) -> Result<Vec<(String, String)>, Failed>;

    /// Removes an alarm.
    fn end_alarm(&mut self, kind: &str, id: &str) -> Result<(), Failed>;

    /// Time at which a question was put that has not been answered, if something was due about it before this time.
    fn asked(&mut self, question: &OpenQuestion, now: Millis) -> Result<Option<Millis>, Failed>;

    /// Missions that ended before this time, those that ended first at first.
    fn ended(&mut self, before: Millis, limit: usize) -> Result<Vec<Ended>, Failed>;

    /// Removes missions with everything that is stored of them, but for their waiting steps.
    fn remove(&mut self, missions: &[Ended]) -> Result<(), Failed>;

    /// Removes answers to calls, and records that belong to no mission, from before these times, at most so many of each; and plans that
    /// no mission has. Says how many answers or records that were, whichever is more.
    fn remove_rest(&mut self, calls: Millis, records: Millis, limit: usize) -> Result<usize, Failed>;

    /// Writes rows of the transaction.
    fn write(&mut self, writes: &Writes) -> Result<(), Failed>;

    /// Keeps a text of an attempt in place of the one that it had. Says whether there is such an attempt.
    fn keep_text(&mut self, of: &TextOf, packed: &Packed) -> Result<bool, Failed>;

    /// Ends the transaction. Its rows are durable when this returns.
    fn commit(&mut self) -> Result<(), Failed>;

    /// Undoes the transaction, as far as the store has not done so.
    fn rollback(&mut self);
}

/// A transaction that has begun.
#[derive(Clone, Debug, Default)]
pub struct Begun {
    /// The time by the clock of the store.
    pub now: Millis,
    /// Another writer has committed since the last transaction, or this is the first one: nothing that is loaded counts.
    pub is_changed: bool,
    /// The calls that were answered before, by their keys.
    pub calls: Vec<(String, AnsweredCall)>,
}

/// A call that was answered before.
#[derive(Clone, Debug)]
pub struct AnsweredCall {
    /// The hash of what it asked.
    pub hash: Vec<u8>,
    pub outcome: String,
}

/// The newest of everything in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// The id of a mission or a colony.
    pub id: Option<String>,
    /// The number of a mission.
    pub mission: u64,
    /// The number of a record, also of one that was removed.
    pub record: u64,
}

/// A mission, as it is stored.
#[derive(Clone, Debug)]
pub struct MissionFound {
    pub id: String,
    pub seq: u64,
    pub colony: String,
    pub plan: String,
    pub version: u64,
    /// Its state, which a damaged row may have in another encoding.
    pub state: Vec<u8>,
    /// The commit of its branch that a crab has pushed last.
    pub tip: Option<String>,
    /// Its steps that wait.
    pub waiting: Vec<Waiting>,
}

/// The scheduler of a colony, as it is stored.
#[derive(Clone, Debug)]
pub struct ColonyFound {
    pub version: u64,
    pub state: Vec<u8>,
    /// By role the first waiting steps, at most [`PAGE`] of each.
    pub waiting: BTreeMap<String, Vec<Waiting>>,
}

/// A mission that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub seq: u64,
    pub id: String,
    pub colony: String,
    pub status: String,
    /// Its steps that wait, which only a damaged store has.
    pub waiting: Vec<Waiting>,
}

/// A colony, and the steps of a mission that wait there.
pub type Waits = (String, Vec<Waiting>);

/// Rows that a transaction writes. Each is there once, as it is at the end.
#[derive(Debug, Default)]
pub struct Writes {
    /// Plans that may be new, by their hashes.
    pub plans: BTreeMap<String, String>,
    /// New colonies; `states` has their schedulers.
    pub colonies: Vec<Colony>,
    /// New missions by id; `states` of missions has where they stand.
    pub missions: BTreeMap<String, NewMissionRow>,
    /// Missions that have changed, by their numbers.
    pub mission_states: BTreeMap<u64, MissionState>,
    /// Schedulers that have changed, by their colonies.
    pub colony_states: BTreeMap<String, StoredScheduler>,
    /// New records in their order.
    pub records: Vec<RecordRow>,
    /// New facts about attempts.
    pub attempts: BTreeMap<AttemptKey, AttemptChanges>,
    /// All steps of a mission that wait from now on.
    pub waiting: BTreeMap<String, Waits>,
    /// New facts about crabs, by colony and id.
    pub crabs: BTreeMap<(String, String), CrabRow>,
    /// Amounts to add to the tallies.
    pub tallies: BTreeMap<(String, &'static str, String), i64>,
    /// Answers to remember.
    pub calls: Vec<CallRow>,
    /// Actors to set aside.
    pub alarms: Vec<Alarm>,
    /// Instructions that crabs hear after the commit.
    pub deliveries: Vec<Delivery>,
    pub now: Millis,
    /// The newest of everything after this.
    pub newest: Newest,
}

impl Writes {
    /// True if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        let Writes { plans, colonies, missions, mission_states, colony_states, records, .. } = self;
        let Writes {
            attempts, waiting, crabs, tallies, calls, alarms, deliveries, now: _, newest: _, ..
        } = self;
        plans.is_empty()
            && colonies.is_empty()
            && missions.is_empty()
            && mission_states.is_empty()
            && colony_states.is_empty()
            && records.is_empty()
            && attempts.is_empty()
            && waiting.is_empty()
            && crabs.is_empty()
            && tallies.is_empty()
            && calls.is_empty()
            && alarms.is_empty()
            && deliveries.is_empty()
    }
}

/// A mission that is new.
#[derive(Debug)]
pub struct NewMissionRow {
    pub seq: u64,
    pub colony: String,
    pub plan: String,
    pub workflow: &'static str,
    pub summary: String,
    pub branch: String,
    pub prompt: String,
    /// Text that a search looks at.
    pub searched: String,
    pub state: MissionState,
}

/// State of a mission, as it is stored.
#[derive(Debug)]
pub struct MissionState {
    pub status: &'static str,
    pub step: Option<&'static str>,
    pub pause: Option<u32>,
    /// The steps whose questions wait for an answer, with commas between them.
    pub asks: Option<String>,
    pub tip: Option<String>,
    pub version: u64,
    pub state: String,
}

/// State of a scheduler, as it is stored.
#[derive(Debug, Default)]
pub struct StoredScheduler {
    pub version: u64,
    pub state: String,
    /// Crabs: known, parked, with a lease, with a fault.
    pub crabs: [u64; 4],
}

/// An entry of the history.
#[derive(Debug)]
pub struct RecordRow {
    pub seq: u64,
    pub colony: String,
    pub mission: Option<String>,
    pub kind: &'static str,
    pub data: String,
}

/// A mission, the number of a step, and the number of an attempt.
pub type AttemptKey = (String, u16, u32);

/// New facts about an attempt. A field that is `None` is as it was.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AttemptChanges {
    /// It is new, and began to wait.
    pub queued: Option<Millis>,
    /// Its crab is forgotten, with the time when that got it, if it is this one.
    pub returned: Option<String>,
    pub crab: Option<Option<String>>,
    /// Time at which a crab got it.
    pub offered: Option<Option<Millis>>,
    /// Time at which its agent started or its question was put, and the worktree in which the agent did.
    pub started: Option<(Millis, Option<String>)>,
    /// Time at which its people are reminded, or at which the time for their answer is over.
    pub due: Option<Option<Millis>>,
    /// Time of its end, and the commit that was pushed.
    pub ended: Option<(Millis, Option<String>)>,
}

impl AttemptChanges {
    /// True if more is known than that it is new.
    pub fn is_changed(&self) -> bool {
        *self != AttemptChanges { queued: self.queued, ..AttemptChanges::default() }
    }
}

/// New fact about a crab.
#[derive(Debug, PartialEq, Eq)]
pub enum CrabRow {
    /// It has this name, and was heard of.
    Registered(String),
    /// It was heard of.
    Heard,
    Left,
}

/// A call with its answer.
#[derive(Debug)]
pub struct CallRow {
    pub key: String,
    pub hash: Vec<u8>,
    pub outcome: String,
}

/// An actor that nobody can read.
#[derive(Clone, Debug)]
pub struct Alarm {
    pub kind: &'static str,
    pub id: String,
    pub why: String,
}
