//! `orange task`, apart from transitions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use orange_core::budget::Budget;
use serde::{Deserialize, Serialize};

use super::{Agent, ChangeSize, Need, SessionState, Spending, Success};
use crate::CreatedTask;
use crate::error::Failure;
use orange_journal::{Record, event};

/// The answer of a command that changes a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Changing<T> {
    /// The answer itself.
    #[serde(flatten)]
    pub answer: T,
    /// Repairs that the command has made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<Repair>,
}

/// A difference from the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Repair {
    /// The field of the frontmatter, or `history.jsonl`.
    pub field: String,
    /// The value that was there.
    pub found: Option<String>,
    /// The value that is there now.
    pub kept: Option<String>,
}

/// Answer of `orange task create`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Created {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id; null for a dry run.
    pub id: Option<String>,
    /// Name of its project.
    pub project: String,
    /// Its branch; null for a dry run if it is to be made from the id.
    pub branch: Option<String>,
    /// Status: the name of a state of its workflow.
    pub status: String,
    /// The workflow it follows.
    pub workflow: String,
    /// Its worktree, or its own id if it has a plain folder; null when it has none yet.
    pub workspace: Option<String>,
    /// Its tmux session; null when it has none yet.
    pub tmux_session: Option<String>,
    /// Call for a person's attention.
    pub attention: Option<String>,
    /// Reason for which its agent was not started.
    pub waiting: Option<String>,
    /// Its file; null for a dry run.
    pub path: Option<String>,
    /// Hints about missing permissions of its agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A task in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ListedTask<'l> {
    /// It can be read.
    Readable(Box<TaskRow<'l>>),
    /// It cannot be read.
    Unreadable {
        /// Id of the task, which never changes.
        id: Cow<'l, str>,
        /// Name of its project.
        project: Cow<'l, str>,
        /// Error of the attempt to read it.
        error: Cow<'l, Failure>,
    },
}

/// A task in a list that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TaskRow<'l> {
    /// Id of the task, which never changes.
    pub id: Cow<'l, str>,
    /// Name of its project.
    pub project: Cow<'l, str>,
    /// Name of its branch.
    pub branch: Cow<'l, str>,
    /// Status: the name of a state of its workflow.
    pub status: Cow<'l, str>,
    /// The workflow it follows.
    pub workflow: Cow<'l, str>,
    /// The rounds of review.
    pub review_round: u32,
    /// The crashes since the last transition.
    pub crash_count: u32,
    /// Summary of the task.
    pub summary: Cow<'l, str>,
    /// The harness of its workers.
    pub harness: Cow<'l, str>,
    /// Its worktree, or its own id if it has a plain folder.
    pub workspace: Option<Cow<'l, str>>,
    /// Its tmux session.
    pub tmux_session: Option<Cow<'l, str>>,
    /// `active`, `stopped`, `crashed`, `inactive` or `unknown`.
    pub session: SessionState,
    /// Living agents; the one that needs a person most comes first.
    pub agents: Vec<Agent>,
    /// The tokens and the cost of its agents; null without a living agent.
    pub spent: Option<Spending>,
    /// Call for a person's attention.
    pub attention: Option<Cow<'l, str>>,
    /// Event that is not recorded yet: the end of an agent, or an unfinished transition.
    pub unnoticed: Option<String>,
    /// The command with which a person continues it, if only a person can.
    pub your_turn: Option<String>,
    /// Condition of its start.
    pub waits_for: Option<String>,
    /// Of waiting tasks, the one with the highest number starts first.
    pub priority: i32,
    /// The ids of the tasks that are to be merged before it starts.
    pub blocked_by: Cow<'l, [String]>,
    /// Time of the next start of its agent, RFC 3339 UTC.
    pub waiting_until: Option<Cow<'l, str>>,
    /// Need; null when it is over.
    pub need: Option<Need>,
    /// With `--changes`: what it has changed against its base, with uncommitted and untracked files; null without a worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Option<ChangeSize>>,
    /// With `--changes`: its pull request, by its journal; null when it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr: Option<Option<PullRequestFacts>>,
    /// With `--changes`: the branch that is checked out in its worktree, if that is another one than its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_branch: Option<Option<String>>,
    /// Time of the last change, RFC 3339 UTC.
    pub updated_at: Cow<'l, str>,
}

/// A pull request, as far as the journal knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PullRequestFacts {
    /// Address of the pull request.
    pub url: String,
    /// Number of the pull request; null if unknown.
    pub number: Option<u64>,
    /// `open` or `merged`; null for a finished task whose pull request was not merged.
    pub state: Option<String>,
    /// `green`, `red`, `pending` or `none`: its checks; null before anybody has looked.
    pub checks: Option<String>,
}

/// A budget and what is spent of it, by kinds: millionths of a dollar, tokens, seconds and starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BudgetState {
    /// The limits that apply: those of the task, then those of its project, then those of all projects.
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, u64>"))]
    pub limits: Budget,
    /// The amounts that its agents have used.
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, u64>"))]
    pub spent: Budget,
}

