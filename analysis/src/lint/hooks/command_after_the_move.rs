//! C72: a program checks the work once the task has moved, and the next agent waits for it.

use std::collections::BTreeSet;

use orange_core::{Action, Actor, Hook, OnFailure, Transition};

use super::C72;
use super::places::numbered;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (transition, machine) in facts.transitions.iter().zip(facts.machine.transitions) {
        if let Some(pair) = pair(machine).filter(|_| seen.insert(transition.declaration)) {
            found.push(finding(facts, transition, machine, pair));
        }
    }
    found
}

/// A program of a transition that no person takes alone, and the hook after it that starts an agent. Where a failure has a state to go
/// to, the workflow decides by it.
fn pair(transition: &Transition<'_>) -> Option<(usize, usize)> {
    let is_persons = ![Actor::Worker, Actor::Reviewer].iter().any(|it| transition.by.allows(*it));
    if is_persons || transition.on_hook_failure.is_some() {
        return None;
    }
    let checks = |hook: &Hook<'_>| hook.action == Action::RunCommand && hook.on_failure == OnFailure::Stop;
    let at = transition.hooks.iter().position(checks)?;
    let starts = transition.hooks.iter().skip(at + 1).position(|it| it.spawn().is_some())?;
    Some((at, at + 1 + starts))
}

fn finding(
    facts: &Facts<'_>,
    transition: &model::Transition,
    machine: &Transition<'_>,
    (program, start): (usize, usize),
) -> Diagnostic {
    let [checks, starts] = [program, start].map(|at| facts.first_line(transition.hooks[at].span));
    let argv = machine.hooks[program].argv.join(" ");
    let message = format!("{} runs `{argv}` when the task has moved already", facts.arrow(transition));
    let to = facts.name(transition.to.value);
    let story = vec![
        (checks, format!("fails, and the task stays in `{to}`")),
        (starts, "waits until somebody has the hooks run again".to_owned()),
    ];
    numbered(Diagnostic::new(&C72, checks, message), story).help(
        "let the program decide: a transition with this `argv` in its `gate: {command: {argv: …}}` is refused while the program fails; \
         or say where the task goes then: `on_hook_failure: STATE`",
    )
}
