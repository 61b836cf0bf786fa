//! The ledger of everything that the gateway has acknowledged, as its clients have noted it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// End that a mission is to have, as the script of the run says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MissionScript {
    /// Every step passes.
    Plain,
    /// The first review fails.
    Fixed,
    Fails,
    /// It pauses after every step, and a person has it go on.
    Stepped,
    /// A person cancels it at some moment.
    Cancelled,
    /// A step asks a person, who approves.
    Asked,
    /// The two steps of real agents.
    Pair,
}

/// A mission that was acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) script: MissionScript,
    /// A cancellation was accepted.
    pub(crate) is_cancelled: bool,
}

/// A completion that was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AcknowledgedRun {
    pub(crate) crab: String,
    /// Summary that the crab has given, different every time.
    pub(crate) summary: String,
}

/// Calls that were acknowledged, and errors that clients saw.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Keyed by mission.
    pub(crate) missions: BTreeMap<String, Made>,
    /// The keys of creations, with the missions.
    pub(crate) creations: BTreeMap<String, String>,
    /// Keyed by run.
    pub(crate) completions: BTreeMap<String, Vec<AcknowledgedRun>>,
    /// The pauses that were answered, by mission and number.
    pub(crate) pauses: BTreeSet<(String, u64)>,
    /// The questions of steps that were answered, by mission.
    pub(crate) answers: BTreeSet<String>,
    /// Number of reports that were refused since their attempts had ended otherwise.
    pub(crate) refused: u64,
    /// Number of calls that had no answer, and were made again.
    pub(crate) unheard: u64,
    /// Broken rules.
    pub(crate) broken: Vec<String>,
}

/// The notes of all clients.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<Notes>);

impl Ledger {
    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A creation with this key was answered with this mission.
    pub(crate) fn made(&self, key: &str, mission: &str, script: MissionScript) {
        let mut notes = self.notes();
        let known = notes.creations.entry(key.to_owned()).or_insert_with(|| mission.to_owned()).clone();
        if known != mission {
            notes
                .broken
                .push(format!("the key {key} was answered with mission {known}, and then with {mission}"));
        }
        notes.missions.entry(mission.to_owned()).or_insert(Made { script, is_cancelled: false });
    }

    /// A completion was answered with success.
    pub(crate) fn completed(&self, run: &str, crab: &str, summary: &str) {
        let it = AcknowledgedRun { crab: crab.to_owned(), summary: summary.to_owned() };
        self.notes().completions.entry(run.to_owned()).or_default().push(it);
    }

    pub(crate) fn completions(&self) -> usize {
        self.notes().completions.len()
    }
}
