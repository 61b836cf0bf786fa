//! The wants of missions: steps of one wait, or one of them is leased, or neither.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Effect, Heads, Item, Lease, Scheduler, Waiting};
use crate::plan::StepId;

/// Want of a mission.
pub(super) struct MissionWant {
    pub(super) mission: String,
    pub(super) version: u64,
    pub(super) ticket: u64,
    pub(super) next: Vec<Item>,
    pub(super) running: Option<(StepId, u32)>,
}

impl MissionWant {
    fn is_older_than(&self, version: u64) -> bool {
        self.version < version
    }

    fn starts(&self, item: &Item) -> bool {
        self.next.iter().any(|it| is_same(it, item))
    }

    fn runs(&self, item: &Item) -> bool {
        self.running == Some((item.step, item.attempt))
    }

    /// The steps of which one is to start. Those that are known keep their places.
    fn steps(&self, known: &[Waiting]) -> Vec<Waiting> {
        let step = |item: &Item| {
            let known = known.iter().find(|it| is_same(&it.item, item));
            let (item, ticket) =
                known.map_or_else(|| (item.clone(), self.ticket), |it| (it.item.clone(), it.ticket));
            Waiting { item, ticket, version: self.version }
        };
        self.next.iter().map(step).collect()
    }
}

impl Scheduler {
    /// Applies the want of a mission. A repeated want does nothing.
    pub(super) fn want(&mut self, heads: &Heads, waiting: &[Waiting], wanted: &MissionWant) -> Vec<Effect> {
        let lease = self.leases.get(&wanted.mission);
        let version = lease.map(|it| it.version).into_iter().chain(waiting.iter().map(|it| it.version)).max();
        if version.is_some_and(|it| wanted.is_older_than(it)) {
            return Vec::new();
        }
        let known: Vec<Waiting> = lease.iter().flat_map(|it| &it.others).chain(waiting).cloned().collect();
        let mut effects: Vec<Effect> = waiting.first().map(|_| remove(wanted)).into_iter().collect();
        if self.keeps_lease(wanted) {
            return effects;
        }
        let steps = wanted.steps(&known);
        if !steps.is_empty() && steps.len() == waiting.len() && waiting.iter().all(|it| steps.contains(it)) {
            return Vec::new();
        }
        effects.extend(self.follow(heads, wanted, steps));
        effects.extend(known.iter().filter_map(|row| runs_without_lease(row, wanted)));
        effects
    }

    /// True if the mission still wants what is leased.
    fn keeps_lease(&mut self, wanted: &MissionWant) -> bool {
        let Some(lease) = self.leases.get_mut(&wanted.mission) else { return false };
        if wanted.runs(&lease.item) {
            lease.has_started();
        } else if !wanted.starts(&lease.item) {
            return false;
        }
        let others = wanted.steps(&lease.others).into_iter().filter(|it| !is_same(&it.item, &lease.item));
        lease.others = others.collect();
        lease.others.sort_by_key(Waiting::place);
        lease.version = wanted.version;
        true
    }

    /// Ends the lease for what the mission does not want any more, and begins what it wants. The crab of the lease may have parked
    /// meanwhile: of these steps and of what waits, it gets the earliest one.
    fn follow(&mut self, heads: &Heads, wanted: &MissionWant, steps: Vec<Waiting>) -> Vec<Effect> {
        let Some(lease) = self.end_lease(&wanted.mission) else { return self.place(steps) };
        let mut effects = vec![lease.end_agent()];
        let taken = self.first_taken(&steps).map(Waiting::place);
        let waits = self.earliest(heads, &lease.crab).map(|it| it.step.place());
        let is_later = waits.is_some_and(|waits| taken.is_none_or(|taken| waits < taken));
        if is_later {
            effects.extend(self.feed(heads, &lease.crab));
        }
        effects.extend(self.place(steps));
        if !is_later {
            effects.extend(self.feed(heads, &lease.crab));
        }
        effects
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

fn remove(wanted: &MissionWant) -> Effect {
    Effect::Remove { mission: wanted.mission.clone() }
}

/// An agent of the waiting step was started without a lease, or after its lease had ended. Nobody hears whether it is alive.
fn runs_without_lease(row: &Waiting, wanted: &MissionWant) -> Option<Effect> {
    wanted.runs(&row.item).then(|| Effect::Lost { crab: None, item: row.item.clone() })
}

fn is_same(one: &Item, other: &Item) -> bool {
    (one.step, one.attempt) == (other.step, other.attempt)
}
