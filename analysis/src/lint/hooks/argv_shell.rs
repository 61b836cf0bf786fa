//! C70: the words of `argv` are written for a shell, and none reads them.

use std::collections::BTreeSet;

use orange_core::TransitionId;

use super::C70;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Hook, Value};

/// Words that join or redirect commands.
const SIGNS: [&str; 10] = ["&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1"];
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "fish"];

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for id in (0u32..).map(TransitionId).take(facts.transitions.len()) {
        let hooks = facts.transition(id).hooks.iter();
        found.extend(hooks.filter(|it| seen.insert(it.span.start)).filter_map(|it| in_hook(facts, it)));
    }
    found
}

fn in_hook(facts: &Facts<'_>, hook: &Hook) -> Option<Diagnostic> {
    let (program, words) = hook.argv.split_first()?;
    let file = program.rsplit('/').next().unwrap_or(program);
    if SHELLS.contains(&file) {
        return None;
    }
    let (word, why) = if program.contains(' ') {
        (program, "no program has this name: its words are one argument each")
    } else {
        words.iter().find_map(|word| Some((word, what_is_wrong(facts, word)?)))?
    };
    let span = facts.first_line(hook.span);
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
