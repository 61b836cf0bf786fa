//! C80: a prompt or a message names a command that no transition allows, wherever its agent can be.

use super::C80;
use super::places::RefusedCommand;
use super::shared::{Instructions, instructions, list, names};
use crate::lint::Facts;
use crate::lint::prompt_facts::{AgentInState, Command, StatusTarget};
use orange_codegen::diag::Diagnostic;
use orange_codegen::edit;
use orange_codegen::model::StateId;
use orange_codegen::suggest;

/// More states than this are not listed.
const MAX_LIST: usize = 4;

/// Advice for a text that is not a command, so that this check does not read it as one.
const AS_TEXT: &str = "where the text forbids the command, write `--status` without `orange task update`";

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.commands().refused.iter().map(|it| finding(facts, it)).collect()
}

fn finding(facts: &Facts<'_>, it: &RefusedCommand) -> Diagnostic {
    let by = instructions(facts.prompt_facts, it.by);
    let command = &by.reading.commands[it.command];
    match command.target {
        StatusTarget::State(to) => illegal(facts, it, &by, (command, to)),
        StatusTarget::Unknown | StatusTarget::Open => unknown(facts, &by, command),
    }
}

fn unknown(facts: &Facts<'_>, by: &Instructions<'_>, command: &Command) -> Diagnostic {
    let name = &command.name;
    let known = || facts.workflow.states.iter().map(|it| it.name.value.as_str());
    let message =
        format!("{} names `orange task update --status {name}`, and no state has this name", by.name(facts));
    let fix = suggest::only(name, known())
        .and_then(|meant| edit::replace_word(&facts.source.text, command.span, name, meant));
    Diagnostic::new(&C80, command.span, message)
        .help(suggest::help(name, "states", known()).unwrap_or_else(|| format!("declare the state `{name}`")))
        .fix_if(fix)
}

fn illegal(
    facts: &Facts<'_>,
    it: &RefusedCommand,
    by: &Instructions<'_>,
    (command, to): (&Command, StateId),
) -> Diagnostic {
    let to_name = facts.name(to);
    let from = names(facts, it.from.iter().map(|it| it.state));
    let place = match &from[..] {
        few if few.len() <= MAX_LIST => format!("from {}", list(few)),
        _ => format!("from where {} can be", by.reader(facts)),
    };
    let refusal = if is_forbidden(facts, &it.from, to) {
        format!("`by` allows {} no transition there", by.reader(facts))
    } else {
        "no transition leads there".to_owned()
    };
    let message =
        format!("{} names `orange task update --status {to_name}`, and {refusal} {place}", by.name(facts));
    let mut story: Vec<_> = by.starts.first().map(|start| by.given(facts, start)).into_iter().collect();
    story.push((command.span, format!("`orange task update` refuses this {place}")));
    let mut found = Diagnostic::new(&C80, command.span, message);
    for (number, (span, text)) in (1..).zip(story) {
        found = found.label(span, format!("{number}. {text}"));
    }
    let missing = it.from.iter().map(|from| format!("{} → {to_name}", facts.name(from.state)));
    missing.fold(found, Diagnostic::about).help(format!("{}; {AS_TEXT}", help(facts, &it.from, to)))
}

/// True if transitions lead there, and `by` leaves all of them to others.
fn is_forbidden(facts: &Facts<'_>, from: &[AgentInState], to: StateId) -> bool {
    from.iter().any(|it| facts.machine.between(it.state, to).next().is_some())
}

fn help(facts: &Facts<'_>, from: &[AgentInState], to: StateId) -> String {
    let Some(first) = from.first() else { return String::new() };
    let (state, to_name) = (facts.name(first.state), facts.name(to));
    let open = facts.machine.targets(first.state).filter(|to| first.may_request(facts.machine, *to));
    let open = names(facts, open);
    let declared = if is_forbidden(facts, from, to) {
        format!("let `by` of `{state} → {to_name}` allow `{}`", first.actor.kind())
    } else {
        format!("declare `- {{from: {state}, to: {to_name}}}`")
    };
    match &open[..] {
        [] => declared,
        open => format!("`{state}` has transitions to {}: name one of these, or {declared}", list(open)),
    }
}
