//! The limits of what decisions depend on, for an analysis of every task that a machine can have.

use alloc::vec;
use alloc::vec::Vec;

use crate::exit::DEFAULT_STUCK_AFTER;
use crate::{Actor, Actors, CRASH_COUNT, CounterId, Gate, Guard, Machine, Outcome, REVIEW_ROUND, StateId};

impl<'m> Machine<'m> {
    /// By counter: one above the largest constant with which a guard or rule compares it. No decision distinguishes larger
    /// values. `None` for a counter that never rises, or that nothing compares.
    pub fn ceilings(&self) -> Vec<Option<u32>> {
        let mut ceilings = vec![None; self.counters.len()];
        for range in self.state_ids().flat_map(|state| self.guards_of(state)).flat_map(ranges) {
            let bound = if range.high == u32::MAX { range.low } else { range.high.saturating_add(1) };
            raise(&mut ceilings, range.counter, bound);
        }
        for rule in self.exit_rules {
            match rule.outcome {
                Outcome::Crash { stuck_after, .. } => raise(&mut ceilings, CRASH_COUNT, stuck_after),
                // A transition that cannot be taken is a crash, too.
                Outcome::Then(_) | Outcome::ThenWhen(_) => {
                    raise(&mut ceilings, CRASH_COUNT, DEFAULT_STUCK_AFTER);
                }
                Outcome::MarkDead | Outcome::Wait { .. } => {}
            }
        }
        for (id, ceiling) in (0..).map(CounterId).zip(&mut ceilings) {
            ceiling.take_if(|_| !self.rises(id));
        }
        ceilings
    }

    /// True if a counter ever rises.
    pub fn rises(&self, id: CounterId) -> bool {
        let mut hooks = self.transitions.iter().flat_map(|it| it.hooks);
        id == CRASH_COUNT
            || (id == REVIEW_ROUND && self.starts_review())
            || hooks.any(|it| it.raises() == Some(id))
    }

    /// The counters that decisions in a state compare or change; a counter can occur twice.
    pub fn counters_of(&self, state: StateId) -> impl Iterator<Item = CounterId> {
        let compared = self.guards_of(state).flat_map(ranges).map(|range| range.counter);
        let changed = self.transitions[self.row(state)].iter().flat_map(|it| it.hooks);
        let crashes = (!self.exit_rules_of(state).is_empty()).then_some(CRASH_COUNT);
        compared.chain(changed.filter_map(|it| it.counter)).chain(crashes)
    }

    /// The number of transitions, exit rules and watch rules of a state.
    pub fn decisions_of(&self, state: StateId) -> u32 {
        (self.row(state).len() + self.exit_rules_of(state).len() + self.watch_rules_of(state).len()) as u32
    }

    /// The gates of the transitions out of a state.
    pub fn transition_gates_of(&self, state: StateId) -> impl Iterator<Item = &'m Gate<'m>> {
        self.transitions[self.row(state)].iter().flat_map(|it| it.gates)
    }

    /// The gates that the exit rules of a state ask for.
    pub fn artifacts_of(&self, state: StateId) -> impl Iterator<Item = &'m Gate<'m>> {
        self.exit_rules[self.exit_rules_of(state)].iter().flat_map(|rule| rule.condition.gates())
    }

    /// The actor of `by` that asks first: the agent of the state if it is alive, another living agent, a declared actor, which
    /// can ask at any time, or a person.
    pub fn asker(&self, state: StateId, by: Actors, is_alive: impl Fn(Actor) -> bool) -> Option<Actor> {
        let agents = [self.state(state).agent, Actor::Worker, Actor::Reviewer];
        let alive = agents.into_iter().find(|it| by.allows(*it) && is_alive(*it));
        alive.or_else(|| by.declared().next()).or_else(|| by.allows(Actor::Human).then_some(Actor::Human))
    }

    /// The guards that decisions in a state read.
    fn guards_of(&self, state: StateId) -> impl Iterator<Item = Guard<'m>> {
        let watch = &self.watch[self.watch_rules_of(state)];
        let outcomes = self.exit_rules[self.exit_rules_of(state)].iter().map(|rule| rule.outcome);
        let clauses =
            outcomes.chain(watch.iter().map(|rule| rule.outcome)).flat_map(|outcome| match outcome {
                Outcome::ThenWhen(clauses) => clauses,
                Outcome::Then(_) | Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => &[],
            });
        let guards = self.transitions[self.row(state)].iter().filter_map(|it| it.guard);
        let guards = guards.chain(watch.iter().filter_map(|rule| rule.guard));
        guards.chain(clauses.map(|(guard, _)| *guard))
    }
}

/// True if the name of a reviewer's window, `review-<round>`, contains this counter.
pub const fn names_window(counter: CounterId) -> bool {
    counter.0 == REVIEW_ROUND.0
}

fn ranges<'m>(guard: Guard<'m>) -> impl Iterator<Item = crate::Range> + use<'m> {
    guard.any_of.iter().copied().flatten().copied()
}

fn raise(ceilings: &mut [Option<u32>], id: CounterId, to: u32) {
    let ceiling = &mut ceilings[usize::from(id.0)];
    *ceiling = Some(ceiling.map_or(to, |it| it.max(to)));
}
