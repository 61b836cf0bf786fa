//! Matching of crabs and steps.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{ANY, Ability, Crab, Effect, Head, Heads, Item, Lease, Scheduler, Waiting};
use crate::plan::StepId;

impl Crab {
    /// True if it may get a step: it is parked, has no lease and no fault.
    pub fn is_idle(&self) -> bool {
        self.is_parked && self.mission.is_none() && self.fault.is_none()
    }

    /// True if it may take this step: it has a role for it, and every ability that the step needs.
    pub fn takes(&self, item: &Item) -> bool {
        self.takes_role(&item.role) && self.can(&item.needs)
    }

    /// True if it has a role for steps of this one.
    pub fn takes_role(&self, role: &str) -> bool {
        role == ANY || self.has(role) || self.has(ANY)
    }

    /// True if it has all of these abilities.
    pub fn can(&self, needs: &BTreeSet<Ability>) -> bool {
        needs.is_subset(&self.abilities)
    }

    /// True if it has exactly this role.
    pub fn has(&self, role: &str) -> bool {
        self.roles.iter().any(|it| it == role)
    }
}

impl Scheduler {
    /// Gives the earliest step of each mission that an idle crab may take to that crab, and has the steps of other missions wait. The steps
    /// are all of their missions that may start.
    pub(super) fn place(&mut self, mut steps: Vec<Waiting>) -> Vec<Effect> {
        steps.sort_by_key(Waiting::place);
        let mut effects = Vec::new();
        for step in &steps {
            if self.leases.contains_key(&step.item.mission) {
                continue;
            }
            if let Some(crab) = self.idle_crab(&step.item) {
                let is_other = |it: &&Waiting| it.item.mission == step.item.mission && *it != step;
                let others = steps.iter().filter(is_other).cloned().collect();
                effects.push(self.offer(crab, Head { step: step.clone(), others }));
            }
        }
        let waits = |it: &Waiting| !self.leases.contains_key(&it.item.mission);
        effects.extend(steps.into_iter().filter(waits).map(Effect::Push));
        effects
    }

    /// The earliest of these steps that an idle crab may take.
    pub(super) fn first_taken<'s>(&self, steps: &'s [Waiting]) -> Option<&'s Waiting> {
        let taken = steps.iter().filter(|it| self.idle_crab(&it.item).is_some());
        taken.min_by_key(|it| it.place())
    }

    /// Gives a crab, if it is idle, the earliest waiting step that it may take.
    pub(super) fn feed(&mut self, heads: &Heads, crab: &str) -> Vec<Effect> {
        let Some(first) = self.earliest(heads, crab).cloned() else { return Vec::new() };
        vec![Effect::Remove { mission: first.step.item.mission.clone() }, self.offer(crab.to_string(), first)]
    }

    /// The earliest waiting step that a crab may take, if it is idle.
    pub(super) fn earliest<'h>(&self, heads: &'h Heads, crab: &str) -> Option<&'h Head> {
        let idle = self.crabs.get(crab).filter(|it| it.is_idle())?;
        let is_free = |it: &&Head| !self.leases.contains_key(&it.step.item.mission);
        let may_take = heads.values().filter(|it| idle.takes(&it.step.item)).filter(is_free);
        may_take.min_by_key(|it| it.step.place())
    }

    /// The idle crab for a step: one with exactly its role before all others.
    fn idle_crab(&self, item: &Item) -> Option<String> {
        let mut idle = self.crabs.iter().filter(|(_, it)| it.is_idle() && it.takes(item));
        let first = idle.clone().next();
        let exact = idle.find(|(_, it)| it.has(&item.role));
        exact.or(first).map(|(crab, _)| crab.clone())
    }

    fn offer(&mut self, crab: String, Head { step, mut others }: Head) -> Effect {
        let Waiting { item, ticket, version } = step;
        others.sort_by_key(Waiting::place);
        if let Some(known) = self.crabs.get_mut(&crab) {
            known.is_parked = false;
            known.mission = Some(item.mission.clone());
        }
        let offer = Effect::Offer { crab: crab.clone(), item: item.clone() };
        let mission = item.mission.clone();
        let (is_accepted, is_running, silent) = (false, false, 0);
        let lease = Lease { crab, item, ticket, is_accepted, is_running, silent, version, others };
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
    /// True if it is a crab's, for this attempt of this step.
    pub(super) fn is_of(&self, crab: &str, step: StepId, attempt: u32) -> bool {
        self.crab == crab && (self.item.step, self.item.attempt) == (step, attempt)
    }

    /// Effect for its crab when the lease ends and its agent may run.
    pub(super) fn end_agent(&self) -> Effect {
        let Item { mission, step, attempt, role: _, needs: _ } = self.item.clone();
        Effect::EndAgent { crab: self.crab.clone(), mission, step, attempt }
    }

    /// The steps of its mission as they wait again.
    pub(super) fn back(self) -> Vec<Waiting> {
        let mut steps = vec![Waiting { item: self.item, ticket: self.ticket, version: self.version }];
        steps.extend(self.others);
        steps
    }
}
