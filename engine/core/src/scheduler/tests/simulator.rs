//! Random colonies: the reducer does what the reference does, and what the design promises holds after every event.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::random_act;
use super::std;
use super::world::{Delivery, World, WorldAct, WorldCheck};
use crate::mission::tests::random::{self, Random, Tables};
use crate::mission::{self, PauseReason};
use crate::plan::{Plan, Policy};
use crate::scheduler::{Ability, Event};

/// `ORANGE_SEEDS` runs more of them.
const SEEDS: u64 = 2_000;

#[test]
fn colonies_follow_the_reference() {
    let seeds = std::env::var("ORANGE_SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(SEEDS);
    let workers = std::thread::available_parallelism().map_or(1, |it| it.get() as u64);
    let work = |worker: u64| {
        (worker..seeds)
            .step_by(workers as usize)
            .filter_map(|it| simulate(it).err())
            .take(4)
            .collect::<Vec<_>>()
    };
    let reports: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|it| scope.spawn(move || work(it))).collect();
        workers.into_iter().flat_map(|it| it.join().expect("a worker ends")).collect()
    });
    if let Some(shortest) = reports.iter().min_by_key(|it| it.len()) {
        panic!("the shortest of {} failures\n{shortest}", reports.len());
    }
}

#[test]
fn the_simulator_reaches_every_effect_and_refusal() {
    let mut seen = BTreeSet::new();
    for seed in 0..800 {
        let start = RunStart::of(seed);
        start.tables.with(|plan| {
            let mut run = start.begin(plan).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            run.seen = Some(BTreeSet::new());
            start
                .happen_at_random(&mut run, &mut Vec::new())
                .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            seen.extend(run.seen.unwrap_or_default());
        });
    }
    let all = "Push Remove Offer EndAgent RoleTaken NoRole NoSuchCrab NoSuchLease HasSwept OfferedAgain FreedWhileParked \
               OfferedToNewRole GivenToAnother GivenBackRunning ExpiredToAnother LeftToAnother LostRunning \
               LostAccepted LostOffered LostWithoutLease UnknownBeat WithdrawnFromNewRole \
               WithdrawnToAnother";
    let missing: Vec<&str> = all.split(' ').filter(|it| !seen.contains(*it)).collect();
    assert!(missing.is_empty(), "no run shows {missing:?}");
}

/// Start of a run, made from a seed.
struct RunStart {
    seed: u64,
    tables: Tables,
    delivery: Delivery,
    policies: Vec<Policy>,
    length: usize,
    /// At the end, the crabs that were there before work too, and not a new one alone.
    all_work: bool,
}

impl RunStart {
    fn of(seed: u64) -> RunStart {
        let mut random = Random::new(seed);
        let delivery =
            [Delivery::AtOnce, Delivery::AtOnce, Delivery::Ordered, Delivery::AnyOrder][random.below(4)];
        RunStart {
            seed,
            tables: random::tables(&mut random),
            delivery,
            policies: (0..1 + random.below(4)).map(|_| random::policy(&mut random)).collect(),
            length: random.below(160),
            all_work: random.percent(50),
        }
    }

    fn begin<'p>(&self, plan: &'p Plan<'p>) -> Result<World<'p>, String> {
        World::new(plan, self.delivery, &self.policies)
    }

    fn happen_at_random(&self, world: &mut World<'_>, acts: &mut Vec<WorldAct>) -> WorldCheck {
        let mut random = Random::new(self.seed.wrapping_mul(31) + 7);
        for _ in 0..self.length {
            let act = random_act::next(&mut random, world, acts);
            acts.push(act.clone());
            world.happens(&act)?;
        }
        Ok(())
    }

