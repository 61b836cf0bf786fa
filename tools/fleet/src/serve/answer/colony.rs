//! Colonies and their crabs.

use orange_core::scheduler::Crab;
use serde::Serialize;

use crate::host::{Colony, Millis};
use crate::serve::names;

#[derive(Debug, Serialize)]
pub struct ColonyAnswer {
    pub colony_id: String,
    pub name: String,
    /// Its repository: an address or a path for git.
    pub repository: String,
    /// The branch from which work starts; the repository's own if none is named.
    pub base: Option<String>,
    /// Time of creation.
    pub created_at_ms: Millis,
}

#[derive(Debug, Serialize)]
pub struct CrabAnswer {
    pub crab_id: String,
    pub colony_id: String,
    pub name: String,
    pub roles: Vec<String>,
    /// `idle`: it waits for a step; `busy`: it has one; `faulty`: it cannot start steps; `away`: it is not connected.
    pub status: &'static str,
    /// The mission of its step.
    pub mission_id: Option<String>,
    /// The run that it has.
    pub run_id: Option<String>,
    /// Reason that it cannot start steps.
    pub fault: Option<String>,
    /// Time at which it was last heard of.
    pub last_heard_at_ms: Millis,
}

/// A crab that has registered.
#[derive(Debug, Serialize)]
pub struct Registered {
    pub crab_id: String,
    pub colony_id: String,
    pub name: String,
    pub roles: Vec<String>,
    /// Interval of its heartbeats while it has a run.
    pub beat_ms: u64,
    /// The longest wait of a long poll.
    pub poll_ms: u64,
}

impl From<Colony> for ColonyAnswer {
    fn from(colony: Colony) -> ColonyAnswer {
        let Colony { id, name, repository, base, created } = colony;
        let repository = names::without_secret(&repository);
        ColonyAnswer { colony_id: id, name, repository, base, created_at_ms: created }
    }
}

impl CrabAnswer {
    /// A crab as the scheduler knows it. `about` is its name and when it was heard of, `run` what it has.
    pub fn new(
        colony: &str,
        id: &str,
        crab: &Crab,
        about: Option<(&str, Millis)>,
        run: Option<String>,
    ) -> CrabAnswer {
        let (name, heard) = about.unwrap_or((id, 0));
        CrabAnswer {
            crab_id: id.to_owned(),
            colony_id: colony.to_owned(),
            name: name.to_owned(),
            roles: crab.roles.clone(),
            status: status(crab),
            mission_id: crab.mission.clone(),
            run_id: run,
            fault: crab.fault.clone(),
            last_heard_at_ms: heard,
        }
    }
}

fn status(crab: &Crab) -> &'static str {
    match crab {
        Crab { mission: Some(_), .. } => "busy",
        Crab { fault: Some(_), .. } => "faulty",
        Crab { is_parked: true, .. } => "idle",
        Crab { .. } => "away",
    }
}
