//! C25: a guard in a loop compares a counter that nothing counts up.

use std::collections::BTreeMap;

use super::C25;
use super::shared::{GuardSite, counted, guards, name};
use crate::lint::Facts;
use crate::search::EdgeId;
use orange_codegen::diag::{Diagnostic, Witness};
use orange_codegen::model::{CounterId, StateId};

/// Comparisons that a message still points at.
const MAX_LABELS: usize = 8;

/// Steps that are looked at for all loops together.
const MAX_STEPS: usize = 500_000;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let counted = counted(facts);
    let sites = guards(facts);
    let mut budget = MAX_STEPS;
    let mut read: BTreeMap<CounterId, Vec<&GuardSite<'_>>> = BTreeMap::new();
    for site in &sites {
        let mut counters: Vec<CounterId> =
            site.guard.expr.comparisons().iter().map(|it| it.counter).collect();
        counters.sort_unstable();
        counters.dedup();
        for counter in counters.into_iter().filter(|it| !counted.contains(it)) {
            read.entry(counter).or_default().push(site);
        }
    }
    let findings = read.into_iter().filter_map(|(counter, sites)| {
        let turn = sites.iter().find_map(|site| turn(facts, site.state, &mut budget))?;
        finding(facts, counter, &sites, &turn)
    });
    findings.collect()
}

/// A shortest run into a state and back to it.
fn turn(facts: &Facts<'_>, state: StateId, budget: &mut usize) -> Option<Vec<EdgeId>> {
    let search = facts.search;
    let first = facts.nearest[usize::from(state.0)]?;
    let returns = |to| search.task(to).status == state;
    let back =
        search.walk(first, |_| true, |edge| edge.step.transition().is_some() && returns(edge.to), budget)?;
    Some(search.run_to(first).into_iter().chain(back).collect())
}

fn finding(
    facts: &Facts<'_>,
    counter: CounterId,
    sites: &[&GuardSite<'_>],
    turn: &[EdgeId],
) -> Option<Diagnostic> {
    let (name, declared) = (name(facts, counter), &facts.workflow.counters[usize::from(counter.0)]);
    let start = declared.start;
    let comparisons: Vec<_> = sites.iter().flat_map(|site| site.comparisons(counter)).collect();
    let first = comparisons.first()?;
    let message = format!("no hook counts `{name}` up, so it is always {start} and bounds no loop");
    let found = Diagnostic::new(&C25, first.span, message);
    let found = match declared.declared {
        Some(span) => found.label(span, format!("{start} in a new task")),
        None => found,
    };
    let found = comparisons.iter().take(MAX_LABELS).fold(found, |found, it| {
        let when = if it.op.holds(start, it.value) { "always" } else { "never" };
        found.label(it.span, format!("{when} holds"))
    });
    let witness = Witness {
        values: vec![(name.to_owned(), start)],
        range: format!("{name} = {start}, whatever happens"),
    };
    Some(
        found
            .witness(witness)
            .trace(facts.tell(turn, format!("{name} is still {start}")))
            .help_if(help(facts, name, turn)),
    )
}

/// The step that comes back is where a turn is to be counted.
fn help(facts: &Facts<'_>, name: &str, turn: &[EdgeId]) -> Option<String> {
    let last = facts.search.edge(*turn.last()?).step.transition()?;
    let transition = facts.transition(last);
    let arrow = facts.arrow(transition);
    Some(if transition.hooks.iter().any(|hook| hook.spawn.is_some()) {
        format!("write `increment: {name}` where {arrow} starts the agent")
    } else {
        format!("add `{{action: increment, field: {name}}}` to the hooks of {arrow}")
    })
}
