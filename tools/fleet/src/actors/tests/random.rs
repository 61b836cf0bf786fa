//! Random colonies: whatever happens, what missions want is what their scheduler has, and no attempt is accepted twice.

use orange_core::mission::{Answer, Event, Report};
use orange_core::plan::{Execution, Intervene, Policy, StepId};
use orange_core::scheduler::Event as SchedulerEvent;
use orange_testkit::Random;

use super::memory::{Memory, by, dev_task};
use crate::host::CallDetails;
use crate::simulate::measure::ASKED;

const SEEDS: u64 = 150;
const EVENTS: usize = 240;
const CRABS: [(&str, &str); 5] = [
    ("planner", "planner"),
    ("worker", "worker,reviewer"),
    ("reviewer", "reviewer"),
    ("any-1", "any"),
    ("any-2", "any,planner"),
];
const MISSIONS: [&str; 4] = ["k", "l", "m", "n"];

#[test]
fn whatever_happens_a_scheduler_has_what_its_missions_want() {
    let mut ended = 0;
    for seed in 1..=SEEDS {
        let mut random = Random::new(seed);
        let mut memory = Memory::new();
        for _ in 0..EVENTS {
            act(&mut memory, &mut random);
        }
        ended += memory.missions.values().filter(|it| it.mission.status.is_terminal()).count();
    }
    assert!(ended > SEEDS as usize / 2, "only {ended} missions have ended: the events are not worth much");
}

fn act(memory: &mut Memory, random: &mut Random) {
    let (crab, roles) = *random.pick(&CRABS);
    let mission = *random.pick(&MISSIONS);
    let owned = crab.to_owned();
    match random.below(20) {
        0 if !memory.missions.contains_key(mission) => {
            let plan = if random.below(2) == 0 { &ASKED } else { dev_task() };
            memory.create_of(plan, mission, policy(random));
        }
        0 | 1 => _ = memory.register(crab, roles),
        2..=4 => _ = memory.park(crab),
        5 if random.below(4) == 0 => _ = memory.colony(SchedulerEvent::Unpark { crab: owned }),
        5 if random.below(4) == 0 => _ = memory.colony(SchedulerEvent::Leave { crab: owned }),
        5 => heartbeat(memory),
        6 => _ = memory.colony(SchedulerEvent::Sweep { seen: None }),
        7 if random.below(3) == 0 => person(memory, random, mission),
        8 if random.below(3) == 0 => give_back(memory, random),
        _ => agent(memory, random, crab, mission),
    }
}

fn policy(random: &mut Random) -> Policy {
    Policy { execution: *random.pick(&Execution::ALL), intervene: *random.pick(&Intervene::ALL) }
}

fn heartbeat(memory: &mut Memory) {
    let leases = memory.colony.scheduler.leases.iter();
    let heartbeats =
        leases.map(|(mission, it)| (it.crab.clone(), mission.clone(), it.item.step, it.item.attempt));
    let leases = heartbeats.collect();
    memory.colony(SchedulerEvent::Heartbeat { leases });
}

fn give_back(memory: &mut Memory, random: &mut Random) {
    let leases: Vec<_> = memory.colony.scheduler.leases.values().cloned().collect();
    if leases.is_empty() {
        return;
    }
    let lease = leases[random.below(leases.len())].clone();
    memory.colony(SchedulerEvent::GiveBack {
        crab: lease.crab,
        mission: lease.item.mission,
        step: lease.item.step,
        attempt: lease.item.attempt,
        reason: "no harness".to_owned(),
    });
}

fn person(memory: &mut Memory, random: &mut Random, mission: &str) {
    if random.below(2) == 0 {
        return answer(memory, random, mission);
    }
    let event = match random.below(8) {
        0 => Event::Cancel,
        1 => Event::Retry { step: None },
        2 => Event::Obstruct { reason: "no worktree".to_owned() },
        _ => Event::Continue {
            pause: None,
            accept_failure: random.below(2) == 0,
            execution: None,
            intervene: None,
        },
    };
    memory.mission(CallDetails::default(), mission, event);
}

/// Has a person answer, or the time for an answer be over: mostly of a question that is open.
fn answer(memory: &mut Memory, random: &mut Random, mission: &str) {
    let Some(actor) = memory.missions.get(mission) else { return };
    let open: Vec<(StepId, u32)> = actor.mission.open_asks().collect();
    let (step, attempt) = match open.first() {
        Some(open) if random.below(5) > 0 => *open,
        Some(_) | None => (StepId(random.below(actor.plan.steps.len()) as u16), 1 + random.below(2) as u32),
    };
    let word = (**random.pick(&["approve", "reject", "perhaps"])).to_owned();
    let by = (**random.pick(&["Ada", "Bob"])).to_owned();
    let answer = Answer { word, comment: String::new(), by, commit: None };
    let event = match random.below(4) {
        0 => Event::Expire { step, attempt },
        _ => Event::Answer { step, attempt, answer },
    };
    memory.mission(CallDetails::default(), mission, event);
}

/// Has a crab report: mostly of what it has, sometimes of what it had or never had.
fn agent(memory: &mut Memory, random: &mut Random, crab: &str, mission: &str) {
    let leases: Vec<_> = memory.colony.scheduler.leases.values().cloned().collect();
    let (crab, mission, step, attempt) = match random.below(5) {
        0 => {
            let steps = memory.missions.get(mission).map_or(1, |it| it.plan.steps.len());
            let step = StepId(random.below(steps) as u16);
            (crab.to_owned(), mission.to_owned(), step, random.below(4) as u32)
        }
        _ if leases.is_empty() => return,
        _ => {
            let lease = leases[random.below(leases.len())].clone();
            let attempt = lease.item.attempt.saturating_sub(u32::from(random.below(8) == 0));
            (lease.crab, lease.item.mission, lease.item.step, attempt)
        }
    };
    let event = match random.below(8) {
        0..=2 => Event::Start { step, attempt },
        3 => Event::Fail { step, attempt, reason: "it failed".to_owned() },
        _ => {
            let plan = memory.missions.get(&mission).map_or_else(dev_task, |it| it.plan);
            let result = match plan.results_of(step) {
                [] => None,
                results => Some((**random.pick(&[results[0], results[results.len() - 1]])).to_owned()),
            };
            let warning = (random.below(5) == 0).then(|| "look".to_owned());
            Event::Complete {
                step,
                attempt,
                report: Report { result, summary: "done".to_owned(), warning, ..Report::default() },
            }
        }
    };
    memory.mission(by(&crab), &mission, event);
}
