//! C70: the words of `argv` are written for a shell, and none reads them.

use std::collections::BTreeSet;

use super::C70;
use crate::lint::Facts;
use orange_codegen::Span;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Gate, Value};

/// Words that join or redirect commands.
const SIGNS: [&str; 10] = ["&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1"];
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "fish"];

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let hooks = facts.transitions.iter().flat_map(|it| &it.hooks).map(|it| (it.span, &*it.argv));
    let rules = facts.exit_rules.iter().flat_map(|it| it.condition.gates());
    let gates = facts.transitions.iter().flat_map(|it| &it.gates).chain(rules).filter_map(asked);
    // A hook or a gate may belong to several transitions.
    let mut seen = BTreeSet::new();
    let each = hooks.chain(gates).filter(|(span, _)| seen.insert(span.start));
    each.filter_map(|(span, argv)| in_argv(facts, span, argv)).collect()
}

/// The program that a gate asks.
fn asked(gate: &Gate) -> Option<(Span, &[String])> {
    match gate {
        Gate::Command(gate) => Some((gate.span, &gate.argv)),
        Gate::Section(_) | Gate::AnySection(_) | Gate::Checks(_) => None,
    }
}

fn in_argv(facts: &Facts<'_>, span: Span, argv: &[String]) -> Option<Diagnostic> {
    let (program, words) = argv.split_first()?;
    let file = program.rsplit('/').next().unwrap_or(program);
    if SHELLS.contains(&file) {
        return None;
    }
    let (word, why) = if program.contains(' ') {
        (program, "no program has this name: its words are one argument each")
    } else {
        words.iter().find_map(|word| Some((word, what_is_wrong(facts, word)?)))?
    };
    let span = facts.first_line(span);
    let message = format!("`{word}` in `argv` reaches `{file}` as it stands: {why}");
    Some(
        Diagnostic::new(&C70, span, message)
            .help("write one program and its arguments, or let a shell read it: `argv: [sh, -c, \"…\"]`"),
    )
}

/// What a word is written for that does not happen.
fn what_is_wrong(facts: &Facts<'_>, word: &str) -> Option<&'static str> {
    if SIGNS.contains(&word) {
        return Some("no shell joins or redirects commands");
    }
    let is_variable =
        |at: usize| word[at + 1..].starts_with(|it: char| it == '{' || it == '(' || it.is_ascii_uppercase());
    if word.contains('`') || word.match_indices('$').any(|(at, _)| is_variable(at)) {
        return Some("no shell fills in variables and commands");
    }
    let counters = facts.workflow.counters.iter().map(|it| it.name.as_str());
    let mut values = Value::NAMED.into_iter().map(|(name, _)| name).chain(counters);
    let is_placeholder = values.any(|name| word.contains(&format!("{{{name}}}")));
    is_placeholder.then_some("placeholders are filled in in prompts alone")
}
