//! C26: a counter is used up, and what a person sets going again is never let round once more.

use std::collections::BTreeSet;

use super::C26;
use super::shared::{counted, is_persons, name, value_after};
use crate::diag::{Diagnostic, Witness};
use crate::guard::{Expr, Guard, decide};
use crate::lint::Facts;
use crate::model::{CRASH_COUNT, CounterId, StateId};
use crate::search::EdgeId;

/// Steps that are looked at for all ways together.
const MAX_STEPS: usize = 500_000;

/// The ways between two states, all of which have guards.
struct Way<'f> {
    from: StateId,
    counter: CounterId,
    guards: Vec<&'f Guard>,
}

/// What a person's step finds, and the first such step.
struct Touch {
    values: Vec<u32>,
    step: EdgeId,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let ways = guarded_ways(facts);
    let touches = if ways.is_empty() { Vec::new() } else { touches(facts) };
    let mut budget = MAX_STEPS;
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for way in &ways {
        if !told.contains(&way.counter)
            && let Some((step, run)) = used_up(facts, way, &touches, &mut budget)
        {
            told.insert(way.counter);
            found.push(finding(facts, way, step, &run));
        }
    }
    found
}

/// The ways that some run takes, and that only counters keep closed.
fn guarded_ways<'f>(facts: &Facts<'f>) -> Vec<Way<'f>> {
    let counted = counted(facts);
    let mut taken = vec![false; facts.transitions.len()];
    for transition in facts.search.edges().filter_map(|(_, edge)| edge.step.transition()) {
        taken[transition.0 as usize] = true;
    }
    let transitions: Vec<_> = facts.transitions.iter().zip(taken).collect();
    let pairs =
        transitions.chunk_by(|(a, _), (b, _)| (a.from.value, a.to.value) == (b.from.value, b.to.value));
    let ways = pairs.filter(|pair| pair.iter().any(|(_, taken)| *taken)).filter_map(|pair| {
        let guards: Option<Vec<&Guard>> = pair.iter().map(|(it, _)| it.when.as_ref()).collect();
        let guards = guards?;
        let mut read = guards.iter().flat_map(|it| it.expr.comparisons()).map(|it| it.counter);
        let counter = read.find(|it| *it != CRASH_COUNT && counted.contains(it))?;
        Some(Way { from: pair[0].0.from.value, counter, guards })
    });
    ways.collect()
}

/// The steps by which persons move tasks on, those that find the same values and lead to the same state once.
fn touches(facts: &Facts<'_>) -> Vec<Touch> {
    let mut seen = BTreeSet::new();
    let mut touches = Vec::new();
    for (step, edge) in facts.search.edges() {
        if edge.step.transition().is_some() && is_persons(facts, edge) {
            let values = facts.search.counters.values(facts.search.task(edge.from));
            if seen.insert((values.clone(), facts.search.task(edge.to).status)) {
                touches.push(Touch { values, step });
            }
        }
    }
    touches
}

/// A person's step at which the way was closed for ever, and a run that then comes to it again. Counters only grow, so
/// that it is still closed there.
fn used_up(
    facts: &Facts<'_>,
    way: &Way<'_>,
    touches: &[Touch],
    budget: &mut usize,
) -> Option<(EdgeId, Vec<EdgeId>)> {
    let exprs: Vec<&Expr> = way.guards.iter().map(|it| &it.expr).collect();
    let is_over = |it: &&Touch| {
        !exprs.iter().any(|guard| guard.holds(&it.values))
            && decide::later(&exprs, &it.values, &mut facts.work.borrow_mut()) == Ok(false)
    };
    touches.iter().filter(is_over).find_map(|touch| {
        let search = facts.search;
        let mut run = search.run_through(touch.step);
        let arrived = search.edge(touch.step).to;
        if search.task(arrived).status != way.from {
            let ends = |to| search.task(to).status == way.from;
            run.extend(search.walk(arrived, |_| true, |edge| ends(edge.to), budget)?);
        }
        Some((touch.step, run))
    })
}

fn finding(facts: &Facts<'_>, way: &Way<'_>, step: EdgeId, run: &[EdgeId]) -> Diagnostic {
    let guard = way.guards[0];
    let name = name(facts, way.counter);
    let value = value_after(facts, run, way.counter);
    let message = format!(
        "`{name}` is never set back: after a person has set the task going again, `{}` holds no more",
        guard.text
    );
    let mut found = Diagnostic::new(&C26, guard.clause, message);
    if let Some(transition) = facts.search.edge(step).step.transition() {
        let transition = facts.transition(transition);
        let place = facts.first_line(transition.span);
        found =
            found.label(place, format!("a person takes {} and sets nothing back", facts.arrow(transition)));
    }
    let witness = Witness { values: vec![(name.to_owned(), value)], range: format!("{name} = {value}") };
    let help = format!(
        "if a person's round is to have this way, too, let the guard hold there, `{} || {name} == {value}`, and those \
         beside it not; else allow it with that reason",
        guard.text
    );
    found
        .label(guard.clause, format!("never holds again: {name} = {value}"))
        .trace(facts.tell(run, format!("{name} = {value}")))
        .witness(witness)
        .help(help)
}
