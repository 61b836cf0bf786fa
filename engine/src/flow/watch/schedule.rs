//! Starts the missions of schedules, each slot once.

use std::collections::BTreeMap;

use orange_core::schedule::{ScheduleFacts, SkipReason, Slot, SlotDecision};

use crate::app::App;
use crate::flow::budget;
use crate::flow::mission::start::{MissionWishes, PolicyWishes, start};
use crate::flow::schedule::{due, now, zone};
use crate::store::create::{self, NewSource};
use crate::store::effective::{Effective, effective};
use crate::store::projects::{self, Project};
use crate::store::schedules::{OpenSchedules, ScheduleState, SlotEvent, SlotName, source};
use crate::store::settings::ScheduleSettings;
use crate::store::{WorkItem, WorkItemKind, list};
use crate::{Error, Result};
use orange_system::fault;

/// The most missions of a schedule, from the newest, that may run.
const MOST: usize = 20;

/// The failures of the last look, by project, each of which is reported once.
#[derive(Debug, Default)]
pub struct SchedulePolls {
    failures: BTreeMap<String, Vec<Error>>,
}

impl SchedulePolls {
    /// Looks at the schedules of all projects, and returns what was done, by project. A repeated failure is omitted.
    pub fn round(&mut self, app: &App) -> Vec<(String, Result<String>)> {
        let projects = match projects::read(&app.home) {
            Ok(projects) => projects,
            Err(error) => return vec![("schedule".to_owned(), Err(error))],
        };
        let mut found = Vec::new();
        for project in projects {
            let (stories, failures) = look(app, &project);
            let before = self.failures.insert(project.name.clone(), failures.clone()).unwrap_or_default();
            let new = failures.into_iter().filter(|failure| !before.contains(failure));
            let outcomes = stories.into_iter().map(Ok).chain(new.map(Err));
            found.extend(outcomes.map(|outcome| (project.name.clone(), outcome)));
        }
        found
    }
}

/// Stories of what was done for a project, and the failures.
fn look(app: &App, project: &Project) -> (Vec<String>, Vec<Error>) {
    let (mut stories, mut failures) = (Vec::new(), Vec::new());
    let open = || -> Result<Option<(Effective, OpenSchedules)>> {
        let settings = effective(&app.home, project)?;
        if settings.schedule.value.is_empty() {
            return Ok(None);
        }
        Ok(OpenSchedules::at_once(&app.home, &project.name)?.map(|open| (settings, open)))
    };
    match open() {
        Ok(None) => {}
        Ok(Some((settings, mut open))) => {
            for schedule in &settings.schedule.value {
                match (Starter { app, project, settings: &settings, schedule }).look(&mut open) {
                    Ok(new) => stories.extend(new),
                    Err(error) => failures.push(error),
                }
            }
        }
        Err(error) => failures.push(error),
    }
    (stories, failures)
}

/// Starts the missions of one schedule.
#[derive(Clone, Copy)]
struct Starter<'a> {
    app: &'a App,
    project: &'a Project,
    settings: &'a Effective,
    schedule: &'a ScheduleSettings,
}

