//! A locked mission: the only means to change one.

use orange_core::mission::{Effect, Mission, MissionStatus, Pause};
use orange_core::plan::Plan;

use super::projection::{self, Projection};
use super::refusal;
use crate::Result;
use crate::app::App;
use crate::hooks::imported;
use crate::store::event::PauseReason;
use crate::store::{Event, LockedWorkItem, Set, WorkItemDir};

/// A locked mission, with the state that its journal folds to.
#[derive(Debug)]
pub struct LockedMission {
    /// Its folder, text and journal, which it has like a task.
    pub locked: LockedWorkItem,
    /// Plan and state of the mission.
    pub projection: Projection,
}

impl LockedMission {
    /// Locks the mission. One whose plan is damaged pauses.
    ///
    /// # Errors
    /// Those of the store; `corrupt` when its plan or its journal cannot be followed.
    pub fn lock(app: &App, dir: &WorkItemDir) -> Result<LockedMission> {
        let mut locked = LockedWorkItem::lock(&app.home, dir)?;
        imported::look(app, locked.task());
        match Projection::of(dir, locked.history()) {
            Ok(projection) => Ok(LockedMission { locked, projection }),
            Err(error) => {
                pause_damaged(&mut locked, &error.message)?;
                Err(error)
            }
        }
    }

    /// Takes an event: asks the core, and journals it with what follows and with these further events. Returns what a driver
    /// has to do.
    ///
    /// # Errors
    /// `refused` when the core refuses it, and nothing is changed; those of the store.
    pub fn record(&mut self, event: Event, with: Vec<(Event, Set)>) -> Result<Vec<Effect>> {
        let (after, effects) = self.ask(&event)?;
        if after.mission == self.projection.mission {
            return Ok(effects);
        }
        let mut events = self.events(event, &after, &effects);
        events.extend(with);
        self.locked.append_many(events)?;
        self.projection = after;
        Ok(effects)
    }

    /// Pauses the mission, whatever its policy, and journals these further events with that.
    ///
    /// # Errors
    /// Those of [`Self::record`].
    pub(super) fn obstruct(&mut self, what: &str, with: Vec<(Event, Set)>) -> Result<()> {
        self.record(obstacle(self.projection.mission.pauses + 1, what), with).map(drop)
    }

    /// State of the mission after this event, which is not journaled.
    ///
    /// # Errors
    /// Those of [`Self::record`].
    pub(super) fn following(&self, event: &Event) -> Result<Mission> {
        self.ask(event).map(|(after, _)| after.mission)
    }

    /// The events that journal this one, for a caller who journals them with others and then calls [`Self::reload`].
    pub(super) fn planned(&self, event: Event) -> Result<Vec<(Event, Set)>> {
        let (after, effects) = self.ask(&event)?;
        Ok(self.events(event, &after, &effects))
    }

    /// Folds the journal again, after other events were appended.
    pub(super) fn reload(&mut self) -> Result<()> {
        self.projection = Projection::of(self.locked.dir(), self.locked.history())?;
        Ok(())
    }

    fn ask(&self, event: &Event) -> Result<(Projection, Vec<Effect>)> {
        let plan = self.projection.plan;
        let mut after = self.projection.clone();
        let Some(input) = projection::input(plan, event)? else { return Ok((after, Vec::new())) };
        projection::close_before(&mut after.mission, event);
        let step = if let Event::StepEnded(ended) = event { plan.step_named(&ended.step) } else { None };
        let effects = after
            .mission
            .apply(plan, input)
            .map_err(|refused| refusal::error(&self.projection, &self.locked.dir().id, step, &refused))?;
        Ok((after, effects))
    }

    fn events(&self, event: Event, after: &Projection, effects: &[Effect]) -> Vec<(Event, Set)> {
        let is_obstacle = matches!(event, Event::MissionPaused { .. });
        let status = after.mission.status.as_str();
        let set = if status == self.locked.task().status() { Set::new() } else { Set::new().status(status) };
        let mut events = vec![(event, set)];
        for effect in effects {
            match effect {
                Effect::Paused(pause) if !is_obstacle => events.push(paused(after.plan, pause).into()),
                Effect::Ended(status) => {
                    events.push(Event::MissionEnded { status: status.as_str().to_owned() }.into());
                }
                Effect::Paused(_)
                | Effect::EndAgent { .. }
                | Effect::Repeated
                | Effect::Continued(_)
                | Effect::Land { .. }
                | Effect::Start { .. }
                | Effect::Ask { .. } => {}
            }
        }
        events
    }
}

/// The event of a pause.
fn paused(plan: &Plan<'_>, Pause { number, reason, is_pointless: _ }: &Pause) -> Event {
    use orange_core::mission::PauseReason as Reason;
    let (why, step, obstacle) = match reason {
        Reason::Boundary(step) => (PauseReason::Boundary, Some(step), None),
        Reason::Warning(step) => (PauseReason::Warning, Some(step), None),
        Reason::Error(step) => (PauseReason::Error, Some(step), None),
        Reason::Exhausted(step) => (PauseReason::Exhausted, Some(step), None),
        Reason::Cap(step) => (PauseReason::Cap, Some(step), None),
        Reason::Changed(_) => (PauseReason::Changed, None, reason.obstacle()),
        Reason::Obstacle(what) => (PauseReason::Obstacle, None, Some(what.clone())),
    };
    let step = step.map(|id| plan.step(*id).id.to_owned());
    Event::MissionPaused { number: *number, reason: why, step, obstacle }
}

/// The event of an obstacle that a running mission has met.
fn obstacle(number: u32, what: &str) -> Event {
    Event::MissionPaused {
        number,
        reason: PauseReason::Obstacle,
        step: None,
        obstacle: Some(what.to_owned()),
    }
}

/// Without its plan nothing decides about a mission, so it waits for a person, whatever its policy.
fn pause_damaged(locked: &mut LockedWorkItem, what: &str) -> Result<()> {
    if locked.task().status() != MissionStatus::Running.as_str() {
        return Ok(());
    }
    let pauses = locked.history().mission.records.iter().filter_map(|record| {
        let Event::MissionPaused { number, .. } = record.event else { return None };
        Some(number)
    });
    let number = pauses.max().unwrap_or_default() + 1;
    locked.append(obstacle(number, what), Set::new().status(MissionStatus::Paused.as_str()))
}
