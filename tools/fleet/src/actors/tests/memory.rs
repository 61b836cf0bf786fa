//! A host that keeps everything in memory, and checks what has to hold.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::mission::{Event, Mission, Report, StepStatus};
use orange_core::plan::{Plan, Policy, StepId};
use orange_core::scheduler::{Event as SchedulerEvent, Heads, Scheduler, Waiting};

use crate::actors::{Change, MissionActor, SchedulerActor, Todo, Turn};
use crate::host::{About, Call, Delivery, Event as HostEvent, Reply};
use crate::plans::PLANS;

pub(super) const COLONY: &str = "home";

#[derive(Default)]
pub(super) struct Memory {
    pub(super) missions: BTreeMap<String, MissionActor>,
    pub(super) unreadable: BTreeSet<String>,
    pub(super) colony: SchedulerActor,
    pub(super) waiting: BTreeMap<String, Waiting>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) changes: Vec<Change>,
    completed: BTreeSet<String>,
}

/// All that a refused call leaves as it is.
type State = (Vec<(u64, Mission)>, u64, Scheduler, BTreeMap<String, Waiting>);

pub(super) fn dev_task() -> &'static Plan<'static> {
    PLANS.iter().find(|plan| plan.name == "dev-task").unwrap()
}

pub(super) fn step(name: &str) -> StepId {
    dev_task().step_named(name).unwrap()
}

pub(super) fn by(crab: &str) -> About {
    About { crab: Some(crab.to_owned()), ..About::default() }
}

impl Memory {
    pub(super) fn new() -> Memory {
        let colony = SchedulerActor { colony: COLONY.to_owned(), ..SchedulerActor::default() };
        Memory { colony, ..Memory::default() }
    }

    pub(super) fn create(&mut self, id: &str, policy: Policy) -> Reply {
        let (plan, mission) = (dev_task(), Mission::new(dev_task(), policy));
        let (own, colony, ticket) = (id.to_owned(), COLONY.to_owned(), self.missions.len() as u64);
        let actor = MissionActor { id: own, colony, plan, mission, version: 0, ticket };
        self.missions.insert(id.to_owned(), actor);
        self.run(Turn::created(id))
    }

    pub(super) fn mission(&mut self, about: About, id: &str, event: Event) -> Reply {
        let event = HostEvent::Mission { id: id.to_owned(), event };
        self.run(Turn::new(Call { key: None, event, about }))
    }

    pub(super) fn colony(&mut self, event: SchedulerEvent) -> Reply {
        let event = HostEvent::Scheduler { id: COLONY.to_owned(), event };
        self.run(Turn::new(Call { key: None, event, about: About::default() }))
    }

    pub(super) fn register(&mut self, crab: &str, roles: &str) -> Reply {
        let roles = roles.split(',').map(str::to_owned).collect();
        self.colony(SchedulerEvent::Register { crab: crab.to_owned(), roles })
    }

    pub(super) fn park(&mut self, crab: &str) -> Reply {
        self.colony(SchedulerEvent::Park { crab: crab.to_owned() })
    }

    pub(super) fn complete(
        &mut self,
        crab: &str,
        id: &str,
        name: &str,
        attempt: u32,
        result: Option<&str>,
    ) -> Reply {
        let report =
            Report { result: result.map(str::to_owned), summary: format!("{name} {attempt}"), warning: None };
        self.mission(by(crab), id, Event::Complete { step: step(name), attempt, report })
    }

    /// Runs a turn as a host does. A refused one has changed nothing.
    fn run(&mut self, mut turn: Turn) -> Reply {
        let before = self.state();
        (self.deliveries, self.changes) = (Vec::new(), Vec::new());
        while let Some(todo) = turn.todo() {
            let changes = match todo {
                Todo::Mission { id, .. } if self.unreadable.contains(&id) => {
                    turn.unreadable(&id, COLONY, self.missions[&id].version);
                    Vec::new()
                }
                Todo::Mission { id, what } => match self.missions.get_mut(&id) {
                    Some(actor) => turn.mission(actor, &self.colony.scheduler, what),
                    None => {
                        turn.no_mission();
                        Vec::new()
                    }
                },
                Todo::Scheduler { event, .. } => {
                    let event = self.with_row(event);
                    let heads = self.heads();
                    turn.scheduler(&mut self.colony, &heads, event)
                }
            };
            changes.into_iter().for_each(|change| self.write(change));
        }
        let outcome = turn.outcome();
        if !matches!(outcome, Reply::Done { .. }) {
            assert_eq!(self.state(), before, "a refused call has changed something: {outcome:?}");
        }
        self.check();
        outcome
    }

    fn with_row(&self, event: SchedulerEvent) -> SchedulerEvent {
        let SchedulerEvent::Want { mission, version, ticket, next, running, waiting: _ } = event else {
            return event;
        };
        let waiting = self.waiting.get(&mission).cloned();
        SchedulerEvent::Want { mission, version, ticket, next, running, waiting }
    }

    fn heads(&self) -> Heads {
        let mut heads = Heads::new();
        for row in self.waiting.values() {
            let head = heads.entry(row.item.role.clone()).or_insert_with(|| row.clone());
            if row.ticket < head.ticket {
                *head = row.clone();
            }
        }
        heads
    }

    fn write(&mut self, change: Change) {
        match &change {
            Change::Push { waiting, .. } => {
                let before = self.waiting.insert(waiting.item.mission.clone(), waiting.clone());
                assert_eq!(before, None, "two steps of a mission wait");
            }
            Change::Remove { mission } => _ = self.waiting.remove(mission),
            Change::Deliver(delivery) => self.deliveries.push(delivery.clone()),
            Change::Record { mission: Some(mission), kind: "run.completed", data, .. } => {
                let name = format!("{mission} {} {}", data["step"], data["attempt"]);
                assert!(self.completed.insert(name.clone()), "{name} has been completed twice");
            }
            Change::Record { .. } | Change::Attempt { .. } | Change::Crab { .. } => {}
        }
        self.changes.push(change);
    }

    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let kind = |change: &Change| match change {
            Change::Record { kind, .. } => Some(*kind),
            Change::Attempt { .. }
            | Change::Push { .. }
            | Change::Remove { .. }
            | Change::Crab { .. }
            | Change::Deliver(_) => None,
        };
        self.changes.iter().filter_map(kind).collect()
    }

    fn state(&self) -> State {
        let missions = self.missions.values().map(|it| (it.version, it.mission.clone())).collect();
        (missions, self.colony.version, self.colony.scheduler.clone(), self.waiting.clone())
    }

    /// What a mission wants is what its scheduler has: a lease or a row, for exactly this attempt.
    fn check(&self) {
        for (id, actor) in self.missions.iter().filter(|(id, _)| !self.unreadable.contains(*id)) {
            let mission = &actor.mission;
            let running = mission.busy().filter(|it| mission.step(*it).status == StepStatus::Running);
            let wanted = running.map(|it| (it, mission.step(it).attempt())).or_else(|| mission.next());
            let lease = self.colony.scheduler.leases.get(id).map(|it| (it.item.step, it.item.attempt));
            let row = self.waiting.get(id).map(|it| (it.item.step, it.item.attempt));
            assert!(lease.is_none() || row.is_none(), "{id} is leased and waits");
            assert_eq!(lease.or(row), wanted, "{id}: {mission:?}");
            if running.is_some() {
                assert_eq!(lease, wanted, "{id} runs without a lease");
            }
        }
    }
}