/// A task in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownTask {
    /// Id of the task, which never changes.
    pub id: String,
    /// Name of its project.
    pub project: String,
    /// Name of its branch.
    pub branch: String,
    /// Summary of the task.
    pub summary: String,
    /// Status: the name of a state of its workflow.
    pub status: String,
    /// The workflow it follows.
    pub workflow: String,
    /// The hash of the workflow's definition at the last transition of the task.
    pub definition: String,
    /// Reason for which the task cannot follow its workflow; null if it can.
    pub workflow_note: Option<String>,
    /// The harness of its workers.
    pub harness: String,
    /// The harness of its reviewers.
    pub review_harness: String,
    /// The branch that it is based on and merged into, if that is not the project's default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The id of the task whose agent has created it, if that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The tasks that its agents have created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<CreatedTask>,
    /// Of waiting tasks, the one with the highest number starts first.
    pub priority: i32,
    /// The ids of the tasks that are to be merged before it starts.
    pub blocked_by: Vec<String>,
    /// Condition of its start.
    pub waits_for: Option<String>,
    /// Its counters.
    pub counters: BTreeMap<String, u32>,
    /// Its worktree, or its own id if it has a plain folder.
    pub workspace: Option<String>,
    /// The path of that.
    #[serde(skip)]
    pub worktree: Option<String>,
    /// Its tmux session.
    pub tmux_session: Option<String>,
    /// `active`, `stopped`, `crashed`, `inactive` or `unknown`.
    pub session: SessionState,
    /// Event that is not recorded yet: the end of an agent, or an unfinished transition.
    pub unnoticed: Option<String>,
    /// The command with which a person continues it, if only a person can.
    pub your_turn: Option<String>,
    /// Living agents; the one that needs a person most comes first.
    pub agents: Vec<Agent>,
    /// The tokens and the cost of its agents.
    pub spent: Spending,
    /// Time of the next start of its agent, RFC 3339 UTC.
    pub waiting_until: Option<String>,
    /// Next start of its agent, with the reason of the wait.
    #[serde(skip)]
    pub waiting: Option<event::Waiting>,
    /// Its budget; null without one.
    #[serde(default)]
    pub budget: Option<BudgetState>,
    /// Time at which a person stopped its agents, or its budget did, RFC 3339 UTC.
    pub stopped_at: Option<String>,
    /// True if its budget has stopped its agents.
    #[serde(skip)]
    pub budget_holds: bool,
    /// The hooks that wait, because one of them has failed.
    pub hooks_waiting: Option<WaitingHooks>,
    /// Call for a person's attention.
    pub attention: Option<String>,
    /// Its pull request.
    pub pr_url: Option<String>,
    /// Time of its creation, RFC 3339 UTC.
    pub created_at: String,
    /// Time of the last change, RFC 3339 UTC.
    pub updated_at: String,
    /// Path of its file or folder.
    pub path: String,
    /// The sections of its body that a gate could read, by their headings.
    pub sections: BTreeMap<String, String>,
    /// The sections that have passed a gate, by their headings.
    pub gates: BTreeMap<String, PassedGate>,
    /// Need; null when it is over.
    pub need: Option<Need>,
    /// Its last events, oldest first.
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<JournalLine>"))]
    pub history: Vec<Record>,
    /// The number of earlier events that are left out.
    pub history_left_out: usize,
}

/// Hooks that wait until somebody asks for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WaitingHooks {
    /// The state that their transition left.
    pub from: String,
    /// The state that it entered.
    pub to: String,
    /// Error of the first of them.
    pub error: String,
    /// The hooks, in order: the one that failed, and those after it.
    pub hooks: Vec<String>,
}

/// Last pass of a section through a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PassedGate {
    /// A hash of the content that passed.
    pub hash: String,
    /// The commit that the worktree was at.
    pub commit: Option<String>,
    /// True if the section still has the content that passed.
    pub unchanged: bool,
}

/// A line of a journal. Beside these it has the fields of its type, which docs/storage.md lists.
#[cfg(feature = "schemas")]
#[derive(schemars::JsonSchema)]
#[allow(dead_code, reason = "the schema of what `Record` writes")]
pub struct JournalLine {
    /// Its number, from 1.
    seq: u64,
    /// Time of writing, RFC 3339 UTC.
    timestamp: String,
    /// Type of the event.
    r#type: String,
    #[serde(flatten)]
    fields: serde_json::Map<String, serde_json::Value>,
}

