//! Measures the speed of a host: missions made, and missions run to their ends by simulated crabs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use orange_core::mission::Report;
use orange_core::plan::{Ask, Plan, Policy, RoleId, Step, StepId, StepPiece, StepPrompt, StepValue};
use orange_core::wall::{Demand, Level};
use tokio::sync::watch;

use super::SimulatedCrabs;
use crate::host::{ActorReply, Host, HostError, NewMission};

/// Number of calls that have been answered, with the time that they took.
#[derive(Clone, Debug)]
pub struct MeasuredCalls {
    pub count: u32,
    /// From the first call to the last answer.
    pub time: Duration,
    /// The processor time of this process meanwhile, clients included.
    pub cpu: Duration,
    /// The time of each call, sorted; empty where it was not measured.
    pub calls: Vec<Duration>,
}

/// Five steps, one after the other, which every crab takes.
pub const FIVE: Plan<'static> = Plan {
    name: "five",
    version: "1",
    description: "",
    source_hash: "0000000000000005",
    policy: Policy::DEFAULT,
    notices: false,
    roles: &["any"],
    steps: &[
        Step { id: "a", ..STEP },
        Step { id: "b", depends_on: &[StepId(0)], ..STEP },
        Step { id: "c", depends_on: &[StepId(1)], ..STEP },
        Step { id: "d", depends_on: &[StepId(2)], ..STEP },
        Step { id: "e", depends_on: &[StepId(3)], ..STEP },
    ],
    order: &[StepId(0), StepId(1), StepId(2), StepId(3), StepId(4)],
    ..Plan::EMPTY
};

/// Two steps that wait for nothing, each with a role of its own.
pub const APART: Plan<'static> = Plan {
    name: "apart",
    source_hash: "0000000000000002",
    roles: &["planner", "worker"],
    steps: &[Step { id: "a", ..STEP }, Step { id: "b", role: RoleId(1), ..STEP }],
    order: &[StepId(0), StepId(1)],
    ..FIVE
};

/// Two steps of one role that wait for nothing, of which the first needs a wall.
pub const WALLED: Plan<'static> = Plan {
    name: "walled",
    source_hash: "0000000000000003",
    roles: &["worker"],
    steps: &[
        Step { id: "a", sandbox: Demand { level: Level::Wall, ..Demand::NONE }, ..STEP },
        Step { id: "b", ..STEP },
    ],
    order: &[StepId(0), StepId(1)],
    ..FIVE
};

/// A step, an approval of its changes within four hours, and a step after that.
pub const ASKED: Plan<'static> = Plan {
    name: "asked",
    source_hash: "0000000000000004",
    roles: &["worker"],
    steps: &[
        Step { id: "a", ..STEP },
        Step { id: "ok", ask: Some(&APPROVAL), timeout: Some(4 * 60 * 60), depends_on: &[StepId(0)], ..STEP },
        Step { id: "b", depends_on: &[StepId(1)], ..STEP },
    ],
    order: &[StepId(0), StepId(1), StepId(2)],
    ..FIVE
};

const APPROVAL: Ask<'static> =
    Ask { who: &[], shows_context: true, shows_diff: true, is_approval: true, on_timeout: None };

const STEP: Step<'static> = Step {
    title: "A step",
    prompt: StepPrompt { pieces: &[StepPiece::Value(StepValue::MissionPrompt)] },
    ..Step::EMPTY
};

/// Makes missions, this many at once.
///
/// # Errors
/// The host refuses a call.
pub async fn create(
    host: &Arc<dyn Host>,
    colony: &str,
    plan: &'static Plan<'static>,
    count: u32,
    at_once: u32,
) -> Result<MeasuredCalls, String> {
    let next = Arc::new(AtomicU32::new(0));
    let (begin, cpu) = (Instant::now(), processor_time());
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..at_once {
        let (host, next, colony) = (Arc::clone(host), Arc::clone(&next), colony.to_owned());
        clients.spawn(async move {
            let mut calls = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(calls);
                }
                let began = Instant::now();
                made(host.create_mission(mission(&colony, plan, number)).await)?;
                calls.push(began.elapsed());
            }
        });
    }
    let mut calls = Vec::new();
    while let Some(done) = clients.join_next().await {
        calls.extend(done.map_err(|cause| cause.to_string()).and_then(|it: Result<_, String>| it)?);
    }
    calls.sort();
    Ok(MeasuredCalls { count, time: begin.elapsed(), cpu: processor_time().saturating_sub(cpu), calls })
}

