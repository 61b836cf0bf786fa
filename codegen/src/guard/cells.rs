//! Deciding guards exactly: the values of the counters fall into cells on which every guard is constant.
//!
//! A comparison with `n` can only tell `n - 1`, `n` and `n + 1` apart. Cutting each counter at the constants that
//! occur with it leaves finitely many cells, and one value of each stands for all the others in it.

use std::ops::ControlFlow;

use super::{Expr, Op};
use orange_core::CounterId;

/// More cells than this are not looked at.
pub const MAX_CELLS: u64 = 1_000_000;

/// Comparisons that may be evaluated for all questions about one file.
const MAX_WORK: u64 = 200_000_000;

/// Work that may still be spent on the questions about one file.
#[derive(Clone, Copy, Debug)]
pub struct WorkBudget(u64);

/// A question with too many cells to answer, or one too many questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// Number of cells.
    pub cells: u64,
}

/// The cells that a set of guards can tell apart.
#[derive(Clone, Debug)]
pub struct Cells {
    pub(super) axes: Vec<Axis>,
}

/// One counter, cut.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) counter: CounterId,
    /// Start of each part, ascending from 0.
    pub(super) starts: Vec<u32>,
}

/// One cell: the part of each axis.
pub(super) type Cell = Vec<usize>;

impl Default for WorkBudget {
    fn default() -> Self {
        Self(MAX_WORK)
    }
}

impl Cells {
    /// The cells of these guards. Only counters that occur in them count.
    pub fn of(guards: &[&Expr], work: &mut WorkBudget) -> Result<Self, Undecided> {
        let mut cuts: Vec<(CounterId, u32)> = Vec::new();
        guards.iter().for_each(|guard| collect(guard, &mut cuts));
        let comparisons = cuts.len() as u64;
        cuts.sort_unstable();
        let axes: Vec<Axis> = cuts.chunk_by(|a, b| a.0 == b.0).map(Axis::new).collect();
        let cells = axes.iter().fold(1u64, |all, axis| all.saturating_mul(axis.starts.len() as u64));
        let cost = cells.saturating_mul(comparisons);
        if cells > MAX_CELLS || cost > work.0 {
            return Err(Undecided { cells });
        }
        work.0 -= cost;
        Ok(Self { axes })
    }

    /// Shows each cell's smallest values, indexed by [`CounterId`], the smallest first and the first counter the
    /// slowest, until the caller stops it.
    pub(super) fn visit<B>(&self, mut look: impl FnMut(&Cell, &[u32]) -> ControlFlow<B>) -> Option<B> {
        let mut cell = vec![0; self.axes.len()];
        let mut values = self.zeros();
        loop {
            if let ControlFlow::Break(found) = look(&cell, &values) {
                return Some(found);
            }
            if !self.step(&mut cell, &mut values) {
                return None;
            }
        }
    }

    /// The next cell, the last axis the fastest; false after the last one.
    fn step(&self, cell: &mut Cell, values: &mut [u32]) -> bool {
        for (at, axis) in self.axes.iter().enumerate().rev() {
            cell[at] = (cell[at] + 1) % axis.starts.len();
            values[usize::from(axis.counter.0)] = axis.starts[cell[at]];
            if cell[at] > 0 {
                return true;
            }
        }
        false
    }

    fn zeros(&self) -> Vec<u32> {
        vec![0; self.axes.last().map_or(0, |axis| usize::from(axis.counter.0) + 1)]
    }

    /// The cell that these values are in.
    pub(super) fn around(&self, values: &[u32]) -> Cell {
        let value = |axis: &Axis| values.get(usize::from(axis.counter.0)).copied().unwrap_or(0);
        let part = |axis: &Axis| axis.starts.partition_point(|start| *start <= value(axis)) - 1;
        self.axes.iter().map(part).collect()
    }

    /// True if some values of a cell are all as large as these or larger.
    pub(super) fn reaches(&self, cell: &Cell, least: &[u32]) -> bool {
        let least = |axis: &Axis| least.get(usize::from(axis.counter.0)).copied().unwrap_or(0);
        self.axes.iter().zip(cell).all(|(axis, part)| axis.end(*part) >= least(axis))
    }

