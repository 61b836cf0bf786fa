//! Messages to crabs.

use serde::Serialize;

/// A message to a crab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type")]
pub enum Message {
    /// It has this step.
    TaskAssigned(Box<TaskAssigned>),
    /// It ends the agent of a run, and keeps its work.
    EndAgent {
        run_id: String,
        mission_id: String,
        /// The number of its attempt.
        attempt: u32,
    },
    /// The gateway stops.
    Retry {
        /// After how many milliseconds the crab connects again.
        after_ms: u64,
    },
    /// A message of the crab is refused.
    Error {
        /// A word for programs.
        code: &'static str,
        message: String,
        /// Advice on what to do next.
        help: String,
    },
}

/// Everything that a crab needs to run a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskAssigned {
    /// The run: `<mission>.<step>.<attempt>`.
    pub run_id: String,
    pub mission_id: String,
    pub colony_id: String,
    pub step_id: String,
    /// A line about it for people.
    pub title: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// The role of the step.
    pub role: String,
    /// Status of the attempt.
    pub status: &'static str,
    /// The prompt of its agent, with `worktree_token` in the place of the worktree's path.
    pub prompt: String,
    /// Text that stands in the prompt for the path of the worktree, which only the crab knows.
    pub worktree_token: String,
    /// Reports of the steps before it; the prompt has them, too.
    pub context: String,
    /// The mission's branch.
    pub branch: String,
    /// The repository: an address or a path for git.
    pub repository: String,
    /// The branch from which a new branch starts; the repository's own if none is named.
    pub base: Option<String>,
    /// The harness that the step names.
    pub harness: Option<String>,
    /// Permissions of its agent: `full` or `reduced`.
    pub permissions: &'static str,
    /// The words that it may report; any if there are none.
    pub results: Vec<String>,
    /// True if it has to report one.
    pub needs_result: bool,
    /// The seconds that the attempt may take.
    pub timeout: Option<u32>,
    /// Number of ends without a word, in a row, that fail it.
    pub stuck_after: u16,
    /// Path at which its agent works, once the crab has said so.
    pub worktree_path: Option<String>,
}
