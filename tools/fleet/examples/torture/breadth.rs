//! Many simulated crabs at real gateways, while everything is killed, stopped and cut off.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::Result;
use crate::audit::audit;
use crate::crab::{Fortune, SimulatedCrab};
use crate::dice::Dice;
use crate::fault::{FleetFault, recovered};
use crate::people::{answer_missions, start_missions};
use crate::store::StoreKind;
use crate::table::{PartRow, say};
use crate::world::World;

/// Duration of a lease.
const LEASE: Duration = Duration::from_millis(900);

/// So many simulated people start missions.
const STARTERS: u64 = 3;

/// The crabs of named roles; the others take everything.
const ROLES: [&str; 3] = ["planner", "worker", "reviewer"];

/// Runs a fleet on this store for this time, and once through every fault at least. Gives what came of it.
pub(crate) fn run(
    kind: &StoreKind,
    program: &Path,
    seed: u64,
    crabs: u64,
    time: Duration,
) -> Result<PartRow> {
    let dice = |user: &str| Dice::new(seed, &format!("{} {user}", kind.name));
    let mut world = World::start(kind, program, LEASE, &dice("network"), None)?;
    let fortune = Arc::new(Fortune::default());
    let clients = clients(&world, &fortune, crabs, &dice);
    let begin = Instant::now();
    let mut fault_dice = dice("faults");
    let (mut bag, mut faults) = (Vec::new(), 0);
    let mut stuck = None;
    while begin.elapsed() < time || !bag.is_empty() {
        if bag.is_empty() {
            bag = FleetFault::of(&mut world);
        }
        let fault = bag.swap_remove(usize::try_from(fault_dice.below(bag.len() as u64)).unwrap_or_default());
        let before = world.ledger.completions();
        let struck = fault.strike(&mut world, &fortune, crabs, LEASE, &mut fault_dice);
        faults += 1;
        match struck.and_then(|()| recovered(&world, before)) {
            Ok(after) => {
                say(&format!("{}: {}: goes on after {:.2} s", kind.name, fault.name(), after.as_secs_f64()))
            }
            Err(why) => {
                stuck = Some(format!("{}: {why}", fault.name()));
                break;
            }
        }
    }
    fortune.is_calm.store(true, Ordering::Relaxed);
    world.proxies.iter().for_each(|it| it.calm());
    if stuck.is_none() {
        world.until_all_end();
    }
    let found = world.read();
    world.is_over.store(true, Ordering::Relaxed);
    for client in clients {
        if client.join().is_err() {
            world.ledger.notes().broken.push("a client of the torture panicked".to_owned());
        }
    }
    let notes = world.ledger.notes();
    let mut row =
        PartRow::new(&format!("{}, {crabs} simulated crabs", kind.name), faults, &notes, &world.counts);
    match found {
        Ok(found) => row.found(&found, audit(&notes, &found)),
        Err(why) => row.broken.push(why),
    }
    row.broken.splice(0..0, stuck);
    if !row.broken.is_empty() {
        row.broken.push(world.logs());
    }
    Ok(row)
}

fn clients(
    world: &World,
    fortune: &Arc<Fortune>,
    crabs: u64,
    dice: &impl Fn(&str) -> Dice,
) -> Vec<JoinHandle<()>> {
    let mut clients = Vec::new();
    for number in 0..crabs {
        let id = format!("crab-{number}");
        let at = usize::try_from(number).unwrap_or_default();
        let crab = SimulatedCrab {
            role: ROLES.get(at).copied().unwrap_or("any"),
            colony: world.colony.clone(),
            client: world.client.another(at),
            dice: dice(&id),
            lease: LEASE,
            has_line: number % 2 == 0,
            id,
        };
        let fortune = Arc::clone(fortune);
        clients.push(thread::spawn(move || crab.work(&fortune)));
    }
    for number in 0..STARTERS {
        let name = format!("person-{number}");
        let (client, colony, fortune) = (world.client.another(0), world.colony.clone(), Arc::clone(fortune));
        let mut dice = dice(&name);
        clients.push(thread::spawn(move || start_missions(&name, &client, &colony, &mut dice, &fortune)));
    }
    let (client, mut dice) = (world.client.another(0), dice("answers"));
    clients.push(thread::spawn(move || answer_missions(&client, &mut dice)));
    clients
}
