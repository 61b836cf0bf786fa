//! Answers of commands for tasks beside transitions: messages, fields, pull requests, and several tasks at once.

use orange_core::budget::Budget;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
#[cfg(feature = "schemas")]
use std::collections::BTreeMap;

use super::{BudgetState, Success};
use crate::error::Failure;
use orange_journal::event;

/// Answer of `orange task open`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OpenedPage {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The address of its pull request.
    pub url: String,
    /// The program that shows it; null if there is none.
    pub browser: Option<String>,
}

/// Answer of `orange task refresh`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Refreshed {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// `none` (the branch has no pull request), `linked`, `unchanged`, `checked` (its checks have changed), `merged` or `closed`.
    pub news: String,
    /// The address of the pull request.
    pub pr_url: Option<String>,
    /// `open`, `merged` or `closed`.
    pub state: Option<String>,
    /// Consequence for the task, in words.
    pub done: Option<String>,
    /// The task's status now.
    pub status: String,
}

/// Answer of `orange task edit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Edited {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The fields that have changed.
    pub updated: Vec<String>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Answer of `orange task budget`: limits by their kinds, in millionths of a dollar, tokens, seconds and starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TaskBudget {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The limits that apply: its own, then those of its workflow, of its project, and of all projects.
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, u64>"))]
    pub limits: Budget,
    /// The amounts that its agents have used, where it has limits.
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, u64>"))]
    pub spent: Budget,
    /// The budget of its stay in its state; absent if the state has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<BudgetState>,
    /// Work that goes on after its budget had stopped it, in words; null for none.
    pub goes_on: Option<String>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Answer of `orange task undo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reopened {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The state it was in.
    pub from: String,
    /// The state it is in.
    pub to: String,
    /// Its worktree; null when it has none, or none yet.
    pub workspace: Option<String>,
    /// The commit with the uncommitted work that its worktree has again, or is to get.
    pub backup: Option<String>,
    /// Reason for a missing worktree, if it is to have one.
    pub waits_for: Option<String>,
    /// Folders that were set aside when it was cancelled, and stay there.
    pub set_aside: Vec<String>,
    /// The merge that was taken back, if the task was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<TakenBack>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A merge that was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TakenBack {
    /// The branch that it was merged into.
    pub into: String,
    /// The commit that this branch has now; null if it had nothing of the merge.
    pub commit: Option<String>,
    /// True if that is a commit of its own; false if the branch went back to its commit before the merge.
    pub reverts: bool,
    /// True if it was pushed.
    pub pushed: bool,
    /// The pull request that takes the merge back, where the branch takes no push; the task is open again once it is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_url: Option<String>,
}

/// Answer of `orange task send`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Sent {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The number of the agent that has the message.
    pub spawn: u32,
    /// `worker` or `reviewer`.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub actor: event::Actor,
    /// The name of the reviewer, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The length of the message in bytes.
    pub bytes: u64,
    /// True for a dry run, which sends nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Answer about one task, or about each of several.
#[cfg(feature = "schemas")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "the schema of what `cmd::task::many` writes")]
pub enum OneOrEach<T> {
    /// About one task.
    One(T),
    /// About each of several.
    Each(Vec<OneAnswer<T>>),
}

/// Outcome for one of several tasks.
#[cfg(feature = "schemas")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "the schema of what `cmd::task::many` writes")]
pub enum OneAnswer<T> {
    /// Answer of the command.
    Done(T),
    /// Failure of the command.
    Failed {
        /// The id, or the name that was given.
        id: String,
        /// Error that the command has met for this task.
        error: Failure,
    },
}

/// A failure about one of several tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTask<'t> {
    /// The id, or the name that was given.
    pub id: Cow<'t, str>,
    /// Error that the command has met for this task.
    pub error: Cow<'t, Failure>,
}
