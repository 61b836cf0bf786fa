//! `orange mission` and `orange step`.

use std::collections::BTreeMap;

use orange_core::mission::{ItemStatus, MissionStatus, StepStatus};
use orange_core::plan::{Execution, Intervene, Value};
use serde::{Deserialize, Serialize};

use super::{Agent, DeclaredValue, Need, SessionState, Success};
use crate::error::Failure;
use orange_journal::{Record, event};

/// Answer of `orange mission start` and of the commands that change a mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ChangedMission {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The mission's id.
    pub id: String,
    /// Name of its project.
    pub project: String,
    /// Name of its branch.
    pub branch: String,
    /// Status of the mission.
    pub status: String,
    /// The step workflow that it follows.
    pub workflow: String,
    /// The step that runs or comes next; null when there is none.
    pub step: Option<String>,
    /// The oldest pause that waits for an answer; null when it is not paused.
    pub pause: Option<MissionPause>,
    /// Every pause that waits for an answer, the oldest first. The mission goes on when none does.
    #[serde(default)]
    pub pauses: Vec<MissionPause>,
    /// Call for a person's attention.
    pub attention: Option<String>,
    /// Effect of the command, in words.
    pub done: String,
    /// The refs and folders with a backup of work that the worktree had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backed_up: Vec<String>,
}

/// A pause that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MissionPause {
    /// Its number within the mission, from 1.
    pub number: u32,
    /// `boundary`, `warning`, `error`, `exhausted`, `cap`, `changed` or `obstacle`.
    pub reason: String,
    /// The step that it is about; null for an obstacle.
    pub step: Option<String>,
    /// Cause, in words.
    pub what: String,
    /// The commands that answer it.
    pub offers: Vec<String>,
}

/// The question of a step that waits for a person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MissionAsk {
    /// Id of the step in its workflow.
    pub step: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// Whom it asks what, in words.
    pub what: String,
    /// The question.
    pub question: String,
    /// Reports of the steps before it; null where the question does not show them.
    pub context: Option<String>,
    /// True if the question is about the changes of the mission, and nothing else works meanwhile.
    pub shows_diff: bool,
    /// The answers.
    pub answers: Vec<String>,
    /// Names of the persons who may answer; empty if everybody may.
    pub who: Vec<String>,
    /// Time at which it was asked, RFC 3339 UTC.
    pub since: Option<String>,
    /// Time until which an answer counts, RFC 3339 UTC; null if it waits for ever.
    pub until: Option<String>,
    /// The answer that counts then, or `fail`; null if it waits for ever.
    pub on_timeout: Option<String>,
    /// The commit of the mission's branch that it shows; null if it has none.
    pub commit: Option<String>,
    /// The commands that answer it.
    pub offers: Vec<String>,
}

/// A mission in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ListedMission {
    /// It can be read.
    Readable(Box<MissionRow>),
    /// It cannot be read.
    Unreadable {
        /// Id of the mission.
        id: String,
        /// Name of its project.
        project: String,
        /// Its branch; null when its file cannot be read, either.
        branch: Option<String>,
        /// Error of the attempt to read it.
        error: Failure,
    },
}

/// A mission in a list that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MissionRow {
    /// Id of the mission.
    pub id: String,
    /// Name of its project.
    pub project: String,
    /// Name of its branch.
    pub branch: String,
    /// The step workflow that it follows.
    pub workflow: String,
    /// Status of the mission.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub status: MissionStatus,
    /// The step that runs or comes next, or about which it asks.
    pub step: Option<String>,
    /// The first line of its prompt.
    pub summary: String,
    /// The oldest pause that waits for an answer.
    pub pause: Option<MissionPause>,
    /// The questions of its steps that wait for the answers of persons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<MissionAsk>,
    /// Time at which its agent continues after a limit of its provider, RFC 3339 UTC.
    pub waiting_until: Option<String>,
    /// Need; null when it is over and cannot be tried again.
    pub need: Option<Need>,
    /// Call for a person's attention.
    pub attention: Option<String>,
    /// Time of the last change by the engine, RFC 3339 UTC.
    pub updated_at: String,
}

/// Answer of `orange mission show`: the record of the mission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownMission {
    /// The mission's id.
    pub run_id: String,
    /// The step workflow that it follows.
    pub workflow_id: String,
    /// The hash of that workflow and its prompts.
    pub definition: String,
    /// Name of its project.
    pub project: String,
    /// Name of its branch.
    pub branch: String,
    /// Prompt of the mission.
    pub prompt: String,
    /// The values of its inputs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, serde_json::Value>"))]
    pub inputs: BTreeMap<String, Value>,
    /// Status of the mission.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub status: MissionStatus,
    /// The place of the step that runs, or would run next, in the order in which steps can run, from 0; null before the first and
    /// after the end.
    pub current_step_index: Option<usize>,
    /// The end of the last attempt; null before the first.
    pub last_step_result: Option<StepResult>,
    /// Policy of pauses.
    pub policy: MissionPolicy,
    /// The oldest pause that waits for an answer; null when it is not paused.
    pub pause: Option<MissionPause>,
    /// Every pause that waits for an answer, the oldest first. The mission goes on when none does.
    #[serde(default)]
    pub pauses: Vec<MissionPause>,
    /// The questions of its steps that wait for the answers of persons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<MissionAsk>,
    /// Its steps, in the order in which they can run.
    pub steps: Vec<MissionStep>,
    /// Its worktree; null when it has none.
    pub worktree: Option<String>,
    /// Its tmux session; null when it has none.
    pub tmux_session: Option<String>,
    /// `active`, `stopped`, `crashed`, `inactive` or `unknown`.
    pub session: SessionState,
    /// The end of an agent that has happened and is not recorded yet.
    pub unnoticed: Option<String>,
    /// Living agents.
    pub agents: Vec<Agent>,
    /// Time at which its agent continues after a limit of its provider, RFC 3339 UTC.
    pub waiting_until: Option<String>,
    /// Time at which its agent continues after a limit, and why it waits.
    #[serde(skip)]
    pub waiting: Option<event::Waiting>,
    /// The commands that make branches of its backups.
    #[serde(skip)]
    pub restoring: Vec<String>,
    /// Need; null when it is over and cannot be tried again.
    pub need: Option<Need>,
    /// Call for a person's attention.
    pub attention: Option<String>,
    /// Path of its file or folder.
    pub path: String,
    /// Time of its creation, RFC 3339 UTC.
    pub created_at: String,
    /// Time of the last change by the engine, RFC 3339 UTC.
    pub updated_at: String,
    /// Events of its journal, the oldest first.
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<super::task::JournalLine>"))]
    pub history: Vec<Record>,
}

