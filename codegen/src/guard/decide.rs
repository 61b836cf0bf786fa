//! The questions about guards: do two hold at once, does none hold, and where.

use std::ops::ControlFlow;

use super::Expr;
use super::cells::{Cells, Undecided, WorkBudget};
use crate::diag::Witness;
use crate::guard::Counter;

/// Two guards that hold at once.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// The earlier one.
    pub first: usize,
    /// The later one.
    pub second: usize,
    /// Values for which both hold; absent when both are not guards at all.
    pub witness: Option<Witness>,
}

/// The guards that can hold together with an earlier one, each once, with the first values for which it does.
/// No guard at all (`None`) always holds.
pub fn overlaps(
    guards: &[Option<&Expr>],
    counters: &[Counter],
    work: &mut WorkBudget,
) -> Result<Vec<Overlap>, Undecided> {
    overlaps_of(guards, |_, _| true, counters, work)
}

/// The overlaps of those guards alone that matter: of an earlier and a later one, by their numbers.
pub fn overlaps_of(
    guards: &[Option<&Expr>],
    matters: impl Fn(usize, usize) -> bool,
    counters: &[Counter],
    work: &mut WorkBudget,
) -> Result<Vec<Overlap>, Undecided> {
    let mut found = unguarded(guards, &matters);
    let mut is_reported = vec![false; guards.len()];
    found.iter().for_each(|it| is_reported[it.second] = true);
    let holds = |at: usize, values: &[u32]| guards[at].is_none_or(|it| it.holds(values));
    let cells = Cells::of(&guards.iter().flatten().copied().collect::<Vec<_>>(), work)?;
    let mut clashes: Vec<(usize, usize)> = Vec::new();
    cells.visit(|_, values| {
        let mut holding: Vec<usize> = Vec::new();
        for at in (0..guards.len()).filter(|at| holds(*at, values)) {
            if !is_reported[at]
                && let Some(first) = holding.iter().find(|first| matters(**first, at))
            {
                is_reported[at] = true;
                clashes.push((*first, at));
            }
            holding.push(at);
        }
        ControlFlow::<()>::Continue(())
    });
    for (first, second) in clashes {
        let both = |values: &[u32]| holds(first, values) && holds(second, values);
        // Asked again about these two alone, so that no other guard's counters are in the answer.
        let two: Vec<&Expr> = [guards[first], guards[second]].into_iter().flatten().collect();
        found.push(Overlap { first, second, witness: find(&two, both, counters, work)? });
    }
    found.sort_by_key(|it| it.second);
    Ok(found)
}

/// Values for which none of the guards holds.
pub fn gap(
    guards: &[&Expr],
    counters: &[Counter],
    work: &mut WorkBudget,
) -> Result<Option<Witness>, Undecided> {
    find(guards, |values| !guards.iter().any(|it| it.holds(values)), counters, work)
}

/// Values for which a condition holds and none of the guards does; no condition (`None`) always holds.
pub fn beyond(
    condition: Option<&Expr>,
    guards: &[&Expr],
    counters: &[Counter],
    work: &mut WorkBudget,
) -> Result<Option<Witness>, Undecided> {
    let wanted = |values: &[u32]| {
        condition.is_none_or(|it| it.holds(values)) && !guards.iter().any(|it| it.holds(values))
    };
    let all: Vec<&Expr> = condition.into_iter().chain(guards.iter().copied()).collect();
    find(&all, wanted, counters, work)
}

/// Values for which a guard holds.
pub fn somewhere(
    guard: &Expr,
    counters: &[Counter],
    work: &mut WorkBudget,
) -> Result<Option<Witness>, Undecided> {
    find(&[guard], |values| guard.holds(values), counters, work)
}

/// True if one of the guards holds for any values of which none is smaller than these, indexed by counter: counters only grow.
pub fn later(guards: &[&Expr], least: &[u32], work: &mut WorkBudget) -> Result<bool, Undecided> {
    let cells = Cells::of(guards, work)?;
    let found = cells.visit(|cell, values| {
        let holds = guards.iter().any(|it| it.holds(values));
        if holds && cells.reaches(cell, least) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Ok(found.is_some())
}

/// The values for which none of the guards holds, around ones for which none does.
pub fn gap_around(
    guards: &[&Expr],
    values: &[u32],
    counters: &[Counter],
    work: &mut WorkBudget,
) -> Result<Witness, Undecided> {
    let cells = Cells::of(guards, work)?;
    Ok(cells.witness(&cells.around(values), |values| !guards.iter().any(|it| it.holds(values)), counters))
}

fn find(
    guards: &[&Expr],
    wanted: impl Fn(&[u32]) -> bool,
    counters: &[Counter],
    work: &mut WorkBudget,
) -> Result<Option<Witness>, Undecided> {
    let cells = Cells::of(guards, work)?;
    let found = cells.visit(|cell, values| match wanted(values) {
        true => ControlFlow::Break(cell.clone()),
        false => ControlFlow::Continue(()),
    });
    Ok(found.map(|cell| cells.witness(&cell, wanted, counters)))
}

fn unguarded(guards: &[Option<&Expr>], matters: impl Fn(usize, usize) -> bool) -> Vec<Overlap> {
    let open: Vec<usize> = (0..guards.len()).filter(|at| guards[*at].is_none()).collect();
    let overlap = |(before, second): (usize, &usize)| {
        let first = open[..before].iter().find(|first| matters(**first, *second))?;
        Some(Overlap { first: *first, second: *second, witness: None })
    };
    open.iter().enumerate().filter_map(overlap).collect()
}
