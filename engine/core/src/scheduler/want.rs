//! What a mission wants: its step waits, is leased, or neither.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Effect, Heads, Item, Lease, Scheduler, Waiting};
use crate::plan::StepId;

/// What a mission says.
pub(super) struct Wanted {
    pub(super) mission: String,
    pub(super) version: u64,
    pub(super) ticket: u64,
    pub(super) next: Option<Item>,
    pub(super) running: Option<(StepId, u32)>,
}

impl Wanted {
    fn is_older_than(&self, version: u64) -> bool {
        self.version < version
    }

    fn starts(&self, item: &Item) -> bool {
        self.next.as_ref().is_some_and(|it| (it.step, it.attempt) == (item.step, item.attempt))
    }

    fn runs(&self, item: &Item) -> bool {
        self.running == Some((item.step, item.attempt))
    }
}

impl Scheduler {
    /// The same words twice do nothing the second time.
    pub(super) fn want(&mut self, heads: &Heads, waiting: Option<Waiting>, wanted: &Wanted) -> Vec<Effect> {
        let leased = self.leases.get(&wanted.mission).map(|it| it.version);
        let known = leased.into_iter().chain(waiting.as_ref().map(|it| it.version)).max();
        if known.is_some_and(|it| wanted.is_older_than(it)) {
            return Vec::new();
        }
        if self.keeps_lease(wanted) {
            return waiting.map(|_| remove(wanted)).into_iter().collect();
        }
        let Some(row) = waiting else { return self.follow(heads, wanted) };
        if wanted.starts(&row.item) {
            return newer(row, wanted);
        }
        let mut effects = vec![remove(wanted)];
        effects.extend(self.follow(heads, wanted));
        effects.extend(runs_without_lease(row, wanted));
        effects
    }

    /// Whether the mission still wants what is leased.
    fn keeps_lease(&mut self, wanted: &Wanted) -> bool {
        let Some(lease) = self.leases.get_mut(&wanted.mission) else { return false };
        if wanted.runs(&lease.item) {
            lease.has_started();
        } else if !wanted.starts(&lease.item) {
            return false;
        }
        lease.version = wanted.version;
        true
    }

    /// Ends the lease for what the mission does not want any more, and begins what it wants. The crab of the lease may have parked
    /// meanwhile: of the next step and of what waits, it gets the earlier one.
    fn follow(&mut self, heads: &Heads, wanted: &Wanted) -> Vec<Effect> {
        let Some(lease) = self.end_lease(&wanted.mission) else {
            return self.begin(wanted).into_iter().collect();
        };
        let mut effects = vec![lease.end_agent()];
        let is_later = self.earliest(heads, &lease.crab).is_some_and(|it| it.ticket < wanted.ticket);
        if is_later {
            effects.extend(self.feed(heads, &lease.crab));
        }
        effects.extend(self.begin(wanted));
        if !is_later {
            effects.extend(self.feed(heads, &lease.crab));
        }
        effects
    }

    /// The next step gets a crab if one is idle, or waits.
    fn begin(&mut self, wanted: &Wanted) -> Option<Effect> {
        let item = wanted.next.clone()?;
        Some(self.place(Waiting { item, ticket: wanted.ticket, version: wanted.version }))
    }
}

impl Lease {
    /// Its agent runs: the crab has accepted it, and is alive.
    fn has_started(&mut self) {
        if !self.is_running {
            (self.is_running, self.is_accepted, self.silent) = (true, true, 0);
        }
    }
}

fn remove(wanted: &Wanted) -> Effect {
    Effect::Remove { mission: wanted.mission.clone() }
}

/// The waiting step under the version of the mission that still wants it.
fn newer(row: Waiting, wanted: &Wanted) -> Vec<Effect> {
    if row.version == wanted.version {
        return Vec::new();
    }
    vec![remove(wanted), Effect::Push(Waiting { version: wanted.version, ..row })]
}

/// An agent of the waiting step was started without a lease, or after its lease had ended. Nobody hears whether it is alive.
fn runs_without_lease(row: Waiting, wanted: &Wanted) -> Option<Effect> {
    wanted.runs(&row.item).then_some(Effect::Lost { crab: None, item: row.item })
}
