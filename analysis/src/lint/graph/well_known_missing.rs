//! C08: a command such as `orange task merge` has no state to go to.

use orange_core::StateId;

use super::{C08, an_end};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::State;
use orange_codegen::suggest;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = spawn(facts).into_iter().chain(unstartable(facts)).collect();
    let commands = facts.workflow.commands;
    if an_end(facts).is_some() {
        found.extend(ending(facts, "merge", "done", commands.merge, commands.cancel));
        found.extend(ending(facts, "cancel", "cancelled", commands.cancel, commands.merge));
    }
    found
}

/// The finding that an agent can start in several states, and the workflow does not name one for `orange task spawn`.
fn spawn(facts: &Facts<'_>) -> Option<Diagnostic> {
    let initial = facts.workflow.initial;
    let clarify = facts.workflow.commands.clarify;
    let starting = |to: &StateId| {
        let transitions = facts.machine.between(initial, *to);
        transitions.flat_map(|id| facts.machine.transition(id).hooks).any(|hook| hook.spawn().is_some())
    };
    let mut starts = facts.machine.targets(initial).filter(|it| Some(*it) != clarify).filter(starting);
    let (first, second) = (starts.next()?, starts.next()?);
    if facts.workflow.commands.spawn.is_some() {
        return None;
    }
    let message = format!(
        "`orange task spawn` cannot tell where a task starts: `{}` leads to `{}` and to `{}`, each with an agent",
        facts.name(initial),
        facts.name(first),
        facts.name(second)
    );
    let found = Diagnostic::new(&C08, facts.state(initial).name.span, message)
        .label(facts.state(first).name.span, "1. an agent can start here")
        .label(facts.state(second).name.span, "2. and here");
    Some(found.help(format!("say which: `commands: {{spawn: {}}}`", facts.name(first))))
}

/// The finding that no task can be started, since no transition leads from the state of new ones to the one where agents start.
fn unstartable(facts: &Facts<'_>) -> Option<Diagnostic> {
    let initial = facts.workflow.initial;
    let spawn = facts.workflow.commands.spawn.filter(|it| *it != initial)?;
    let leaving: Vec<StateId> = facts.leaving(initial).map(|(_, it)| it.to.value).collect();
    if leaving.is_empty() || leaving.contains(&spawn) {
        return None;
    }
    let (from, to) = (facts.name(initial), facts.name(spawn));
    let is_clarified = facts.workflow.commands.clarify.is_some_and(|it| leaving.contains(&it));
    let fails = if is_clarified { "of a task with a summary fails" } else { "always fails" };
    let message = format!(
        "`orange task spawn` {fails}: it goes to `{to}`, and no transition leads there from `{from}`"
    );
    let can_be_started = leaving.iter().find(|to| !facts.state(**to).terminal);
    let words = match can_be_started {
        Some(other) => format!("1. new tasks go from here to `{}`", facts.name(*other)),
        None => "1. new tasks can only be ended".to_owned(),
    };
    let found = Diagnostic::new(&C08, facts.state(initial).name.span, message)
        .label(facts.state(initial).name.span, words)
        .label(facts.state(spawn).name.span, "2. they are to start here");
    Some(found.help(format!("declare `- {{from: {from}, to: {to}}}`, with the hooks that start an agent")))
}

/// The finding that a command that ends tasks has no state to end them in.
fn ending(
    facts: &Facts<'_>,
    command: &str,
    usual: &str,
    goes_to: Option<StateId>,
    other: Option<StateId>,
) -> Option<Diagnostic> {
    if goes_to.is_some() {
        return None;
    }
    let meant = meant(facts, usual, other);
    let message =
        format!("`orange task {command}` always fails: it goes to `{usual}`, and there is no such state");
    let span = meant.map_or(facts.workflow.name.span, |it| it.name.span);
    let found = Diagnostic::new(&C08, span, message);
    Some(match meant {
        Some(state) => found
            .label(span, "is this the state that is meant?")
            .help(format!("say so: `commands: {{{command}: {}}}`", state.name.value)),
        None => found.help(format!(
            "add a state `{usual}: {{terminal: true}}` and the transitions there, or name one under \
             `commands: {{{command}: …}}`"
        )),
    })
}

/// The terminal state that is probably meant: its name is close to the usual one, or it is the only one left.
fn meant<'f>(facts: &Facts<'f>, usual: &str, other: Option<StateId>) -> Option<&'f State> {
    let left = || facts.states().filter(|(id, it)| it.terminal && Some(*id) != other).map(|(_, it)| it);
    let close = suggest::closest(usual, left().map(|it| it.name.value.as_str()));
    match close {
        Some(close) => left().find(|it| it.name.value == close),
        None => left().next().filter(|_| other.is_some() && left().count() == 1),
    }
}
