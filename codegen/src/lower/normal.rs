//! The disjunctive normal form of guards: any of a few boxes, each a range per counter.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::{CounterId, Range};

use crate::Diagnostic;
use crate::catalogue::S10;
use crate::guard::{Compare, Expr, Guard, Op};

/// The most conjunctions that one guard may come to.
pub const MAX_CONJUNCTIONS: usize = 1_024;

/// The most pairs of conjunctions that are looked at for one `&&`.
const MAX_PAIRS: usize = 64 * MAX_CONJUNCTIONS;

/// A guard that comes to more than [`MAX_CONJUNCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// One conjunction: the bounds of each counter that it restricts, both included. None is empty, none allows every
/// value.
type CounterRanges = BTreeMap<CounterId, (u32, u32)>;

const WHOLE: (u32, u32) = (0, u32::MAX);

/// Conjunctions of a guard: it holds when all ranges of any one conjunction hold. Conjunctions that touch are merged, so that a
/// guard over one counter becomes its intervals, in order and apart. No conjunction at all: it never holds. An empty one: it always
/// does.
///
/// # Errors
/// It comes to more than [`MAX_CONJUNCTIONS`].
pub fn conjunctions(guard: &Expr) -> Result<Vec<Vec<Range>>, TooLarge> {
    let cells = cells(guard, false)?;
    Ok(cells.into_iter().map(ranges).collect())
}

impl TooLarge {
    /// The finding, at the whole guard.
    pub fn diagnostic(self, guard: &Guard) -> Diagnostic {
        let message = format!("this guard comes to more than {MAX_CONJUNCTIONS} alternatives");
        Diagnostic::new(&S10, guard.span, message)
            .help("split the transition into several, each with a part of the guard")
    }
}

fn cells(expr: &Expr, negated: bool) -> Result<Vec<CounterRanges>, TooLarge> {
    match (expr, negated) {
        (Expr::Not(inner), _) => cells(inner, !negated),
        (Expr::Or(parts), false) | (Expr::And(parts), true) => any(parts, negated),
        (Expr::And(parts), false) | (Expr::Or(parts), true) => all(parts, negated),
        (Expr::Compare(compare), _) => Ok(comparison(compare, negated)),
    }
}

fn any(parts: &[Expr], negated: bool) -> Result<Vec<CounterRanges>, TooLarge> {
    let mut found = Vec::new();
    for part in parts {
        found.extend(cells(part, negated)?);
    }
    bounded(merged(found))
}

fn all(parts: &[Expr], negated: bool) -> Result<Vec<CounterRanges>, TooLarge> {
    parts.iter().try_fold(vec![CounterRanges::new()], |left, part| {
        let right = cells(part, negated)?;
        if left.len().saturating_mul(right.len()) > MAX_PAIRS {
            return Err(TooLarge);
        }
        let pairs = left.iter().flat_map(|left| right.iter().filter_map(|right| intersection(left, right)));
        bounded(merged(pairs.collect()))
    })
}

fn comparison(compare: &Compare, negated: bool) -> Vec<CounterRanges> {
    let op = if negated { opposite(compare.op) } else { compare.op };
    let value = compare.value;
    let below = value.checked_sub(1).map(|high| (0, high));
    let above = value.checked_add(1).map(|low| (low, u32::MAX));
    let bounds = match op {
        Op::Less => [below, None],
        Op::AtMost => [Some((0, value)), None],
        Op::Greater => [above, None],
        Op::AtLeast => [Some((value, u32::MAX)), None],
        Op::Equal => [Some((value, value)), None],
        Op::NotEqual => [below, above],
    };
    let counter = compare.counter;
    bounds.into_iter().flatten().map(|bounds| restricted(CounterRanges::new(), counter, bounds)).collect()
}

const fn opposite(op: Op) -> Op {
    match op {
        Op::Less => Op::AtLeast,
        Op::AtMost => Op::Greater,
        Op::Greater => Op::AtMost,
        Op::AtLeast => Op::Less,
        Op::Equal => Op::NotEqual,
        Op::NotEqual => Op::Equal,
    }
}

fn intersection(left: &CounterRanges, right: &CounterRanges) -> Option<CounterRanges> {
    let mut both = left.clone();
    for (counter, (low, high)) in right {
        let bounds = both.entry(*counter).or_insert(WHOLE);
        *bounds = (bounds.0.max(*low), bounds.1.min(*high));
        if bounds.0 > bounds.1 {
            return None;
        }
    }
    Some(both)
}

fn bounded(cells: Vec<CounterRanges>) -> Result<Vec<CounterRanges>, TooLarge> {
    if cells.len() <= MAX_CONJUNCTIONS { Ok(cells) } else { Err(TooLarge) }
}

/// Joins cells that differ in one counter alone and touch there, until none do.
fn merged(mut cells: Vec<CounterRanges>) -> Vec<CounterRanges> {
    loop {
        let before = cells.len();
        let counters: BTreeSet<_> = cells.iter().flat_map(|cell| cell.keys().copied()).collect();
        for counter in counters {
            cells = merged_along(counter, cells);
        }
        if cells.len() == before {
            cells.sort();
            cells.dedup();
            return cells;
        }
    }
}

fn merged_along(counter: CounterId, cells: Vec<CounterRanges>) -> Vec<CounterRanges> {
    let mut parts: Vec<_> = cells
        .into_iter()
        .map(|mut cell| {
            let bounds = cell.remove(&counter).unwrap_or(WHOLE);
            (cell, bounds)
        })
        .collect();
    parts.sort();
    parts.dedup_by(|(rest, (low, high)), (earlier_rest, (_, earlier_high))| {
        let joins = rest == earlier_rest && *low <= earlier_high.saturating_add(1);
        if joins {
            *earlier_high = (*earlier_high).max(*high);
        }
        joins
    });
    parts.into_iter().map(|(rest, bounds)| restricted(rest, counter, bounds)).collect()
}

