//! `orange doctor`.

use serde::{Deserialize, Serialize};

/// Answer of `orange doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// True if nothing is broken.
    pub healthy: bool,
    /// Findings of all checks.
    pub findings: Vec<Finding>,
}

/// Finding of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Subject of the check.
    pub check: String,
    /// `ok`, `warning` or `broken`.
    pub level: String,
    /// Problem, in a sentence.
    pub message: String,
    /// Remedy; null if there is nothing to do.
    pub remedy: Option<String>,
}
