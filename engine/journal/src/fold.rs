//! The state that the events of a journal fold to: the engine-owned values, the open transition, the agents that should be alive.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;

use crate::Record;
use crate::event::{
    Actor, Answer, ChecksSeen, Event, Exited, Pass, PlannedHook, Preparation, Question, Report, Spawn, Spent,
    StepEnd, Transition, Waiting,
};
use crate::name::Name;
use crate::set::Set;

/// The state that the events of a journal fold to.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct TaskHistory {
    /// The engine-owned values.
    pub owned: Owned,
    /// The transition that was started and is not finished.
    pub open: Option<OpenTransition>,
    /// The transition whose hooks wait, because one of them has failed.
    pub waiting_hooks: Option<OpenTransition>,
    /// The agent that has ended, until the record of what follows.
    pub ending: Option<(Seat, Exited)>,
    /// The backups that were made outside of transitions: refs, and folders of repositories.
    pub kept: BTreeSet<String>,
    /// The agents whose end is not recorded, by spawn number.
    pub agents: BTreeMap<u32, Spawn>,
    /// The last agent of each seat in the task's status, alive or ended.
    pub agents_here: BTreeMap<Seat, Spawn>,
    /// Those of `agents` that a person has stopped: no exit rule judges their ends.
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
    /// Usage of each agent that has ended, by spawn number, if its harness reported it.
    pub spent: BTreeMap<u32, Spent>,
    /// Number of times that the engine has started an agent again, or is about to, since the last transition or since it gave up.
    /// For a mission, since an attempt began that follows no end without a word, or a person let it go on.
    pub restarts: u32,
    /// Time at which the last agent was started, or went on after a limit, RFC 3339 UTC.
    pub active_since: String,
    /// The content with which each section last passed a gate.
    pub passes: BTreeMap<String, Pass>,
    /// The content of sections when the task entered its status.
    pub entered: Vec<Pass>,
    /// The content of sections when agents were started in that status.
    pub found: Vec<Pass>,
    /// The program that a gate asks, with the number of the record: it has not answered, and its answer is wanted.
    pub asked: Option<(u64, Question)>,
    /// The last answer of each program.
    pub answers: Vec<(Question, Answer)>,
    /// Last known state of the checks of its pull request.
    pub checks: Option<ChecksSeen>,
    /// The task's branch when it was created.
    pub branch: String,
    /// The task whose agent created this one.
    pub creator: Option<String>,
    /// The worktree that is being reclaimed for another task.
    pub reclaiming: Option<Reclaim>,
    /// The worktree that was reclaimed for another task.
    pub reclaimed: Option<Reclaim>,
    /// True if its reclaimed worktree was restored, and it has made no transition since.
    pub was_restored: bool,
    /// Preparation of its worktree, which has begun or is complete.
    pub prepared: Option<Prepared>,
    /// The branches that the engine created for it, and the commits at which they began.
    pub made: BTreeMap<String, String>,
    /// The commit to which its last merge was to move the default branch.
    pub merge: Option<String>,
    /// True if its branch was merged by `orange` or by GitHub.
    pub is_merged: bool,
    /// Its pull request.
    pub pr: Option<String>,
    /// That it was reopened and has no worktree yet, with the commit of the uncommitted work that belongs into that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reopening: Option<Option<String>>,
    /// True if it is deleted.
    pub is_deleted: bool,
    /// Time of its creation, RFC 3339 UTC.
    pub created_at: String,
    /// The number of the last record; 0 when there is none.
    pub last_seq: u64,
    /// Time at which it entered its state, RFC 3339 UTC.
    pub since: String,
    /// Time at which its work last came to a halt, RFC 3339 UTC: an agent ended or was stopped, a hook failed, it had to wait, a
    /// mission paused.
    pub halted: String,
    /// Times at which it last left each other state in which it was, RFC 3339 UTC; the one without a name is that before its
    /// creation.
    pub left: BTreeMap<String, String>,
    /// Records that decide the state of a mission, in order.
    pub mission_records: Vec<Record>,
    /// The number of the last record about which there was a message; 0 when there was none.
    pub noticed: u64,
}

/// Reclaim of a worktree, with the backups of its work.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reclaim {
    /// Name of the worktree.
    pub workspace: String,
    /// Commit at which it stood.
    pub head: String,
    /// The commits of the backups, the first of which has the work.
    pub kept: Vec<String>,
    /// True if an actor has asked for the worktree.
    pub is_requested: bool,
}