fn restricted(mut cell: CounterRanges, counter: CounterId, bounds: (u32, u32)) -> CounterRanges {
    if bounds != WHOLE {
        cell.insert(counter, bounds);
    }
    cell
}

fn ranges(cell: CounterRanges) -> Vec<Range> {
    cell.into_iter().map(|(counter, (low, high))| Range { counter, low, high }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use proptest::prelude::*;

    const COUNTERS: u16 = 3;
    const LARGEST: u32 = 3;

    fn compare(counter: u16, op: Op, value: u32) -> Expr {
        Expr::Compare(Compare { span: Span::default(), counter: CounterId(counter), op, value })
    }

    fn guard() -> impl Strategy<Value = Expr> {
        let value = prop_oneof![0..=LARGEST, Just(u32::MAX - 1), Just(u32::MAX)];
        let leaf = (0..COUNTERS, proptest::sample::select(Op::ALL.to_vec()), value)
            .prop_map(|(counter, op, value)| compare(counter, op, value));
        leaf.prop_recursive(4, 24, 4, |inner| {
            let parts = proptest::collection::vec(inner.clone(), 2..4);
            prop_oneof![
                parts.clone().prop_map(Expr::Or),
                parts.prop_map(Expr::And),
                inner.prop_map(|it| Expr::Not(Box::new(it))),
            ]
        })
    }

    fn holds(conjunctions: &[Vec<Range>], counters: &[u32]) -> bool {
        let any_of: Vec<&[Range]> = conjunctions.iter().map(Vec::as_slice).collect();
        orange_core::Guard { text: "", any_of: &any_of }.holds(counters)
    }

    /// Every value that one of the guards can tell from its neighbours, for each counter.
    fn all_values() -> impl Iterator<Item = [u32; COUNTERS as usize]> {
        let values = || (0..=LARGEST + 1).chain([u32::MAX - 1, u32::MAX]);
        values().flat_map(move |a| values().flat_map(move |b| values().map(move |c| [a, b, c])))
    }

    #[track_caller]
    fn check(guard: Expr, expect: &[&[(u16, u32, u32)]]) {
        let range = |(counter, low, high): &(u16, u32, u32)| Range {
            counter: CounterId(*counter),
            low: *low,
            high: *high,
        };
        let expect = expect.iter().map(|ranges| ranges.iter().map(range).collect()).collect();
        assert_eq!(conjunctions(&guard), Ok(expect));
    }

    proptest! {
        #[test]
        fn the_normal_form_holds_where_the_guard_does(guard in guard()) {
            let normal = conjunctions(&guard).unwrap();
            for counters in all_values() {
                prop_assert_eq!(holds(&normal, &counters), guard.holds(&counters), "{:?}", counters);
            }
        }

        #[test]
        fn it_comes_in_order_and_no_range_is_empty_or_whole(guard in guard()) {
            let normal = conjunctions(&guard).unwrap();
            for ranges in &normal {
                prop_assert!(ranges.is_sorted_by(|a, b| a.counter < b.counter));
                prop_assert!(ranges.iter().all(|it| it.low <= it.high && (it.low, it.high) != WHOLE));
            }
            let key = |ranges: &[Range]| ranges.iter().map(|it| (it.counter, it.low, it.high)).collect::<Vec<_>>();
            prop_assert!(normal.is_sorted_by(|a, b| key(a) < key(b)));
        }
    }

    #[test]
    fn one_counter_becomes_intervals_that_do_not_touch() {
        let (less, at_least) = (compare(0, Op::Less, 2), compare(0, Op::AtLeast, 5));
        check(Expr::Or(vec![at_least.clone(), less.clone()]), &[&[(0, 0, 1)], &[(0, 5, u32::MAX)]]);
        check(Expr::Or(vec![less.clone(), compare(0, Op::Equal, 2)]), &[&[(0, 0, 2)]]);
        check(compare(0, Op::NotEqual, 1), &[&[(0, 0, 0)], &[(0, 2, u32::MAX)]]);
        check(Expr::Not(Box::new(Expr::Or(vec![less, at_least]))), &[&[(0, 2, 4)]]);
    }

    #[test]
    fn always_is_one_empty_conjunction_and_never_is_none() {
        check(compare(0, Op::AtLeast, 0), &[&[]]);
        check(compare(0, Op::AtMost, u32::MAX), &[&[]]);
        check(Expr::Or(vec![compare(0, Op::Less, 2), compare(0, Op::AtLeast, 2)]), &[&[]]);
        check(compare(0, Op::Less, 0), &[]);
        check(compare(0, Op::Greater, u32::MAX), &[]);
        check(Expr::And(vec![compare(0, Op::Less, 2), compare(0, Op::Greater, 2)]), &[]);
    }

    #[test]
    fn what_another_alternative_covers_goes() {
        let wide = compare(0, Op::Less, 2);
        let narrow = Expr::And(vec![wide.clone(), compare(1, Op::Greater, 0)]);
        check(Expr::Or(vec![narrow, wide]), &[&[(0, 0, 1)]]);
    }

    #[test]
    fn the_bound_is_kept() {
        let apart =
            |counters| Expr::And((0..counters).map(|counter| compare(counter, Op::NotEqual, 1)).collect());
        assert_eq!(conjunctions(&apart(10)).map(|it| it.len()), Ok(MAX_CONJUNCTIONS));
        assert_eq!(conjunctions(&apart(11)), Err(TooLarge));
    }
}