    /// The smallest values of a cell.
    pub(super) fn values(&self, cell: &Cell) -> Vec<u32> {
        let mut values = self.zeros();
        for (axis, part) in self.axes.iter().zip(cell) {
            values[usize::from(axis.counter.0)] = axis.starts[*part];
        }
        values
    }
}

impl Axis {
    /// Cuts a counter at the given places, which are sorted.
    fn new(cuts: &[(CounterId, u32)]) -> Self {
        let mut starts = vec![0];
        starts.extend(cuts.iter().map(|(_, cut)| *cut));
        starts.dedup();
        Self { counter: cuts[0].0, starts }
    }

    /// The largest value of a part.
    pub(super) fn end(&self, part: usize) -> u32 {
        self.starts.get(part + 1).map_or(u32::MAX, |next| next - 1)
    }
}

/// Collects the place where each comparison changes its result: the first value on the other side.
fn collect(expr: &Expr, cuts: &mut Vec<(CounterId, u32)>) {
    match expr {
        Expr::Or(all) | Expr::And(all) => all.iter().for_each(|it| collect(it, cuts)),
        Expr::Not(inner) => collect(inner, cuts),
        Expr::Compare(it) => {
            let at = (it.counter, it.value);
            // Past the largest value nothing is left to cut off.
            let after = (it.counter, it.value.checked_add(1).unwrap_or(0));
            match it.op {
                Op::Less | Op::AtLeast => cuts.push(at),
                Op::AtMost | Op::Greater => cuts.push(after),
                Op::Equal | Op::NotEqual => cuts.extend([at, after]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Compare;
    use crate::span::Span;

    fn compare(counter: u16, op: Op, value: u32) -> Expr {
        Expr::Compare(Compare { span: Span::at(0), counter: CounterId(counter), op, value })
    }

    #[track_caller]
    fn starts(guards: &[Expr], expect: &[&[u32]]) {
        let cells =
            Cells::of(&guards.iter().collect::<Vec<_>>(), &mut WorkBudget::default()).expect("few cells");
        assert_eq!(cells.axes.iter().map(|axis| axis.starts.as_slice()).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn counters_are_cut_where_a_comparison_changes() {
        starts(&[compare(0, Op::Less, 2)], &[&[0, 2]]);
        starts(&[compare(0, Op::AtMost, 2), compare(0, Op::Greater, 2)], &[&[0, 3]]);
        starts(&[compare(0, Op::Equal, 2), compare(5, Op::NotEqual, 0)], &[&[0, 2, 3], &[0, 1]]);
        starts(&[compare(0, Op::Less, 0), compare(0, Op::AtMost, u32::MAX)], &[&[0]]);
    }

    #[test]
    fn cells_come_smallest_first_with_the_last_counter_fastest() {
        let guards = [compare(0, Op::Less, 2), compare(2, Op::Equal, 1)];
        let cells =
            Cells::of(&guards.iter().collect::<Vec<_>>(), &mut WorkBudget::default()).expect("few cells");
        let mut seen = Vec::new();
        let end: Option<()> = cells.visit(|cell, values| {
            assert_eq!(cells.values(cell), values);
            seen.push((values[0], values[2]));
            ControlFlow::Continue(())
        });
        assert_eq!((end, seen), (None, vec![(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)]));
    }

    #[test]
    fn too_much_is_undecided() {
        let many: Vec<Expr> =
            (0..4).flat_map(|it| (0..40).map(move |n| compare(it, Op::Less, n * 2 + 1))).collect();
        let many: Vec<&Expr> = many.iter().collect();
        assert_eq!(
            Cells::of(&many, &mut WorkBudget::default()).err(),
            Some(Undecided { cells: 41u64.pow(4) })
        );
        let mut work = WorkBudget(5);
        let one = compare(0, Op::Less, 2);
        assert!(Cells::of(&[&one, &one], &mut work).is_ok());
        assert!(Cells::of(&[&one], &mut work).is_err());
    }
}
