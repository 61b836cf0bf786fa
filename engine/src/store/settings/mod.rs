//! The settings of a project that `projects.json` and its `orange.toml` share: what a new worktree gets, and who works in it.

mod budgets;
mod entries;
mod file;
mod intake;
pub mod ports;
mod sandbox;
mod schedules;
#[cfg(test)]
mod tests;

use std::path::{Component, Path};

use orange_core::feedback::{Authors, Resolve};
use orange_core::forge::ForgeKind;
use orange_core::merge::{MessageForm, Strategy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use budgets::{BudgetSettings, parse_home};
pub use file::{FILE, LONGEST, parse};
pub use intake::IntakeSettings;
pub use ports::Ports;
pub use sandbox::{SandboxSettings, flaw_of_grant};
pub use schedules::ScheduleSettings;

/// The seconds that a program may take, unless its entry sets others.
pub const TIMEOUT: u32 = 600;

/// The settings of one source; `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Files and folders of the repository that a new worktree gets a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<Vec<String>>,
    /// Files and folders of the repository that a new worktree gets a link to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Vec<String>>,
    /// The programs that prepare a new worktree, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Vec<WorktreeProgram>>,
    /// The ports of each worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Ports>,
    /// The harness of workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The harness of reviewers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_harness: Option<String>,
    /// True if the worktree of a task that waits for a person may be reclaimed for another task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim_when_waiting: Option<bool>,
    /// The variables that agents get of the environment in which they are started, beside those that every program needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Vec<String>>,
    /// Merges and syncs.
    #[serde(default, skip_serializing_if = "MergeSettings::is_empty")]
    pub merge: MergeSettings,
    /// The kind of the forge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forge: Option<ForgeKind>,
    /// Feedback on pull requests.
    #[serde(default, skip_serializing_if = "FeedbackSettings::is_empty")]
    pub feedback: FeedbackSettings,
    /// Limits of agents.
    #[serde(default, skip_serializing_if = "BudgetSettings::is_empty")]
    pub budget: BudgetSettings,
    /// Confinement of agents.
    #[serde(default, skip_serializing_if = "SandboxSettings::is_empty")]
    pub sandbox: SandboxSettings,
    /// The variables that agents of foreign tasks do not get, beside the tokens of forges. Of `orange.toml` alone.
    #[serde(skip)]
    pub env_deny: Option<Vec<String>>,
    /// The labels whose issues become tasks. Of `orange.toml` alone.
    #[serde(skip)]
    pub intake: Option<Vec<IntakeSettings>>,
    /// The missions that start at given times. Of `orange.toml` alone.
    #[serde(skip)]
    pub schedule: Option<Vec<ScheduleSettings>>,
    /// Members of newer versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The settings of merges and syncs; `None` where the source says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeSettings {
    /// The strategy of merges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// The strategy of `orange task sync`: `merge` or `rebase`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<Strategy>,
    /// The target of merges of tasks that have no base of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// The text of squashed commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageForm>,
    /// True if squashed commits name the other authors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coauthors: Option<bool>,
    /// True if the target is pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push: Option<bool>,
    /// True if the task of a merge that a person makes goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<bool>,
}

impl MergeSettings {
    /// True if it sets nothing.
    pub fn is_empty(&self) -> bool {
        *self == MergeSettings::default()
    }
}

/// The settings of feedback on pull requests; `None` where the source says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedbackSettings {
    /// The people whose comments agents get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authors: Option<Authors>,
    /// The bots whose comments agents get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bots: Option<Vec<String>>,
    /// The threads that answers may resolve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve: Option<Resolve>,
    /// Minutes for which a fact of a watch rule may wait for a busy agent before a person is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u32>,
}

impl FeedbackSettings {
    /// True if it sets nothing.
    pub fn is_empty(&self) -> bool {
        *self == FeedbackSettings::default()
    }
}

/// A program that Orange runs in a worktree, without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeProgram {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The seconds that it may take.
    #[serde(default = "default_timeout")]
    pub timeout: u32,
}

fn default_timeout() -> u32 {
    TIMEOUT
}

impl Settings {
    /// True if it sets nothing.
    pub fn is_empty(&self) -> bool {
        *self == Settings::default()
    }
}

/// Reason for which a path cannot be copied or linked; `None` if it can. It is relative to the top of the repository and leads to a
/// place below it.
pub fn flaw_of_path(path: &str) -> Option<String> {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let belongs_to_git = |part: &Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    if parts.is_empty() || path.contains(['\0', '\n']) || path.trim() != path {
        return Some(format!("`{}` is not a path of a file or folder", path.escape_debug()));
    }
    if !parts.iter().all(is_plain) {
        return Some(format!(
            "`{path}` is not inside the repository: give a path from its top, without `..`"
        ));
    }
    if parts.iter().any(belongs_to_git) {
        return Some(format!("`{path}` belongs to git"));
    }
    let is_own = ["TASK.md", ".orange", FILE].iter().any(|own| parts[0].as_os_str() == *own);
    is_own.then(|| format!("`{path}` is Orange's own"))
}

/// Reason for which a name cannot be that of a variable; `None` if it can. The variables that Orange sets are its own.
pub fn flaw_of_variable(name: &str) -> Option<String> {
    let is_plain = !name.is_empty() && !name.contains(['=', '\0']) && !name.contains(char::is_whitespace);
    (!is_plain).then(|| {
        format!("`{}` is not a name of a variable: give its name alone, such as API_KEY", name.escape_debug())
    })
}

/// Reason for which a program cannot be run; `None` if it can.
pub fn flaw_of_program(program: &WorktreeProgram) -> Option<String> {
    const LONGEST_TIMEOUT: u32 = 86_400;
    match program.argv.first() {
        Some(name) if name.is_empty() => Some("the first of `argv` is a program".to_owned()),
        None => Some("`argv` has a program: [\"npm\", \"ci\"]".to_owned()),
        Some(_) if program.argv.iter().any(|word| word.contains('\0')) => {
            Some("no argument has a zero byte".to_owned())
        }
        Some(_) if !(1..=LONGEST_TIMEOUT).contains(&program.timeout) => {
            Some(format!("`timeout` is a number of seconds from 1 to {LONGEST_TIMEOUT}"))
        }
        Some(_) => None,
    }
}
