//! Feedback on a pull request and on created tasks: failed checks, comments, conflicts. It is kept as `feedback/N.json` of a task.

mod section;
#[cfg(test)]
mod tests;

use orange_core::queue::Standing;
use serde::{Deserialize, Serialize};

use crate::Success;

pub use section::{MOST_CHECKS, end_of_log};

/// Feedback of one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Feedback {
    /// Round; the first one is 1.
    pub number: u32,
    /// Kind of the fact that led to it: `pr.checks`, `pr.threads`, `pr.review`, `pr.mergeable`, `base` or `children`.
    pub cause: String,
    /// Address of the pull request; null for a conflict of a task without one.
    pub pull_request: Option<String>,
    /// The commit that it is about.
    pub commit: String,
    /// Time of its collection.
    pub time: String,
    /// The decision of reviewers.
    #[serde(default)]
    pub review: ReviewDecision,
    /// The failed checks of the commit.
    #[serde(default)]
    pub checks: Vec<FailedCheck>,
    /// The threads that are not resolved, the oldest first.
    #[serde(default)]
    pub threads: Vec<Thread>,
    /// Comments without a thread that earlier rounds have not had, the oldest first.
    #[serde(default)]
    pub comments: Vec<Comment>,
    /// The conflict with the target.
    #[serde(default)]
    pub conflict: Option<Conflict>,
    /// The tasks that its agents have created, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<CreatedTask>,
    /// The number of comments of people and bots whose comments agents do not get.
    #[serde(default)]
    pub others: u32,
    /// Reasons for which it may lack something, in words.
    #[serde(default)]
    pub gaps: Vec<String>,
}

/// The answer of `orange task feedback`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TaskFeedback {
    /// The task's id.
    pub id: String,
    /// True if the task has it; false with `--ask`, which only looks.
    pub is_kept: bool,
    /// Feedback of the round that was asked for.
    pub feedback: Feedback,
}

/// The answer of `orange task reply`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Replied {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// Round of the feedback.
    pub round: u32,
    /// The thread that is answered after the next push.
    pub thread: String,
    /// True if it is resolved then.
    pub resolve: bool,
}

/// The answer of `orange task verdict`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Always `true`: the command has done its work.
    pub success: Success,
    /// The task's id.
    pub id: String,
    /// Heading of the section that has the verdict.
    pub section: String,
    /// The verdict, `PASS` or `FAIL`.
    pub verdict: String,
}

/// The decision of a pull request's reviewers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReviewDecision {
    /// They ask for changes.
    ChangesRequested,
    /// It is approved.
    Approved,
    /// None of these. Words of newer versions are read as this one.
    #[default]
    #[serde(other)]
    None,
}

impl ReviewDecision {
    /// Its word in answers and workflows.
    pub const fn as_str(self) -> &'static str {
        match self {
            ReviewDecision::ChangesRequested => "changes-requested",
            ReviewDecision::Approved => "approved",
            ReviewDecision::None => "none",
        }
    }
}

/// A check that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FailedCheck {
    /// Name of the check.
    pub name: String,
    /// The workflow of GitHub Actions or the stage of a pipeline that it belongs to.
    pub workflow: Option<String>,
    /// The forge's word for its result, in small letters.
    pub conclusion: String,
    /// Address of its page.
    pub url: Option<String>,
    /// The end of its log.
    pub log: CheckLog,
}

/// The log of a failed check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckLog {
    /// Its last lines.
    End {
        /// The lines, without escape sequences.
        text: String,
        /// True if there are earlier lines.
        is_cut: bool,
    },
    /// The forge did not give it.
    Missing {
        /// The reason, in words.
        reason: String,
    },
}

/// A task that an agent of another one has created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CreatedTask {
    /// Id of the task.
    pub id: String,
    /// Name of its branch.
    pub branch: String,
    /// Summary of the task.
    pub summary: String,
    /// Status: the name of a state of its workflow.
    pub status: String,
    /// `open`, `merged`, `ended` without a merge, or `gone`: deleted.
    pub standing: TaskStanding,
}

/// Standing of a task for another one that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TaskStanding {
    /// It is not over.
    Open,
    /// It is over, and merged.
    Merged,
    /// It is over, and was not merged.
    Ended,
    /// It is deleted. Words of newer versions are read as this one.
    #[serde(other)]
    Gone,
}

impl TaskStanding {
    /// In a few words.
    pub const fn words(self) -> &'static str {
        match self {
            TaskStanding::Open => "open",
            TaskStanding::Merged => "merged",
            TaskStanding::Ended => "over and not merged",
            TaskStanding::Gone => "deleted",
        }
    }
}

impl From<Standing> for TaskStanding {
    fn from(standing: Standing) -> TaskStanding {
        match standing {
            Standing::Open => TaskStanding::Open,
            Standing::Merged => TaskStanding::Merged,
            Standing::Ended => TaskStanding::Ended,
            Standing::Gone => TaskStanding::Gone,
        }
    }
}

/// A thread of comments on the changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Thread {
    /// The forge's id.
    pub id: String,
    /// The file that it is about.
    pub path: Option<String>,
    /// The line of the file.
    pub line: Option<u32>,
    /// True if the file has changed there since.
    #[serde(default)]
    pub is_outdated: bool,
    /// The number of its comments that are left out, beside those of others.
    #[serde(default)]
    pub left_out: u32,
    /// Its comments, the oldest first.
    pub comments: Vec<Comment>,
}

/// A comment of a person or a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Comment {
    /// The forge's id.
    pub id: String,
    /// The name of its author.
    pub login: String,
    /// Permission of its author in the repository.
    pub permission: Permission,
    /// Time of its creation.
    pub time: String,
    /// Its text as the forge has it.
    pub text: String,
}

/// Permission of an account in a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// It may change the repository's settings.
    Admin,
    /// It may push.
    Write,
    /// It may read.
    Read,
    /// It is a bot that the settings of the project name.
    Bot,
    /// It has none, or it is not known. Words of newer versions are read as this one.
    #[default]
    #[serde(other)]
    None,
}

impl Permission {
    /// Its word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Permission::Admin => "admin",
            Permission::Write => "write",
            Permission::Read => "read",
            Permission::Bot => "bot",
            Permission::None => "none",
        }
    }

    /// True for an account that may push to the repository.
    pub const fn may_write(self) -> bool {
        match self {
            Permission::Admin | Permission::Write => true,
            Permission::Read | Permission::Bot | Permission::None => false,
        }
    }
}

/// A conflict with the branch into which a task is merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// The target branch.
    pub into: String,
    /// The files that conflict; empty if only the forge knows of the conflict.
    pub files: Vec<String>,
}
