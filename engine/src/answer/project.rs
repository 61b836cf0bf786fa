//! `orange project`.

use serde::Serialize;

/// A project, as it is now; as it was, where `orange project remove` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedProject {
    /// Its name.
    pub name: String,
    /// Its repository.
    pub path: String,
    /// The branch that tasks begin from and are merged into.
    pub default_branch: String,
    /// How many worktrees its tasks may hold at once.
    pub pool_size: u32,
    /// The workflow of its new tasks.
    pub workflow: String,
    /// Whether answers to what its agents ask may be typed on their screens.
    pub type_answers: bool,
    /// How many bytes the transcripts of one of its tasks may have, in millions.
    pub transcripts_mb: u32,
    /// Who starts its tasks that wait: `auto` for the monitor, else `manual`.
    pub queue: &'static str,
    /// After how many days the monitor removes backups that are merged; null for never.
    pub backup_days: Option<u32>,
    /// The same for branches of tasks that are over and merged.
    pub branch_days: Option<u32>,
    /// The same for deleted tasks.
    pub trash_days: Option<u32>,
    /// What else is to be done, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<[&'static str; 1]>,
}
