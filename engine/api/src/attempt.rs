//! `orange attempt`: one attempt at a step of a mission that another program keeps.

use std::collections::BTreeMap;

use orange_core::Permissions;
use orange_core::plan::{Effort, Value};
use orange_core::wall::Demand;
use serde::{Deserialize, Serialize};

use crate::DeclaredValue;

/// Input of `orange attempt run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NewAttempt {
    /// Idempotency key: lower-case letters, digits and `-`, the first a letter. An attempt with this key is started once.
    pub key: String,
    /// Name of the project in which the agent works.
    pub project: String,
    /// The branch to work on.
    pub branch: String,
    /// Id of the step.
    pub step: String,
    /// Role of the step.
    pub role: String,
    /// The number of the attempt, from 1; `ORANGE_ATTEMPT` for the agent.
    pub attempt: u32,
    /// The prompt of the agent.
    pub prompt: String,
    /// The program that does the work in the place of an agent, and its arguments; none for an agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// The gates of the agent's report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<AttemptGate>,
    /// The harness of the agent; that of the project for this role if none is named.
    #[serde(default)]
    pub harness: Option<String>,
    /// The model of the agent, in the harness's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort of the agent: `low`, `medium`, `high` or `max`.
    #[cfg_attr(feature = "schemas", schemars(with = "Option<String>"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// `full` or `reduced`: permissions that the agent has without asking.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub permissions: Permissions,
    /// The demand of its workflow on the confinement of the agent: `level`, `git`, `network`, `worktree`.
    #[cfg_attr(feature = "schemas", schemars(with = "std::collections::BTreeMap<String, String>"))]
    #[serde(default, skip_serializing_if = "Demand::is_none")]
    pub sandbox: Demand,
    /// The words that the agent may report; any if there are none.
    #[serde(default)]
    pub results: Vec<String>,
    /// True if it has to report one.
    #[serde(default)]
    pub needs_result: bool,
    /// The outputs that it has to report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<DeclaredValue>,
    /// The seconds that the attempt may take.
    #[serde(default)]
    pub timeout: Option<u32>,
    /// Number of ends without a report, in a row, that fail it; at least 1.
    pub stuck_after: u16,
}

/// A gate of an attempt: what must hold before the report that it is complete counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum AttemptGate {
    /// A program that must end with status 0.
    Program {
        /// The program and its arguments.
        run: Vec<String>,
        /// The seconds that it may take.
        timeout: u32,
    },
    /// A file that must be there.
    File {
        /// Its path in the worktree.
        file: String,
        /// Text that it must contain.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        contains: String,
    },
}

/// Answer of `orange attempt run` and `orange attempt show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownAttempt {
    /// Id of the mission with this attempt alone: `orange mission logs`, `cancel` and `delete` take it.
    pub mission: String,
    /// Its idempotency key.
    pub key: String,
    /// Path of the journal, which changes with the state.
    pub journal: String,
    /// State of the attempt.
    pub state: AttemptState,
}

/// State of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AttemptState {
    /// It waits for a worktree.
    Pending,
    /// It is under way.
    Running {
        /// True if an agent has been started.
        has_agent: bool,
    },
    /// It has ended, and its agent is about to be ended.
    Ending,
    /// The agent has completed the step. The agent is gone, and its worktree stays until `orange mission cancel`.
    Completed {
        /// Its result in one word.
        result: Option<String>,
        /// Summary of the work.
        summary: String,
        /// Call for a person's attention.
        warning: Option<String>,
        /// The outputs that it reports, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, serde_json::Value>"))]
        outputs: BTreeMap<String, Value>,
    },
    /// The step has failed. The agent is gone, and its worktree stays until `orange mission cancel`.
    Failed {
        /// Reason of its failure.
        reason: String,
    },
    /// It cannot go on before a person removes an obstacle.
    Obstructed {
        /// The obstacle.
        what: String,
        /// True if an agent has worked at it before.
        has_worked: bool,
    },
    /// It is over, and its worktree is given back.
    Over,
}
