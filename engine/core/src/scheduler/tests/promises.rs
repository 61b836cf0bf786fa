//! Promises of the design about every event and every state, asked of the state alone.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::colony::TestColony;
use super::world::{Delivery, World, WorldCheck};
use crate::plan::StepId;
use crate::scheduler::*;

/// Crabs and missions hear what the reference says, in any order.
pub fn same_effects(mut expected: Vec<Effect>, found: &[Effect]) -> WorldCheck {
    let is_row = |it: &Effect| matches!(it, Effect::Push(_) | Effect::Remove { .. });
    let mut heard: Vec<Effect> = found.iter().filter(|it| !is_row(it)).cloned().collect();
    heard.sort_by_key(|it| format!("{it:?}"));
    expected.sort_by_key(|it| format!("{it:?}"));
    if heard == expected { Ok(()) } else { Err(format!("effects: expected {expected:?}, found {found:?}")) }
}

/// Checks the promises about an accepted event.
pub fn of_event(before: &TestColony, after: &TestColony, effects: &[Effect]) -> WorldCheck {
    let is_loss = |it: &Effect| matches!(it, Effect::Lost { .. });
    let first_loss = effects.iter().position(is_loss).unwrap_or(effects.len());
    if !effects[first_loss..].iter().all(is_loss) {
        return Err("a loss comes before something else".to_owned());
    }
    for effect in effects {
        if let Effect::Offer { crab, item } = effect {
            offered(before, after, crab, item).map_err(|it| format!("{effect:?}: {it}"))?;
        }
    }
    Ok(())
}

fn offered(before: &TestColony, after: &TestColony, crab: &str, item: &Item) -> WorldCheck {
    let lease = after
        .scheduler
        .lease(crab, &item.mission, item.step, item.attempt)
        .ok_or("no lease stands for it")?;
    let known = after.scheduler.crabs.get(crab).ok_or("there is no such crab")?;
    let is_exact = known.has(&item.role);
    let others = after.scheduler.crabs.iter().filter(|(id, _)| *id != crab);
    let idle: Vec<&Crab> =
        others.map(|(_, it)| it).filter(|it| it.is_idle() && it.can(&item.needs)).collect();
    let was_there = before.scheduler.lease(crab, &item.mission, item.step, item.attempt).is_some();
    let place = (lease.ticket, lease.item.step);
    let overtakes = |it: &&Waiting| known.takes(&it.item) && it.place() < place;
    let rows = after.waiting();
    let facts = [
        (known.takes(item), "the crab has no role or no ability for it"),
        (known.fault.is_none() || was_there, "the crab has a fault"),
        (is_exact || was_there || idle.iter().all(|it| !it.has(&item.role)), "a specialist is idle"),
        (was_there || !rows.iter().any(overtakes), "an earlier step waits"),
        (was_there || !lease.others.iter().any(|it| overtakes(&it)), "an earlier step of the mission waits"),
        (!after.rows.contains_key(&item.mission), "it waits, too"),
        (!known.is_parked, "the crab is still parked"),
    ];
    first_that_fails(&facts)
}

