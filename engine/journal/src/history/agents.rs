//! The agents of a task: which should be alive, what they have reported, and the wait for the next.

use std::collections::{BTreeMap, BTreeSet};

use super::{OpenTransition, Owned, Seat};
use crate::event::{Activity, Exited, Report, Spawn, Spent, Waiting};
use crate::name::Name;
use crate::record::Record;

/// Agents of a task.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AgentsHistory {
    /// The agents whose end is not recorded, by spawn number.
    pub alive: BTreeMap<u32, Spawn>,
    /// The last agent of each seat in the task's status, alive or ended.
    pub here: BTreeMap<Seat, Spawn>,
    /// Those of `alive` that a person has stopped: no exit rule judges their ends.
    pub stopped: BTreeSet<u32>,
    /// The highest spawn number; 0 when there was no agent.
    pub last_spawn: u32,
    /// The number of the record with that spawn.
    pub last_spawn_seq: u64,
    /// The call for attention that the last record answers, if it is the start of an agent.
    pub answered: Option<String>,
    /// The conversation of the last agent of each seat, if it is known.
    pub conversations: BTreeMap<Seat, Conversation>,
    /// Wait of the task before an agent is started again.
    pub waiting: Option<Waiting>,
    /// The last report about each agent, by spawn number.
    pub reports: BTreeMap<u32, Report>,
    /// Times of each agent, by spawn number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub times: BTreeMap<u32, AgentTimes>,
    /// Usage of each agent that has ended, by spawn number, if its harness reported it.
    pub spent: BTreeMap<u32, Spent>,
    /// Number of times that the engine has started an agent again, or is about to, since the last transition or since it gave up.
    /// For a mission, since an attempt began that follows no end without a word, or a person let it go on.
    pub restarts: u32,
    /// Time at which the last agent was started, or went on after a limit, RFC 3339 UTC.
    pub active_since: String,
}

/// Times of an agent, RFC 3339 UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AgentTimes {
    /// Time of its start.
    pub began: String,
    /// Time at which it last went on after a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continued: Option<String>,
    /// Time of its recorded end.
    pub ended: Option<String>,
    /// Duration of its life by its wrapper, in seconds.
    pub duration: Option<u64>,
    /// The times at which it waited, each with its end if it has one.
    pub waits: Vec<(String, Option<String>)>,
}

impl AgentTimes {
    fn end_wait(&mut self, now: &str) {
        let open = self.waits.last_mut().filter(|(_, until)| until.is_none());
        open.into_iter().for_each(|(_, until)| *until = Some(now.to_owned()));
    }
}

/// A conversation of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Conversation {
    /// Number of the agent.
    pub spawn: u32,
    /// The harness's id of it.
    pub id: String,
    /// Name of the harness.
    pub harness: String,
    /// The worktree in which it took place.
    pub workspace: Option<Name>,
}

impl AgentsHistory {
    /// The task enters another status.
    pub(super) fn enter(&mut self) {
        self.restarts = 0;
        let alive = &self.alive;
        self.here.retain(|_, agent| alive.contains_key(&agent.spawn));
    }

    pub(super) fn start(&mut self, record: &Record, spawn: &Spawn, owned: &Owned) {
        self.last_spawn = self.last_spawn.max(spawn.spawn);
        self.last_spawn_seq = record.seq;
        self.active_since.clone_from(&record.timestamp);
        self.answered.clone_from(&spawn.answers);
        let times = AgentTimes { began: record.timestamp.clone(), ..AgentTimes::default() };
        self.times.insert(spawn.spawn, times);
        self.alive.insert(spawn.spawn, spawn.clone());
        self.here.insert(spawn.seat(), spawn.clone());
        self.conversations.remove(&spawn.seat());
        self.converse(spawn, spawn.conversation.as_ref(), owned);
    }

    /// Notes the end of an agent. Returns its seat, and whether a person has stopped it; `None` if it is not known.
    pub(super) fn end(
        &mut self,
        exited: &Exited,
        record: &Record,
        owned: &Owned,
        open: Option<&OpenTransition>,
    ) -> Option<(Seat, bool)> {
        if exited.spent() != Spent::default() {
            self.spent.insert(exited.spawn, exited.spent());
        }
        let is_stopped = self.stopped.remove(&exited.spawn);
        let agent = self.alive.remove(&exited.spawn)?;
        if let Some(times) = self.times.get_mut(&exited.spawn) {
            times.end_wait(&record.timestamp);
            times.ended = Some(record.timestamp.clone());
            times.duration = exited.duration;
        }
        self.leave(&agent, open);
        self.converse(&agent, exited.conversation.as_ref(), owned);
        Some((agent.seat(), is_stopped))
    }

    /// Notes that an agent waits, or no longer does.
    pub(super) fn note_wait(&mut self, report: &Report, now: &str) {
        let Some(times) = self.times.get_mut(&report.spawn).filter(|times| times.ended.is_none()) else {
            return;
        };
        let waits = match report.state {
            Activity::Waiting | Activity::Limit | Activity::Ended => true,
            Activity::Busy
            | Activity::Idle
            | Activity::Quiet
            | Activity::Answered
            | Activity::Unknown
            | Activity::Other(_) => false,
        };
        let is_open = times.waits.last().is_some_and(|(_, until)| until.is_none());
        match (waits, is_open) {
            (true, false) => times.waits.push((now.to_owned(), None)),
            (false, true) => times.end_wait(now),
            (true, true) | (false, false) => {}
        }
    }

    /// Notes that an agent goes on after a limit.
    pub(super) fn go_on(&mut self, spawn: u32, now: &str) {
        self.active_since = now.to_owned();
        self.times.get_mut(&spawn).into_iter().for_each(|times| times.continued = Some(now.to_owned()));
    }

    pub(super) fn stop(&mut self, spawns: &[u32]) {
        self.restarts = 0;
        self.stopped.extend(spawns.iter().filter(|spawn| self.alive.contains_key(spawn)));
    }

    pub(super) fn wait(&mut self, waiting: &Waiting) {
        self.restarts += 1;
        self.waiting = Some(waiting.clone());
    }

    /// An agent that this transition ends did not live in the status to which it leads.
    fn leave(&mut self, agent: &Spawn, open: Option<&OpenTransition>) {
        let began_before =
            |open: &OpenTransition| agent.spawn < self.last_spawn || self.last_spawn_seq < open.seq;
        if open.is_some_and(began_before) {
            self.here.retain(|_, it| it.spawn != agent.spawn);
        }
    }

    /// An agent that has been replaced does not change the conversation.
    fn converse(&mut self, agent: &Spawn, id: Option<&String>, owned: &Owned) {
        let is_replaced =
            self.conversations.get(&agent.seat()).is_some_and(|known| known.spawn > agent.spawn);
        let Some(id) = id.filter(|_| !is_replaced) else { return };
        let conversation = Conversation {
            spawn: agent.spawn,
            id: id.clone(),
            harness: agent.harness.clone(),
            workspace: owned.workspace.clone(),
        };
        self.conversations.insert(agent.seat(), conversation);
    }
}
