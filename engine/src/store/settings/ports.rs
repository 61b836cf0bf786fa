//! The ports of worktrees: each has its own, by its number.

use serde::{Deserialize, Serialize};

/// The ports of each worktree, unless the project sets another number.
pub const PER_SLOT: u32 = 10;

/// The ports of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// The first port of the first worktree.
    pub base: u32,
    /// Number of ports of each worktree.
    #[serde(default = "per_slot")]
    pub per_slot: u32,
}

fn per_slot() -> u32 {
    PER_SLOT
}

/// Ports from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    pub first: u32,
    pub last: u32,
}

impl PortRange {
    /// True if a port is in both.
    pub fn overlaps(self, other: PortRange) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

const LAST: u32 = 65_535;

impl Ports {
    /// These, unless a worktree would have none, or one that only the system's administrator can open.
    pub fn new(base: u32, per_slot: u32) -> std::result::Result<Ports, String> {
        const FIRST: u32 = 1024;
        const MOST: u32 = 100;
        if !(FIRST..=LAST).contains(&base) {
            return Err(format!("`base` is a port from {FIRST} to {LAST}"));
        }
        if !(1..=MOST).contains(&per_slot) {
            return Err(format!("`per_slot` is a number of ports from 1 to {MOST}"));
        }
        Ok(Ports { base, per_slot })
    }

    /// The ports of the worktree with this number; `None` if there are not so many.
    pub fn of_slot(self, number: u32) -> Option<PortRange> {
        let first = number.checked_sub(1)?.checked_mul(self.per_slot)?.checked_add(self.base)?;
        let last = first.checked_add(self.per_slot.checked_sub(1)?)?;
        (last <= LAST).then_some(PortRange { first, last })
    }

    /// The ports of the worktrees with the numbers from 1 to this one.
    pub fn of_all(self, slots: u32) -> Option<PortRange> {
        self.of_slot(slots.max(1)).map(|range| PortRange { first: self.base, ..range })
    }
}
