//! `orange usage`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Usage of agents, in groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UsageReport<'a> {
    /// The kind of the groups, as in `--by`.
    pub by: Cow<'a, str>,
    /// The first day that counts, `YYYY-MM-DD` in UTC.
    pub since: Option<String>,
    /// The groups, by their names.
    pub groups: Vec<UsageGroup>,
    /// The sum of all groups; its name is empty.
    pub total: UsageGroup,
    /// The tasks and missions whose journals cannot be read, which do not count.
    pub unreadable: Vec<UnreadableUsage>,
}

/// Usage of the agents of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UsageGroup {
    /// Its task, project, day, state or harness.
    pub name: String,
    /// The number of agents that were started.
    pub starts: u32,
    /// The seconds that these agents have lived.
    pub seconds: u64,
    /// The number of tokens that their models have read, cached or not, and written.
    pub tokens: Option<u64>,
    /// Their cost in millionths of a dollar, by the harnesses that report one.
    pub cost: Option<u64>,
    /// The cost of the others at list price, in millionths of a dollar.
    pub list_price: Option<u64>,
    /// Reason for which the list price of an agent is missing.
    pub unpriced: Option<String>,
    /// True if a record could be read only in part: the figures are lower bounds.
    pub at_least: bool,
    /// The number of agents without any figure of their harness.
    pub unknown: u32,
}

/// A task or mission that does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UnreadableUsage {
    /// Id of the task or mission.
    pub id: String,
    /// Name of the project.
    pub project: String,
    /// Reason for which it cannot be read.
    pub error: String,
}
