//! The scheduler: which crab gets which step. [`Scheduler::apply`] is the one place that decides it.
//!
//! There is one scheduler for each colony. It knows the crabs, their roles and their leases. The steps that wait are rows of the host,
//! which shows the first one of each lane with every event, so that an event costs the same however many wait. A lane has the steps with
//! the same role and the same needs: a crab takes all of them or none.
//!
//! A mission may have several steps that wait. When a crab gets one of them, the others wait no longer, since the steps of a mission run
//! one after the other; the lease has them, and they wait again with its step when it ends without a word of the mission.
//!
//! While a step waits, no idle crab takes its lane: whatever makes a crab idle or a step wait matches them at once. So an event matches
//! one crab with the heads, or steps with the idle crabs, and never needs a second step of a lane.

mod abilities;
mod crabs;
mod leases;
mod matching;
mod refused;
#[cfg(test)]
mod tests;
mod want;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

pub use self::abilities::Ability;
use self::want::MissionWant;
use crate::plan::StepId;

/// The role of crabs that take every step, and of steps that every crab may take.
pub const ANY: &str = "any";

/// After this many sweeps in a row without a heartbeat, a lease ends.
pub const SILENT_SWEEPS: u8 = 3;

/// Increase of the ticket of a step that was given back, more than there are missions: it waits behind all that crabs may be able
/// to start.
pub const GIVEN_BACK: u64 = 1 << 40;

/// After this many sweeps without a first heartbeat, an offer ends.
pub const UNACCEPTED_SWEEPS: u8 = 2;

/// The crabs and the leases of one colony. It holds everything that decisions read, and no time, address or file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scheduler {
    /// Known crabs, by their ids.
    pub crabs: BTreeMap<String, Crab>,
    /// By mission: at most one step of a mission is leased.
    pub leases: BTreeMap<String, Lease>,
    /// Number of sweeps so far.
    pub sweeps: u64,
}

/// A worker process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Crab {
    /// Its roles, each once, in order.
    pub roles: Vec<String>,
    /// Its abilities; none for one of an older version.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub abilities: BTreeSet<Ability>,
    /// It waits for work, and its connection stands. An offer ends that.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub is_parked: bool,
    /// The mission for which it has a lease.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub mission: Option<String>,
    /// Reason for which it gives steps back: it gets no more before it registers again.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub fault: Option<String>,
}

/// A step that a crab has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lease {
    /// Id of the crab.
    pub crab: String,
    /// Step with its mission, attempt and role.
    pub item: Item,
    /// The ticket of its mission.
    pub ticket: u64,
    /// The crab has sent a heartbeat for it, or has started its agent.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub is_accepted: bool,
    /// The mission says that the agent of this attempt runs: if the lease ends, the attempt is lost and does not wait again.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub is_running: bool,
    /// The sweeps since the last heartbeat.
    pub silent: u8,
    /// The version of the mission that wanted it.
    pub version: u64,
    /// The other steps of the mission that may start, the earliest first; none while the agent of this attempt runs.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub others: Vec<Waiting>,
}

/// A step of a mission that is to be run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Item {
    /// Id of the mission.
    pub mission: String,
    /// Number of the step in its plan.
    pub step: StepId,
    /// The number of its attempt.
    pub attempt: u32,
    /// Its role, as the plan writes it.
    pub role: String,
    /// The abilities that its crab has to have.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub needs: BTreeSet<Ability>,
}

/// A step that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Waiting {
    /// Step with its mission, attempt and role.
    pub item: Item,
    /// The ticket of its mission, and [`GIVEN_BACK`] more for each time that it was given back: a smaller one is earlier.
    pub ticket: u64,
    /// The version of the mission that wanted it.
    pub version: u64,
}

/// A waiting step that comes before all others of its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the step in its plan.
    pub step: Waiting,
    /// The other steps of its mission that wait, of any role.
    pub others: Vec<Waiting>,
}

/// The first waiting step of each lane that has one.
pub type Heads = BTreeMap<String, Head>;