/// Preparation of a worktree from its repository, and its progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Prepared {
    /// Preparation that it is to get.
    pub wanted: Preparation,
    /// Number of its programs that have succeeded.
    pub succeeded: usize,
    /// True if it has everything.
    pub is_complete: bool,
    /// Files that it did not get, each with why.
    pub left_out: Vec<String>,
}

impl Prepared {
    /// The files that it was to get, without those that it did not get.
    pub fn given(&self) -> Vec<String> {
        let paths = self.wanted.copied.iter().chain(&self.wanted.linked);
        let is_why = |said: &String, path: &str| {
            let why = said.strip_prefix(path);
            why.is_some_and(|why| why.starts_with(" is in git,") || why.starts_with(" is not in "))
        };
        paths.filter(|path| !self.left_out.iter().any(|said| is_why(said, path))).cloned().collect()
    }
}

/// Seat of an agent in a task: the worker, the reviewer, or the reviewer of a name. Two agents of one seat are never alive at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat {
    /// Actor as which the agent makes requests.
    pub actor: Actor,
    /// The name of a reviewer.
    pub name: Option<String>,
}

impl Seat {
    /// True if two agents of these seats are never alive at once: only reviewers with different names are.
    pub fn excludes(&self, other: &Seat) -> bool {
        let is_other = self.name.is_some() && other.name.is_some() && self.name != other.name;
        self.actor == other.actor && !is_other
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map(|name| format!(" {name}"));
        write!(f, "{}{}", self.actor, name.unwrap_or_default())
    }
}

impl serde::Serialize for Seat {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Seat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Seat, D::Error> {
        let text = String::deserialize(from)?;
        let (actor, name) = text.split_once(' ').map_or((&*text, None), |(actor, name)| (actor, Some(name)));
        Ok(Seat { actor: actor.into(), name: name.map(str::to_owned) })
    }
}

impl Spawn {
    /// Seat of the agent in the task.
    pub fn seat(&self) -> Seat {
        Seat { actor: self.actor.clone(), name: self.name.clone() }
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

/// The values of a task that only the engine changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Owned {
    /// Status: the name of a state of the workflow.
    pub status: String,
    /// `review_round`, `crash_count` and the counters that the workflow declares.
    pub counters: BTreeMap<String, u32>,
    /// The worktree it holds.
    pub workspace: Option<Name>,
    /// Its tmux session.
    pub tmux_session: Option<String>,
    /// The workflow it follows.
    pub workflow: String,
    /// Time at which an agent is started again, RFC 3339 UTC.
    pub waiting_until: Option<String>,
    /// Time at which a person stopped its agents, RFC 3339 UTC; `None` once it goes on.
    pub stopped_at: Option<String>,
    /// The action of the failed hook, while it and the hooks after it wait.
    pub hooks_wait: Option<String>,
    /// The hash of the definition of its workflow.
    pub definition: String,
}

/// A transition that was started and is not finished.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OpenTransition {
    /// The number of its `transition.started`.
    pub seq: u64,
    /// The number of the record since which its hooks run: that one, or the last `hooks.retried`.
    pub since: u64,
    /// Decided transition.
    pub plan: Transition,
    /// The hooks that have ended, by index, with their errors; not the one with which others wait.
    pub ended: BTreeMap<usize, Option<String>>,
    /// Reason for the failure of the hook with which others wait.
    pub error: Option<String>,
    /// The agents whose ends no exit rule of the new state has judged: the one whose end led to this transition, or to the one in whose
    /// place it came, and those that ended while its hooks waited.
    pub exited: Vec<(Seat, Exited)>,
    /// The backups that its hooks made: refs, and folders of repositories.
    pub kept: BTreeSet<String>,
}

