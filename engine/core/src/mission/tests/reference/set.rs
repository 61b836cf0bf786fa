//! Sets of steps.

use crate::plan::StepId;

/// A set of steps of a plan of up to 64.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct StepBits(u64);

impl StepBits {
    pub(super) fn of(them: impl IntoIterator<Item = StepId>) -> StepBits {
        them.into_iter().fold(StepBits::default(), |set, it| StepBits(set.0 | 1 << it.0))
    }

    pub(super) fn has(self, step: StepId) -> bool {
        self.0 & 1 << step.0 != 0
    }

    pub(super) fn and(self, others: StepBits) -> StepBits {
        StepBits(self.0 | others.0)
    }

    pub(super) fn without(self, others: StepBits) -> StepBits {
        StepBits(self.0 & !others.0)
    }

    pub(super) fn meets(self, others: StepBits) -> bool {
        self.0 & others.0 != 0
    }

    pub(super) fn all(self) -> impl Iterator<Item = StepId> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let next = left.trailing_zeros() as u16;
            left &= left.wrapping_sub(1);
            (next < 64).then_some(StepId(next))
        })
    }
}
