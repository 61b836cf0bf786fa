//! Facts on which decisions in a state depend: the sections that its gates and rules read, and the counters that it compares or
//! raises. Whatever else differs, the core answers alike.

use orange_core::{Gate, Machine, SectionGate};

use super::counters::SearchCounters;
use super::sections::Sections;
use super::task::Task;

/// Sections and counters that one state reads, as sets of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    /// The sections that gates of the transitions out of the state read.
    pub gated: ReadSet,
    /// The sections that exit rules read, and the gates that these lead through.
    pub ruled: ReadSet,
    /// The sections of which gates and rules want something fresh.
    pub fresh: ReadSet,
    /// Those of them that a verdict is to be in.
    pub judged: ReadSet,
    /// The slots of the counters that decisions depend on.
    counters: ReadSet,
    /// The bytes of all these sections.
    bytes: u128,
    /// Number of transitions and exit rules to decide about.
    pub decisions: u32,
}

/// A set of small numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadSet(u16);

impl Reads {
    /// Reads of each state of a machine, by the state's number.
    pub(super) fn of(machine: &Machine<'_>, sections: &Sections<'_>, counters: &SearchCounters) -> Vec<Self> {
        let section = |set: &mut ReadSet, gate: &SectionGate<'_>| set.extend(sections.find(gate.section));
        let of = |state| {
            let mut it = Self { decisions: machine.decisions_of(state), ..Self::default() };
            let gated = machine.transition_gates_of(state).flat_map(Gate::sections);
            gated.for_each(|gate| section(&mut it.gated, gate));
            for gate in machine.transition_gates_of(state) {
                it.gated.extend(sections.asked_by(gate));
            }
            if !machine.exit_rules_of(state).is_empty() {
                it.ruled = it.gated;
            }
            let ruled = machine.artifacts_of(state).flat_map(Gate::sections);
            ruled.for_each(|gate| section(&mut it.ruled, gate));
            for gate in machine.artifacts_of(state) {
                it.ruled.extend(sections.asked_by(gate));
            }
            machine.counters_of(state).for_each(|id| it.counters.extend(counters.slot(id)));
            for gate in machine.gates_of(state).flat_map(Gate::sections).filter(|gate| gate.fresh) {
                section(&mut it.fresh, gate);
                if gate.asks_for_verdict() {
                    section(&mut it.judged, gate);
                }
            }
            it.bytes = it.gated.with(it.ruled).iter().fold(0, |bytes, at| bytes | 0xff << (8 * at));
            it
        };
        machine.state_ids().map(of).collect()
    }

    /// The part of a task that decisions depend on.
    pub(super) fn decisive(&self, task: &Task) -> Task {
        let mut part = Task::new(task.status);
        part.sections = task.sections & self.bytes;
        part.outdated = task.outdated & self.gated.with(self.ruled).0;
        part.passed = task.passed;
        for slot in self.counters.iter() {
            part.counters[slot] = task.counters[slot];
        }
        part
    }
}

impl ReadSet {
    /// This set and the numbers of another.
    pub(crate) fn with(self, other: ReadSet) -> ReadSet {
        ReadSet(self.0 | other.0)
    }

    /// The numbers that are in this set and in another.
    pub(crate) fn both(self, other: ReadSet) -> ReadSet {
        ReadSet(self.0 & other.0)
    }

    /// The numbers of this set that are not in another.
    pub(crate) fn without(self, other: ReadSet) -> ReadSet {
        ReadSet(self.0 & !other.0)
    }

    /// True if it has no numbers.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its numbers, the smallest first.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let rest = |it: &u16| Some(it & (it - 1)).filter(|it| *it != 0);
        let first = Some(self.0).filter(|it| *it != 0);
        std::iter::successors(first, rest).map(|it| it.trailing_zeros() as usize)
    }

    pub(crate) fn has(self, number: usize) -> bool {
        self.0 >> number & 1 == 1
    }

    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) fn extend(&mut self, number: Option<usize>) {
        number.into_iter().for_each(|at| self.0 |= 1 << at);
    }
}
