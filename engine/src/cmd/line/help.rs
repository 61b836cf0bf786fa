//! What `--help` says.

use super::{Arg, Does, Spec};

/// The page of a command that is called so.
pub fn page(spec: &Spec, path: &str) -> String {
    let commands = rows(spec.shown().map(|spec| (spec.name.to_owned(), spec.about.to_owned())));
    let words = rows(spec.words().map(explained));
    let options = rows(spec.options().map(explained));
    let examples = spec.examples.iter().map(|line| format!("\n  {line}")).collect();
    let parts = [
        ("Commands:", commands),
        ("Arguments:", words),
        ("Options:", options),
        (if spec.examples.len() == 1 { "Example:" } else { "Examples:" }, examples),
        (spec.notes, String::new()),
    ];
    let parts = parts
        .into_iter()
        .filter(|(head, body)| !body.is_empty() || (*head == spec.notes && !head.is_empty()));
    let parts: String = parts.map(|(head, body)| format!("\n\n{head}{body}")).collect();
    format!("{}\n\nUsage: {}{parts}", spec.about, usage(spec, path))
}

/// The shape of a command's line, with `[OPTIONS]` for those that may be left out.
pub fn usage(spec: &Spec, path: &str) -> String {
    let words: String = match spec.does {
        Does::Group(_) => " COMMAND".to_owned(),
        Does::Command(_) => {
            let required = spec.options().filter(|arg| arg.required);
            required.chain(spec.words()).map(|arg| format!(" {}", arg.typed())).collect()
        }
    };
    format!("{path} [OPTIONS]{words}")
}

/// What an argument is for, and what it is without being given.
pub fn about(arg: &Arg) -> String {
    match arg.default {
        "" => arg.help.to_owned(),
        default => format!("{} [default: {default}]", arg.help),
    }
}

fn explained(arg: &'static Arg) -> (String, String) {
    (arg.typed(), about(arg))
}

/// Two columns, each line set in by two.
fn rows(rows: impl Iterator<Item = (String, String)>) -> String {
    let rows: Vec<_> = rows.collect();
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or_default();
    rows.iter().map(|(left, right)| format!("\n  {left:width$}  {right}")).collect()
}
