//! An event costs the same however many steps wait: the reducer sees the first one of each lane, and the row of the mission that speaks.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::colony::TestColony;
use super::world::ROLES;
use crate::plan::StepId;
use crate::scheduler::*;

#[test]
fn an_event_reads_as_much_with_100_000_steps_waiting() {
    let (few, many) = (reads_of_events(20), reads_of_events(100_000));
    assert_eq!(few, many);
    let most = many.values().max().copied();
    assert_eq!(most, Some(ROLES.len()), "{many:?}");
}

#[test]
fn the_scheduler_keeps_nothing_of_the_steps_that_wait() {
    let colony = with_waiting(100_000);
    assert_eq!(colony.scheduler, Scheduler::default());
}

fn with_waiting(count: u32) -> TestColony {
    let mut colony = TestColony::default();
    for number in 0..count {
        let role = ROLES[number as usize % ROLES.len()];
        let effects = colony.happens(want(&format!("m{number:06}"), 1, Some(role)));
        assert_eq!(effects.map(|it| it.len()), Ok(1));
    }
    assert_eq!(colony.rows.len(), count as usize);
    colony
}

/// Number of rows that each event reads.
fn reads_of_events(waiting: u32) -> BTreeMap<&'static str, usize> {
    let mut colony = with_waiting(waiting);
    let register = |crab: &str, role: &str| {
        let (crab, roles) = (crab.to_string(), vec![role.to_string()]);
        Event::Register { crab, roles, abilities: BTreeSet::new() }
    };
    let park = |crab: &str| Event::Park { crab: crab.to_string() };
    let leased = "m000000".to_string();
    let events = [
        ("register", register("A", "any")),
        ("park", park("A")),
        ("beat", Event::Heartbeat { leases: vec![("A".to_string(), leased.clone(), StepId(0), 1)] }),
        ("park at work", park("A")),
        ("want another, with a parked crab", want(&leased, 2, None)),
        ("want", want("new", 1, Some("worker"))),
        ("want a step that waits no longer", want("m000009", 2, None)),
        ("register another", register("B", "worker")),
        ("park a specialist", park("B")),
        ("sweep", Event::Sweep { seen: None }),
        ("sweep offers away", Event::Sweep { seen: None }),
        ("leave", Event::Leave { crab: "A".to_string() }),
    ];
    let reads = |(name, event): (&'static str, Event)| {
        let before = colony.reads;
        let answer = colony.happens(event);
        assert!(answer.is_ok(), "{name}: {answer:?}");
        (name, colony.reads - before)
    };
    events.map(reads).into_iter().collect()
}

fn want(mission: &str, version: u64, role: Option<&str>) -> Event {
    let item = |role: &str| Item {
        mission: mission.to_string(),
        step: StepId(0),
        attempt: 1,
        role: role.to_string(),
        needs: BTreeSet::new(),
    };
    let ticket = mission.trim_start_matches('m').parse().unwrap_or(u64::MAX);
    let (mission, next) = (mission.to_string(), role.map(item).into_iter().collect());
    Event::Want { mission, version, ticket, next, running: None, waiting: Vec::new() }
}
