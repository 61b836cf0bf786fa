//! `orange doctor`.

use serde::{Deserialize, Serialize};

/// What `orange doctor` has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// Whether nothing is broken.
    pub healthy: bool,
    /// What each check has found.
    pub findings: Vec<Finding>,
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The check.
    pub check: String,
    /// `ok`, `warning` or `broken`.
    pub level: String,
    /// What was found.
    pub message: String,
    /// What to do about it; null if there is nothing to do.
    pub remedy: Option<String>,
}
