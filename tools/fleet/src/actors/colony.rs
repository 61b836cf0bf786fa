//! The part of a cascade that concerns a scheduler.

use orange_core::scheduler::{Effect, Event, Heads, Item};
use serde_json::json;

use super::{Cascade, CrabChange, HostChange, MissionHappening, SchedulerActor, Todo, done};
use crate::host::{ActorReply, Delivery, Instruction};

impl Cascade {
    /// Has an event happen to a scheduler. `heads` are the first waiting steps of its colony by lane, and the event of a mission has the
    /// rows of that mission.
    pub fn scheduler(&mut self, actor: &mut SchedulerActor, heads: &Heads, event: Event) -> Vec<HostChange> {
        if matches!(event, Event::Sweep { .. }) && actor.scheduler.leases.is_empty() {
            self.answer(done(actor.version, true, None));
            return Vec::new();
        }
        let given_back = given_back(actor, &event);
        let (held, is_sweep) = (held(actor, &event), matches!(event, Event::Sweep { .. }));
        let mut changes = self.heard(actor, &event);
        let effects = match actor.scheduler.apply(heads, event) {
            Ok(effects) => effects,
            Err(refusal) => {
                self.answer(ActorReply::SchedulerRefused(refusal));
                return Vec::new();
            }
        };
        actor.version += 1;
        self.answer(done(actor.version, false, None));
        self.todo.extend(given_back);
        for effect in effects {
            if is_sweep {
                changes.extend(gone(actor, &effect));
            }
            changes.extend(self.effect(&actor.colony, held.as_ref(), effect));
        }
        changes
    }

    fn effect(&mut self, colony: &str, held: Option<&(String, Item)>, effect: Effect) -> Option<HostChange> {
        match effect {
            Effect::Push(waiting) => Some(HostChange::Push { colony: colony.to_owned(), waiting }),
            Effect::Remove { mission } => Some(HostChange::Remove { mission }),
            Effect::Offer { crab, item } => {
                let is_news = held.is_none_or(|(holder, has)| (holder, has) != (&crab, &item));
                let what = MissionHappening::Offered { item: item.clone(), crab: crab.clone(), is_news };
                self.todo.push_back(Todo::Mission { id: item.mission.clone(), what });
                Some(deliver(colony, crab, Instruction::Offer(item)))
            }
            Effect::EndAgent { crab, mission, step, attempt } => {
                let has_reported = self.about.crab.as_ref() == Some(&crab)
                    && self.reported.as_ref().is_some_and(|it| *it == (mission.clone(), step, attempt));
                let instruction = || deliver(colony, crab, Instruction::EndAgent { mission, step, attempt });
                (!has_reported).then(instruction)
            }
            Effect::Lost { crab, item } => {
                let id = item.mission.clone();
                self.todo.push_back(Todo::Mission { id, what: MissionHappening::Lost { item, crab } });
                None
            }
        }
    }

    /// News of the crabs that an event comes from.
    fn heard(&self, actor: &SchedulerActor, event: &Event) -> Vec<HostChange> {
        let colony = &actor.colony;
        let change =
            |crab: &String, what| HostChange::Crab { colony: colony.clone(), crab: crab.clone(), what };
        let record = |kind, data| HostChange::Record { colony: colony.clone(), mission: None, kind, data };
        match event {
            Event::Register { crab, roles, abilities } => {
                let name = self.about.name.clone().unwrap_or_else(|| crab.clone());
                let data = json!({"crab": crab, "name": name, "roles": roles, "abilities": abilities});
                vec![change(crab, CrabChange::Registered(name)), record("crab.registered", data)]
            }
            Event::Leave { crab } => {
                vec![change(crab, CrabChange::Left), record("crab.left", json!({"crab": crab}))]
            }
            Event::Park { crab } | Event::Unpark { crab } | Event::GiveBack { crab, .. } => {
                vec![change(crab, CrabChange::Heard)]
            }
            Event::Heartbeat { leases } => {
                let mut crabs: Vec<&String> = leases.iter().map(|(crab, _, _, _)| crab).collect();
                crabs.sort();
                crabs.dedup();
                let known = crabs.into_iter().filter(|crab| actor.scheduler.crabs.contains_key(*crab));
                known.map(|crab| change(crab, CrabChange::Heard)).collect()
            }
            Event::Want { .. } | Event::Sweep { .. } => Vec::new(),
        }
    }
}

/// Entry in the history of a mission for a step that is given back; the lease says which step it is.
fn given_back(actor: &SchedulerActor, event: &Event) -> Option<Todo> {
    let Event::GiveBack { crab, mission, step, attempt, reason } = event else { return None };
    let item = actor.scheduler.lease(crab, mission, *step, *attempt)?.item.clone();
    let what = MissionHappening::GivenBack { item, crab: crab.clone(), reason: reason.clone() };
    Some(Todo::Mission { id: mission.clone(), what })
}

/// News of a crab that was silent for too long: it is gone.
fn gone(actor: &SchedulerActor, effect: &Effect) -> Vec<HostChange> {
    let Effect::Lost { crab: Some(crab), item: _ } = effect else { return Vec::new() };
    if actor.scheduler.crabs.contains_key(crab) {
        return Vec::new();
    }
    let (colony, data) = (actor.colony.clone(), json!({"crab": crab}));
    vec![
        HostChange::Crab { colony: colony.clone(), crab: crab.clone(), what: CrabChange::Left },
        HostChange::Record { colony, mission: None, kind: "crab.lost", data },
    ]
}

/// Step that a crab has already when it parks: it is offered again.
fn held(actor: &SchedulerActor, event: &Event) -> Option<(String, Item)> {
    let Event::Park { crab } = event else { return None };
    let mission = actor.scheduler.crabs.get(crab)?.mission.as_ref()?;
    actor.scheduler.leases.get(mission).map(|lease| (crab.clone(), lease.item.clone()))
}

fn deliver(colony: &str, crab: String, what: Instruction) -> HostChange {
    HostChange::Deliver(Delivery { colony: colony.to_owned(), crab, what })
}
