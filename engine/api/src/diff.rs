//! `orange task diff`.

use serde::{Deserialize, Serialize};

/// Changes of a task against the commit at which it left the default branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Diff {
    /// The id of the task or mission.
    pub id: String,
    /// The commit that it is compared with.
    pub base: String,
    /// The last commit of the work.
    pub commit: String,
    /// Number of its commits.
    pub commits: u32,
    /// The files that differ, with uncommitted and untracked ones.
    pub files: Vec<DiffFile>,
    /// The number of lines that were added.
    pub added: u64,
    /// The number of lines that were removed.
    pub removed: u64,
    /// The patch; without `--stat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DiffFile {
    /// Its path, from the top of the repository.
    pub path: String,
    /// Its path before, if it was renamed or copied.
    pub was: Option<String>,
    /// `added`, `modified`, `deleted`, `renamed`, `copied`, `type` (a file has become a link, or the like) or `conflict`.
    pub change: String,
    /// The number of lines that were added.
    pub added: u64,
    /// The number of lines that were removed.
    pub removed: u64,
    /// True if it has no lines that could be counted.
    pub binary: bool,
}