/// Something that happens to a colony.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Event {
    /// A crab says which roles and abilities it has. A crab that is known changes them.
    Register {
        /// Id of the crab.
        crab: String,
        /// Roles of the crab, each once.
        roles: Vec<String>,
        /// Abilities of the crab.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
        abilities: BTreeSet<Ability>,
    },
    /// A crab goes away for good. Its roles are free.
    Leave {
        /// Id of the crab.
        crab: String,
    },
    /// A mission says what it wants started, and what runs. The last word of a mission counts: while a step of it waits or is leased, an older
    /// version changes nothing. The same version may be said again at any time, and repairs what an older one has done when nothing of the
    /// mission waited or was leased.
    Want {
        /// Id of the mission.
        mission: String,
        /// Number of events that the mission has accepted.
        version: u64,
        /// Its place among the missions of the colony, which no other one has: the steps of an earlier mission come first.
        ticket: u64,
        /// The steps of which one is to start, each with its own number; none while one runs.
        next: Vec<Item>,
        /// The step whose agent runs, and the number of its attempt.
        running: Option<(StepId, u32)>,
        /// The steps of this mission that wait, as the host finds them.
        waiting: Vec<Waiting>,
    },
    /// A crab waits for work. An offer that it has not accepted is made again.
    Park {
        /// Id of the crab.
        crab: String,
    },
    /// The connection of a crab is gone.
    Unpark {
        /// Id of the crab.
        crab: String,
    },
    /// Heartbeats, each for a crab, a mission, a step and the number of its attempt. The first one accepts an offer.
    Heartbeat {
        /// The leases that are alive.
        leases: Vec<(String, String, StepId, u32)>,
    },
    /// A crab cannot start a step, or cannot go on with it. It gets no more before it registers again.
    GiveBack {
        /// Id of the crab.
        crab: String,
        /// Id of the mission.
        mission: String,
        /// Number of the step in its plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
        /// Reason for which it gives the step back.
        reason: String,
    },
    /// A timer of the host has run out. A crab that was silent for too long at its work is lost, and its roles are free. One that has not
    /// accepted an offer keeps its roles, and gets something when it parks again.
    Sweep {
        /// Number of sweeps that the host knows of: where there were more since, another one has swept, and this one is refused.
        seen: Option<u64>,
    },
}

/// Effect that a host carries out after an event, in the given order. Losses come last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A step waits from now on.
    Push(Waiting),
    /// No step of this mission waits any longer.
    Remove {
        /// Id of the mission.
        mission: String,
    },
    /// A crab gets a step.
    Offer {
        /// Id of the crab.
        crab: String,
        /// Step with its mission, attempt and role.
        item: Item,
    },
    /// A crab ends the agent of an attempt, and keeps its work. Where it is the crab that has just reported the end of this attempt, a host
    /// need not tell it.
    EndAgent {
        /// Id of the crab.
        crab: String,
        /// Id of the mission.
        mission: String,
        /// Number of the step in its plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// A lease has ended without a word of the mission. An attempt that runs is lost; any other one waits again or was offered again.
    Lost {
        /// The crab; `None` for an attempt that runs without a lease.
        crab: Option<String>,
        /// Step with its mission, attempt and role.
        item: Item,
    },
}

/// Reason for which an event is refused. A refused event changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Refusal {
    /// Another crab of the colony has the role.
    RoleTaken {
        /// Role that both want.
        role: String,
        /// The crab that has it.
        holder: String,
    },
    /// A crab needs a role.
    NoRole,
    /// The colony has no such crab.
    NoSuchCrab,
    /// The crab has no lease for this attempt.
    NoSuchLease,
    /// There was another sweep.
    HasSwept,
}

impl Waiting {
    /// Its place among all that waits: missions by their tickets, and the steps of one mission in source order.
    pub fn place(&self) -> (u64, StepId) {
        (self.ticket, self.item.step)
    }
}

impl Scheduler {
    /// Takes an event and says what a host has to do. `heads` are the first waiting steps by lane, from before the event.
    ///
    /// # Errors
    /// A refusal leaves the scheduler as it is.
    pub fn apply(&mut self, heads: &Heads, event: Event) -> Result<Vec<Effect>, Refusal> {
        match event {
            Event::Register { crab, roles, abilities } => self.register(heads, crab, roles, abilities),
            Event::Leave { crab } => self.leave(&crab),
            Event::Want { mission, version, ticket, next, running, waiting } => {
                let next = if running.is_none() { next } else { Vec::new() };
                Ok(self.want(heads, &waiting, &MissionWant { mission, version, ticket, next, running }))
            }
            Event::Park { crab } => self.park(heads, &crab),
            Event::Unpark { crab } => self.unpark(&crab),
            Event::Heartbeat { leases } => Ok(self.heartbeat(leases)),
            Event::GiveBack { crab, mission, step, attempt, reason } => {
                self.give_back(&crab, &mission, (step, attempt), reason)
            }
            Event::Sweep { seen } if seen.is_some_and(|it| it != self.sweeps) => Err(Refusal::HasSwept),
            Event::Sweep { .. } => Ok(self.sweep()),
        }
    }

    /// The lease of a crab for an attempt. Only a crab that has one starts an agent, or reports how it has ended.
    pub fn lease(&self, crab: &str, mission: &str, step: StepId, attempt: u32) -> Option<&Lease> {
        self.leases.get(mission).filter(|it| it.is_of(crab, step, attempt))
    }

    /// True if [`Scheduler::apply`] looks at the heads for this event. A host need not read them for another one.
    pub fn reads_heads(&self, event: &Event) -> bool {
        match event {
            Event::Register { .. } | Event::Park { .. } => true,
            Event::Want { mission, .. } => {
                let crab = self.leases.get(mission).and_then(|it| self.crabs.get(&it.crab));
                crab.is_some_and(|it| it.is_parked)
            }
            Event::Leave { .. }
            | Event::Unpark { .. }
            | Event::Heartbeat { .. }
            | Event::GiveBack { .. }
            | Event::Sweep { .. } => false,
        }
    }
}
