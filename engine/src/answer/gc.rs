//! `orange gc`.

use serde::Serialize;

/// Something that can go, or has gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Removal {
    /// What it is, as `--kind` names it.
    pub kind: &'static str,
    /// The project that it is of.
    pub project: Option<String>,
    /// Its name.
    pub name: String,
    /// How many days ago it was last of use.
    pub age_days: u64,
    /// How much room it takes.
    pub bytes: u64,
    /// Whether it has gone.
    pub removed: bool,
    /// Why it could not be removed.
    pub error: Option<String>,
    /// Whether nothing was done, and this is what would be.
    pub dry_run: bool,
}
