//! Colonies, as callers make and list them.

use serde::{Deserialize, Serialize};

/// A colony to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewColonyBody {
    /// Its name, unique among colonies.
    pub name: String,
    /// Its repository: an address or an absolute path for git.
    pub repository: String,
    /// The branch from which work starts; the repository's own if none is named.
    pub base: Option<String>,
}

/// A group of crabs that work on one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColonyAnswer {
    /// Id of the colony.
    pub colony_id: String,
    /// Name of the colony.
    pub name: String,
    /// Its repository: an address or a path for git, without a password.
    pub repository: String,
    /// The branch from which work starts; the repository's own if none is named.
    pub base: Option<String>,
    /// Time of creation.
    pub created_at_ms: i64,
}

/// A page of colonies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colonies {
    /// In the order of their names.
    pub colonies: Vec<ColonyAnswer>,
    /// Value of `after` for the next page.
    pub next: Option<String>,
}
