//! Missions, their steps and their pauses.

use std::collections::BTreeMap;

use orange_core::mission::{MissionStatus, StepStatus};
use orange_core::plan::{Execution, Intervene, Value};
use serde::{Deserialize, Serialize};

use super::run::ReportOutcome;
use super::words::words;

words! {
    /// Cause of a pause.
    PauseCause {
        /// A step has ended, and the mission pauses after each.
        Boundary = "boundary",
        /// A step has ended with a warning.
        Warning = "warning",
        /// A step has failed.
        Error = "error",
        /// A loop has used up its rounds.
        Exhausted = "exhausted",
        /// A step needs an attempt, and the mission has used its `max_attempts`.
        Cap = "cap",
        /// Something outside its steps is in the way.
        Obstacle = "obstacle",
    }
}

words! {
    /// An answer that a pause accepts.
    PauseOffer {
        /// The mission goes on.
        Continue = "continue",
        /// The failure counts.
        AcceptFailure = "accept_failure",
        /// The mission ends.
        Cancel = "cancel",
    }
}

words! {
    /// Effect of the answer to a pause.
    PauseEffect {
        /// The mission goes on.
        WentOn = "went_on",
        /// A step is tried again.
        TriedAgain = "tried_again",
        /// A loop has one more round.
        Granted = "granted",
        /// The failure of a step counts.
        Accepted = "accepted",
        /// The mission has as many attempts again.
        Extended = "extended",
        /// No step starts any more.
        Capped = "capped",
    }
}

/// A mission to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewMissionBody {
    /// The colony: its id, or its name.
    pub colony_id: String,
    /// Description of the work to do.
    pub prompt: String,
    /// The name of the workflow.
    pub workflow: String,
    /// The branch to work on; one named after the mission if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// `step` or `auto`; the workflow's if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<String>,
    /// At which ends of steps it pauses; those of the workflow if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervene: Option<String>,
    /// The values of the workflow's inputs, by name; a text is read as the type that the input declares.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Value>,
}

/// The answer to a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContinueBody {
    /// The number of the pause; the current one if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<u32>,
    /// True if the failure is taken as it is.
    #[serde(default)]
    pub accept_failure: bool,
    /// `step` or `auto`, from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<String>,
    /// At which ends of steps it pauses from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervene: Option<String>,
}

/// The answer of a person to the question of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerBody {
    /// The step that asks; the only one that does if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The number of the attempt whose question is meant; the current one if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// One of the answers that the question has.
    pub answer: String,
    /// Comment of the person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// The commit that the person has seen, or at least its first seven digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Another try of a failed mission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryBody {
    /// The step from which it runs again; every failed one if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

/// A body without fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A mission in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissionLine {
    /// Its id; later missions have greater ones.
    pub mission_id: String,
    /// The id of its colony.
    pub colony_id: String,
    /// Name of its workflow.
    pub workflow: String,
    /// The first line of its prompt.
    pub summary: String,
    /// Name of its branch.
    pub branch: String,
    /// Status of the mission.
    pub status: String,
    /// The step that runs or comes next, or about which it asks.
    pub step_id: Option<String>,
    /// The number of the oldest pause that waits for an answer.
    pub pause: Option<u32>,
    /// The steps whose questions wait for an answer.
    #[serde(default)]
    pub asks: Vec<String>,
    /// Number of events that it has accepted.
    pub version: u64,
    /// Time of creation.
    pub created_at_ms: i64,
    /// Time of the last change.
    pub updated_at_ms: i64,
}

/// A page of missions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missions {
    /// The newest first.
    pub missions: Vec<MissionLine>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}

