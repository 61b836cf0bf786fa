//! Random acts: mostly what crabs and persons would do now, sometimes anything.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::world::{Delivery, ROLES, World, WorldAct};
use crate::mission;
use crate::mission::tests::random::{self, Random};
use crate::plan::StepId;
use crate::scheduler::{Ability, Event};

pub const CRABS: [&str; 4] = ["A", "B", "C", "D"];

pub fn next(random: &mut Random, world: &World<'_>, acts: &[WorldAct]) -> WorldAct {
    let crab = CRABS[random.below(CRABS.len())].to_owned();
    match random.below(100) {
        0..8 => WorldAct::Scheduler(register(random, crab)),
        8..12 => WorldAct::Scheduler(sweep(random, world)),
        12..17 => by_person(random, world),
        17..22 => odd(random, world, crab),
        22..26 => rare(random, crab),
        26..28 if !acts.is_empty() => acts[random.below(acts.len())].clone(),
        28..40 if world.delivery != Delivery::AtOnce => arrival(random, world),
        _ => sensible(random, world, crab),
    }
}

/// An act that leads on.
fn sensible(random: &mut Random, world: &World<'_>, crab: String) -> WorldAct {
    let process = world.processes.get(&crab);
    if process.is_some_and(|it| it.has_mail()) && random.percent(80) {
        return WorldAct::Reads(crab);
    }
    let Some(work) = process.and_then(|it| it.work.as_ref()) else {
        return WorldAct::Scheduler(Event::Park { crab });
    };
    match random.below(10) {
        0..3 => WorldAct::Beats(crab),
        3 if !work.has_started => WorldAct::Asks(crab),
        3 => WorldAct::Fails(crab),
        4..9 if !work.has_started => WorldAct::Starts(crab),
        4..9 => WorldAct::Completes(crab, random.below(6)),
        _ => WorldAct::Scheduler(Event::Park { crab }),
    }
}

/// A gateway sweeps by itself; or it has looked now, or before, at how often that was done.
fn sweep(random: &mut Random, world: &World<'_>) -> Event {
    let sweeps = world.colony.scheduler.sweeps;
    let seen = match random.below(4) {
        0 => Some(sweeps),
        1 => Some(sweeps.saturating_sub(1)),
        _ => None,
    };
    Event::Sweep { seen }
}

fn register(random: &mut Random, crab: String) -> Event {
    let count = if random.percent(3) { 0 } else { 1 + random.below(2) };
    let roles = (0..count).map(|_| ROLES[random.below(ROLES.len())].to_string()).collect();
    // Most crabs can do everything; some are of an older version, or on a machine without walls.
    let abilities = Ability::ALL.into_iter().filter(|_| random.percent(75)).collect();
    Event::Register { crab, roles, abilities }
}

/// A person, or an agent that nobody knows, sends a mission something. Only crabs start agents.
fn by_person(random: &mut Random, world: &World<'_>) -> WorldAct {
    let index = random.below(world.missions.len());
    let event = random::event(random, world.plan, &world.missions[index].mission, &[]);
    if matches!(event, mission::Event::Start { .. } | mission::Event::Assign { .. }) {
        return WorldAct::Mission(index, mission::Event::Obstruct { reason: "no remote".to_owned() });
    }
    WorldAct::Mission(index, event)
}

fn rare(random: &mut Random, crab: String) -> WorldAct {
    match random.below(8) {
        0 => WorldAct::Dies(crab),
        1 => WorldAct::LosesMail(crab),
        4..6 => WorldAct::Scheduler(Event::Leave { crab }),
        6 => WorldAct::Scheduler(Event::Unpark { crab }),
        _ => WorldAct::GivesBack(crab),
    }
}

/// About any mission and any attempt, there or not; or a late end of an agent.
fn odd(random: &mut Random, world: &World<'_>, crab: String) -> WorldAct {
    let mission = format!("m{}", random.below(world.missions.len()));
    let attempt = random.below(4) as u32;
    let step = StepId(random.below(world.plan.steps.len()) as u16);
    match random.below(8) {
        0 => WorldAct::Scheduler(Event::Heartbeat { leases: [(crab, mission, step, attempt)].into() }),
        1 => WorldAct::Scheduler(Event::GiveBack {
            crab,
            mission,
            step,
            attempt,
            reason: "no harness".to_owned(),
        }),
        2 => WorldAct::Scheduler(Event::Unpark { crab }),
        3 => WorldAct::Scheduler(Event::Heartbeat { leases: beats(world) }),
        4 => WorldAct::Repeats(random.below(world.missions.len())),
        5 => WorldAct::Beats(crab),
        _ => WorldAct::CompletesLate(crab, random.below(6)),
    }
}

/// One batch of every lease that stands.
fn beats(world: &World<'_>) -> Vec<(String, String, StepId, u32)> {
    let leases = world.colony.scheduler.leases.iter();
    leases.map(|(mission, it)| (it.crab.clone(), mission.clone(), it.item.step, it.item.attempt)).collect()
}

fn arrival(random: &mut Random, world: &World<'_>) -> WorldAct {
    let mission = random.below(world.missions.len());
    WorldAct::Arrives { mission, place: random.below(4), again: random.percent(20) }
}
