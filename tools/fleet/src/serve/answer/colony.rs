//! Colonies and their crabs.

use orange_api::gateway::{ColonyAnswer, CrabAnswer, CrabStatus};
use orange_core::scheduler::Crab;

use crate::host::{Colony, Millis};
use crate::serve::names;

impl From<Colony> for ColonyAnswer {
    fn from(colony: Colony) -> ColonyAnswer {
        let Colony { id, name, repository, base, created } = colony;
        let repository = names::without_secret(&repository);
        ColonyAnswer { colony_id: id, name, repository, base, created_at_ms: created }
    }
}

/// A crab as the scheduler knows it. `about` is its name and when it was heard of, `run` what it has.
pub fn crab(
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
        abilities: crab.abilities.iter().map(|it| it.as_str().to_owned()).collect(),
        status: status(crab),
        mission_id: crab.mission.clone(),
        run_id: run,
        fault: crab.fault.clone(),
        last_heard_at_ms: heard,
    }
}

fn status(crab: &Crab) -> CrabStatus {
    match crab {
        Crab { mission: Some(_), .. } => CrabStatus::Busy,
        Crab { fault: Some(_), .. } => CrabStatus::Faulty,
        Crab { is_parked: true, .. } => CrabStatus::Idle,
        Crab { .. } => CrabStatus::Away,
    }
}
