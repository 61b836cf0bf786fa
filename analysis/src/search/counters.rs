//! Counters that the search follows, each up to a largest value.

use orange_core::{CounterId, Machine};

use super::task::{MAX_COUNTERS, Task};

/// The counters that rise and that something compares; all others stay what they are for every decision.
#[derive(Clone, Debug)]
pub struct SearchCounters {
    /// By [`CounterId`]: what a new task has.
    defaults: Vec<u32>,
    tracked: Vec<Tracked>,
}

/// One counter that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tracked {
    id: CounterId,
    /// One above the largest constant that it is compared with: no guard can tell larger values apart.
    ceiling: u32,
}

impl SearchCounters {
    /// The counters of a machine that are worth following.
    pub(super) fn of(machine: &Machine<'_>) -> Self {
        let tracked = (0..).map(CounterId).zip(machine.ceilings());
        let tracked = tracked.filter_map(|(id, ceiling)| Some(Tracked { id, ceiling: ceiling? })).collect();
        Self { defaults: machine.counters.iter().map(|it| it.default).collect(), tracked }
    }

    /// Number of counters that are followed.
    pub(super) fn len(&self) -> usize {
        self.tracked.len()
    }

    /// The slot of a counter that is followed.
    pub fn slot(&self, id: CounterId) -> Option<usize> {
        self.tracked.iter().position(|it| it.id == id)
    }

    /// The value above which a counter is not followed any further.
    pub fn ceiling(&self, id: CounterId) -> Option<u32> {
        self.slot(id).map(|slot| self.tracked[slot].ceiling)
    }

    /// The value of a counter in a task; above its ceiling it is the ceiling.
    pub fn value(&self, task: &Task, id: CounterId) -> u32 {
        self.slot(id).map_or(self.defaults[usize::from(id.0)], |slot| task.counters[slot])
    }

    /// The values of all counters, by [`CounterId`].
    pub fn values(&self, task: &Task) -> Vec<u32> {
        let mut values = self.defaults.clone();
        for (slot, it) in self.tracked.iter().enumerate() {
            values[usize::from(it.id.0)] = task.counters[slot];
        }
        values
    }

    pub(super) fn start(&self, task: &mut Task) {
        for it in &self.tracked {
            self.set(task, it.id, self.defaults[usize::from(it.id.0)]);
        }
    }

    pub(super) fn set(&self, task: &mut Task, id: CounterId, value: u32) {
        if let Some(slot) = self.slot(id).filter(|slot| *slot < MAX_COUNTERS) {
            task.counters[slot] = value.min(self.tracked[slot].ceiling);
        }
    }
}
