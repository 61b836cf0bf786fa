//! A host that keeps everything in memory, and checks what has to hold.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::mission::{Event, Mission, Report, StepStatus};
use orange_core::plan::{Plan, Policy, StepId};
use orange_core::scheduler::{Event as SchedulerEvent, Head, Heads, Scheduler, Waiting};

use crate::actors::{Cascade, HostChange, MissionActor, SchedulerActor, Todo};
use crate::host::{ActorCall, ActorReply, CallDetails, Delivery, Event as HostEvent};
use crate::model;
use crate::plans::PLANS;

pub(super) const COLONY: &str = "home";

#[derive(Default)]
pub(super) struct Memory {
    pub(super) missions: BTreeMap<String, MissionActor>,
    pub(super) unreadable: BTreeSet<String>,
    pub(super) colony: SchedulerActor,
    /// By mission; a mission that has none has no entry.
    pub(super) waiting: BTreeMap<String, Vec<Waiting>>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) changes: Vec<HostChange>,
    completed: BTreeSet<String>,
}

/// All that a refused call leaves as it is.
type State = (Vec<(u64, Mission)>, u64, Scheduler, BTreeMap<String, Vec<Waiting>>);

pub(super) fn dev_task() -> &'static Plan<'static> {
    PLANS.iter().find(|plan| plan.name == "dev-task").unwrap()
}

pub(super) fn step(name: &str) -> StepId {
    dev_task().step_named(name).unwrap()
}

pub(super) fn by(crab: &str) -> CallDetails {
    CallDetails { crab: Some(crab.to_owned()), ..CallDetails::default() }
}

impl Memory {
    pub(super) fn new() -> Memory {
        let colony = SchedulerActor { colony: COLONY.to_owned(), ..SchedulerActor::default() };
        Memory { colony, ..Memory::default() }
    }

    pub(super) fn create(&mut self, id: &str, policy: Policy) -> ActorReply {
        self.create_of(dev_task(), id, policy)
    }

    pub(super) fn create_of(&mut self, plan: &'static Plan<'static>, id: &str, policy: Policy) -> ActorReply {
        let mission = Mission::new(plan, policy);
        let (own, colony, ticket) = (id.to_owned(), COLONY.to_owned(), self.missions.len() as u64);
        let actor = MissionActor { id: own, colony, plan, mission, version: 0, ticket, tip: None };
        self.missions.insert(id.to_owned(), actor);
        self.run(Cascade::created(id))
    }

    pub(super) fn mission(&mut self, about: CallDetails, id: &str, event: Event) -> ActorReply {
        let event = HostEvent::Mission { id: id.to_owned(), event };
        self.run(Cascade::new(ActorCall { key: None, event, about }))
    }

    pub(super) fn colony(&mut self, event: SchedulerEvent) -> ActorReply {
        let event = HostEvent::Scheduler { id: COLONY.to_owned(), event };
        self.run(Cascade::new(ActorCall { key: None, event, about: CallDetails::default() }))
    }

    pub(super) fn register(&mut self, crab: &str, roles: &str) -> ActorReply {
        let roles = roles.split(',').map(str::to_owned).collect();
        self.colony(SchedulerEvent::Register { crab: crab.to_owned(), roles, abilities: BTreeSet::new() })
    }

    pub(super) fn park(&mut self, crab: &str) -> ActorReply {
        self.colony(SchedulerEvent::Park { crab: crab.to_owned() })
    }

    pub(super) fn complete(
        &mut self,
        crab: &str,
        id: &str,
        name: &str,
        attempt: u32,
        result: Option<&str>,
    ) -> ActorReply {
        let report = Report {
            result: result.map(str::to_owned),
            summary: format!("{name} {attempt}"),
            warning: None,
            ..Report::default()
        };
        self.mission(by(crab), id, Event::Complete { step: step(name), attempt, report })
    }