/// Has crabs run what waits, until this many missions have been completed.
///
/// # Errors
/// The host refuses a call.
pub async fn run(
    host: &Arc<dyn Host>,
    colony: &str,
    crabs: u32,
    count: u32,
) -> Result<MeasuredCalls, String> {
    let done = |counts: &crate::host::StoreCounts| {
        counts.missions.iter().find(|(status, _)| status == "completed").map_or(0, |(_, n)| *n)
    };
    let before = done(&host.counts().await.map_err(|cause| cause.to_string())?);
    let agent = Arc::new(|_: &str, _: StepId, _| Report { summary: "done".to_owned(), ..Report::default() });
    let name = format!("crab-{}", crate::fault::now());
    let group = SimulatedCrabs::new(Arc::clone(host), colony, &name, agent);
    let (stop, stopped) = watch::channel(false);
    let (begin, cpu) = (Instant::now(), processor_time());
    let roles = (0..crabs).map(|_| vec![orange_core::scheduler::ANY.to_owned()]).collect();
    let running = tokio::spawn(Arc::clone(&group).run(roles, stopped));
    let mut news = host.news();
    loop {
        news.changed().await.map_err(|cause| cause.to_string())?;
        let counts = host.counts().await.map_err(|cause| cause.to_string())?;
        if done(&counts) - before >= u64::from(count) {
            break;
        }
        // Asking is a part of the cost of a follower, and not of the crabs.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (time, cpu) = (begin.elapsed(), processor_time().saturating_sub(cpu));
    let finished = done(&host.counts().await.map_err(|cause| cause.to_string())?) - before;
    stop.send(true).map_err(|cause| cause.to_string())?;
    running.await.map_err(|cause| cause.to_string())??;
    Ok(MeasuredCalls { count: u32::try_from(finished).unwrap_or(u32::MAX), time, cpu, calls: Vec::new() })
}

fn mission(colony: &str, plan: &'static Plan<'static>, number: u32) -> NewMission {
    let prompt =
        format!("Mission {number}: change what the issue asks for.\n\n{}", "A line of detail. ".repeat(20));
    let key = Some(format!("create-{}-{number}", crate::fault::now()));
    NewMission {
        key,
        colony: colony.to_owned(),
        plan,
        prompt,
        branch: None,
        policy: plan.policy,
        inputs: Default::default(),
    }
}

fn made(outcome: Result<ActorReply, HostError>) -> Result<(), String> {
    match outcome {
        Ok(ActorReply::Done { .. }) => Ok(()),
        Ok(
            other @ (ActorReply::MissionRefused(_)
            | ActorReply::SchedulerRefused(_)
            | ActorReply::NotFound
            | ActorReply::Conflict
            | ActorReply::BranchTaken { .. }),
        ) => Err(format!("{other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

impl MeasuredCalls {
    /// Calls in a second.
    pub fn rate(&self) -> f64 {
        f64::from(self.count) / self.time.as_secs_f64()
    }

    /// The time that this part of the calls needs at most.
    pub fn percentile(&self, part: f64) -> Duration {
        let index = (self.calls.len() as f64 * part) as usize;
        self.calls.get(index.min(self.calls.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// The processor time of this process, in ticks of 10 ms; zero where it cannot be read.
pub fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
    let tick = |index: usize| fields.as_ref().and_then(|it| it.get(index)?.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((tick(11) + tick(12)) * 10)
}