/// Policy of a mission's pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MissionPolicy {
    /// `step` or `auto`.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub execution: Execution,
    /// `never`, `on-warning`, `on-error` or `always`.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub intervene: Intervene,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StepResult {
    /// Id of the step in its workflow.
    pub step: String,
    /// `completed`, `failed`, `lost`, `answered` or `expired`.
    pub status: String,
    /// Call for a person's attention.
    pub warning: Option<String>,
    /// Duration; null when its start is not recorded.
    pub duration_ms: Option<u64>,
    /// The job: the mission and the number of the agent.
    pub job_id: Option<String>,
    /// The machine that it ran on.
    pub worker_id: Option<String>,
}

/// A step of a mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MissionStep {
    /// Id of the step in its workflow.
    pub id: String,
    /// Title, in a line.
    pub title: String,
    /// Role of the crab or agent that may take it.
    pub role: String,
    /// `blocked`, `queued`, `assigned`, `running`, `asked`, `completed`, `failed`, `skipped` or `cancelled`.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub status: StepStatus,
    /// The result of its latest completion, or of that of its handler.
    pub result: Option<String>,
    /// The summary of the same.
    pub summary: Option<String>,
    /// Reason of its failure.
    pub failure: Option<String>,
    /// The reason of its own failure, without the step's name; null where its loop or another step is the cause.
    pub reason: Option<String>,
    /// Completions of a loop step and their limit; null for any other step.
    pub loops: Option<LoopCount>,
    /// The items of a fan-out, in the order of its list, once that is read; absent of any other step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<MissionItem>,
    /// Its attempts, the first one first.
    pub attempts: Vec<MissionAttempt>,
}

/// An item of a fan-out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MissionItem {
    /// The element of the list.
    pub item: String,
    /// `queued`, `assigned`, `running`, `landing`, `merging`, `completed`, `failed` or `cancelled`.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub status: ItemStatus,
    /// Number of its current attempt among those of the step.
    pub attempt: u32,
    /// The result of its completion.
    pub result: Option<String>,
    /// The summary of the same.
    pub summary: Option<String>,
    /// Reason of its failure.
    pub reason: Option<String>,
}

/// The completions of a loop step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LoopCount {
    /// Number of completions.
    pub completions: u16,
    /// Limit of completions.
    pub max: u16,
    /// True if the loop is exhausted.
    pub is_exhausted: bool,
}

/// One try at a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MissionAttempt {
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Of a fan-out: the place of its item in the list, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u16>,
    /// `completed`, `failed`, `rejected`, `lost`, `abandoned` or `withdrawn`; null while it is open.
    pub status: Option<String>,
    /// The machine that it ran on.
    pub worker_id: Option<String>,
    /// The job: the mission and the number of the agent.
    pub job_id: Option<String>,
    /// Start of its agent, RFC 3339 UTC.
    pub started_at: Option<String>,
    /// End, RFC 3339 UTC.
    pub ended_at: Option<String>,
    /// Time from the start to the end, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The word that it reports.
    pub result: Option<String>,
    /// Summary of the work.
    pub summary: Option<String>,
    /// Call for a person's attention.
    pub warning: Option<String>,
    /// The outputs that it reports, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, serde_json::Value>"))]
    pub outputs: BTreeMap<String, Value>,
    /// Reason of its failure.
    pub reason: Option<String>,
    /// The person who has answered, or `timeout`; absent of other attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The commit that was shown to that person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Answer of `orange step complete` and `orange step fail`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReportedStep {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// Id of the mission.
    pub mission: String,
    /// Id of the step in its workflow.
    pub step: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// True if the same report was accepted before.
    pub repeated: bool,
}

/// Answer of `orange step show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownStep {
    /// Id of the mission.
    pub mission: String,
    /// The step workflow that it follows.
    pub workflow: String,
    /// Id of the step in its workflow.
    pub step: String,
    /// Title, in a line.
    pub title: String,
    /// Role of the crab or agent that may take it.
    pub role: String,
    /// Status of the step.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub status: StepStatus,
    /// The number of this attempt.
    pub attempt: u32,
    /// Of a fan-out: the element of the list that it works at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// True if this attempt is the current one.
    pub is_current: bool,
    /// The results that it may report; empty when any word may be.
    pub results: Vec<String>,
    /// True if it must report one.
    pub needs_result: bool,
    /// The outputs that it must report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<DeclaredValue>,
    /// Reports of the steps before it.
    pub context: String,
    /// The file with its prompt.
    pub prompt: String,
    /// The mission's branch.
    pub branch: String,
}