    /// Runs a cascade as a host does. A refused one has changed nothing.
    fn run(&mut self, mut cascade: Cascade) -> ActorReply {
        let before = self.state();
        (self.deliveries, self.changes) = (Vec::new(), Vec::new());
        while let Some(todo) = cascade.todo() {
            let changes = match todo {
                Todo::Mission { id, .. } if self.unreadable.contains(&id) => {
                    cascade.unreadable(&id, COLONY, self.missions[&id].version);
                    Vec::new()
                }
                Todo::Mission { id, what } => match self.missions.get_mut(&id) {
                    Some(actor) => cascade.mission(actor, &self.colony.scheduler, what),
                    None => {
                        cascade.no_mission();
                        Vec::new()
                    }
                },
                Todo::Scheduler { event, .. } => {
                    let event = self.with_row(event);
                    let heads = self.heads();
                    cascade.scheduler(&mut self.colony, &heads, event)
                }
            };
            changes.into_iter().for_each(|change| self.write(change));
        }
        let outcome = cascade.outcome();
        if !matches!(outcome, ActorReply::Done { .. }) {
            assert_eq!(self.state(), before, "a refused call has changed something: {outcome:?}");
        }
        self.check();
        outcome
    }

    fn with_row(&self, event: SchedulerEvent) -> SchedulerEvent {
        let SchedulerEvent::Want { mission, version, ticket, next, running, waiting: _ } = event else {
            return event;
        };
        let waiting = self.waiting.get(&mission).cloned().unwrap_or_default();
        SchedulerEvent::Want { mission, version, ticket, next, running, waiting }
    }

    fn heads(&self) -> Heads {
        let mut heads = Heads::new();
        let mut rows: Vec<&Waiting> = self.waiting.values().flatten().collect();
        rows.sort_by_key(|it| it.place());
        for row in rows {
            let others = self.waiting[&row.item.mission].iter().filter(|it| *it != row);
            let head = || Head { step: row.clone(), others: others.cloned().collect() };
            heads.entry(row.item.lane()).or_insert_with(head);
        }
        heads
    }

    fn write(&mut self, change: HostChange) {
        match &change {
            HostChange::Push { waiting, .. } => {
                let rows = self.waiting.entry(waiting.item.mission.clone()).or_default();
                assert!(rows.iter().all(|it| it.item.step != waiting.item.step), "a step waits twice");
                rows.push(waiting.clone());
            }
            HostChange::Remove { mission } => _ = self.waiting.remove(mission),
            HostChange::Deliver(delivery) => self.deliveries.push(delivery.clone()),
            HostChange::Record {
                mission: Some(mission),
                kind: "run.completed" | "step.answered" | "step.expired",
                data,
                ..
            } => {
                let name = format!("{mission} {} {}", data["step"], data["attempt"]);
                assert!(self.completed.insert(name.clone()), "{name} has been completed twice");
            }
            HostChange::Record { .. } | HostChange::Attempt { .. } | HostChange::Crab { .. } => {}
        }
        self.changes.push(change);
    }

    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let kind = |change: &HostChange| match change {
            HostChange::Record { kind, .. } => Some(*kind),
            HostChange::Attempt { .. }
            | HostChange::Push { .. }
            | HostChange::Remove { .. }
            | HostChange::Crab { .. }
            | HostChange::Deliver(_) => None,
        };
        self.changes.iter().filter_map(kind).collect()
    }

    fn state(&self) -> State {
        let missions = self.missions.values().map(|it| (it.version, it.mission.clone())).collect();
        (missions, self.colony.version, self.colony.scheduler.clone(), self.waiting.clone())
    }

    /// Asserts that a scheduler has what its missions want: a lease or rows, for exactly these attempts.
    fn check(&self) {
        for (id, actor) in self.missions.iter().filter(|(id, _)| !self.unreadable.contains(*id)) {
            let mission = &actor.mission;
            let running = mission.busy().filter(|it| mission.step(*it).status == StepStatus::Running);
            let running = running.map(|it| (it, mission.step(it).attempt()));
            let wanted: Vec<(StepId, u32)> =
                running.into_iter().chain(model::mission::work(actor.plan, mission)).collect();
            assert_eq!(mission.next_ask(actor.plan), None, "{id} has not put a question: {mission:?}");
            let lease = self.colony.scheduler.leases.get(id);
            let rows = self.waiting.get(id);
            assert!(lease.is_none() || rows.is_none(), "{id} is leased and waits");
            let others = lease.iter().flat_map(|it| &it.others).chain(rows.into_iter().flatten());
            let items = lease.iter().map(|it| &it.item).chain(others.map(|it| &it.item));
            let mut found: Vec<(StepId, u32)> = items.map(|it| (it.step, it.attempt)).collect();
            found.sort();
            assert_eq!(found, wanted, "{id}: {mission:?}");
            if running.is_some() {
                assert!(lease.is_some(), "{id} runs without a lease");
            }
        }
    }
}
