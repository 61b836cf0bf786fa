//! `orange workspace`.

use serde::{Deserialize, Serialize};

/// Answer of `orange workspace init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MadeWorktrees {
    /// Name of its project.
    pub project: String,
    /// The names of its worktrees.
    pub workspaces: Vec<String>,
}

/// A worktree, as `orange workspace list` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Worktree {
    /// Its name, which is its folder's.
    pub name: String,
    /// The project that it belongs to.
    pub project: String,
    /// The task or mission that holds it; null when it is free.
    pub task: Option<String>,
    /// Path of the worktree.
    pub path: String,
}

/// Outcome of `orange workspace gc` for a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CollectedWorktree {
    /// Name of the worktree.
    pub name: String,
    /// `given back`, `cleaned`, `removed`, `left alone`, or `failed`.
    pub fate: String,
    /// Reason for which it was left alone.
    pub reason: Option<String>,
    /// Refs and folders with the backup of its work.
    pub kept: Vec<String>,
    /// Message of the error, in one line; null unless it failed.
    pub error: Option<String>,
    /// True for a dry run, which changes nothing.
    pub dry_run: bool,
}
