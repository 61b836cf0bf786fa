//! `schedules/<project>.jsonl`: the slots of a project's schedules, each of which starts at most one mission.

use std::collections::BTreeMap;
use std::path::PathBuf;

use orange_core::intake::Source;
use orange_core::schedule::Slot;
use orange_core::zone::LocalTime;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::store::lock::{self, Lock, LockRank};
use crate::store::{Home, home, jsonl};
use orange_system::{clock, fault};

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRecord {
    /// Time of the event, RFC 3339 UTC.
    pub at: String,
    /// The name of the schedule.
    pub name: String,
    /// The event.
    #[serde(flatten)]
    pub event: SlotEvent,
}

/// An event of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum SlotEvent {
    /// The schedule is new: slots count after this instant.
    Seen { after: i64 },
    /// A mission is about to be started.
    Starting(SlotName),
    /// The mission was started.
    Started { slot: String, mission: String },
    /// The slot waits.
    Owed {
        #[serde(flatten)]
        slot: SlotName,
        reason: String,
    },
    /// The slot, and `count` slots with the ones before it, start nothing.
    Skipped {
        #[serde(flatten)]
        slot: SlotName,
        reason: String,
        count: usize,
    },
    /// The mission could not be started.
    Failed { slot: String, error: String },
    /// An event of a newer version.
    #[serde(other)]
    Unknown,
}

/// A slot in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotName {
    /// Its local time, such as `2026-11-27T07:00`.
    pub slot: String,
    /// Its instant, in seconds since 1970.
    pub due: i64,
}

impl SlotName {
    /// The slot of these names.
    pub fn of(slot: Slot) -> SlotName {
        SlotName { slot: slot.local.to_string(), due: slot.at }
    }

    /// The slot; `None` if its local time has no meaning.
    pub fn slot(&self) -> Option<Slot> {
        Some(Slot { local: LocalTime::parse(&self.slot)?, at: self.due })
    }
}

/// The source of the mission of a slot, which is its idempotency key.
pub fn source(name: &str, slot: &str) -> String {
    Source::Slot { name, time: slot }.to_string()
}

/// The slots of a schedule so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleState {
    /// The instant up to which slots have a decision, in seconds since 1970; `None` before the first look.
    pub until: Option<i64>,
    /// The slot that waits, and the reason in a word; its mission may have been started by a killed process.
    pub owed: Option<(SlotName, String)>,
    /// The last decision: the time of the slot, and what came of it, in words.
    pub last: Option<(String, String)>,
    /// The ids of its missions, the oldest first.
    pub missions: Vec<String>,
}

/// The word for a slot whose mission is about to be started.
const STARTING: &str = "starting";

impl ScheduleState {
    fn add(&mut self, event: SlotEvent) {
        match event {
            SlotEvent::Seen { after } => self.until = self.until.max(Some(after)),
            SlotEvent::Starting(slot) => self.owe(slot, STARTING),
            SlotEvent::Owed { slot, reason } => self.owe(slot, &reason),
            SlotEvent::Started { slot, mission } => {
                self.decide(&slot, format!("mission {mission}"));
                self.missions.push(mission);
            }
            SlotEvent::Failed { slot, error } => self.decide(&slot, format!("failed: {error}")),
            SlotEvent::Skipped { slot, reason, count: _ } => {
                self.until = self.until.max(Some(slot.due));
                self.decide(&slot.slot, format!("left out: {reason}"));
            }
            SlotEvent::Unknown => {}
        }
    }

    fn owe(&mut self, slot: SlotName, reason: &str) {
        self.until = self.until.max(Some(slot.due));
        self.owed = Some((slot, reason.to_owned()));
    }

    fn decide(&mut self, slot: &str, words: String) {
        self.owed.take_if(|(owed, _)| owed.slot == slot);
        self.last = Some((slot.to_owned(), words));
    }

    /// True if a process may have been killed while it started the mission of the slot that waits.
    pub fn may_be_started(&self) -> bool {
        self.owed.as_ref().is_some_and(|(_, reason)| reason == STARTING)
    }
}

/// The states of all schedules of a project, by their names.
pub type ScheduleStates = BTreeMap<String, ScheduleState>;

/// Reads the file of a project.
///
/// # Errors
/// `corrupt` for a line without a meaning; `environment` when it cannot be read.
pub fn read(home: &Home, project: &str) -> Result<ScheduleStates> {
    let mut states = ScheduleStates::new();
    for SlotRecord { name, event, .. } in jsonl::read(&path(home, project))? {
        states.entry(name).or_default().add(event);
    }
    Ok(states)
}

/// The slots of a project, which no other process changes meanwhile.
#[derive(Debug)]
pub struct OpenSchedules {
    pub states: ScheduleStates,
    path: PathBuf,
    _lock: Lock,
}

impl OpenSchedules {
    /// Locks and reads the file; `None` if another process holds it.
    ///
    /// # Errors
    /// Those of [`read`].
    pub fn at_once(home: &Home, project: &str) -> Result<Option<OpenSchedules>> {
        home.prepare()?;
        home::make_folder(&home.schedules())?;
        let lock_path = home.schedules().join(format!(".{project}.lock"));
        let Some(lock) = lock::acquire_at_once(home, &lock_path, LockRank::Schedule)? else {
            return Ok(None);
        };
        Ok(Some(OpenSchedules { states: read(home, project)?, path: path(home, project), _lock: lock }))
    }

    /// Writes an event down.
    ///
    /// # Errors
    /// `environment` when the file cannot be written.
    pub fn append(&mut self, name: &str, event: SlotEvent) -> Result<()> {
        let at = clock::rfc3339(fault::now());
        jsonl::append(&self.path, &SlotRecord { at, name: name.to_owned(), event: event.clone() })?;
        self.states.entry(name.to_owned()).or_default().add(event);
        Ok(())
    }
}

fn path(home: &Home, project: &str) -> PathBuf {
    home.schedules().join(format!("{project}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests;

    fn slot(day: u32) -> SlotName {
        SlotName { slot: format!("2026-11-{day}T07:00"), due: i64::from(day) * 86_400 }
    }

    #[test]
    fn a_slot_waits_until_it_has_a_mission() {
        let (_folder, home) = tests::home();
        let mut open = OpenSchedules::at_once(&home, "toy").unwrap().unwrap();
        open.append("triage", SlotEvent::Seen { after: 100 }).unwrap();
        assert_eq!(open.states["triage"].until, Some(100));
        let reason = "missed".to_owned();
        open.append("triage", SlotEvent::Skipped { slot: slot(26), reason, count: 3 }).unwrap();
        open.append("triage", SlotEvent::Owed { slot: slot(27), reason: "limit".to_owned() }).unwrap();
        assert!(open.states["triage"].owed.is_some() && !open.states["triage"].may_be_started());
        open.append("triage", SlotEvent::Starting(slot(27))).unwrap();
        assert!(open.states["triage"].may_be_started());
        let (name, mission) = (slot(27).slot, "m1".to_owned());
        open.append("triage", SlotEvent::Started { slot: name.clone(), mission }).unwrap();
        let states = read(&home, "toy").unwrap();
        assert_eq!(states, open.states);
        let triage = &states["triage"];
        assert_eq!((triage.until, &triage.owed, triage.missions.len()), (Some(slot(27).due), &None, 1));
        assert_eq!(triage.last, Some((name, "mission m1".to_owned())));
        assert_eq!(source("triage", &slot(27).slot), "triage@2026-11-27T07:00");
        assert_eq!(slot(27).slot().map(SlotName::of), Some(slot(27)));
    }
}