/// One run of a step workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissionAnswer {
    /// Id of the mission.
    pub mission_id: String,
    /// The id of its colony.
    pub colony_id: String,
    /// Name of its workflow.
    pub workflow: String,
    /// The version of the workflow that it follows, as its author writes it.
    pub workflow_version: String,
    /// The hash of the workflow that it follows.
    pub definition: String,
    /// Description of the work to do.
    pub prompt: String,
    /// The values of its inputs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Value>,
    /// Name of its branch.
    pub branch: String,
    /// Status of the mission.
    pub status: MissionStatus,
    /// Mode of execution.
    pub execution: Execution,
    /// At which ends of steps it pauses.
    pub intervene: Intervene,
    /// Its oldest open question, if it is paused.
    pub pause: Option<PauseAnswer>,
    /// Its open questions, the oldest first. It goes on when none is open.
    #[serde(default)]
    pub pauses: Vec<PauseAnswer>,
    /// The questions of steps that wait for an answer, in the order of the workflow.
    #[serde(default)]
    pub asks: Vec<AskAnswer>,
    /// Reason that no crab has a step of it that may start, if it waits for one; `GET` alone says it.
    pub waits: Option<String>,
    /// Its steps, in the order of the workflow.
    pub tasks: Vec<TaskAnswer>,
    /// Number of events that it has accepted.
    pub version: u64,
    /// Time of creation.
    pub created_at_ms: i64,
    /// Time of the last change.
    pub updated_at_ms: i64,
}

/// Question of a paused mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseAnswer {
    /// Its number, which an answer names.
    pub number: u32,
    /// Cause of the pause.
    pub reason: PauseCause,
    /// The step that it is about.
    pub step_id: Option<String>,
    /// Description of what has happened, in a sentence; empty where nothing is wrong.
    pub message: String,
    /// The answers that it accepts.
    pub offers: Vec<PauseOffer>,
}

/// Question of a step that waits for the answer of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskAnswer {
    /// The step that asks.
    pub step_id: String,
    /// The number of its attempt.
    pub attempt: u32,
    /// The question.
    pub question: String,
    /// Reports of the steps before it; null where the question does not show them.
    pub context: Option<String>,
    /// True if the question is about the changes of the mission, and no crab works on it meanwhile.
    pub shows_diff: bool,
    /// The answers that it has.
    pub answers: Vec<String>,
    /// Names of the persons who may answer; everybody if there are none.
    pub who: Vec<String>,
    /// Time at which it was asked.
    pub since_ms: i64,
    /// Time until which an answer counts; null if it waits for ever.
    pub until_ms: Option<i64>,
    /// The answer that counts then, or `fail`; null if it waits for ever.
    pub on_timeout: Option<String>,
    /// The commit of the mission's branch that it shows; null if it shows none.
    pub commit: Option<String>,
}

/// An answer of a person that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskAnswered {
    /// Id of the mission.
    pub mission_id: String,
    /// The step that has asked.
    pub step_id: String,
    /// The number of its attempt.
    pub attempt: u32,
    /// The answer.
    pub answer: String,
    /// Name of the person: that of their token.
    pub by: String,
    /// Outcome of the call.
    pub outcome: ReportOutcome,
    /// Number of events that the mission has accepted.
    pub version: u64,
}

/// A step of a mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskAnswer {
    /// `<mission>.<step>`.
    pub task_id: String,
    /// Id of the mission.
    pub mission_id: String,
    /// The id of the step.
    pub step_id: String,
    /// A line about it for people.
    pub title: String,
    /// Role of the crabs that may take it.
    pub role: String,
    /// Status of the step.
    pub status: StepStatus,
    /// The crab that has its current attempt, which has not ended.
    pub crab_id: Option<String>,
    /// The steps that end before it.
    pub depends_on: Vec<String>,
    /// The condition under which it runs.
    pub condition: Option<String>,
    /// The number of its current attempt; 0 before the first.
    pub attempt: u32,
    /// Number of times that a loop step may complete; 0 for another step.
    pub max_retries: u16,
    /// Number of times that a loop step has completed.
    pub completions: u16,
    /// The result of its latest completion.
    pub result: Option<String>,
    /// The summary of its latest completion.
    pub summary: Option<String>,
    /// The warning of its latest completion.
    pub warning: Option<String>,
    /// Reason for its failure.
    pub failure: Option<String>,
}

/// The steps of a mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tasks {
    /// In the order of the workflow.
    pub tasks: Vec<TaskAnswer>,
}

/// Effect of a person's call on a mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acted {
    /// Id of the mission.
    pub mission_id: String,
    /// Number of events that it has accepted.
    pub version: u64,
    /// Effect of the answer to a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<PauseEffect>,
    /// The step that this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
}
