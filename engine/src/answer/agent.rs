//! What agents do and have taken, in several answers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::store::event::{Actor, Spent};

/// A living agent and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Agent {
    /// Its number.
    pub spawn: u32,
    /// `worker` or `reviewer`.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub actor: Actor,
    /// What it does.
    #[serde(flatten)]
    pub assessment: Assessment,
}

/// What an agent does, and why that is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Assessment {
    /// In one word.
    pub state: AgentState,
    /// In a sentence without how long: it changes only with the state.
    pub reason: String,
    /// How many seconds it has done so.
    #[serde(rename = "seconds", serialize_with = "as_seconds")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<u64>"))]
    pub lasts: Option<Duration>,
    /// When a limit is over, RFC 3339 UTC.
    pub until: Option<String>,
    /// The request that can be answered.
    pub request: Option<String>,
}

/// What an agent does, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// It works.
    Busy,
    /// It waits for a person.
    Waiting,
    /// It waits for the end of a limit.
    Limit,
    /// It is not its turn.
    Idle,
    /// Its conversation is over, and its program is still there.
    Ended,
    /// Nothing has been heard of it or seen on its screen for a while: a guess.
    Quiet,
    /// Nothing is known.
    Unknown,
}

impl AgentState {
    /// The word.
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

    /// Whether it goes on by itself, as far as anybody knows.
    pub fn is_well(self) -> bool {
        matches!(self, AgentState::Busy | AgentState::Idle)
    }

    /// Whether the journal keeps it.
    pub fn is_kept(self) -> bool {
        matches!(self, AgentState::Waiting | AgentState::Limit | AgentState::Ended)
    }
}

/// What the agents of a task have taken, as far as their harnesses tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Spending {
    /// How many tokens their models have read, cached or not, and written.
    pub tokens: Option<u64>,
    /// What they have cost, in millionths of a dollar.
    pub cost: Option<u64>,
    /// What each of them has taken.
    pub agents: Vec<AgentSpending>,
}

/// What an agent has taken, as far as its harness tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AgentSpending {
    /// Its number.
    pub spawn: u32,
    /// How many tokens its model has read, cached or not, and written.
    pub tokens: Option<u64>,
    /// What it has cost, in millionths of a dollar.
    pub cost: Option<u64>,
}

impl From<&BTreeMap<u32, Spent>> for Spending {
    fn from(all: &BTreeMap<u32, Spent>) -> Spending {
        let Spent { tokens, cost } = all.values().fold(Spent::default(), |sum, spent| sum.and(*spent));
        let one = |(spawn, Spent { tokens, cost }): (&u32, &Spent)| AgentSpending {
            spawn: *spawn,
            tokens: *tokens,
            cost: *cost,
        };
        Spending { tokens, cost, agents: all.iter().map(one).collect() }
    }
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn as_seconds<S: Serializer>(lasts: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    lasts.map(|lasts| lasts.as_secs()).serialize(serializer)
}