impl TaskHistory {
    /// Adds up these records.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> TaskHistory {
        let mut history = TaskHistory::default();
        for record in records {
            history.apply(record);
        }
        history
    }

    /// The number that this attempt of a mission has, counted with those that were made elsewhere before: agents get this one.
    pub fn counted(&self, attempt: u32) -> u32 {
        match self.mission_records.first().map(|record| &record.event) {
            Some(Event::MissionCreated { attempts_before, .. }) => attempt.saturating_add(*attempts_before),
            Some(_) | None => attempt,
        }
    }

    /// Notes when a task moves. A time that is later than this record is of a clock that has been set back since.
    fn moves(&mut self, record: &Record) {
        let now = &record.timestamp;
        self.left.values_mut().filter(|at| **at > *now).for_each(|at| at.clone_from(now));
        if let Some(status) = record.set.0.get("status") {
            self.since.clone_from(now);
            let before = &self.owned.status;
            if status.as_str() != Some(before.as_str()) {
                self.left.insert(before.clone(), now.clone());
            }
        }
    }

    /// Adds one more record.
    pub fn apply(&mut self, record: &Record) {
        self.last_seq = record.seq;
        self.moves(record);
        self.answered = None;
        if !record.event.follows_an_end() {
            self.ending = None;
        }
        if record.event.ends_asking() {
            self.asked = None;
        }
        if record.event.is_halt() {
            self.halted.clone_from(&record.timestamp);
        }
        self.owned.apply(&record.set);
        if self.owned.waiting_until.is_none() {
            self.waiting = None;
        }
        if record.event.is_of_mission() {
            self.mission_records.push(record.clone());
        }
        match &record.event {
            Event::TransitionStarted(plan) => {
                self.restarts = 0;
                self.was_restored = false;
                self.passes.extend(plan.passed.iter().map(|pass| (pass.section.clone(), pass.clone())));
                self.entered.clone_from(&plan.stood);
                self.found.clear();
                let agents = &self.agents;
                self.agents_here.retain(|_, agent| agents.contains_key(&agent.spawn));
                self.waiting_hooks = None;
                // One that follows a failed hook takes the place of another, which an end may have led to.
                let before = self.open.take().map(|open| open.exited);
                self.open = Some(OpenTransition {
                    seq: record.seq,
                    since: record.seq,
                    plan: plan.clone(),
                    ended: BTreeMap::new(),
                    error: None,
                    exited: before.into_iter().flatten().chain(self.ending.take()).collect(),
                    kept: BTreeSet::new(),
                });
            }
            Event::HookEnded { index, error, .. } => {
                if let Some(open) = &mut self.open {
                    open.ended.insert(*index, error.clone());
                }
            }
            Event::HooksWaiting { index, .. } => {
                self.waiting_hooks = self.open.take().map(|mut open| {
                    open.error = open.ended.remove(index).flatten();
                    open
                });
            }
            Event::HooksRetried { .. } => {
                self.open = self.waiting_hooks.take();
                self.open.iter_mut().for_each(|open| open.since = record.seq);
            }
            Event::WorkBackedUp { reference: kept, .. } | Event::WorkSetAside { folder: kept } => {
                if let Event::WorkBackedUp { commit, .. } = &record.event {
                    self.reclaiming.iter_mut().for_each(|reclaim| reclaim.kept.push(commit.clone()));
                }
                self.open.as_mut().map_or(&mut self.kept, |open| &mut open.kept).insert(kept.clone());
            }
            Event::WorktreeReclaiming { workspace, head } => {
                let (workspace, head) = (workspace.clone(), head.clone());
                self.reclaiming = Some(Reclaim { workspace, head, ..Reclaim::default() });
            }
            Event::WorktreeReclaimed { .. } => {
                self.reclaimed = self.reclaiming.take().or(self.reclaimed.take());
            }
            Event::WorktreeRequested { .. } => {
                self.reclaimed.iter_mut().for_each(|reclaim| reclaim.is_requested = true);
            }
            Event::WorktreeRestoring { .. } => {}
            Event::WorktreeRestored { .. } => {
                (self.reclaiming, self.reclaimed) = (None, None);
                self.was_restored = true;
            }
            Event::WorktreePreparing(wanted) => {
                self.prepared = Some(Prepared { wanted: wanted.clone(), ..Prepared::default() });
            }
            Event::SetupEnded { error, .. } => {
                let succeeded = usize::from(error.is_none());
                self.prepared.iter_mut().for_each(|prepared| prepared.succeeded += succeeded);
            }
            Event::WorktreePrepared { left_out, .. } => {
                if let Some(prepared) = &mut self.prepared {
                    prepared.is_complete = true;
                    prepared.left_out.clone_from(left_out);
                }
            }
            Event::WorktreeCleared { .. } => self.prepared = None,
            Event::StatusChanged { .. } => self.open = None,
            Event::AgentSpawned(spawn) | Event::AgentRespawned(spawn) => {
                self.last_spawn = self.last_spawn.max(spawn.spawn);
                self.last_spawn_seq = record.seq;
                self.active_since.clone_from(&record.timestamp);
                self.answered.clone_from(&spawn.answers);
                self.found.extend(
                    spawn.stood.iter().filter(|it| !self.found.contains(it)).cloned().collect::<Vec<_>>(),
                );
                self.agents.insert(spawn.spawn, spawn.clone());
                self.agents_here.insert(spawn.seat(), spawn.clone());
                self.conversations.remove(&spawn.seat());
                self.converse(spawn, spawn.conversation.as_ref());
            }
            Event::AgentExited(exited) => {
                let is_stopped = self.stopped.remove(&exited.spawn);
                if let Some(agent) = self.agents.remove(&exited.spawn) {
                    self.leave(&agent);
                    self.converse(&agent, exited.conversation.as_ref());
                    let ending = (agent.seat(), exited.clone());
                    match &mut self.waiting_hooks {
                        Some(waiting) if !is_stopped => waiting.exited.push(ending),
                        Some(_) => {}
                        None => self.ending = Some(ending),
                    }
                }
                if exited.spent() != Spent::default() {
                    self.spent.insert(exited.spawn, exited.spent());
                }
            }
            Event::AgentStopped { spawns, .. } => {
                self.restarts = 0;
                self.stopped.extend(spawns.iter().filter(|spawn| self.agents.contains_key(spawn)));
            }
            Event::AgentNotResumed { conversation, .. } => {
                self.conversations.retain(|_, known| known.id != *conversation);
            }
            Event::TaskReopened { worktree, backup, .. } => {
                self.restarts = 0;
                (self.open, self.waiting_hooks) = (None, None);
                self.entered.clear();
                self.found.clear();
                if *worktree {
                    self.reopening = Some(backup.clone());
                }
            }
            Event::WorkRestored { .. } => self.reopening = None,
            Event::TaskMigrated { .. } => {
                self.restarts = 0;
                (self.open, self.waiting_hooks) = (None, None);
                self.entered.clear();
                self.found.clear();
            }
            Event::AgentWaiting(waiting) => {
                self.restarts += 1;
                self.waiting = Some(waiting.clone());
            }
            Event::AgentContinued { .. } => self.active_since.clone_from(&record.timestamp),
            Event::StepStarted { step, .. } if self.was_lost(step) => {}
            Event::AgentGivenUp { .. }
            | Event::StepStarted { .. }
            | Event::MissionContinued { .. }
            | Event::MissionRetried { .. } => self.restarts = 0,
            Event::AgentActivity(report) => drop(self.reports.insert(report.spawn, report.clone())),
            Event::TaskDeleted { .. } => self.is_deleted = true,
            Event::TaskRestored { .. } => self.is_deleted = false,
            Event::TaskCreated { branch, creator, .. } | Event::MissionCreated { branch, creator, .. } => {
                self.branch.clone_from(branch);
                self.creator.clone_from(creator);
                self.created_at.clone_from(&record.timestamp);
            }
            Event::BranchMade { branch, commit } => drop(self.made.insert(branch.clone(), commit.clone())),
            Event::MergeStarted { commit, .. } => self.merge = Some(commit.clone()),
            Event::TaskMerged { .. } | Event::TaskForceMerged { .. } => self.is_merged = true,
            Event::MissionNotice { through, .. } => self.noticed = *through,
            Event::PrCreated { url } => self.pr = Some(url.clone()),
            Event::PrChecks(checks) => self.checks = Some(checks.clone()),
            Event::GateAsked(question) => self.asked = Some((record.seq, question.clone())),
            Event::GateAnswered(answer) => self.answer(answer),
            Event::AgentCrashed { .. }
            | Event::AgentSent { .. }
            | Event::AutoAdvanced { .. }
            | Event::TaskRepaired { .. }
            | Event::PrMerged { .. }
            | Event::PrClosed { .. }
            | Event::CommandEnded { .. }
            | Event::WorkflowChanged { .. }
            | Event::MissionStarted { .. }
            | Event::StepEnded(_)
            | Event::MissionPaused { .. }
            | Event::MissionCancelled { .. }
            | Event::MissionEnded { .. }
            | Event::Unknown => {}
        }
    }

    /// True if the last attempt that has ended was one at this step, and its agent ended without a word.
    fn was_lost(&self, step: &str) -> bool {
        let last = self.mission_records.iter().rev().find_map(|record| {
            let Event::StepEnded(ended) = &record.event else { return None };
            Some(ended)
        });
        last.is_some_and(|ended| ended.step == step && ended.end == StepEnd::Lost)
    }

    /// An agent that this transition ends did not live in the status to which it leads.
    fn leave(&mut self, agent: &Spawn) {
        let began_before =
            |open: &OpenTransition| agent.spawn < self.last_spawn || self.last_spawn_seq < open.seq;
        if self.open.as_ref().is_some_and(began_before) {
            self.agents_here.retain(|_, it| it.spawn != agent.spawn);
        }
    }

    /// An agent that has been replaced does not change the conversation.
    fn converse(&mut self, agent: &Spawn, id: Option<&String>) {
        let is_replaced =
            self.conversations.get(&agent.seat()).is_some_and(|known| known.spawn > agent.spawn);
        let Some(id) = id.filter(|_| !is_replaced) else { return };
        let conversation = Conversation {
            spawn: agent.spawn,
            id: id.clone(),
            harness: agent.harness.clone(),
            workspace: self.owned.workspace.clone(),
        };
        self.conversations.insert(agent.seat(), conversation);
    }

    /// The answer to a question that is no longer asked is not kept.
    fn answer(&mut self, answer: &Answer) {
        if let Some((_, question)) = self.asked.take_if(|(seq, _)| *seq == answer.asked) {
            self.answers.retain(|(other, _)| other.argv != question.argv);
            self.answers.push((question, answer.clone()));
        }
    }
}

