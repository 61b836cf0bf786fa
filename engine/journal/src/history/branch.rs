//! The branch of a task, its merge and its pull request.

use std::collections::BTreeMap;

use crate::event::ChecksSeen;

/// Branch of a task.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct BranchHistory {
    /// Its name when the task was created.
    pub name: String,
    /// The branches that the engine created for the task, and the commits at which they began.
    pub made: BTreeMap<String, String>,
    /// The commit to which its last merge was to move the default branch.
    pub merge: Option<String>,
    /// True if it was merged by `orange` or by GitHub.
    pub is_merged: bool,
    /// Its pull request.
    pub pr: Option<String>,
    /// Last known state of the checks of that pull request.
    pub checks: Option<ChecksSeen>,
}
