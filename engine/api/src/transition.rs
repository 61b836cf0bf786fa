//! Answers of the commands that change the status of a task.

use serde::{Deserialize, Serialize};

use super::Success;

/// The result of a transition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TransitionResult {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The state it left.
    pub from: String,
    /// The state it reached.
    pub to: String,
    /// The rounds of review up to then.
    pub review_round: u32,
    /// The hooks that were run, in order; for a dry run, those that would run.
    #[serde(rename = "hooks_executed")]
    pub hooks: Vec<String>,
    /// Errors of those that failed.
    pub hook_errors: Vec<String>,
    /// The hooks that wait, in order: the last one that failed, and those after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks_waiting: Vec<String>,
    /// The refs and folders with a backup of work that the worktree had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backed_up: Vec<String>,
    /// The change of the workflow since the transition before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_changed: Option<WorkflowChange>,
    /// For a dry run, the programs that would be asked, and have to succeed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// The branches of the tasks that its agents had created, and that were cancelled with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_cancelled: Vec<String>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A workflow with a new definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WorkflowChange {
    /// The workflow.
    pub workflow: String,
    /// The hash of its definition before.
    pub from: String,
    /// The hash of its definition now.
    pub to: String,
    /// The command that shows what has changed.
    pub compare: String,
}

/// The answer to a transition, with what else is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StatusChange {
    /// The result of the transition.
    #[serde(flatten)]
    pub result: TransitionResult,
    /// False if the task has the status of merged tasks and its branch is not merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<bool>,
    /// Further steps, and missing permissions of the next agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// Answer of `orange task update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Update {
    /// A status was asked for.
    Status(Box<StatusChange>),
    /// Only other fields were changed.
    Fields {
        /// Always `true`: the command has done its work.
        success: Success,
        /// The task's id.
        id: String,
        /// The fields that have changed.
        updated: Vec<String>,
        /// True for a dry run, which changes nothing.
        dry_run: bool,
    },
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Merged {
    /// The transition that followed; from a status to itself if the task was over.
    #[serde(flatten)]
    pub result: TransitionResult,
    /// The branch that was merged.
    pub branch: String,
    /// The branch that it was merged into.
    pub into: String,
    /// Strategy: `ff`, `merge`, `squash`, `rebase`, or `pr` for a merge of its pull request on the forge.
    pub strategy: String,
    /// True if the target branch was pushed.
    pub pushed: bool,
    /// The commit that the target branch has now, if it is known.
    pub commit: Option<String>,
    /// In a dry run, the message of the commit that the merge would make, if it makes one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// True if the task goes on after the merge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// True if the forge has accepted the merge of the pull request and has not made it yet: the task goes on until it has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// Sentences about the merge, such as that its message is not the one of a pull request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// Answer of `orange task sync`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Synced {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The task's branch.
    pub branch: String,
    /// The branch that it is based on.
    pub base: String,
    /// Strategy: `merge` or `rebase`.
    pub strategy: String,
    /// The commit of the branch before.
    pub from: String,
    /// The commit of the branch now; the same if it had everything of its base.
    pub commit: String,
    /// The ref with the commit before, if the branch no longer contains that.
    pub backup: Option<String>,
    /// True if the branch was pushed.
    pub pushed: bool,
    /// The conflict that an agent is to resolve, if there is one; the branch is as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<String>,
    /// The transition by which the agent gets the conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<TransitionResult>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// The result of a migration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Migrated {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The state it was in.
    pub from: String,
    /// The state it is in.
    pub to: String,
    /// The workflow it follows.
    pub workflow: String,
    /// The hash of that workflow's definition.
    pub definition: String,
    /// The hooks of the unfinished transition that are not going to run.
    pub dropped_hooks: Vec<String>,
    /// True if an agent can be started in the new state.
    #[serde(skip)]
    pub respawnable: bool,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A status that a task can go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Next {
    /// Status to which it leads.
    pub to: String,
    /// Actors that may ask for it.
    pub by: Vec<String>,
    /// True if it can be asked for now.
    pub allowed: bool,
    /// True if it gives judged work back to the worker.
    pub returns: bool,
    /// The program that is asked then, if it has not succeeded with what stands in the worktree now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// The guard of the transition.
    pub guard: Option<String>,
    /// Requirements of its gates, in words.
    pub gate: Option<String>,
    /// Missing artifact or condition.
    pub missing: Option<String>,
    /// Its hooks, in order.
    pub hooks: Vec<String>,
}