/// A line of `orange task watch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Watched<'l> {
    /// The new state of an agent.
    Doing {
        /// `agent.doing`.
        r#type: String,
        /// The task's id.
        task: Cow<'l, str>,
        /// Time of the observation, RFC 3339 UTC.
        timestamp: Cow<'l, str>,
        /// The agent, with its activity; its keys stand beside the others here.
        #[serde(flatten)]
        agent: Box<Cow<'l, Agent>>,
    },
    /// A task that cannot be read.
    Broken {
        /// The task's id.
        task: Cow<'l, str>,
        /// Error of the attempt to read it.
        error: Cow<'l, Failure>,
    },
    /// A new line of a journal.
    Event {
        /// The task's id.
        task: Cow<'l, str>,
        /// Line of the journal.
        #[serde(flatten)]
        #[cfg_attr(feature = "schemas", schemars(with = "JournalLine"))]
        record: Box<Cow<'l, Record>>,
    },
}

/// Answer of `orange task logs`; with `--follow`, each of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Logs<'l> {
    /// The whole transcript of an agent.
    Whole {
        /// The task's id.
        id: Cow<'l, str>,
        /// The agent's number.
        spawn: u32,
        /// `worker` or `reviewer`.
        #[cfg_attr(feature = "schemas", schemars(with = "String"))]
        actor: Cow<'l, event::Actor>,
        /// The step of a mission that it works at.
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<Cow<'l, str>>,
        /// The role of that step.
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<Cow<'l, str>>,
        /// Name of the harness.
        harness: Cow<'l, str>,
        /// The harness's own id of its conversation, if it is known.
        conversation: Option<Cow<'l, str>>,
        /// True if it continues the conversation of an agent before it.
        resumed: bool,
        /// True if its end is not recorded yet.
        alive: bool,
        /// `jsonl` for a conversation, `pane` for what its pane has shown.
        form: String,
        /// Content of its pane.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<Cow<'l, str>>,
        /// Its conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        turns: Option<Vec<Turn<'l>>>,
    },
    /// A turn of its conversation, while it goes on.
    Turn(Turn<'l>),
    /// The new output of its pane, while it goes on.
    Pane {
        /// The agent's number.
        spawn: u32,
        /// Text as it stands.
        text: Cow<'l, str>,
    },
}

/// One thing that happened in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Turn<'l> {
    /// The agent's number, in a line of `--follow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn: Option<u32>,
    /// The time, as the harness wrote it.
    pub time: Option<Cow<'l, str>>,
    /// `asked`, `said`, `thought`, `called` or `answered`.
    pub kind: String,
    /// Text that was asked, said, thought or answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'l, str>>,
    /// The tool that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'l, str>>,
    /// Its arguments: the one that matters, or all of them as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Cow<'l, str>>,
    /// True if the tool has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
}

/// Answer of `orange task respawn`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Respawned {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The number of the new agent; of several, the last one.
    pub spawn: u32,
    /// The numbers of all new agents, if several reviewers are started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spawns: Vec<u32>,
    /// True if it continues the conversation of the agent before.
    pub resumed: bool,
    /// The harness's own id of its conversation, if it is known.
    pub conversation: Option<String>,
    /// Reason for which it does not continue that conversation, if it should have.
    pub not_resumed: Option<String>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Answer of `orange task restart`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Restarted {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The number of the new agent; of several, the last one.
    pub spawn: u32,
    /// The numbers of all new agents, if several reviewers are started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spawns: Vec<u32>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Answer of `orange task stop`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Stopped {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The numbers of the agents that were ended.
    pub stopped: Vec<u32>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Answer of `orange task attach`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Attached {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// Its tmux session.
    pub session: Option<String>,
}

/// Answer of `orange task answer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Answered {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// Name of the request.
    pub request: String,
    /// True if the person allows it.
    pub allow: bool,
    /// The agent's number.
    pub spawn: u32,
    /// The tool that it wants to use.
    pub tool: Option<String>,
    /// The call that it wants to make.
    pub text: Option<String>,
}

/// Answer of `orange task wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Waited {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The status that the task has reached.
    pub status: String,
    /// Need; only with `--needs-me`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
}

/// Answer of `orange task delete` and `orange mission delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Deleted {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// Id of the task, which never changes.
    pub id: String,
    /// Its folder in the trash.
    pub path: String,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Answer of `orange task restore` and `orange mission restore`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Restored {
    /// A deleted task or mission is back.
    Task {
        /// Always `true`: the command has done its work.
        success: Success,
        /// Id of the task, which never changes.
        id: String,
        /// Status: the name of a state of its workflow.
        status: String,
        /// Path of its file or folder.
        path: String,
        /// True for a dry run, which changes nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        dry_run: bool,
    },
    /// A branch has the work of a backup.
    Branch {
        /// Always `true`: the command has done its work.
        success: Success,
        /// Id of the task, which never changes.
        id: String,
        /// Name of its branch.
        branch: String,
        /// The ref of the backup.
        reference: String,
        /// The commit of the backup.
        commit: String,
        /// True for a dry run, which changes nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        dry_run: bool,
    },
}

/// Answer of `orange task create-pr`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OpenedPullRequest {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// The address of the pull request; null for one that a dry run would open.
    pub pr_url: Option<String>,
    /// True if this command has opened it.
    pub created: bool,
    /// The template that its text ends with.
    pub template: Option<String>,
    /// True for a dry run, which changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}
