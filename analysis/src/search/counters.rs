//! Which counters the search follows, and up to which value.

use orange_core::{Actor, CRASH_COUNT, CounterId, Guard, Machine, Outcome, REVIEW_ROUND, State};

use super::task::{MAX_COUNTERS, Task};

/// The counters that rise and that something compares; all others stay what they are for every decision.
#[derive(Clone, Debug)]
pub struct Counters {
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

impl Counters {
    /// The counters of a machine that are worth following.
    pub(super) fn of(machine: &Machine<'_>) -> Self {
        let mut ceilings = vec![None; machine.counters.len()];
        for guard in guards(machine) {
            for range in guard.any_of.iter().copied().flatten() {
                let bound = if range.high == u32::MAX { range.low } else { range.high.saturating_add(1) };
                raise(&mut ceilings, range.counter, bound);
            }
        }
        for rule in machine.exit_rules {
            match rule.outcome {
                Outcome::Crash { stuck_after, .. } => raise(&mut ceilings, CRASH_COUNT, stuck_after),
                // A way that is closed is a crash, too.
                Outcome::Then(_) | Outcome::ThenWhen(_) => {
                    raise(&mut ceilings, CRASH_COUNT, orange_core::DEFAULT_STUCK_AFTER);
                }
                Outcome::MarkDead | Outcome::Wait { .. } => {}
            }
        }
        let mut rises = vec![false; machine.counters.len()];
        let hooks = machine.transitions.iter().flat_map(|it| it.hooks);
        hooks.filter_map(|it| it.increments()).for_each(|id| rises[usize::from(id.0)] = true);
        rises[usize::from(CRASH_COUNT.0)] = true;
        rises[usize::from(REVIEW_ROUND.0)] |= machine.states.iter().any(starts_reviewer);
        let tracked = (0u16..)
            .zip(&ceilings)
            .filter_map(|(at, ceiling)| Some(Tracked { id: CounterId(at), ceiling: (*ceiling)? }))
            .filter(|it| rises[usize::from(it.id.0)])
            .collect();
        Self { defaults: machine.counters.iter().map(|it| it.default).collect(), tracked }
    }

    /// How many are followed.
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

/// Whether a task that was created in this state can begin with its first review, which is round 1.
fn starts_reviewer(state: &State<'_>) -> bool {
    let spawn = state.respawn.as_ref().and_then(orange_core::Hook::spawn);
    spawn.is_some_and(|it| it.actor() == Actor::Reviewer)
}

fn guards<'m>(machine: &Machine<'m>) -> impl Iterator<Item = Guard<'m>> + use<'m> {
    let clauses = machine.exit_rules.iter().flat_map(|rule| match rule.outcome {
        Outcome::ThenWhen(clauses) => clauses,
        Outcome::Then(_) | Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => &[],
    });
    machine.transitions.iter().filter_map(|it| it.guard).chain(clauses.map(|(guard, _)| *guard))
}

fn raise(ceilings: &mut [Option<u32>], id: CounterId, to: u32) {
    let ceiling = &mut ceilings[usize::from(id.0)];
    *ceiling = Some(ceiling.map_or(to, |it| it.max(to)));
}
