//! C80: a prompt or a message tells an agent to set a status that no transition leads to from where it can be.

use super::C80;
use super::replay::{Refused, When};
use super::shared::{Telling, list, names, telling};
use crate::lint::Facts;
use crate::lint::prompt_facts::{AgentInState, Command, Target};
use orange_codegen::diag::{Diagnostic, Level};
use orange_codegen::edit;
use orange_codegen::model::StateId;
use orange_codegen::suggest;

/// More states than this are not listed.
const MAX_LIST: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.replays().refused.iter().map(|it| finding(facts, it)).collect()
}

fn finding(facts: &Facts<'_>, it: &Refused) -> Diagnostic {
    let telling = telling(facts.prompt_facts, it.by);
    let command = &telling.reading.commands[it.command];
    match command.target {
        Target::State(to) => illegal(facts, it, &telling, (command, to)),
        Target::Unknown | Target::Open => unknown(facts, &telling, command),
    }
}

fn unknown(facts: &Facts<'_>, telling: &Telling<'_>, command: &Command) -> Diagnostic {
    let name = &command.name;
    let known = || facts.workflow.states.iter().map(|it| it.name.value.as_str());
    let tells = telling.tells(facts);
    let message = format!("{tells} to set `--status {name}`, which no state is named");
    let fix = suggest::only(name, known())
        .and_then(|meant| edit::replace_word(&facts.source.text, command.span, name, meant));
    Diagnostic::new(&C80, command.span, message)
        .help(suggest::help(name, "states", known()).unwrap_or_else(|| format!("declare the state `{name}`")))
        .fix_if(fix)
}

fn illegal(
    facts: &Facts<'_>,
    it: &Refused,
    telling: &Telling<'_>,
    (command, to): (&Command, StateId),
) -> Diagnostic {
    let (tells, to_name) = (telling.tells(facts), facts.name(to));
    let from = names(facts, it.from.iter().map(|it| it.state));
    let place = match &from[..] {
        few if few.len() <= MAX_LIST => format!("from {}", list(few)),
        _ => "from where it can be running".to_owned(),
    };
    let refusal = if is_forbidden(facts, &it.from, to) {
        "`by` lets it ask for no transition there"
    } else {
        "no transition leads there"
    };
    let message = format!("{tells} to set `--status {to_name}`, and {refusal} {place}");
    let start = it.start.as_ref().or(telling.starts.first());
    let mut story: Vec<_> = start.map(|start| telling.told(facts, start)).into_iter().collect();
    if let Some(earlier) = it.after.map(|at| &telling.reading.commands[at]) {
        let case = if it.when == When::Aside { "where this was to be run, " } else { "" };
        story.push((earlier.span, format!("{case}the task is in `{}` after this", earlier.name)));
    }
    story.push((command.span, format!("`orange task update` refuses this {place}")));
    let mut found = Diagnostic::new(&C80, command.span, message);
    for (number, (span, text)) in (1..).zip(story) {
        found = found.label(span, format!("{number}. {text}"));
    }
    let found = if it.when == When::Always { found } else { found.at_level(Level::Warn) };
    found.help(help(facts, &it.from, to))
}

/// Whether transitions lead there, and the agent may ask for none of them.
fn is_forbidden(facts: &Facts<'_>, from: &[AgentInState], to: StateId) -> bool {
    from.iter().any(|it| facts.machine.between(it.state, to).next().is_some())
}

fn help(facts: &Facts<'_>, from: &[AgentInState], to: StateId) -> String {
    let Some(first) = from.first() else { return String::new() };
    let (state, to_name) = (facts.name(first.state), facts.name(to));
    let ways = facts.machine.targets(first.state).filter(|to| first.may_request(facts.machine, *to));
    let ways = names(facts, ways);
    let declared = if is_forbidden(facts, from, to) {
        format!("let `by` of `{state} → {to_name}` allow `{}`", first.actor.as_str())
    } else {
        format!("declare `- {{from: {state}, to: {to_name}}}`")
    };
    match &ways[..] {
        [] => declared,
        ways => {
            format!("from `{state}` the agent can set {}: tell it one of these, or {declared}", list(ways))
        }
    }
}
