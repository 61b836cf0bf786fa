//! C01: a state that no task ever comes to.

use orange_core::{StateId, TransitionId};

use super::C01;
use super::closed::Closed;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Outcome, State};

/// So many of what a finding could point at are pointed at.
const MAX_LABELS: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut found = disconnected(facts);
    found.extend(Closed::of(facts).iter().flat_map(|closed| shut(facts, closed)));
    found
}

/// States that no transition leads to in the plain graph. One finding also names the states that only they lead to.
fn disconnected(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let entered = |id: StateId| facts.graph.entered[usize::from(id.0)];
    let mut led_to = vec![false; facts.workflow.states.len()];
    for it in facts.transitions.iter().filter(|it| !entered(it.from.value) && it.from.value != it.to.value) {
        led_to[usize::from(it.to.value.0)] = true;
    }
    let lost = || facts.states().map(|(id, _)| id).filter(|it| !entered(*it));
    // Those that nothing leads to come first; what is then left turns in a circle of its own.
    let (roots, rest): (Vec<StateId>, Vec<StateId>) = lost().partition(|it| !led_to[usize::from(it.0)]);
    let owed = owed(facts);
    let mut reported = vec![false; facts.workflow.states.len()];
    let mut found = Vec::new();
    for root in roots.into_iter().chain(rest) {
        if !reported[usize::from(root.0)] {
            let after = follow(facts, root, &mut reported);
            if !owed[usize::from(root.0)] {
                found.push(alone(facts, root, &after));
            }
        }
    }
    found
}

/// By state: whether an exit rule or a watch rule leads there. Where no transition does, the finding of the rule reports that.
fn owed(facts: &Facts<'_>) -> Vec<bool> {
    let mut owed = vec![false; facts.workflow.states.len()];
    let rules = facts.workflow.exit_monitoring.rules.iter();
    for rule in rules.filter(|it| facts.graph.entered[usize::from(it.status.value.0)]) {
        let crash = facts.machine.commands.crash.filter(|_| matches!(rule.outcome, Outcome::Crash { .. }));
        rule.outcome.targets().chain(crash).for_each(|to| owed[usize::from(to.0)] = true);
    }
    let watch = facts.workflow.watch.iter();
    for rule in watch.filter(|it| facts.graph.entered[usize::from(it.status.value.0)]) {
        rule.outcome.targets().for_each(|to| owed[usize::from(to.0)] = true);
    }
    owed
}

/// The states beyond this one that no task comes to either, nearest first.
fn follow(facts: &Facts<'_>, root: StateId, reported: &mut [bool]) -> Vec<StateId> {
    reported[usize::from(root.0)] = true;
    let mut after = Vec::new();
    let mut at = 0;
    let mut from = Some(root);
    while let Some(state) = from {
        for to in facts.machine.targets(state).filter(|it| !facts.graph.entered[usize::from(it.0)]) {
            if !std::mem::replace(&mut reported[usize::from(to.0)], true) {
                after.push(to);
            }
        }
        from = after.get(at).copied();
        at += 1;
    }
    after
}

fn alone(facts: &Facts<'_>, root: StateId, after: &[StateId]) -> Diagnostic {
    let state = facts.state(root);
    let name = &state.name.value;
    let into = facts.workflow.transitions.iter().find(|it| it.to.value == root && it.from.value != root);
    let message = match into {
        None => format!("`{name}` is never entered: no transition leads there"),
        Some(into) => {
            let from = facts.name(into.from.value);
            format!("`{name}` is never entered: only `{from}` leads there, which is never entered either")
        }
    };
    let found = Diagnostic::new(&C01, state.name.span, message)
        .label(state.name.span, "no task comes here")
        .help(format!("add a transition to `{name}`, mark it `entry: true`, or delete it"));
    after.iter().take(MAX_LABELS).fold(found, |found, id| {
        found.label(facts.state(*id).name.span, format!("nor here, where only `{name}` leads"))
    })
}

/// States whose transitions never open. The states that only they lead to have no finding.
fn shut(facts: &Facts<'_>, closed: &Closed<'_>) -> Vec<Diagnostic> {
    let mut into: Vec<Vec<TransitionId>> = vec![Vec::new(); facts.workflow.states.len()];
    for (id, it) in closed.transitions() {
        into[usize::from(it.to.value.0)].push(id);
    }
    let lost = facts.states().filter(|(id, _)| facts.nearest[usize::from(id.0)].is_none());
    let lost = lost.filter(|(id, _)| !into[usize::from(id.0)].is_empty());
    lost.map(|(id, state)| behind(facts, closed, state, &into[usize::from(id.0)])).collect()
}

fn behind(facts: &Facts<'_>, closed: &Closed<'_>, state: &State, transitions: &[TransitionId]) -> Diagnostic {
    let name = &state.name.value;
    let message = match transitions {
        [only] => {
            let arrow = facts.arrow(facts.transition(*only));
            format!("`{name}` is never entered: only {arrow} leads there, and {}", closed.reason(*only).words)
        }
        _ => format!(
            "`{name}` is never entered: of {} transitions there none is ever taken",
            transitions.len()
        ),
    };
    let found = Diagnostic::new(&C01, state.name.span, message)
        .label(state.name.span, "no task comes here")
        .help(format!("open a transition there, or delete `{name}` with its transitions"));
    transitions.iter().take(MAX_LABELS).fold(found, |found, id| {
        let reason = closed.reason(*id);
        found.label(facts.first_line(reason.span), reason.words)
    })
}
