//! `orange project`.

use orange_core::budget::Budget;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
#[cfg(feature = "schemas")]
use std::collections::BTreeMap;

use super::Success;

/// A project with its present settings, or with its last ones in the answer of `orange project remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedProject {
    /// Name of the project.
    pub name: String,
    /// Its repository.
    pub path: String,
    /// The branch that tasks begin from and are merged into.
    pub default_branch: String,
    /// The number of worktrees that its tasks may hold at once.
    pub pool_size: u32,
    /// The workflow of its new tasks.
    pub workflow: String,
    /// True if Orange may type answers on the screens of its agents.
    pub type_answers: bool,
    /// The size that the transcripts of one task may have, in millions of bytes.
    pub transcripts_mb: u32,
    /// Start of its waiting tasks: `auto` by the monitor, else `manual`.
    pub queue: String,
    /// After how many days the monitor removes backups that are merged; null for never.
    pub backup_days: Option<u32>,
    /// After how many days the monitor removes branches of finished tasks that are merged; null for never.
    pub branch_days: Option<u32>,
    /// After how many days the monitor removes deleted tasks and missions; null for never.
    pub trash_days: Option<u32>,
    /// Further steps, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<String>>,
}

/// A token of a program, without the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedToken {
    /// Name for `orange project revoke`.
    pub id: String,
    /// The project whose tasks it is for.
    pub project: String,
    /// The actor that its holder asks as.
    pub actor: String,
    /// Time of its creation.
    pub created_at: String,
}

/// Token that was made, shown once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MadeToken<'t> {
    /// Record that is kept of it.
    #[serde(flatten)]
    pub made: ListedToken,
    /// The token itself, which nothing can print again.
    pub token: Cow<'t, str>,
}

/// A project with every setting that applies, and where each comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownProject {
    /// Project as it is now.
    #[serde(flatten)]
    pub project: ListedProject,
    /// Settings that `orange.toml` can have, too.
    pub settings: SharedSettings,
}

/// The settings that `projects.json` and `orange.toml` share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SharedSettings {
    /// The file in the repository.
    pub file: OrangeToml,
    /// Files that each new worktree gets a copy of.
    pub copy: SettingSource<Vec<String>>,
    /// Files that each new worktree gets a link to.
    pub link: SettingSource<Vec<String>>,
    /// The programs that prepare each new worktree.
    pub setup: SettingSource<Vec<SetupProgram>>,
    /// The ports of each worktree, by its number; empty without any.
    pub ports: SettingSource<Vec<PortsOfSlot>>,
    /// The harness of the workers of new tasks.
    pub harness: SettingSource<String>,
    /// The harness of the reviewers of new tasks.
    pub review_harness: SettingSource<String>,
    /// True if the worktree of a task that waits for a person may be reclaimed for another task.
    pub reclaim_when_waiting: SettingSource<bool>,
    /// The variables that agents get, beside those that every program needs; null for all.
    pub environment: SettingSource<Option<Vec<String>>>,
    /// Merges and syncs.
    pub merge: SharedMergeSettings,
    /// The forge: `github` or `gitlab`; null for that of the remote's address.
    pub forge: SettingSource<Option<String>>,
    /// Feedback on pull requests.
    pub feedback: SharedFeedbackSettings,
    /// Budgets, without those of all projects in `budget.toml` of the home.
    pub budget: SharedBudgetSettings,
    /// The variables that agents of foreign tasks do not get, beside the tokens of forges.
    pub env_deny: SettingSource<Vec<String>>,
    /// Confinement of agents.
    pub sandbox: SharedSandboxSettings,
    /// The labels whose issues become tasks.
    pub intake: SettingSource<Vec<String>>,
    /// The names of the schedules.
    pub schedule: SettingSource<Vec<String>>,
}

/// The settings of feedback on pull requests that `projects.json` and `orange.toml` share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SharedFeedbackSettings {
    /// The names of the people whose comments agents get; `write` alone for all who may push.
    pub authors: SettingSource<Vec<String>>,
    /// The names of the bots whose comments agents get.
    pub bots: SettingSource<Vec<String>>,
    /// The threads that answers may resolve: `never`, `bots` or `all`.
    pub resolve: SettingSource<String>,
    /// Minutes for which a fact of a watch rule may wait for a busy agent before a person is called.
    pub patience: SettingSource<u32>,
}

