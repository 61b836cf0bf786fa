//! Numbers for values, in the order in which they are first met.

use std::hash::{Hash, Hasher};

use super::hash::WordHasher;

/// An index of a list: which value has which number. The list itself is the owner's, so that nothing is kept twice.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// A number and one, or 0 where there is none; half of them at least.
    slots: Vec<u32>,
}

impl Numbers {
    /// An index of an empty list.
    pub(super) fn new() -> Self {
        Self { slots: vec![0; 256] }
    }

    /// The number of a value; a new one goes to the end of the list, and the answer says whether it did.
    pub(super) fn number<T: Copy + Eq + Hash>(&mut self, all: &mut Vec<T>, value: T) -> (u32, bool) {
        let slot = self.find(all, &value);
        if let Some(number) = self.slots[slot].checked_sub(1) {
            return (number, false);
        }
        all.push(value);
        self.slots[slot] = all.len() as u32;
        if 2 * all.len() > self.slots.len() {
            self.grow(all);
        }
        (all.len() as u32 - 1, true)
    }

    /// The slot of a value, or the empty one where it belongs.
    fn find<T: Eq + Hash>(&self, all: &[T], value: &T) -> usize {
        let mut hash = WordHasher::default();
        value.hash(&mut hash);
        let last = self.slots.len() - 1;
        let mut slot = hash.finish() as usize & last;
        while self.slots[slot].checked_sub(1).is_some_and(|at| all[at as usize] != *value) {
            slot = (slot + 1) & last;
        }
        slot
    }

    fn grow<T: Eq + Hash>(&mut self, all: &[T]) {
        self.slots = vec![0; 4 * self.slots.len()];
        for (at, value) in (1..).zip(all) {
            let slot = self.find(all, value);
            self.slots[slot] = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_the_number_that_it_got_first() {
        let (mut numbers, mut all) = (Numbers::new(), Vec::new());
        for round in 0..2 {
            for value in 0..10_000u64 {
                assert_eq!(numbers.number(&mut all, value * 64), (value as u32, round == 0));
            }
        }
        assert_eq!(all.len(), 10_000);
    }
}
