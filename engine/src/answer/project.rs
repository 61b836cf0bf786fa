//! `orange project`.

use serde::Serialize;

/// A project with its present settings, or with its last ones in the answer of `orange project remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedProject {
    /// Its name.
    pub name: String,
    /// Its repository.
    pub path: String,
    /// The branch that tasks begin from and are merged into.
    pub default_branch: String,
    /// The number of worktrees that its tasks may hold at once.
    pub pool_size: u32,
    /// The workflow of its new tasks.
    pub workflow: String,
    /// Whether Orange may type answers on the screens of its agents.
    pub type_answers: bool,
    /// The size that the transcripts of one task may have, in millions of bytes.
    pub transcripts_mb: u32,
    /// Who starts its waiting tasks: `auto` for the monitor, else `manual`.
    pub queue: &'static str,
    /// After how many days the monitor removes backups that are merged; null for never.
    pub backup_days: Option<u32>,
    /// The same for branches of finished tasks that are merged.
    pub branch_days: Option<u32>,
    /// The same for deleted tasks.
    pub trash_days: Option<u32>,
    /// What else to do, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<[&'static str; 1]>,
}

/// A token of a program, without the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListedToken {
    /// What names it, for `orange project revoke`.
    pub id: String,
    /// The project whose tasks it is for.
    pub project: String,
    /// The actor that its holder asks as.
    pub actor: String,
    /// When it was made.
    pub created_at: String,
}

/// A new token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MadeToken<'t> {
    /// What is kept of it.
    #[serde(flatten)]
    pub made: ListedToken,
    /// The token itself, which nothing can print again.
    pub token: &'t str,
}
