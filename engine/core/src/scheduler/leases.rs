//! Heartbeats, and how leases end without them.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Effect, GIVEN_BACK, Lease, Refusal, SILENT_SWEEPS, Scheduler, UNACCEPTED_SWEEPS};
use crate::plan::StepId;

impl Scheduler {
    pub(super) fn heartbeat(&mut self, leases: Vec<(String, String, StepId, u32)>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (crab, mission, step, attempt) in leases {
            let lease = self.leases.get_mut(&mission);
            match lease.filter(|it| it.is_of(&crab, step, attempt)) {
                Some(lease) => (lease.is_accepted, lease.silent) = (true, 0),
                None => effects.push(Effect::EndAgent { crab, mission, step, attempt }),
            }
        }
        effects
    }

    pub(super) fn give_back(
        &mut self,
        crab: &str,
        mission: &str,
        (step, attempt): (StepId, u32),
        reason: String,
    ) -> Result<Vec<Effect>, Refusal> {
        self.lease(crab, mission, step, attempt).ok_or(Refusal::NoSuchLease)?;
        let lease = self.end_lease(mission).ok_or(Refusal::NoSuchLease)?;
        if let Some(known) = self.crabs.get_mut(crab) {
            (known.is_parked, known.fault) = (false, Some(reason));
        }
        if lease.is_running {
            return Ok(vec![lost(&lease)]);
        }
        let ticket = lease.ticket.saturating_add(GIVEN_BACK);
        Ok(self.place(Lease { ticket, ..lease }.back()))
    }

    pub(super) fn sweep(&mut self) -> Vec<Effect> {
        self.sweeps += 1;
        let mut expired = Vec::new();
        for (mission, lease) in &mut self.leases {
            lease.silent = lease.silent.saturating_add(1);
            let most = if lease.is_accepted { SILENT_SWEEPS } else { UNACCEPTED_SWEEPS };
            if lease.silent >= most {
                expired.push(mission.clone());
            }
        }
        let leases: Vec<Lease> = expired.iter().filter_map(|it| self.end_lease(it)).collect();
        // A crab that was silent while it worked is gone. One that has not accepted an offer may only have lost its connection.
        for lease in leases.iter().filter(|it| it.is_accepted) {
            self.crabs.remove(&lease.crab);
        }
        self.lose(leases)
    }

    /// Effects of leases that have ended without a word of their missions: attempts that do not run are offered to other crabs, or
    /// wait again with their tickets.
    pub(super) fn lose(&mut self, mut leases: Vec<Lease>) -> Vec<Effect> {
        leases.sort_by_key(|it| it.ticket);
        let losses: Vec<Effect> = leases.iter().map(lost).collect();
        let again = leases.into_iter().filter(|it| !it.is_running).flat_map(Lease::back);
        let mut effects = self.place(again.collect());
        effects.extend(losses);
        effects
    }
}

fn lost(lease: &Lease) -> Effect {
    Effect::Lost { crab: Some(lease.crab.clone()), item: lease.item.clone() }
}
