//! C80: a prompt tells its agent to set a status that no transition leads to from where the agent can be.

use super::C80;
use super::replay::{Refused, refused};
use super::shared::{list, names, started};
use crate::diag::{Diagnostic, Level};
use crate::edit;
use crate::lint::Facts;
use crate::lint::told::{Place, Target};
use crate::model::StateId;
use crate::suggest;

/// More states than this are not listed.
const MAX_LIST: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    refused(facts).iter().map(|it| finding(facts, it)).collect()
}

fn finding(facts: &Facts<'_>, it: &Refused<'_>) -> Diagnostic {
    match it.command.target {
        Target::State(to) => illegal(facts, it, to),
        Target::Unknown | Target::Open => unknown(facts, it),
    }
}

fn unknown(facts: &Facts<'_>, it: &Refused<'_>) -> Diagnostic {
    let (prompt, name) = (it.prompt.name, &it.command.name);
    let known = || facts.workflow.states.iter().map(|it| it.name.value.as_str());
    let message = format!("`{prompt}` tells its agent to set `--status {name}`, which no state is named");
    let fix = suggest::only(name, known())
        .and_then(|meant| edit::replace_word(&facts.source.text, it.command.span, name, meant));
    Diagnostic::new(&C80, it.command.span, message)
        .help(suggest::help(name, "states", known()).unwrap_or_else(|| format!("declare the state `{name}`")))
        .fix_if(fix)
}

fn illegal(facts: &Facts<'_>, it: &Refused<'_>, to: StateId) -> Diagnostic {
    let (prompt, to_name) = (it.prompt.name, facts.name(to));
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
    let message = format!("`{prompt}` tells its agent to set `--status {to_name}`, and {refusal} {place}");
    let mut story: Vec<_> =
        it.prompt.starts.first().map(|start| started(facts, &it.prompt, start)).into_iter().collect();
    if let Some(earlier) = it.after {
        let case = if it.maybe { "where this was to be run, " } else { "" };
        story.push((earlier.span, format!("{case}the task is in `{}` after this", earlier.name)));
    }
    story.push((it.command.span, format!("`orange task update` refuses this {place}")));
    let mut found = Diagnostic::new(&C80, it.command.span, message);
    for (number, (span, text)) in (1..).zip(story) {
        found = found.label(span, format!("{number}. {text}"));
    }
    let found = if it.maybe { found.at_level(Level::Warn) } else { found };
    found.help(help(facts, it, to))
}

/// Whether transitions lead there, and the agent may ask for none of them.
fn is_forbidden(facts: &Facts<'_>, from: &[Place], to: StateId) -> bool {
    from.iter().any(|it| facts.machine.between(it.state, to).next().is_some())
}

fn help(facts: &Facts<'_>, it: &Refused<'_>, to: StateId) -> String {
    let Some(first) = it.from.first() else { return String::new() };
    let (from, to_name) = (facts.name(first.state), facts.name(to));
    let ways = facts.machine.targets(first.state).filter(|to| first.may(facts.machine, *to));
    let ways = names(facts, ways);
    let declared = if is_forbidden(facts, &it.from, to) {
        format!("let `by` of `{from} → {to_name}` allow `{}`", first.actor.as_str())
    } else {
        format!("declare `- {{from: {from}, to: {to_name}}}`")
    };
    match &ways[..] {
        [] => declared,
        ways => {
            format!("from `{from}` the agent can set {}: tell it one of these, or {declared}", list(ways))
        }
    }
}
