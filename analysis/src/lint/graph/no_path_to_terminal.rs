//! C03: a task can come to where no run leads to a terminal state any more.

use std::collections::BTreeSet;

use orange_core::{StateId, TransitionId};

use super::reasons::Reasons;
use super::{C03, an_end};
use crate::lint::Facts;
use crate::search::ConfigurationId;
use orange_codegen::diag::Diagnostic;

/// So many of what a finding could point at are pointed at.
const MAX_LABELS: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    // Where nothing is terminal, no run leads there, and another lint says so.
    let Some(end) = an_end(facts) else { return Vec::new() };
    let mut found: Vec<Diagnostic> = circles(facts).iter().map(|it| circle(facts, it, end)).collect();
    found.extend(trap(facts).map(|it| caught(facts, &it)));
    found
}

/// The sets of states that lead only to each other, whatever their guards say. A state alone that nothing leaves is
/// another lint's.
fn circles(facts: &Facts<'_>) -> Vec<Vec<StateId>> {
    let circles = &facts.graph.circles;
    if facts.graph.ends.iter().all(|it| *it) {
        return Vec::new();
    }
    let members = circles.order().chunk_by(|one, other| circles.together(*one, *other));
    let members = members.map(|it| it.iter().map(|at| StateId(*at as u16)).collect::<Vec<_>>());
    let mut found: Vec<Vec<StateId>> = members.filter(|it| is_closed(facts, it)).collect();
    found.iter_mut().for_each(|it| it.sort_unstable());
    found.sort_unstable();
    found
}

fn is_closed(facts: &Facts<'_>, states: &[StateId]) -> bool {
    let mut leaving = states.iter().flat_map(|it| facts.machine.targets(*it)).peekable();
    let first = states.first().copied();
    leaving.peek().is_some()
        && first.is_some_and(|it| facts.graph.entered[usize::from(it.0)])
        && leaving
            .all(|to| first.is_some_and(|it| facts.graph.circles.together(u32::from(it.0), u32::from(to.0))))
}

fn circle(facts: &Facts<'_>, states: &[StateId], end: &str) -> Diagnostic {
    let names = listed(facts, states, "or");
    let nearest = states.iter().filter_map(|it| facts.nearest[usize::from(it.0)]).min();
    let first = nearest.map(|it| facts.search.task(it).status).or(states.first().copied());
    let first = first.map_or(facts.workflow.name.span, |it| facts.state(it).name.span);
    let only = if states.len() == 1 { "itself".to_owned() } else { "each other".to_owned() };
    let message = format!("a task in {names} never ends: no terminal state can be reached from there");
    let found = Diagnostic::new(&C03, first, message).help(format!(
        "add a transition out, for example `- {{from: {}, to: {end}}}`",
        states.first().map_or("", |it| facts.name(*it))
    ));
    let labelled = states.iter().take(MAX_LABELS);
    let found = labelled
        .fold(found, |found, it| found.label(facts.state(*it).name.span, format!("leads only to {only}")));
    match nearest {
        Some(nearest) => {
            found.trace(facts.tell_to(nearest, format!("from here on only {}", listed(facts, states, "and"))))
        }
        None => found,
    }
}

/// The nearest configuration that no run ends from, though its state has transitions that could.
fn trap(facts: &Facts<'_>) -> Option<ConfigurationId> {
    facts.caught(|id| {
        let status = facts.search.task(id).status;
        facts.state(status).terminal || !facts.graph.ends[usize::from(status.0)]
    })
}

fn caught(facts: &Facts<'_>, trap: &ConfigurationId) -> Diagnostic {
    let (inside, taken) = beyond(facts, *trap);
    let task = facts.search.task(*trap);
    let states: BTreeSet<StateId> = inside.iter().map(|it| facts.search.task(*it).status).collect();
    let states: Vec<StateId> = states.into_iter().collect();
    let names = listed(facts, &states, "and");
    let state = facts.state(task.status);
    let reasons = Reasons::among(facts, inside);
    let message = format!(
        "a task in `{}` can be caught: it comes no further than {names}, and no run ends it",
        state.name.value
    );
    let found = Diagnostic::new(&C03, state.name.span, message)
        .label(state.name.span, "1. a task here, after the run below")
        .trace(facts.tell_to(*trap, "no transition to an end is open".to_owned()))
        .help("open one of these transitions, or add one that is always open");
    let leaving = states.iter().flat_map(|it| facts.leaving(*it)).filter(|(id, _)| !taken.contains(id));
    (2..).zip(leaving.take(MAX_LABELS)).fold(found, |found, (number, (id, transition))| {
        let reason = reasons.reason(id);
        let words = format!("{number}. {} is closed to it: {}", facts.arrow(transition), reason.words);
        found.label(facts.first_line(reason.span), words)
    })
}

/// Every configuration from this one on, and the transitions that are taken between them.
fn beyond(facts: &Facts<'_>, start: ConfigurationId) -> (Vec<ConfigurationId>, BTreeSet<TransitionId>) {
    let mut met = vec![false; facts.search.size()];
    met[start as usize] = true;
    let (mut inside, mut taken) = (vec![start], BTreeSet::new());
    let mut at = 0;
    while at < inside.len() {
        for edge in facts.search.edges_from(inside[at]) {
            taken.extend(edge.step.transition());
            if !std::mem::replace(&mut met[edge.to as usize], true) {
                inside.push(edge.to);
            }
        }
        at += 1;
    }
    (inside, taken)
}

/// "`qa` and `fix`"
fn listed(facts: &Facts<'_>, states: &[StateId], and: &str) -> String {
    let mut names: Vec<String> =
        states.iter().take(MAX_LABELS).map(|it| format!("`{}`", facts.name(*it))).collect();
    if let Some(more @ 1..) = states.len().checked_sub(MAX_LABELS) {
        names.push(format!("{more} more"));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} {and} {last}", names.join(", ")) }
}
