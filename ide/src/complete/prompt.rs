//! Completion in prompts: placeholders, commands of `orange`, states, results, sections and verdicts.

use std::cmp::Reverse;

use orange_codegen::Span;
use orange_codegen::model::keys::{NameKind, PromptKind};
use orange_codegen::model::{StepValue, Value};
use orange_core::{COMMANDS, options};

use super::{Completion, CompletionKind, operands};
use crate::project::Project;

/// The words that can stand behind a text of a prompt.
pub(super) fn complete(project: &Project<'_>, kind: PromptKind, before: &str, word: Span) -> Vec<Completion> {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let words = words(project, kind, line);
    let completion = |(label, kind): (String, CompletionKind)| Completion {
        text: label.clone(),
        label,
        kind,
        detail: None,
        span: word,
    };
    words.into_iter().map(completion).collect()
}

fn words(project: &Project<'_>, kind: PromptKind, line: &str) -> Vec<(String, CompletionKind)> {
    let used = |kind, mut names: Vec<String>| {
        names.sort_by_key(|it| Reverse(project.uses(kind, it)));
        names
    };
    let names =
        |kind| used(kind, project.names(kind)).into_iter().map(move |it| (it, CompletionKind::Name(kind)));
    let fixed =
        |words: Vec<&str>| words.into_iter().map(|it| (it.to_owned(), CompletionKind::Command)).collect();
    if kind == PromptKind::Step
        && let Some((_, open)) = line.rsplit_once("{{").filter(|(_, it)| it.trim_start().ends_with('.'))
    {
        return operands::operand(project, open);
    }
    if line.ends_with('{') {
        return match kind {
            PromptKind::Step => {
                let values = StepValue::ALL.into_iter().map(|it| it.name().to_owned());
                let values = values.map(|it| (it, CompletionKind::Name(NameKind::Values)));
                values.chain(operands::operand(project, "")).collect()
            }
            PromptKind::Task | PromptKind::Message => {
                let values = Value::NAMED.into_iter().map(|(name, _)| name.to_owned());
                let values = used(NameKind::Values, values.collect()).into_iter();
                let values = values.map(|it| (it, CompletionKind::Name(NameKind::Values)));
                values.chain(names(NameKind::Counters)).collect()
            }
        };
    }
    if ["--status ", "--status=", "--status \""].iter().any(|it| line.ends_with(it)) {
        return names(NameKind::States).collect();
    }
    if ["--result ", "--result=", "--result \""].iter().any(|it| line.ends_with(it)) {
        return names(NameKind::Results).collect();
    }
    if line.trim_start().trim_start_matches('#') == " " && line.trim_start().starts_with('#') {
        let level = line.trim();
        let sections = names(NameKind::Sections);
        let titles = sections.filter_map(|(it, kind)| {
            let title = it.strip_prefix(level)?.strip_prefix(' ')?;
            Some((title.to_owned(), kind))
        });
        return titles.collect();
    }
    if line.ends_with("Verdict: ") {
        return ["PASS", "FAIL"].map(|it| (it.to_owned(), CompletionKind::Word)).into();
    }
    let Some(call) = called(line) else { return Vec::new() };
    let mut typed = call.split(' ').filter(|it| !it.is_empty());
    let Some(group) = typed.next() else {
        return fixed(COMMANDS.iter().map(|(name, _)| *name).collect());
    };
    let below = COMMANDS.iter().find(|(name, _)| *name == group).map_or(&[][..], |(_, below)| below);
    let command = match typed.next() {
        None if !below.is_empty() && !call.ends_with("--") => return fixed(below.to_vec()),
        Some(second) if below.contains(&second) => format!("{group} {second}"),
        Some(_) | None => group.to_owned(),
    };
    match line.ends_with("--") || line.ends_with(' ') {
        true => fixed(options(&command).collect()),
        false => Vec::new(),
    }
}

/// The words behind the last `orange` of a line.
fn called(line: &str) -> Option<&str> {
    let names = ["orange ", "{orange} ", "{{orange}} "];
    let last = names.iter().filter_map(|it| line.rfind(it).map(|at| at + it.len())).max()?;
    let call = &line[last..];
    (!call.contains(['`', ';', '\''])).then_some(call)
}
