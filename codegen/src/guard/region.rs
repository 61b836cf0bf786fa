//! Saying where something holds: the smallest values, and the whole range in words.

use super::cells::{Axis, Cell, Cells};
use crate::diag::Witness;
use crate::guard::Counter;

/// Largest number of separate ranges of one counter that are listed.
const MAX_RANGES: usize = 4;

impl Cells {
    /// The witness for a cell in which `holds`, and the range around it.
    pub(super) fn witness(
        &self,
        cell: &Cell,
        holds: impl Fn(&[u32]) -> bool,
        counters: &[Counter],
    ) -> Witness {
        let name = |axis: &Axis| counters[usize::from(axis.counter.0)].name.clone();
        let values: Vec<(String, u32)> =
            self.axes.iter().zip(cell).map(|(axis, part)| (name(axis), axis.starts[*part])).collect();
        let range = match &self.axes[..] {
            [] => "always".to_owned(),
            [axis] => one_counter(self, axis, &name(axis), &holds),
            _ => self.several_counters(cell, &holds, &name),
        };
        Witness { values, range }
    }

    /// Grows the cell to a box as far as everything in it holds, one counter after the other.
    fn several_counters(
        &self,
        cell: &Cell,
        holds: &impl Fn(&[u32]) -> bool,
        name: &impl Fn(&Axis) -> String,
    ) -> String {
        let mut low = cell.clone();
        let mut high = cell.clone();
        for at in 0..self.axes.len() {
            while high[at] + 1 < self.axes[at].starts.len()
                && self.slab_holds(&low, &high, at, high[at] + 1, holds)
            {
                high[at] += 1;
            }
            while low[at] > 0 && self.slab_holds(&low, &high, at, low[at] - 1, holds) {
                low[at] -= 1;
            }
        }
        let sides = self.axes.iter().zip(low.iter().zip(&high));
        let parts: Vec<String> = sides
            .filter(|(axis, (low, high))| **low > 0 || **high + 1 < axis.starts.len())
            .map(|(axis, (low, high))| side(&name(axis), axis.starts[*low], axis.end(*high)))
            .collect();
        if parts.is_empty() {
            return "for all values".to_owned();
        }
        let constant = |(axis, (low, high)): (&Axis, (&usize, &usize))| {
            axis.starts[*low] == axis.end(*high) || (*low == 0 && *high + 1 == axis.starts.len())
        };
        let single = self.axes.iter().zip(low.iter().zip(&high)).all(constant);
        let parts = parts.join(" and ");
        match (single, self.holds_only_in(&low, &high, holds)) {
            (true, true) => format!("{parts}, and only there"),
            (true, false) => format!("{parts}, among others"),
            (false, true) => format!("{parts} (for example {})", self.example(cell, name)),
            (false, false) => format!("{parts}, among others (for example {})", self.example(cell, name)),
        }
    }

    fn example(&self, cell: &Cell, name: &impl Fn(&Axis) -> String) -> String {
        let values =
            self.axes.iter().zip(cell).map(|(axis, part)| format!("{} = {}", name(axis), axis.starts[*part]));
        values.collect::<Vec<_>>().join(", ")
    }

    /// True if everything holds in the box when its side `at` is only `part`.
    fn slab_holds(
        &self,
        low: &Cell,
        high: &Cell,
        at: usize,
        part: usize,
        holds: &impl Fn(&[u32]) -> bool,
    ) -> bool {
        let mut slab_low = low.clone();
        let mut slab_high = high.clone();
        (slab_low[at], slab_high[at]) = (part, part);
        let mut cell = slab_low.clone();
        loop {
            if !holds(&self.values(&cell)) {
                return false;
            }
            let Some(next) = (0..cell.len()).rev().find(|it| cell[*it] < slab_high[*it]) else { return true };
            cell[next] += 1;
            cell[next + 1..].copy_from_slice(&slab_low[next + 1..]);
        }
    }

    fn holds_only_in(&self, low: &Cell, high: &Cell, holds: &impl Fn(&[u32]) -> bool) -> bool {
        let inside = |cell: &Cell| {
            cell.iter().zip(low.iter().zip(high)).all(|(it, (low, high))| (low..=high).contains(&it))
        };
        let outside = self.visit(|cell, values| match !inside(cell) && holds(values) {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        });
        outside.is_none()
    }
}

fn one_counter(cells: &Cells, axis: &Axis, name: &str, holds: &impl Fn(&[u32]) -> bool) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for part in (0..axis.starts.len()).filter(|part| holds(&cells.values(&vec![*part]))) {
        let (low, high) = (axis.starts[part], axis.end(part));
        match ranges.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(low) => last.1 = high,
            _ => ranges.push((low, high)),
        }
    }
    match ranges[..] {
        [(0, u32::MAX)] => "for all values".to_owned(),
        [(low, high)] if low == high => format!("{name} = {low}, and only there"),
        [(low, high)] => format!("{} (for example {low})", side(name, low, high)),
        _ => {
            let mut words: Vec<String> =
                ranges.iter().take(MAX_RANGES).map(|(low, high)| side(name, *low, *high)).collect();
            if ranges.len() > MAX_RANGES {
                words.push("more".to_owned());
            }
            let last = words.pop().unwrap_or_default();
            format!("{} or {last}", words.join(", "))
        }
    }
}

fn side(name: &str, low: u32, high: u32) -> String {
    match (low, high) {
        (low, high) if low == high => format!("{name} = {low}"),
        (0, high) => format!("{name} <= {high}"),
        (low, u32::MAX) => format!("{name} >= {low}"),
        (low, high) => format!("{name} = {low} to {high}"),
    }
}
