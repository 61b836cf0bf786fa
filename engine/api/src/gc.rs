//! `orange gc`.

use serde::{Deserialize, Serialize};

/// Something that can be removed, or was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Removal {
    /// Its kind, as in `--kind`.
    pub kind: String,
    /// The project that it belongs to.
    pub project: Option<String>,
    /// Name of the leftover.
    pub name: String,
    /// The number of days since its last use.
    pub age_days: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// True if it was removed.
    pub removed: bool,
    /// Reason for which it was not removed.
    pub error: Option<String>,
    /// True for a dry run, which removes nothing.
    pub dry_run: bool,
}
