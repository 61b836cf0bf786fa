//! The part of a cascade that concerns a mission.

use orange_core::mission::{Effect, Event, Mission};
use orange_core::plan::StepId;
use orange_core::scheduler::{Item, Refusal, Scheduler};
use serde_json::json;

use super::history::history;
use super::{AttemptChange, Cascade, HostChange, MissionActor, MissionHappening, asks, done, ended_by, want};
use crate::host::ActorReply;

impl Cascade {
    /// Has something happen to a mission. `scheduler` is that of its colony, which knows who has the step.
    pub fn mission(
        &mut self,
        actor: &mut MissionActor,
        scheduler: &Scheduler,
        what: MissionHappening,
    ) -> Vec<HostChange> {
        match what {
            MissionHappening::Event(event) => match self.is_foreign(actor, scheduler, &event) {
                true => {
                    self.answer(ActorReply::SchedulerRefused(Refusal::NoSuchLease));
                    Vec::new()
                }
                false => self.event(actor, event),
            },
            MissionHappening::Offered { item, crab, is_news } => {
                let data = json!({"step": name(actor, &item), "attempt": item.attempt, "crab": crab});
                self.offers.push((crab.clone(), item.clone()));
                if !is_news {
                    return Vec::new();
                }
                vec![attempt(actor, &item, AttemptChange::Offered(crab)), record(actor, "run.offered", data)]
            }
            MissionHappening::GivenBack { item, crab, reason } => {
                let data = json!({"step": name(actor, &item), "attempt": item.attempt, "crab": crab, "reason": reason});
                let has_started = has_started(&actor.mission, item.step, item.attempt);
                let returned = attempt(actor, &item, AttemptChange::Returned(crab));
                let returned = (!has_started).then_some(returned);
                returned.into_iter().chain([record(actor, "step.given-back", data)]).collect()
            }
            MissionHappening::Lost { item, crab } => self.lost(actor, &item, crab),
        }
    }

    fn event(&mut self, actor: &mut MissionActor, event: Event) -> Vec<HostChange> {
        let before = actor.mission.clone();
        let effects = match actor.mission.apply(actor.plan, event.clone()) {
            Ok(effects) => effects,
            Err(refusal) => {
                self.answer(ActorReply::MissionRefused(refusal));
                return Vec::new();
            }
        };
        if effects == [Effect::Repeated] {
            self.answer(done(actor.version, true, None));
            return Vec::new();
        }
        actor.version += 1;
        if ended_by(&event).is_some() && self.about.commit.is_some() {
            actor.tip.clone_from(&self.about.commit);
        }
        let mut changes = history(actor, &before, &event, &effects, &self.about);
        changes.extend(asks::put(actor));
        let answered = effects.iter().find_map(|effect| match effect {
            Effect::Continued(answered) => Some(*answered),
            Effect::EndAgent { .. }
            | Effect::Repeated
            | Effect::Paused(_)
            | Effect::Land { .. }
            | Effect::Start { .. }
            | Effect::Ask { .. }
            | Effect::Ended(_) => None,
        });
        self.answer(done(actor.version, false, answered));
        self.todo.push_back(want(actor));
        changes
    }

    /// A lease has ended without a word. An attempt whose agent had not started waits again, and its mission need not know.
    fn lost(&mut self, actor: &mut MissionActor, item: &Item, crab: Option<String>) -> Vec<HostChange> {
        let data = json!({"step": name(actor, item), "attempt": item.attempt, "crab": crab});
        let mut changes = vec![record(actor, "lease.lost", data)];
        match has_started(&actor.mission, item.step, item.attempt) {
            true => {
                changes.extend(self.event(actor, Event::Abandon { step: item.step, attempt: item.attempt }));
            }
            false => {
                changes.extend(crab.map(|it| attempt(actor, item, AttemptChange::Returned(it))));
                self.todo.push_back(want(actor));
            }
        }
        changes
    }

    /// True if a crab speaks of an open attempt that it does not have. An attempt that has ended is the mission's to judge.
    fn is_foreign(&self, actor: &MissionActor, scheduler: &Scheduler, event: &Event) -> bool {
        let Some(crab) = &self.about.crab else { return false };
        let (step, attempt) = match event {
            Event::Start { step, attempt }
            | Event::Complete { step, attempt, .. }
            | Event::Fail { step, attempt, .. } => (*step, *attempt),
            Event::Begin
            | Event::Assign { .. }
            | Event::Lose { .. }
            | Event::Abandon { .. }
            | Event::Ask { .. }
            | Event::Answer { .. }
            | Event::Expire { .. }
            | Event::Landed { .. }
            | Event::Conflict { .. }
            | Event::WorktreeChanged { .. }
            | Event::Obstruct { .. }
            | Event::Continue { .. }
            | Event::Retry { .. }
            | Event::Cancel => return false,
        };
        // A question belongs to no crab: the mission refuses what one says of it.
        let is_work = actor.plan.steps.get(step.index()).is_some_and(|it| !it.is_ask());
        let is_open = actor.mission.steps.get(step.index()).is_some_and(|state| {
            state.attempt() == attempt && state.attempts.last().is_some_and(|it| it.end.is_none())
        });
        is_work && is_open && scheduler.lease(crab, &actor.id, step, attempt).is_none()
    }
}

/// True if the agent of this attempt runs, as the mission knows it.
fn has_started(mission: &Mission, step: StepId, attempt: u32) -> bool {
    mission.busy() == Some(step) && mission.step(step).attempt() == attempt
}

fn name(actor: &MissionActor, item: &Item) -> &'static str {
    actor.plan.steps.get(item.step.index()).map_or("", |step| step.id)
}

fn attempt(actor: &MissionActor, item: &Item, what: AttemptChange) -> HostChange {
    HostChange::Attempt { mission: actor.id.clone(), step: item.step, attempt: item.attempt, what }
}

fn record(actor: &MissionActor, kind: &'static str, data: serde_json::Value) -> HostChange {
    HostChange::Record { colony: actor.colony.clone(), mission: Some(actor.id.clone()), kind, data }
}