/// The budgets that `projects.json` and `orange.toml` share: limits by their kinds, in millionths of a dollar, tokens, seconds and starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SharedBudgetSettings {
    /// The limits of each task that has none of its own.
    #[cfg_attr(feature = "schemas", schemars(with = "SettingSource<BTreeMap<String, u64>>"))]
    pub task: SettingSource<Budget>,
    /// The limits of all agents of a day in UTC.
    #[cfg_attr(feature = "schemas", schemars(with = "SettingSource<BTreeMap<String, u64>>"))]
    pub day: SettingSource<Budget>,
    /// The limits of all agents of a month in UTC.
    #[cfg_attr(feature = "schemas", schemars(with = "SettingSource<BTreeMap<String, u64>>"))]
    pub month: SettingSource<Budget>,
}

/// The confinement of agents that `projects.json` and `orange.toml` share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SharedSandboxSettings {
    /// The least confinement: `off` or `wall`.
    pub level: SettingSource<String>,
    /// The most network of walled agents: `listed` or `open`.
    pub network: SettingSource<String>,
    /// Paths that walled agents can read.
    pub read: SettingSource<Vec<String>>,
    /// Paths that walled agents can write to.
    pub write: SettingSource<Vec<String>>,
    /// Variables that walled agents get.
    pub env: SettingSource<Vec<String>>,
    /// Hosts that walled agents reach.
    pub hosts: SettingSource<Vec<String>>,
}

/// The settings of merges and syncs that `projects.json` and `orange.toml` share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SharedMergeSettings {
    /// The strategy of merges: `ff`, `merge`, `squash`, `rebase` or `auto`.
    pub strategy: SettingSource<String>,
    /// The strategy of `orange task sync`: `merge` or `rebase`.
    pub sync: SettingSource<String>,
    /// The target of merges of tasks that have no base of their own; null for the default branch.
    pub into: SettingSource<Option<String>>,
    /// The text of squashed commits: `summary`, `commits` or `pull-request`.
    pub message: SettingSource<String>,
    /// True if squashed commits name the other authors.
    pub coauthors: SettingSource<bool>,
    /// True if the target is pushed.
    pub push: SettingSource<bool>,
    /// True if the task of a merge that a person makes goes on.
    pub keep: SettingSource<bool>,
}

/// The `orange.toml` of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OrangeToml {
    /// Path of its file or folder.
    pub path: String,
    /// True if it counts.
    pub trust: TrustState,
    /// Reason for which it does not count, if that needs a person; else null.
    pub warning: Option<String>,
}

/// Trust in an `orange.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TrustState {
    /// There is none.
    Absent,
    /// Its settings are used.
    Trusted,
    /// Nobody has agreed to it.
    Untrusted,
    /// It has changed since a person agreed to it.
    Changed,
    /// It is gone since a person agreed to it.
    Gone,
    /// It cannot be read, or has an error.
    Unfit,
}

/// Origin of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SettingOrigin {
    /// Set by no one.
    Default,
    /// The trusted `orange.toml`.
    File,
    /// `orange project update`.
    Project,
}

impl SettingOrigin {
    /// Its word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            SettingOrigin::Default => "default",
            SettingOrigin::File => "file",
            SettingOrigin::Project => "project",
        }
    }
}

/// The value of a setting, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SettingSource<T> {
    /// Value that counts.
    pub value: T,
    /// `project` for `orange project update`, `file` for `orange.toml`, or `default`.
    pub source: SettingOrigin,
}

/// A program that prepares a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SetupProgram {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The seconds that it may take.
    pub timeout: u32,
}

/// The ports of a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PortsOfSlot {
    /// The worktree.
    pub workspace: String,
    /// First port of the range.
    pub first: u32,
    /// Last port of the range.
    pub last: u32,
}

/// The answer of `orange project trust`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TrustedFile {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// Project as it is now.
    pub project: String,
    /// Path of its file or folder.
    pub path: String,
    /// True if it was not trusted before.
    pub changed: bool,
    /// The SHA-256 of its content; null if there is no file any more.
    pub sha256: Option<String>,
}
