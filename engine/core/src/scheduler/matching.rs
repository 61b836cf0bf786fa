//! Which crab gets which step.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{ANY, Crab, Effect, Heads, Item, Lease, Scheduler, Waiting};
use crate::plan::StepId;

impl Crab {
    /// Whether it may get a step: it is parked, has no lease and no fault.
    pub fn is_idle(&self) -> bool {
        self.is_parked && self.mission.is_none() && self.fault.is_none()
    }

    /// Whether it may take a step of this role.
    pub fn takes(&self, role: &str) -> bool {
        role == ANY || self.has(role) || self.has(ANY)
    }

    /// Whether it has exactly this role.
    pub fn has(&self, role: &str) -> bool {
        self.roles.iter().any(|it| it == role)
    }
}

impl Scheduler {
    /// Gives a step to an idle crab, or has it wait.
    pub(super) fn place(&mut self, step: Waiting) -> Effect {
        match self.idle_crab(&step.item.role) {
            Some(crab) => self.offer(crab, step),
            None => Effect::Push(step),
        }
    }

    /// Gives a crab, if it is idle, the earliest waiting step that it may take.
    pub(super) fn feed(&mut self, heads: &Heads, crab: &str) -> Vec<Effect> {
        let Some(first) = self.earliest(heads, crab).cloned() else { return Vec::new() };
        vec![Effect::Remove { mission: first.item.mission.clone() }, self.offer(crab.to_string(), first)]
    }

    /// The earliest waiting step that a crab may take, if it is idle.
    pub(super) fn earliest<'h>(&self, heads: &'h Heads, crab: &str) -> Option<&'h Waiting> {
        let idle = self.crabs.get(crab).filter(|it| it.is_idle())?;
        let is_free = |it: &&Waiting| !self.leases.contains_key(&it.item.mission);
        let may_take = heads.values().filter(|it| idle.takes(&it.item.role)).filter(is_free);
        may_take.min_by_key(|it| it.ticket)
    }

    /// The idle crab for a step of this role: one with exactly the role before all others.
    fn idle_crab(&self, role: &str) -> Option<String> {
        let mut idle = self.crabs.iter().filter(|(_, it)| it.is_idle() && it.takes(role));
        let first = idle.clone().next();
        let exact = idle.find(|(_, it)| it.has(role));
        exact.or(first).map(|(crab, _)| crab.clone())
    }

    fn offer(&mut self, crab: String, step: Waiting) -> Effect {
        let Waiting { item, ticket, version } = step;
        if let Some(known) = self.crabs.get_mut(&crab) {
            known.is_parked = false;
            known.mission = Some(item.mission.clone());
        }
        let offer = Effect::Offer { crab: crab.clone(), item: item.clone() };
        let mission = item.mission.clone();
        let lease = Lease { crab, item, ticket, is_accepted: false, is_running: false, silent: 0, version };
        self.leases.insert(mission, lease);
        offer
    }

    /// Ends a lease. Its crab is free, and gets another step when it parks.
    pub(super) fn end_lease(&mut self, mission: &str) -> Option<Lease> {
        let lease = self.leases.remove(mission)?;
        if let Some(crab) = self.crabs.get_mut(&lease.crab) {
            crab.mission = None;
        }
        Some(lease)
    }
}

impl Lease {
    /// Whether it is a crab's, for this attempt of this step.
    pub(super) fn is_of(&self, crab: &str, step: StepId, attempt: u32) -> bool {
        self.crab == crab && (self.item.step, self.item.attempt) == (step, attempt)
    }

    /// What its crab is to do when the lease ends and its agent may run.
    pub(super) fn end_agent(&self) -> Effect {
        let Item { mission, step, attempt, role: _ } = self.item.clone();
        Effect::EndAgent { crab: self.crab.clone(), mission, step, attempt }
    }

    /// The step as it waits again.
    pub(super) fn back(self) -> Waiting {
        Waiting { item: self.item, ticket: self.ticket, version: self.version }
    }
}
