//! C26: a counter is used up, and what a person sets going again is never let round once more.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::C26;
use super::shared::{counted, is_persons_transition, name, sets_back, value_after};
use orange_core::TransitionId;

use crate::lint::Facts;
use crate::search::task::MAX_COUNTERS;
use crate::search::{Edge, EdgeId, Quick, SearchStep};
use orange_codegen::diag::{Diagnostic, Witness};
use orange_codegen::guard::{Expr, Guard, decide};
use orange_codegen::model::{CRASH_COUNT, CounterId, StateId};

/// Steps that are looked at for all transitions together.
const MAX_STEPS: usize = 500_000;

/// The transitions between two states, all of which have guards.
struct GuardedTransition<'f> {
    from: StateId,
    counter: CounterId,
    guards: Vec<&'f Guard>,
}

/// Counter values that persons find when they move tasks on, and the first such step to every state.
struct Touch {
    values: Vec<u32>,
    steps: Vec<EdgeId>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let ids = (0u32..).map(TransitionId).take(facts.transitions.len());
    let persons: Vec<bool> = ids.map(|id| is_persons_transition(facts, id)).collect();
    let guarded = guarded_transitions(facts, &persons);
    let touches = if guarded.is_empty() { Vec::new() } else { touches(facts, &persons) };
    let mut budget = MAX_STEPS;
    let mut reported = BTreeSet::new();
    let mut found = Vec::new();
    for transition in &guarded {
        if !reported.contains(&transition.counter)
            && let Some((step, run)) = used_up(facts, transition, &touches, &mut budget)
        {
            reported.insert(transition.counter);
            found.push(finding(facts, transition, step, &run));
        }
    }
    found
}

/// The transitions that some run takes, and that only counters keep closed. One that only persons take bounds what they send back
/// themselves, and that is meant.
fn guarded_transitions<'f>(facts: &Facts<'f>, persons: &[bool]) -> Vec<GuardedTransition<'f>> {
    let counted = counted(facts);
    let mut taken = vec![false; facts.transitions.len()];
    for transition in facts.search.edges().filter_map(|(_, edge)| edge.step.transition()) {
        taken[transition.0 as usize] = true;
    }
    let taken = taken.into_iter().zip(persons).map(|(taken, persons)| taken && !*persons);
    let transitions: Vec<_> = facts.transitions.iter().zip(taken).collect();
    let pairs =
        transitions.chunk_by(|(a, _), (b, _)| (a.from.value, a.to.value) == (b.from.value, b.to.value));
    let guarded = pairs.filter(|pair| pair.iter().any(|(_, taken)| *taken)).filter_map(|pair| {
        let guards: Option<Vec<&Guard>> = pair.iter().map(|(it, _)| it.when.as_ref()).collect();
        let guards = guards?;
        let mut read = guards.iter().flat_map(|it| it.expr.comparisons()).map(|it| it.counter);
        let counter = read.find(|it| *it != CRASH_COUNT && counted.contains(it))?;
        Some(GuardedTransition { from: pair[0].0.from.value, counter, guards })
    });
    guarded.collect()
}

/// The steps by which persons move tasks on, by the values of the counters that they find.
fn touches(facts: &Facts<'_>, persons: &[bool]) -> Vec<Touch> {
    let mut known: HashMap<[u32; MAX_COUNTERS], usize, Quick> = HashMap::default();
    let mut seen: HashSet<_, Quick> = HashSet::default();
    let mut touches: Vec<Touch> = Vec::new();
    for (step, edge) in facts.search.edges() {
        let SearchStep::Request { transition, .. } = edge.step else { continue };
        // A person who does what a dead agent was to do goes on with its round.
        if !persons[transition.0 as usize] {
            continue;
        }
        let (from, to) = (facts.search.task(edge.from), facts.search.task(edge.to));
        let at = *known.entry(std::array::from_fn(|slot| from.counter(slot))).or_insert_with(|| {
            touches.push(Touch { values: facts.search.counters.values(from), steps: Vec::new() });
            touches.len() - 1
        });
        if seen.insert((at, to.status)) {
            touches[at].steps.push(step);
        }
    }
    touches
}

/// A person's step at which the transition was closed for ever, and a run that then comes to it again. Its counter only grows on
/// that run, so that it is still closed there.
fn used_up(
    facts: &Facts<'_>,
    transition: &GuardedTransition<'_>,
    touches: &[Touch],
    budget: &mut usize,
) -> Option<(EdgeId, Vec<EdgeId>)> {
    let exprs: Vec<&Expr> = transition.guards.iter().map(|it| &it.expr).collect();
    let is_over = |it: &&Touch| {
        !exprs.iter().any(|guard| guard.holds(&it.values))
            && decide::later(&exprs, &it.values, &mut facts.work.borrow_mut()) == Ok(false)
    };
    let steps = touches.iter().filter(is_over).flat_map(|it| &it.steps);
    steps.copied().find_map(|step| Some((step, comes_again(facts, transition, step, budget)?)))
}

/// A run through this step and then to the state of the transition, without setting its counter back.
fn comes_again(
    facts: &Facts<'_>,
    transition: &GuardedTransition<'_>,
    step: EdgeId,
    budget: &mut usize,
) -> Option<Vec<EdgeId>> {
    let search = facts.search;
    let grows = |edge: &Edge| !sets_back(facts, edge, transition.counter);
    let is_there = |id| search.task(id).status == transition.from;
    let taken = search.edge(step);
    if !grows(taken) {
        return None;
    }
    let mut run = search.run_through(step);
    if !is_there(taken.to) {
        run.extend(search.walk(taken.to, grows, |edge| is_there(edge.to), budget)?);
    }
    Some(run)
}

fn finding(
    facts: &Facts<'_>,
    transition: &GuardedTransition<'_>,
    step: EdgeId,
    run: &[EdgeId],
) -> Diagnostic {
    let guard = transition.guards[0];
    let name = name(facts, transition.counter);
    let value = value_after(facts, run, transition.counter);
    let mut hooks = facts.machine.transitions.iter().flat_map(|it| it.hooks);
    let is_reset = hooks.any(|hook| hook.resets() == Some(transition.counter));
    let how = if is_reset { "is not set back here" } else { "is never set back" };
    let message = format!(
        "`{name}` {how}: after a person has set the task going again, `{}` holds no more",
        guard.text
    );
    let mut found = Diagnostic::new(&C26, guard.clause, message);
    let persons = facts.search.edge(step).step.transition().map(|id| facts.transition(id));
    if let Some(persons) = persons {
        let place = facts.first_line(persons.span);
        found = found.label(place, format!("a person takes {} and sets nothing back", facts.arrow(persons)));
    }
    let witness = Witness { values: vec![(name.to_owned(), value)], range: format!("{name} = {value}") };
    let place = persons.map_or_else(|| "the person's transition".to_owned(), |it| facts.arrow(it));
    let help = format!(
        "write `reset: {name}` on {place}; if the person's round is not to have it, allow this with that reason"
    );
    found
        .label(guard.clause, format!("never holds again: {name} = {value}"))
        .trace(facts.tell(run, format!("{name} = {value}")))
        .witness(witness)
        .help(help)
}