    /// Crabs work and persons answer until every mission has ended.
    fn happen_until_all_end(&self, world: &mut World<'_>) -> WorldCheck {
        let mut random = Random::new(self.seed);
        let granted: usize =
            world.missions.iter().flat_map(|it| &it.mission.steps).map(|it| usize::from(it.granted)).sum();
        let attempts =
            (self.tables.0.len() + 1) * (1 + self.tables.rounds() + granted) * world.missions.len();
        let most = 20 + 6 * attempts;
        for _ in 0..most {
            world.all_arrive()?;
            if self.delivery == Delivery::AnyOrder {
                (0..world.missions.len())
                    .try_for_each(|it| world.scheduler_gets(world.want(it)).map(|_| ()))?;
            }
            if world.missions.iter().all(|it| it.has_ended()) {
                let is_empty = world.colony.rows.is_empty() && world.colony.scheduler.leases.is_empty();
                return is_empty
                    .then_some(())
                    .ok_or("every mission has ended, and a step is left".to_string());
            }
            persons_answer(world)?;
            let old = if self.all_work { random_act::CRABS.as_slice() } else { &[] };
            for crab in old.iter().chain(&["Z"]) {
                works(world, &mut random, crab)?;
            }
            world.happens(&WorldAct::Scheduler(Event::Sweep { seen: None }))?;
        }
        let statuses: Vec<_> = world.missions.iter().map(|it| it.mission.status).collect();
        Err(format!("after {most} more rounds the missions are {statuses:?}"))
    }
}

/// One random colony until its missions have ended; or what went wrong.
fn simulate(seed: u64) -> WorldCheck {
    let start = RunStart::of(seed);
    start.tables.with(|plan| {
        let mut acts = Vec::new();
        let mut run = start.begin(plan)?;
        let ended = start.happen_at_random(&mut run, &mut acts);
        ended.and_then(|()| start.happen_until_all_end(&mut run)).map_err(|why| {
            let (acts, why) = shortest(&start, plan, acts, why);
            let acts: Vec<String> = acts.iter().map(|it| format!("  {it:?}")).collect();
            let RunStart { tables, delivery, policies, all_work, .. } = &start;
            let about = format!("{delivery:?}, all work at the end: {all_work}, {policies:?}");
            format!("seed {seed}: {why}\n{about}\n{tables}acts:\n{}", acts.join("\n"))
        })
    })
}

/// The acts without those that the failure does not need.
fn shortest(
    start: &RunStart,
    plan: &Plan<'_>,
    mut acts: Vec<WorldAct>,
    mut why: String,
) -> (Vec<WorldAct>, String) {
    let failure = |acts: &[WorldAct]| {
        let mut run = start.begin(plan).ok()?;
        let ended = acts.iter().try_for_each(|it| run.happens(it));
        ended.and_then(|()| start.happen_until_all_end(&mut run)).err()
    };
    let mut index = 0;
    while index < acts.len() {
        let mut fewer = acts.clone();
        fewer.remove(index);
        match failure(&fewer) {
            Some(other) => (acts, why, index) = (fewer, other, index.saturating_sub(1)),
            None => index += 1,
        }
    }
    (acts, why)
}

fn persons_answer(world: &mut World<'_>) -> WorldCheck {
    for index in 0..world.missions.len() {
        if !world.missions[index].is_paused() {
            continue;
        }
        let reason = world.missions[index].mission.pause().map(|it| &it.reason);
        let accept_failure = matches!(reason, Some(PauseReason::Error(_) | PauseReason::Exhausted(_)));
        for accept_failure in [accept_failure, false] {
            let event =
                mission::Event::Continue { pause: None, accept_failure, execution: None, intervene: None };
            if world.mission_gets(index, event)? {
                break;
            }
        }
    }
    Ok(())
}

/// A crab does what crabs do: it reads, beats, asks, starts, completes, and waits for more.
fn works(world: &mut World<'_>, random: &mut Random, crab: &str) -> WorldCheck {
    let name = || crab.to_string();
    while world.processes.get(crab).is_some_and(|it| it.has_mail()) {
        world.happens(&WorldAct::Reads(name()))?;
    }
    let work = world.processes.get(crab).and_then(|it| it.work.clone());
    if work.is_some() {
        world.happens(&WorldAct::Beats(name()))?;
    }
    match work {
        Some(work) if work.has_started => world.happens(&WorldAct::Completes(name(), random.below(6))),
        Some(_) => {
            world.happens(&WorldAct::Asks(name()))?;
            world.happens(&WorldAct::Starts(name()))
        }
        None => {
            if !world.colony.scheduler.crabs.contains_key(crab) {
                if crab != "Z" {
                    return Ok(());
                }
                let (roles, abilities) = (vec!["any".to_string()], Ability::ALL.into_iter().collect());
                world.happens(&WorldAct::Scheduler(Event::Register { crab: name(), roles, abilities }))?;
            }
            world.happens(&WorldAct::Scheduler(Event::Park { crab: name() }))
        }
    }
}
