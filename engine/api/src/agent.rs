//! Activity of agents, and their tokens and cost, as parts of several answers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use orange_journal::event::{Actor, Spent};

/// A living agent and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Agent {
    /// Number of its start, from 1.
    pub spawn: u32,
    /// `worker` or `reviewer`.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub actor: Actor,
    /// Its name, if it is a reviewer beside which others can be alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The step of a mission that it works at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The role of that step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its activity, with the evidence for it; the keys stand beside the others here.
    #[serde(flatten)]
    pub assessment: Assessment,
}

/// Activity of an agent, with the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Assessment {
    /// The state in one word.
    pub state: AgentState,
    /// The state as a sentence without a duration, so that it changes only with the state.
    pub reason: String,
    /// The number of seconds in this state.
    #[serde(rename = "seconds", with = "seconds")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<u64>"))]
    pub lasts: Option<Duration>,
    /// Time of its begin, RFC 3339 UTC.
    pub since: Option<String>,
    /// End of a limit, RFC 3339 UTC.
    pub until: Option<String>,
    /// The request that can be answered.
    pub request: Option<String>,
    /// Question or permission that it asks for.
    #[serde(skip)]
    pub asked: Option<Asked>,
}

/// Question of an agent, or permission that it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Name of the tool, as the harness reports it.
    pub tool: Option<String>,
    /// Argument of the tool, or the question.
    pub text: Option<String>,
    /// True if that is all that the tool would get.
    pub is_whole: bool,
    /// True if it asks for words, and not for a permission.
    pub is_question: bool,
    /// True if a person has answered, and the agent has not read that yet.
    pub is_answered: bool,
}

/// Activity of an agent, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// The agent works.
    Busy,
    /// It waits for a person.
    Waiting,
    /// It waits for the end of a limit.
    Limit,
    /// It has nothing to do until another agent or a person acts.
    Idle,
    /// Its conversation is over, and its program is still there.
    Ended,
    /// It has not reported and its screen has not changed for a while: a guess.
    Quiet,
    /// Nothing is known.
    Unknown,
}

/// State of the tmux session of a task or mission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// An agent lives.
    Active,
    /// A person stopped its agents.
    Stopped,
    /// No agent lives where one should.
    Crashed,
    /// No agent lives, and none should.
    #[default]
    Inactive,
    /// Unreadable, or about to change.
    Unknown,
}

impl SessionState {
    /// Its word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionState::Active => "active",
            SessionState::Stopped => "stopped",
            SessionState::Crashed => "crashed",
            SessionState::Inactive => "inactive",
            SessionState::Unknown => "unknown",
        }
    }
}

impl AgentState {
    /// Word in answers and the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentState::Busy => "busy",
            AgentState::Waiting => "waiting",
            AgentState::Limit => "limit",
            AgentState::Idle => "idle",
            AgentState::Ended => "ended",
            AgentState::Quiet => "quiet",
            AgentState::Unknown => "unknown",
        }
    }

    /// True if it is known to go on without a person.
    pub fn is_well(self) -> bool {
        matches!(self, AgentState::Busy | AgentState::Idle)
    }

    /// True if the journal keeps it.
    pub fn is_kept(self) -> bool {
        matches!(self, AgentState::Waiting | AgentState::Limit | AgentState::Ended)
    }
}

/// The tokens and the cost of the agents of a task, as far as their harnesses report them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Spending {
    /// The number of tokens that their models have read, cached or not, and written.
    pub tokens: Option<u64>,
    /// Their cost in millionths of a dollar, by the harnesses that report one.
    pub cost: Option<u64>,
    /// The cost of the others at list price, in millionths of a dollar.
    #[serde(default)]
    pub list_price: Option<u64>,
    /// Reason for which the list price of an agent is missing.
    #[serde(default)]
    pub unpriced: Option<String>,
    /// True if a record could be read only in part: the figures are lower bounds.
    #[serde(default)]
    pub at_least: bool,
    /// The tokens and the cost of each agent.
    pub agents: Vec<AgentSpending>,
}

/// The tokens and the cost of an agent, as far as its harness reports them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AgentSpending {
    /// Number of its start, from 1.
    pub spawn: u32,
    /// The number of tokens that its model has read, cached or not, and written.
    pub tokens: Option<u64>,
    /// Its cost in millionths of a dollar, if its harness reports that.
    pub cost: Option<u64>,
    /// Its cost at list price, in millionths of a dollar, if its harness reports tokens only.
    #[serde(default)]
    pub list_price: Option<u64>,
    /// Reason for the missing list price.
    #[serde(default)]
    pub unpriced: Option<String>,
    /// True if its record could be read only in part: the figures are lower bounds.
    #[serde(default)]
    pub at_least: bool,
}

impl From<&BTreeMap<u32, Spent>> for Spending {
    fn from(all: &BTreeMap<u32, Spent>) -> Spending {
        let sum = all.values().cloned().fold(Spent::default(), Spent::and);
        let one = |(spawn, spent): (&u32, &Spent)| {
            let Spent { tokens, cost, list_price, unpriced, at_least, .. } = spent.clone();
            AgentSpending { spawn: *spawn, tokens, cost, list_price, unpriced, at_least }
        };
        let Spent { tokens, cost, list_price, unpriced, at_least, .. } = sum;
        Spending { tokens, cost, list_price, unpriced, at_least, agents: all.iter().map(one).collect() }
    }
}

/// A time span in whole seconds.
mod seconds {
    use super::{Deserialize, Deserializer, Duration, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(
        lasts: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        lasts.map(|lasts| lasts.as_secs()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_secs))
    }
}
