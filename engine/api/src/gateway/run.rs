//! Runs: attempts at steps, as crabs get them and report them.

use std::collections::BTreeMap;

use orange_core::Permissions;
use orange_core::plan::{Effort, Value};
use orange_core::wall::Demand;
use serde::{Deserialize, Serialize};

use super::words::words;
use crate::{AttemptGate, DeclaredValue};

words! {
    /// Status of an attempt.
    RunStatus {
        /// It waits for a crab.
        Queued = "queued",
        /// A crab has it, and its agent has not started.
        Assigned = "assigned",
        /// Its agent runs.
        Running = "running",
        /// Its question waits for the answer of a person.
        Asked = "asked",
        /// It has completed the step.
        Completed = "completed",
        /// It has failed.
        Failed = "failed",
        /// Its agent has ended without a word.
        Lost = "lost",
        /// Its crab was lost.
        Abandoned = "abandoned",
        /// The step went back, or the mission ended, before it had ended.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// End of a run, as it is reported.
    RunEnd {
        /// The step is complete.
        Completed = "completed",
        /// The attempt has failed.
        Failed = "failed",
    }
}

words! {
    /// Outcome of a report.
    ReportOutcome {
        /// The report counts.
        Accepted = "accepted",
        /// An equal report was accepted before.
        Repeated = "repeated",
    }
}

/// Everything that a crab needs to run a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskAssigned {
    /// The run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    /// Id of the mission.
    pub mission_id: String,
    /// Id of the colony.
    pub colony_id: String,
    /// Id of the step in its workflow.
    pub step_id: String,
    /// A line about the step for people.
    pub title: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// The role of the step.
    pub role: String,
    /// Status of the attempt.
    pub status: RunStatus,
    /// The prompt of its agent, with `worktree_token` in the place of the worktree's path.
    pub prompt: String,
    /// The program that does its work in the place of an agent, and its arguments, with `worktree_token` likewise; none for an agent.
    #[serde(default)]
    pub run: Vec<String>,
    /// The gates that the crab checks before it takes the report of its agent, with `worktree_token` likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<AttemptGate>,
    /// Text that stands in the prompt for the path of the worktree, which only the crab knows.
    pub worktree_token: String,
    /// Reports of the steps before it; the prompt has them, too.
    pub context: String,
    /// The mission's branch.
    pub branch: String,
    /// The repository: an address or a path for git.
    pub repository: String,
    /// The branch from which a new branch starts; the repository's own if none is named.
    pub base: Option<String>,
    /// The harness that the step names.
    pub harness: Option<String>,
    /// The model that the step names.
    #[serde(default)]
    pub model: Option<String>,
    /// The effort that the step names.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// Permissions of its agent, which it has without asking.
    pub permissions: Permissions,
    /// The demand of the workflow on the confinement of its agent.
    #[serde(default, skip_serializing_if = "Demand::is_none")]
    pub sandbox: Demand,
    /// The words that it may report; any if there are none.
    pub results: Vec<String>,
    /// True if it has to report one.
    pub needs_result: bool,
    /// The outputs that it has to report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<DeclaredValue>,
    /// The seconds that the attempt may take.
    pub timeout: Option<u32>,
    /// Number of ends without a word, in a row, that fail it.
    pub stuck_after: u16,
    /// Path at which its agent works, once the crab has said so.
    pub worktree_path: Option<String>,
}

impl TaskAssigned {
    /// The prompt with the path of the worktree.
    pub fn prompt_in(&self, worktree: &str) -> String {
        self.placed(&self.prompt, worktree)
    }

    /// The program and its arguments, with the path of the worktree.
    pub fn run_in(&self, worktree: &str) -> Vec<String> {
        self.run.iter().map(|it| self.placed(it, worktree)).collect()
    }

    /// The gates, with the path of the worktree.
    pub fn gates_in(&self, worktree: &str) -> Vec<AttemptGate> {
        let gate = |gate: &AttemptGate| match gate {
            AttemptGate::Program { run, timeout } => AttemptGate::Program {
                run: run.iter().map(|it| self.placed(it, worktree)).collect(),
                timeout: *timeout,
            },
            AttemptGate::File { .. } => gate.clone(),
        };
        self.gates.iter().map(gate).collect()
    }

    fn placed(&self, text: &str, worktree: &str) -> String {
        match self.worktree_token.is_empty() {
            true => text.to_owned(),
            false => text.replace(&self.worktree_token, worktree),
        }
    }
}

/// The start of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartBody {
    /// Id of the run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    /// The crab that has it.
    pub crab_id: String,
    /// Path at which the agent works, on the crab's machine.
    pub worktree_path: Option<String>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteBody {
    /// Id of the run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    /// The crab that reports; any holder of the token may if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crab_id: Option<String>,
    /// End of the run.
    pub status: RunEnd,
    /// Its result in one word, where the step needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Summary of the work, or the reason for the failure.
    pub summary: String,
    /// Call for a person's attention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Its declared outputs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, Value>,
    /// The commit of the mission's branch that was pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The return of a run that a crab cannot start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiveBackBody {
    /// Id of the run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    /// The crab that has it.
    pub crab_id: String,
    /// Reason that it cannot start.
    pub reason: String,
}

/// Answer to a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// Id of the run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    /// Outcome of the report.
    pub outcome: ReportOutcome,
}

/// An attempt at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAnswer {
    /// `<mission>.<step>.<attempt>`.
    pub run_id: String,
    /// Id of the mission.
    pub mission_id: String,
    /// Id of the step in its workflow.
    pub step_id: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// Status of the attempt.
    pub status: RunStatus,
    /// The crab that has or had it.
    pub crab_id: Option<String>,
    /// Author of the answer that has ended it, or `timeout`; null unless it has asked a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Result that it has reported.
    pub result: Option<String>,
    /// Summary that it has reported.
    pub summary: Option<String>,
    /// Warning that it has reported.
    pub warning: Option<String>,
    /// The outputs that it has reported, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, Value>,
    /// Reason for its failure.
    pub reason: Option<String>,
    /// The commit that its crab has pushed.
    pub commit: Option<String>,
    /// Path at which its agent works, on the crab's machine.
    pub worktree_path: Option<String>,
    /// Start of its wait for a crab.
    pub queued_at_ms: i64,
    /// Time at which a crab got it.
    pub offered_at_ms: Option<i64>,
    /// Time at which its agent started.
    pub started_at_ms: Option<i64>,
    /// Time of its end.
    pub ended_at_ms: Option<i64>,
}

/// A page of the attempts of a mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// The oldest first.
    pub runs: Vec<RunAnswer>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}
