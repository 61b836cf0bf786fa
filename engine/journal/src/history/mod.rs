//! The state that the events of a journal fold to, in parts: the values that the engine owns, the transition, the agents, the
//! gates, the worktree, the branch, and what only missions have.

mod agents;
mod branch;
mod budget;
mod gates;
mod mission;
mod owned;
mod seat;
mod transition;
mod worktree;

use std::collections::BTreeMap;

use crate::Record;
use crate::event::{Actor, Event};

pub use agents::{AgentTimes, AgentsHistory, Conversation};
pub use branch::{AskedAnswer, AskedMerge, BranchHistory, RequestedRerun, WaitingFact};
pub use budget::{BudgetHistory, OF_MISSION, OF_STATE, OF_TASK, RecordedLimit, StayBudget};
pub use gates::GatesHistory;
pub use mission::MissionHistory;
pub use owned::{Owned, owned};
pub use seat::Seat;
pub use transition::{OpenTransition, TransitionHistory};
pub use worktree::{Prepared, Reclaim, WorktreeHistory};

/// The state that the events of a journal fold to.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct WorkItemHistory {
    /// The engine-owned values.
    pub owned: Owned,
    /// The transition that was started, and what its hooks wait for.
    pub transition: TransitionHistory,
    /// The agents, alive and ended.
    pub agents: AgentsHistory,
    /// The sections that have passed a gate, and the programs that were asked.
    pub gates: GatesHistory,
    /// The worktree.
    pub worktree: WorktreeHistory,
    /// The branch, its merge and its pull request.
    pub branch: BranchHistory,
    /// The part that only missions have.
    pub mission: MissionHistory,
    /// The budget.
    #[serde(skip_serializing_if = "BudgetHistory::is_empty")]
    pub budget: BudgetHistory,
    /// The task whose agent created this one.
    pub creator: Option<String>,
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
}

