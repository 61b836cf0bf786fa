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
        Gate::Section(_) | Gate::AnySection(_) | Gate::Checks(_) | Gate::Children(_) => None,
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
    } else if is_assignment(program) {
        (program, "no shell sets a variable, and no program has this name")
    } else if program.starts_with("~/") {
        (program, HOME)
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

const HOME: &str = "no shell puts the home directory in the place of `~`";

/// `FOO=1`, in the place of a program.
fn is_assignment(program: &str) -> bool {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        let begins = letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == '_');
        begins && letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    program.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// `>out`, `2>log`, `</dev/null`.
fn is_redirection(word: &str) -> bool {
    let rest = word.trim_start_matches(|it: char| it.is_ascii_digit() || it == '&');
    let file = rest.trim_start_matches(['>', '<']);
    rest.starts_with(['>', '<']) && !file.is_empty() && !is_blank(word) && !file.starts_with('=')
}

/// `*.rs`, `src/**/*.rs`: the name of a file with a star, and no expression or option that a program reads itself.
fn is_pattern(word: &str) -> bool {
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '*' | '?' | '.' | '/' | '_' | '-');
    let names_files = word.contains("*.") || word.ends_with("/*") || word == "*";
    names_files && !word.starts_with('-') && !word.contains(".*") && word.chars().all(is_name)
}

/// `<branch>`: a blank for a reader to fill in.
fn is_blank(word: &str) -> bool {
    let inner = word.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    inner.is_some_and(|it| {
        it.starts_with(|it: char| it.is_ascii_alphabetic()) && !it.contains(['<', '>', '/', ' '])
    })
}

/// Explanation of the effect that a word is written for and does not have.
fn what_is_wrong(facts: &Facts<'_>, word: &str) -> Option<&'static str> {
    if SIGNS.contains(&word) || is_redirection(word) {
        return Some("no shell joins or redirects commands");
    }
    if word == "~" || word.starts_with("~/") {
        return Some(HOME);
    }
    if is_pattern(word) {
        return Some("no shell replaces patterns by the names of files");
    }
    if is_blank(word) {
        return Some("nothing is filled in for it");
    }
    let is_variable =
        |at: usize| word[at + 1..].starts_with(|it: char| it == '{' || it == '(' || it.is_ascii_uppercase());
    if word.contains('`') || word.match_indices('$').any(|(at, _)| is_variable(at)) {
        return Some("no shell fills in variables and commands");
    }
    let counters = facts.workflow.counters.iter().map(|it| it.name.as_str());
    let named = Value::NAMED.into_iter().filter(|(_, value)| *value != Value::Port);
    let mut values = named.map(|(name, _)| name).chain(counters);
    let is_placeholder = values.any(|name| word.contains(&format!("{{{name}}}")));
    is_placeholder.then_some("placeholders other than `{port}` are filled in in prompts alone")
}
