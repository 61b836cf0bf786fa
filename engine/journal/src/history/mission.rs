//! The part of the state that only missions have.

use crate::event::{Event, StepEnd};
use crate::record::Record;

/// Records and notices of a mission.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct MissionHistory {
    /// Records that decide the state of a mission, in order.
    pub records: Vec<Record>,
    /// The number of the last record about which there was a message; 0 when there was none.
    pub noticed: u64,
}

impl MissionHistory {
    /// The number that this attempt has, counted with those that were made elsewhere before: agents get this one.
    pub fn counted(&self, attempt: u32) -> u32 {
        match self.records.first().map(|record| &record.event) {
            Some(Event::MissionCreated { attempts_before, .. }) => attempt.saturating_add(*attempts_before),
            Some(_) | None => attempt,
        }
    }

    /// The record of the start of an attempt by an agent or a program.
    pub fn start_of(&self, step: &str, attempt: u32) -> Option<&Record> {
        self.records.iter().find(|record| {
            matches!(&record.event, Event::StepStarted { step: of, attempt: number, .. }
                if of == step && *number == attempt)
        })
    }

    /// True if the last attempt that has ended was one at this step, and its agent ended without a word.
    pub(super) fn was_lost(&self, step: &str) -> bool {
        let last = self.records.iter().rev().find_map(|record| {
            let Event::StepEnded(ended) = &record.event else { return None };
            Some(ended)
        });
        last.is_some_and(|ended| ended.step == step && ended.end == StepEnd::Lost)
    }
}