impl OpenTransition {
    /// True if its hooks have waited, and run again.
    pub fn is_retried(&self) -> bool {
        self.since != self.seq
    }

    /// The hooks that have not ended, in order: those that wait begin with the one that has failed.
    pub fn left(&self) -> impl Iterator<Item = &PlannedHook> {
        self.plan.hooks.iter().filter(|hook| !self.ended.contains_key(&hook.index))
    }
}

impl Owned {
    /// True if the engine owns the frontmatter key of this name: the fixed keys, and every counter of this task.
    pub fn owns(&self, key: &str) -> bool {
        matches!(key, "id" | "project" | "status" | "workspace" | "tmux_session" | "workflow")
            || self.counters.contains_key(key)
    }

    /// The counter's value; 0 when the task has no such counter.
    pub fn counter(&self, name: &str) -> u32 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Applies the values of a set; values of a newer version are ignored.
    pub fn apply(&mut self, set: &Set) {
        for (key, value) in &set.0 {
            self.apply_one(key, value.clone());
        }
    }

    fn apply_one(&mut self, key: &str, value: Json) {
        match (key, value) {
            ("status", value) => self.status = text(value).unwrap_or_default(),
            ("workspace", value) => self.workspace = value.as_str().and_then(Name::parse),
            ("tmux_session", value) => self.tmux_session = text(value),
            ("workflow", value) => self.workflow = text(value).unwrap_or_default(),
            ("waiting_until", value) => self.waiting_until = text(value),
            ("stopped_at", value) => self.stopped_at = text(value),
            ("hooks_wait", value) => self.hooks_wait = text(value),
            ("definition", value) => self.definition = text(value).unwrap_or_default(),
            (counter, value) => {
                let Some(value) = value.as_u64().and_then(|value| u32::try_from(value).ok()) else { return };
                match self.counters.get_mut(counter) {
                    Some(counter) => *counter = value,
                    None => drop(self.counters.insert(counter.to_owned(), value)),
                }
            }
        }
    }
}