/// Checks the promises about every state.
pub fn hold(world: &World<'_>) -> WorldCheck {
    let TestColony { scheduler, rows, .. } = &world.colony;
    let leases = scheduler.leases.values();
    let others = leases.clone().flat_map(|it| &it.others);
    let waits = || rows.values().flatten();
    let mut places: Vec<(u64, StepId)> = waits().chain(others).map(Waiting::place).collect();
    places.extend(leases.clone().map(|it| (it.ticket, it.item.step)));
    let facts = [
        (places.iter().collect::<BTreeSet<_>>().len() == places.len(), "a place is used twice"),
        (leases.clone().all(|it| !it.is_running || it.others.is_empty()), "others wait beside an agent"),
        (rows.keys().all(|it| !scheduler.leases.contains_key(it)), "a mission has a lease, and waits"),
    ];
    first_that_fails(&facts)?;
    for role in super::world::ROLES.iter().filter(|it| **it != ANY) {
        if scheduler.crabs.values().filter(|it| it.has(role)).count() > 1 {
            return Err(format!("two crabs have the role {role}"));
        }
    }
    for (id, crab) in &scheduler.crabs {
        let leases: Vec<&String> =
            scheduler.leases.iter().filter(|(_, it)| it.crab == *id).map(|(mission, _)| mission).collect();
        if !leases.iter().copied().eq(crab.mission.iter()) {
            return Err(format!("crab {id} has the leases {leases:?}, and says {:?}", crab.mission));
        }
        if let Some(row) = waits().find(|it| crab.is_idle() && crab.takes(&it.item)) {
            return Err(format!("crab {id} is idle, and may take {row:?}"));
        }
    }
    if let Some((mission, lease)) =
        scheduler.leases.iter().find(|(_, it)| !scheduler.crabs.contains_key(&it.crab))
    {
        return Err(format!("the lease of {mission} names {}, which is gone", lease.crab));
    }
    if world.delivery == Delivery::AtOnce { missions_agree(world) } else { Ok(()) }
}

/// In one transaction with its mission, a lease or the rows are exactly what the mission says.
fn missions_agree(world: &World<'_>) -> WorldCheck {
    for index in 0..world.missions.len() {
        let Event::Want { mission, next, running, .. } = world.want(index) else { continue };
        let rows = world.colony.rows.get(&mission).cloned().unwrap_or_default();
        let lease = world.colony.scheduler.leases.get(&mission);
        let others = rows.iter().chain(lease.iter().flat_map(|it| &it.others)).map(|it| it.item.clone());
        let mut waits: Vec<Item> =
            others.chain(lease.filter(|it| !it.is_running).map(|it| it.item.clone())).collect();
        waits.sort_by_key(|it| it.step);
        let runs = lease.filter(|it| it.is_running).map(|it| (it.item.step, it.item.attempt));
        if (&runs, &waits) != (&running, &next) {
            return Err(format!(
                "the mission says {:?}, the scheduler {lease:?}, {rows:?}",
                world.want(index)
            ));
        }
    }
    Ok(())
}

fn first_that_fails(facts: &[(bool, &str)]) -> WorldCheck {
    facts.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, what)| Err((*what).to_owned()))
}

/// Name of what has happened, as one word.
pub fn name_of(before: &TestColony, event: &Event, effect: &Effect) -> String {
    let lease = |crab: &str| before.scheduler.leases.values().find(|it| it.crab == crab);
    let what = match (event, effect) {
        (Event::Park { .. }, Effect::Offer { crab, .. }) if lease(crab).is_some() => "OfferedAgain",
        (Event::Want { .. }, Effect::Offer { crab, .. }) if lease(crab).is_some() => "FreedWhileParked",
        (Event::Register { crab, .. }, Effect::Offer { crab: other, .. }) if crab != other => {
            "WithdrawnToAnother"
        }
        (Event::Register { .. }, Effect::Offer { .. }) => "OfferedToNewRole",
        (Event::Register { .. }, Effect::EndAgent { .. }) => "WithdrawnFromNewRole",
        (Event::GiveBack { .. }, Effect::Offer { .. }) => "GivenToAnother",
        (Event::GiveBack { .. }, Effect::Lost { .. }) => "GivenBackRunning",
        (Event::Sweep { .. }, Effect::Offer { .. }) => "ExpiredToAnother",
        (Event::Leave { .. }, Effect::Offer { .. }) => "LeftToAnother",
        (Event::Sweep { .. }, Effect::Lost { crab: Some(crab), .. }) => match lease(crab) {
            Some(Lease { is_running: true, .. }) => "LostRunning",
            Some(Lease { is_accepted: true, .. }) => "LostAccepted",
            _ => "LostOffered",
        },
        (Event::Want { .. }, Effect::Lost { .. }) => "LostWithoutLease",
        (Event::Heartbeat { .. }, Effect::EndAgent { .. }) => "UnknownBeat",
        _ => return format!("{effect:?}"),
    };
    what.to_owned()
}
