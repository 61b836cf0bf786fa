//! A scheduler as it is stored. What waits is not part of it: that is rows.

use std::collections::BTreeMap;

use orange_core::plan::StepId;
use orange_core::scheduler::{Crab, Item, Lease, Scheduler, Waiting};
use serde::{Deserialize, Serialize};

use super::{Unreadable, VERSION};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchedulerForm {
    v: u32,
    crabs: BTreeMap<String, CrabForm>,
    leases: BTreeMap<String, LeaseForm>,
    #[serde(default)]
    sweeps: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CrabForm {
    roles: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    parked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mission: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeaseForm {
    crab: String,
    step: u16,
    attempt: u32,
    role: String,
    ticket: u64,
    #[serde(default, skip_serializing_if = "is_false")]
    accepted: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    running: bool,
    silent: u8,
    version: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherForm>,
}

/// A step that waits beside a lease, under the mission and the version of the lease.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherForm {
    step: u16,
    attempt: u32,
    role: String,
    ticket: u64,
}

/// The text of a scheduler.
pub fn write(scheduler: &Scheduler) -> String {
    let Scheduler { crabs, leases, sweeps } = scheduler;
    super::write(&SchedulerForm {
        v: VERSION,
        crabs: crabs.iter().map(|(id, crab)| (id.clone(), CrabForm::of(crab))).collect(),
        leases: leases.iter().map(|(mission, lease)| (mission.clone(), LeaseForm::of(lease))).collect(),
        sweeps: *sweeps,
    })
}

/// The scheduler of this text.
///
/// # Errors
/// It is of a newer version, or is no scheduler.
pub fn read(text: &str) -> Result<Scheduler, Unreadable> {
    let SchedulerForm { crabs, leases, sweeps, v: _ } = super::read(text)?;
    let lease = |(mission, lease): (String, LeaseForm)| (mission.clone(), lease.into_lease(mission));
    Ok(Scheduler {
        crabs: crabs.into_iter().map(|(id, crab)| (id, crab.into_crab())).collect(),
        leases: leases.into_iter().map(lease).collect(),
        sweeps,
    })
}

impl CrabForm {
    fn of(crab: &Crab) -> CrabForm {
        let Crab { roles, is_parked, mission, fault } = crab.clone();
        CrabForm { roles, parked: is_parked, mission, fault }
    }

    fn into_crab(self) -> Crab {
        let CrabForm { roles, parked, mission, fault } = self;
        Crab { roles, is_parked: parked, mission, fault }
    }
}

impl LeaseForm {
    fn of(lease: &Lease) -> LeaseForm {
        let Lease { crab, item, ticket, is_accepted, is_running, silent, version, others } = lease.clone();
        let Item { mission: _, step, attempt, role } = item;
        LeaseForm {
            crab,
            step: step.0,
            attempt,
            role,
            ticket,
            accepted: is_accepted,
            running: is_running,
            silent,
            version,
            others: others.into_iter().map(OtherForm::of).collect(),
        }
    }

    fn into_lease(self, mission: String) -> Lease {
        let LeaseForm { crab, step, attempt, role, ticket, accepted, running, silent, version, others } =
            self;
        let others = others.into_iter().map(|it| it.into_waiting(&mission, version)).collect();
        let item = Item { mission, step: StepId(step), attempt, role };
        Lease { crab, item, ticket, is_accepted: accepted, is_running: running, silent, version, others }
    }
}

impl OtherForm {
    fn of(waiting: Waiting) -> OtherForm {
        let Waiting { item: Item { mission: _, step, attempt, role }, ticket, version: _ } = waiting;
        OtherForm { step: step.0, attempt, role, ticket }
    }

    fn into_waiting(self, mission: &str, version: u64) -> Waiting {
        let OtherForm { step, attempt, role, ticket } = self;
        let item = Item { mission: mission.to_owned(), step: StepId(step), attempt, role };
        Waiting { item, ticket, version }
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}