impl WorkItemHistory {
    /// Adds up these records.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> WorkItemHistory {
        let mut history = WorkItemHistory::default();
        for record in records {
            history.apply(record);
        }
        history
    }

    /// Adds one more record.
    pub fn apply(&mut self, record: &Record) {
        self.note(record);
        let event = &record.event;
        match event {
            Event::TransitionStarted(plan) => {
                self.agents.enter();
                self.gates.enter(plan);
                self.worktree.was_restored = false;
                self.transition.start(record.seq, plan);
            }
            Event::HookEnded { index, error, held, .. } => {
                self.transition.end_hook(*index, error.as_ref(), *held);
            }
            Event::HooksWaiting { index, .. } => self.transition.wait(*index),
            Event::HooksRetried { answers, .. } => self.transition.retry(record.seq, answers.as_ref()),
            Event::StatusChanged { .. } => self.transition.open = None,
            Event::WorkBackedUp { reference, commit, .. } => {
                self.worktree.keep(commit);
                self.transition.keep(reference);
            }
            Event::WorkSetAside { folder } => self.transition.keep(folder),
            Event::WorktreeReclaiming { workspace, head } => self.worktree.begin_reclaim(workspace, head),
            Event::WorktreeReclaimed { .. } => self.worktree.end_reclaim(),
            Event::WorktreeRequested { .. } => self.worktree.request(),
            Event::WorktreeRestored { .. } => self.worktree.restore(),
            Event::WorktreePreparing(wanted) => self.worktree.begin_preparation(wanted),
            Event::SetupEnded { error, .. } => self.worktree.end_setup(error.as_ref()),
            Event::WorktreePrepared { left_out, .. } => self.worktree.end_preparation(left_out),
            Event::WorktreeCleared { .. } => self.worktree.prepared = None,
            Event::WorkRestored { .. } => self.worktree.reopening = None,
            Event::AgentSpawned(spawn) | Event::AgentRespawned(spawn) => {
                self.gates.start_agent(spawn);
                self.agents.start(record, spawn, &self.owned);
            }
            Event::AgentExited(exited) => {
                let ended = self.agents.end(exited, record, &self.owned, self.transition.open.as_ref());
                if let Some((seat, is_stopped)) = ended {
                    self.transition.end_agent((seat, exited.clone()), is_stopped);
                }
            }
            Event::AgentStopped { spawns, actor } => {
                self.budget.holds = *actor == Actor::Engine;
                self.agents.stop(spawns);
            }
            Event::AgentNotResumed { conversation, .. } => {
                self.agents.conversations.retain(|_, known| known.id != *conversation);
            }
            Event::AgentWaiting(waiting) => self.agents.wait(waiting),
            Event::AgentContinued { spawn, .. } => self.agents.go_on(*spawn, &record.timestamp),
            Event::BudgetReached { of, kind, limit, spent, unpriced } => {
                let (limit, spent, unpriced) = (*limit, *spent, unpriced.clone());
                let at = record.timestamp.clone();
                self.budget.reach(of, RecordedLimit { kind: kind.clone(), limit, spent, unpriced, at });
            }
            Event::BudgetChanged { of, budget, .. } => self.budget.change(of, *budget),
            Event::AgentActivity(report) => {
                self.agents.note_wait(report, &record.timestamp);
                self.agents.reports.insert(report.spawn, report.clone());
            }
            Event::TaskReopened { worktree, backup, .. } => {
                self.move_without_transition();
                self.branch.reopen();
                if *worktree {
                    self.worktree.reopening = Some(backup.clone());
                }
            }
            Event::TaskMigrated { .. } => self.move_without_transition(),
            Event::StepStarted { step, .. } if self.mission.was_lost(step) => {}
            Event::AgentGivenUp { .. }
            | Event::StepStarted { .. }
            | Event::MissionContinued { .. }
            | Event::MissionRetried { .. } => self.agents.restarts = 0,
            Event::TaskDeleted { .. } => self.is_deleted = true,
            Event::TaskRestored { .. } => self.is_deleted = false,
            Event::TaskCreated { branch, creator, .. } | Event::MissionCreated { branch, creator, .. } => {
                self.branch.name.clone_from(branch);
                self.creator.clone_from(creator);
                self.created_at.clone_from(&record.timestamp);
            }
            Event::BranchMade { branch, commit } => {
                self.branch.made.insert(branch.clone(), commit.clone());
            }
            Event::MergeStarted { .. } => self.branch.begin_merge(event),
            Event::MergeChecked { argv, tree, error, .. } => {
                self.branch.check_result(argv, tree, error.is_none())
            }
            Event::SyncStarted(sync) => self.branch.syncing = Some(sync.clone()),
            Event::MergeUndoing(undone) => self.branch.undone = Some(undone.clone()),
            Event::WorkSynced(_) => self.branch.syncing = None,
            Event::TaskMerged { kept: true, .. } => {}
            Event::TaskMerged { .. } | Event::TaskForceMerged { .. } => self.branch.is_merged = true,
            Event::PrMergeAsked(asked) => self.branch.ask_merge(&asked.url, &asked.commit),
            Event::PrMergeAccepted(accepted) => {
                self.branch.accept_merge(accepted.id.as_deref(), &record.timestamp)
            }
            Event::PrMergeRefused(refused) => self.branch.refuse_merge(&refused.error),
            Event::PrCreated { url } => self.branch.pr = Some(url.clone()),
            Event::PrChecks(checks) => self.branch.see(checks),
            Event::PrRerun { commit, number, most, failed } => {
                let rerun = RequestedRerun {
                    number: *number,
                    most: *most,
                    failed: failed.clone(),
                    at: record.timestamp.clone(),
                    is_refused: false,
                };
                self.branch.rerun(commit, rerun);
            }
            Event::PrNotRerun { commit, .. } => self.branch.refuse_rerun(commit),
            Event::WatchWaits { cause, value } => {
                let fact = cause.clone().zip(value.clone());
                self.branch.waiting =
                    fact.map(|(cause, value)| WaitingFact { cause, value, since: record.timestamp.clone() });
            }
            Event::WatchTaken { cause, value, items, feedback } => {
                self.branch.watch(cause, value, items, *feedback);
            }
            Event::FeedbackAnswered(answer) => self.branch.answer(answer),
            Event::FeedbackPosted(posted) => self.branch.end_answer(posted),
            Event::MissionNotice { through, .. } => self.mission.noticed = *through,
            Event::GateAsked(question) => self.gates.asked = Some((record.seq, question.clone())),
            Event::GateAnswered(answer) => self.gates.answer(answer),
            Event::WorktreeRestoring { .. }
            | Event::AgentCrashed { .. }
            | Event::AgentSent { .. }
            | Event::AutoAdvanced { .. }
            | Event::TaskRepaired { .. }
            | Event::PrMerged { .. }
            | Event::PrClosed { .. }
            | Event::CommandEnded { .. }
            | Event::WorkflowChanged { .. }
            | Event::MissionStarted { .. }
            | Event::WorktreeChanged { .. }
            | Event::StepAsked { .. }
            | Event::StepEnded(_)
            | Event::MissionPaused { .. }
            | Event::MissionCancelled { .. }
            | Event::MissionEnded { .. }
            | Event::Unknown => {}
        }
    }

    /// Notes what every record says: its number and time, the values that it sets, and what it ends.
    fn note(&mut self, record: &Record) {
        if record.event.ends_stop() {
            self.budget.holds = false;
        }
        self.last_seq = record.seq;
        self.moves(record);
        self.agents.answered = None;
        if !record.event.follows_an_end() {
            self.transition.ending = None;
        }
        if record.event.ends_asking() {
            self.gates.asked = None;
        }
        if record.event.is_halt() {
            self.halted.clone_from(&record.timestamp);
        }
        self.owned.apply(&record.set);
        if self.owned.waiting_until.is_none() {
            self.agents.waiting = None;
        }
        if record.event.is_of_mission() {
            self.mission.records.push(record.clone());
        }
    }

    /// Notes when a task moves. A time that is later than this record is of a clock that has been set back since.
    fn moves(&mut self, record: &Record) {
        let now = &record.timestamp;
        self.left.values_mut().filter(|at| **at > *now).for_each(|at| at.clone_from(now));
        if let Some(status) = record.set.0.get("status") {
            self.since.clone_from(now);
            self.budget.enter(self.agents.last_spawn + 1);
            self.branch.waiting = None;
            let before = &self.owned.status;
            if status.as_str() != Some(before.as_str()) {
                self.left.insert(before.clone(), now.clone());
            }
        }
    }

    fn move_without_transition(&mut self) {
        self.agents.restarts = 0;
        self.transition.forget();
        self.gates.forget();
    }
}

#[cfg(test)]
mod tests;
