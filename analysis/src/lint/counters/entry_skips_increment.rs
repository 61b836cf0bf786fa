//! C29: a task that is created inside a loop is let round once more than one that comes there by a transition.

use super::C29;
use super::shared::{counted, counts, is_persons, name};
use crate::lint::Facts;
use crate::search::task::MAX_COUNTERS;
use crate::search::{ConfigurationId, Edge, EdgeId, SearchStep};
use orange_codegen::diag::{Diagnostic, Witness};
use orange_codegen::guard::Guard;
use orange_codegen::model::{CounterId, StateId};

/// Steps that are looked at for all loops together.
const MAX_STEPS: usize = 500_000;

/// A task that was created in a state has got its agent there.
struct CreatedTask {
    state: StateId,
    step: EdgeId,
    at: ConfigurationId,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let created = created(facts);
    if created.iter().all(|it| bounds(facts, it.state).is_empty()) {
        return Vec::new();
    }
    let (counted, arrivals) = (counted(facts), smallest_arrivals(facts));
    let mut budget = MAX_STEPS;
    let mut found = Vec::new();
    for it in &created {
        for (counter, guard) in bounds(facts, it.state).into_iter().filter(|(it, _)| counted.contains(it)) {
            let Some(slot) = facts.search.counters.slot(counter) else { continue };
            let least = arrivals[usize::from(it.state.0)][slot];
            found.extend(finding(facts, it, (counter, guard), least, &mut budget));
        }
    }
    found
}

/// The tasks that are created in a state other than the first one, each with the step that starts its agent.
fn created(facts: &Facts<'_>) -> Vec<CreatedTask> {
    let starts = facts.search.edges().filter(|(_, edge)| edge.step == SearchStep::Start);
    let starts = starts.filter(|(_, edge)| facts.search.arrival(edge.from).is_none());
    starts
        .map(|(step, edge)| CreatedTask { state: facts.search.task(edge.to).status, step, at: edge.to })
        .collect()
}

/// By state and slot of a counter: the smallest value with which a transition leads there.
fn smallest_arrivals(facts: &Facts<'_>) -> Vec<[u32; MAX_COUNTERS]> {
    let mut smallest = vec![[u32::MAX; MAX_COUNTERS]; facts.machine.states.len()];
    for (_, edge) in facts.search.edges().filter(|(_, edge)| edge.step.transition().is_some()) {
        let task = facts.search.task(edge.to);
        for (slot, least) in smallest[usize::from(task.status.0)].iter_mut().enumerate() {
            *least = task.counter(slot).min(*least);
        }
    }
    smallest
}

/// The guards on the transitions out of a state, by the first counter that they compare, each counter once.
fn bounds<'f>(facts: &Facts<'f>, state: StateId) -> Vec<(CounterId, &'f Guard)> {
    let guards = facts.leaving(state).filter_map(|(_, transition)| transition.when.as_ref());
    let mut bounds: Vec<(CounterId, &Guard)> = Vec::new();
    for guard in guards {
        for it in guard.expr.comparisons() {
            if bounds.iter().all(|(counter, _)| *counter != it.counter) {
                bounds.push((it.counter, guard));
            }
        }
    }
    bounds
}

fn finding(
    facts: &Facts<'_>,
    created: &CreatedTask,
    (counter, guard): (CounterId, &Guard),
    least: u32,
    budget: &mut usize,
) -> Option<Diagnostic> {
    let search = facts.search;
    let value = |id| search.value(search.task(id), counter);
    let start = value(created.at);
    if start >= least || least == u32::MAX {
        return None;
    }
    let is_here =
        |edge: &Edge| edge.step.transition().is_some() && search.task(edge.to).status == created.state;
    let open = |id| guard.expr.holds(&search.counters.values(search.task(id)));
    let turned = |edge: &Edge| is_here(edge) && open(edge.to) != open(created.at);
    let rounds = search.walk(created.at, |edge| !is_persons(facts, edge), turned, budget)?;
    let mut values = vec![start];
    values.extend(
        rounds.iter().map(|id| search.edge(*id)).filter(|edge| is_here(edge)).map(|edge| value(edge.to)),
    );
    let run: Vec<EdgeId> = std::iter::once(created.step).chain(rounds).collect();
    Some(diagnostic(facts, created, (counter, guard), &values, least, &run))
}

fn diagnostic(
    facts: &Facts<'_>,
    created: &CreatedTask,
    (counter, guard): (CounterId, &Guard),
    values: &[u32],
    least: u32,
    run: &[EdgeId],
) -> Diagnostic {
    let (state, name) = (facts.state(created.state), name(facts, counter));
    let (start, rounds) = (values[0], values.len());
    let usual = values.iter().filter(|it| **it >= least).count();
    let message = format!(
        "a task that is created in `{}` is there {rounds} times and not {usual} before `{}` turns: {name} is {start} and not {least} the first time",
        state.name.value, guard.text
    );
    let counting = facts.workflow.transitions.iter().filter(|it| it.to.value == created.state);
    let counting = counting.flat_map(|it| &it.hooks).filter_map(counts).find(|it| it.value == counter);
    let found = Diagnostic::new(&C29, state.name.span, message)
        .label(state.name.span, format!("created here with {name} = {start}"));
    let found = match counting {
        Some(counting) => found.label(counting.span, "only a transition counts"),
        None => found,
    };
    let rose = values.iter().map(u32::to_string).collect::<Vec<_>>().join(" → ");
    let witness =
        Witness { values: vec![(name.to_owned(), start)], range: format!("{name} = {start} in a new task") };
    let initial = facts.name(facts.workflow.initial);
    found
        .label(guard.clause, "the bound")
        .witness(witness)
        .trace(facts.tell(run, format!("{name}: {rose}")))
        .help(format!(
            "let tasks be created elsewhere (`entry: true` on `{initial}` and where else they may begin, and not here), or \
             count on the transition out of `{}`",
            state.name.value
        ))
}
