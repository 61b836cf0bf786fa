//! `orange harness`.

use serde::{Deserialize, Serialize};

/// A coding agent that tasks can name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedHarness {
    /// Name of the harness.
    pub name: String,
    /// True if its program is on `PATH`.
    pub installed: bool,
    /// That program, or null.
    pub path: Option<String>,
    /// True if the worker of a new task gets it, in the project of the current folder, or outside of projects.
    pub default: bool,
}