impl Starter<'_> {
    fn look(self, open: &mut OpenSchedules) -> Result<Vec<String>> {
        let Starter { app, project, schedule, .. } = self;
        let name = &schedule.name;
        let zone = zone(schedule)?;
        let now = now();
        let state = open.states.get(name).cloned().unwrap_or_default();
        if state.until.is_none() {
            open.append(name, SlotEvent::Seen { after: now })?;
            return Ok(Vec::new());
        }
        if let Some(mission) = self.recovered(&state)? {
            let (Some((slot, _)), story) = (state.owed, format!("schedule {name}: mission {mission}")) else {
                return Ok(Vec::new());
            };
            open.append(name, SlotEvent::Started { slot: slot.slot, mission })?;
            return Ok(vec![story]);
        }
        let due = due(schedule, &zone, &state, now);
        let owed = state.owed.as_ref().and_then(|(slot, _)| slot.slot());
        if due.is_empty() && owed.is_none() {
            return Ok(Vec::new());
        }
        let turn = schedule.rule().turn(&ScheduleFacts {
            now,
            due: &due,
            owed,
            is_running: self.is_running(&state)?,
            is_limited: budget::pause(app, &project.name)?.is_some(),
        });
        let mut stories = Vec::new();
        for skipped in turn.skipped.chunk_by(|(_, one), (_, other)| one == other) {
            let Some((slot, reason)) = skipped.last() else { continue };
            stories.push(skip_words(name, *slot, *reason, skipped.len()));
            let (slot, reason) = (SlotName::of(*slot), reason.as_str().to_owned());
            open.append(name, SlotEvent::Skipped { slot, reason, count: skipped.len() })?;
        }
        match turn.decision {
            None => {}
            Some(SlotDecision::Owe(slot, reason)) => {
                let owes = (SlotName::of(slot), reason.as_str().to_owned());
                if open.states.get(name).and_then(|it| it.owed.as_ref()) != Some(&owes) {
                    stories.push(format!("schedule {name}: {} waits ({})", owes.0.slot, owes.1));
                    open.append(name, SlotEvent::Owed { slot: owes.0, reason: owes.1 })?;
                }
            }
            Some(SlotDecision::Start(slot)) => stories.push(self.start(open, slot)?),
        }
        Ok(stories)
    }

    /// Starts the mission of a slot. The slot of one that fails for a reason of this moment stays owed.
    fn start(self, open: &mut OpenSchedules, slot: Slot) -> Result<String> {
        let Starter { app, project, settings, schedule } = self;
        let (name, slot) = (&schedule.name, SlotName::of(slot));
        let source = source(name, &slot.slot);
        open.append(name, SlotEvent::Starting(slot.clone()))?;
        fault::step("start", "the mission of a slot");
        let new = NewSource { source: source.clone(), by: None, is_held: false };
        let started = app.machines.plan(&schedule.mission).and_then(|plan| {
            start(
                app,
                MissionWishes {
                    project,
                    plan,
                    prompt: schedule.prompt.as_deref(),
                    branch: None,
                    policy: PolicyWishes::default(),
                    notices: false,
                    attempts_before: 0,
                    inputs: &[],
                    source: Some(&new),
                    harness: settings.worker(),
                    review_harness: settings.reviewer(),
                },
            )
        });
        let mission = match started {
            Ok(started) => started.dir.id,
            Err(error) => match create::of_source(&app.home, &project.name, &source)? {
                Some(mission) => mission.id,
                None => {
                    if super::intake::is_of_settings(error.kind) {
                        let failed = SlotEvent::Failed { slot: slot.slot, error: error.one_line() };
                        open.append(name, failed)?;
                    }
                    let message = format!("schedule {name}: {}", error.message);
                    return Err(Error::new(error.kind, message).help(error.help.clone()));
                }
            },
        };
        fault::step("note", "the mission of a slot");
        let story = format!("schedule {name}: started mission {mission} of {}", slot.slot);
        open.append(name, SlotEvent::Started { slot: slot.slot, mission })?;
        Ok(story)
    }

    /// The mission of the slot that waits, which a process has started that was killed before it wrote that down.
    fn recovered(self, state: &ScheduleState) -> Result<Option<String>> {
        let owed = state.owed.as_ref().filter(|_| state.may_be_started());
        let Some((slot, _)) = owed else { return Ok(None) };
        let source = source(&self.schedule.name, &slot.slot);
        Ok(create::of_source(&self.app.home, &self.project.name, &source)?.map(|mission| mission.id))
    }

    /// True if a mission of the schedule is not over. A deleted one is.
    fn is_running(self, state: &ScheduleState) -> Result<bool> {
        for id in state.missions.iter().rev().take(MOST) {
            for dir in list::with_id(&self.app.home, &[WorkItemKind::Mission], Some(&self.project.name), id)?
            {
                if !self.app.is_over(&WorkItem::read_last(&self.app.home, &dir, 0)?.0) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

fn skip_words(name: &str, slot: Slot, reason: SkipReason, count: usize) -> String {
    let more = if count > 1 { format!(" and {} before it", count - 1) } else { String::new() };
    format!("schedule {name}: {}{more} left out ({})", slot.local, reason.as_str())
}
