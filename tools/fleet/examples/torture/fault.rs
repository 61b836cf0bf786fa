//! The faults of a fleet, one after the other.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::crab::Fortune;
use crate::dice::Dice;
use crate::process::FleetProcess;
use crate::world::{PATIENCE, World};

/// After a fault so many more steps are completed before the next one.
const STEPS_BETWEEN: usize = 4;

/// Reason for which a fault cannot happen.
const NO_SERVER: &str = "the store has no server";

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FleetFault {
    KillGateway,
    StopGateway,
    EndGateway,
    SecondGateway,
    KillCrab,
    FreezeCrab,
    KillAll,
    Part,
    KillStore,
    StopStore,
    FailOver,
}

impl FleetFault {
    /// Those that can happen to this fleet.
    pub(crate) fn of(world: &mut World) -> Vec<FleetFault> {
        let mut faults = vec![
            FleetFault::KillGateway,
            FleetFault::StopGateway,
            FleetFault::EndGateway,
            FleetFault::KillCrab,
            FleetFault::FreezeCrab,
            FleetFault::KillAll,
            FleetFault::Part,
        ];
        if world.gateways.len() == 1 {
            faults.push(FleetFault::SecondGateway);
        }
        if world.store.server().is_some() {
            faults.extend([FleetFault::KillStore, FleetFault::StopStore]);
        }
        if world.store.has_standby() {
            faults.push(FleetFault::FailOver);
        }
        faults
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            FleetFault::KillGateway => "kill -9 of a gateway",
            FleetFault::StopGateway => "a gateway stands still for three leases",
            FleetFault::EndGateway => "a gateway is stopped and started",
            FleetFault::SecondGateway => "a second gateway at a store for one is refused",
            FleetFault::KillCrab => "a crab dies and comes back",
            FleetFault::FreezeCrab => "a crab stands still for three leases and goes on",
            FleetFault::KillAll => "kill -9 of everything at once",
            FleetFault::Part => "nothing comes through the network for two leases",
            FleetFault::KillStore => "kill -9 of the database",
            FleetFault::StopStore => "the database stands still for three leases",
            FleetFault::FailOver => "kill -9 of the database, and its standby takes over",
        }
    }

    pub(crate) fn strike(
        self,
        world: &mut World,
        fortune: &Fortune,
        crabs: u64,
        lease: Duration,
        dice: &mut Dice,
    ) -> Result<(), String> {
        let number = usize::try_from(dice.below(world.gateways.len() as u64)).unwrap_or_default();
        match self {
            FleetFault::KillGateway => {
                world.gateways[number].kill();
                thread::sleep(dice.time(lease));
                world.gateways[number].start()?;
            }
            FleetFault::StopGateway => {
                world.gateways[number].stop();
                thread::sleep(lease * 3);
                world.gateways[number].go_on();
            }
            FleetFault::EndGateway => {
                world.gateways[number].end();
                world.gateways[number].start()?;
            }
            FleetFault::SecondGateway => {
                let mut second = world.another_gateway(lease)?;
                match second.start() {
                    Ok(()) => return Err("two gateways serve one store that is for one".to_owned()),
                    Err(why) if why.contains("another gateway serves") => {}
                    Err(why) => return Err(why),
                }
            }
            FleetFault::KillCrab => {
                _ = fortune.deaths.fetch_add(1 + dice.below(crabs / 2), Ordering::Relaxed)
            }
            FleetFault::FreezeCrab => {
                _ = fortune.freezes.fetch_add(1 + dice.below(crabs / 3), Ordering::Relaxed)
            }
            FleetFault::KillAll => {
                fortune.deaths.fetch_add(crabs, Ordering::Relaxed);
                world.store.server().into_iter().for_each(|it| it.process().kill());
                world.gateways.iter_mut().for_each(FleetProcess::kill);
                thread::sleep(dice.time(lease));
                world.store.server().map_or(Ok(()), |it| it.start())?;
                world.gateways.iter_mut().try_for_each(FleetProcess::start)?;
            }
            FleetFault::Part => {
                world.proxies.iter().for_each(|it| it.part(true));
                thread::sleep(lease * 2);
                world.proxies.iter().for_each(|it| it.part(false));
            }
            FleetFault::KillStore => {
                let server = world.store.server().ok_or(NO_SERVER)?;
                server.process().kill();
                thread::sleep(dice.time(lease));
                server.start()?;
            }
            FleetFault::StopStore => {
                let server = world.store.server().ok_or(NO_SERVER)?;
                server.process().stop();
                thread::sleep(lease * 3);
                server.process().go_on();
            }
            FleetFault::FailOver => world.store.fail_over()?,
        }
        Ok(())
    }
}

/// Waits until the fleet works again: some steps more are completed. Gives the time until the first of them.
pub(crate) fn recovered(world: &World, before: usize) -> Result<Duration, String> {
    let begin = Instant::now();
    let mut first = None;
    while world.ledger.completions() < before + STEPS_BETWEEN {
        if first.is_none() && world.ledger.completions() > before {
            first = Some(begin.elapsed());
        }
        if begin.elapsed() > PATIENCE {
            return Err(format!("no step is completed any more, {} s after it", PATIENCE.as_secs()));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(first.unwrap_or_else(|| begin.elapsed()))
}