/// The engine-owned values alone, which is fast enough for lists of thousands of tasks. `None` when only a fold of all
/// records finds them.
pub fn owned(bytes: &[u8]) -> Option<Owned> {
    // Inside a string these quotes are escaped.
    const SET: &str = "\"set\"";
    let mut owned = Owned::default();
    let mut last = 0;
    for line in std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split('\n') {
        last = seq_of(line).filter(|seq| *seq > last)?;
        // Most lines have no `set`, and a search from the front shows that faster.
        if line.contains(SET)
            && let Some(at) = line.rfind(SET)
        {
            let last_member = line[at + SET.len()..].strip_prefix(':')?.strip_suffix('}')?;
            let mut set = serde_json::Deserializer::from_str(last_member);
            SetInto(&mut owned).deserialize(&mut set).and_then(|()| set.end()).ok()?;
        }
    }
    (!owned.status.is_empty()).then_some(owned)
}

/// The number of a line with the beginning and the end that this program writes.
fn seq_of(line: &str) -> Option<u64> {
    let (seq, rest) = line.strip_prefix("{\"seq\":")?.split_once(',')?;
    let is_event = rest.starts_with("\"timestamp\":\"") && rest.ends_with('}');
    seq.parse().ok().filter(|_| is_event)
}

/// Applies a set to the values without building it first.
struct SetInto<'a>(&'a mut Owned);

impl<'de> DeserializeSeed<'de> for SetInto<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, set: D) -> Result<(), D::Error> {
        set.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SetInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the values of a set")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut set: A) -> Result<(), A::Error> {
        while let Some(key) = set.next_key::<&str>()? {
            self.0.apply_one(key, set.next_value()?);
        }
        Ok(())
    }
}

fn text(value: Json) -> Option<String> {
    if let Json::String(text) = value { Some(text) } else { None }
}

#[cfg(test)]
mod tests;
