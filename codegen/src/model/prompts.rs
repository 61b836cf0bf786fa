//! Prompts: texts with placeholders, parsed once.

use std::ops::Range;

use super::decoder::{Decoder, Field, NamedEntry};
use super::keys::PROMPT;
use super::prompt_file;
use super::scope::Scope;
use super::{Prompt, PromptPiece, StepValue, Value};
use crate::catalogue::C84;
use crate::diag::Diagnostic;
use crate::prompt_files::PromptFiles;
use crate::suggest;
use crate::syntax::{NodeKind, Text};

/// Placeholder of a task for the `{{mission_prompt}}` of a step.
const SUMMARY: &str = "{summary}";

/// The prompts, in the order of the scope's table. One whose value is not a text is empty.
pub(super) fn prompts(
    decoder: &mut Decoder<'_>,
    files: &PromptFiles,
    scope: &Scope<'_>,
    entries: &[NamedEntry<'_>],
) -> Vec<Prompt> {
    entries.iter().map(|entry| prompt(decoder, files, scope, entry)).collect()
}

fn prompt(
    decoder: &mut Decoder<'_>,
    files: &PromptFiles,
    scope: &Scope<'_>,
    entry: &NamedEntry<'_>,
) -> Prompt {
    let field = Field { name: entry.name.value, key: entry.name.span, value: entry.value };
    let (text, file) = match entry.value.kind {
        NodeKind::Mapping(_) => included(decoder, files, &field),
        NodeKind::Scalar(_) | NodeKind::Sequence(_) => (decoder.text(&field).cloned(), None),
    };
    let text = text.unwrap_or_else(|| Text::empty(entry.value.span));
    let pieces = pieces(decoder, scope, &text);
    look_alikes(decoder, scope, &text);
    Prompt { name: entry.name.map(str::to_owned), span: entry.value.span, text, file, pieces }
}

/// The text of `{include: FILE}`, and the name of the file.
fn included(
    decoder: &mut Decoder<'_>,
    files: &PromptFiles,
    field: &Field<'_>,
) -> (Option<Text>, Option<String>) {
    let fields = decoder.object(field.value, &PROMPT);
    let name = fields.and_then(|it| it.get("include")).and_then(|it| decoder.string(&it));
    let text = name.as_ref().and_then(|name| prompt_file::read(decoder, files, name));
    (text, name.map(|it| it.value))
}

/// Cuts a text at its placeholders.
fn pieces(decoder: &mut Decoder<'_>, scope: &Scope<'_>, text: &Text) -> Vec<PromptPiece> {
    let mut cutter = Cutter::default();
    for (at, cut) in cuts(&text.value) {
        match cut {
            Cut::Text(text) => cutter.literal.push_str(text),
            Cut::Brace(brace) => cutter.literal.push(brace),
            Cut::Placeholder(word) => match value(scope, word) {
                Some(value) => cutter.value(value),
                None => {
                    report(decoder, scope, text, word, at);
                    cutter.literal.push_str(&text.value[at..at + word.len() + 2]);
                }
            },
        }
    }
    cutter.finish()
}

/// A part of a text with placeholders.
enum Cut<'t> {
    /// Stands for itself.
    Text(&'t str),
    /// Two braces, which stand for one.
    Brace(char),
    /// The word in braces.
    Placeholder(&'t str),
}

/// The parts of a text, each with its first byte.
fn cuts(text: &str) -> impl Iterator<Item = (usize, Cut<'_>)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = text.len() - rest.len();
        let (cut, taken) = match rest.find(['{', '}']) {
            _ if rest.is_empty() => return None,
            _ if rest.starts_with("{{") => (Cut::Brace('{'), 2),
            _ if rest.starts_with("}}") => (Cut::Brace('}'), 2),
            Some(0) => match placeholder(rest) {
                Some(word) => (Cut::Placeholder(word), word.len() + 2),
                None => (Cut::Text(&rest[..1]), 1),
            },
            brace => {
                let end = brace.unwrap_or(rest.len());
                (Cut::Text(&rest[..end]), end)
            }
        };
        rest = &rest[taken..];
        Some((at, cut))
    })
}

/// The words of the placeholders of a text, as bytes of it.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Range<usize>> {
    cuts(text).filter_map(|(at, cut)| match cut {
        Cut::Placeholder(word) => Some(at + 1..at + 1 + word.len()),
        Cut::Text(_) | Cut::Brace(_) => None,
    })
}

/// True if a word is the name of a value that every task has.
pub(super) fn is_value(word: &str) -> bool {
    Value::NAMED.iter().any(|(name, _)| *name == word)
}

/// Reports the placeholders of a text in which nothing but these values is filled in.
pub(super) fn without_placeholders(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    text: &Text,
    filled_in: &[Value],
) {
    for (at, _) in text.value.match_indices('{') {
        let is_read = |word: &&str| value(scope, word).is_some_and(|value| !filled_in.contains(&value));
        let Some(word) = placeholder(&text.value[at..]).filter(is_read) else { continue };
        let message = format!("`{{{word}}}` in a message is not filled in: it is read as it stands");
        let found = Diagnostic::new(&C84, text.locate(at, at + word.len() + 2), message);
        decoder.report(found.help("say it without; prompts have it, and TASK.md has the task's fields"));
    }
}

/// Reports names of values that stand in the text as other programs write placeholders: `{{summary}}`, `{Summary}`, `$summary`,
/// `${summary}`, `<summary>`; and `{{mission_prompt}}`, which prompts of steps have for `{summary}`.
fn look_alikes(decoder: &mut Decoder<'_>, scope: &Scope<'_>, text: &Text) {
    report_look_alikes(decoder, text, |written, name| {
        let own = format!("{{{name}}}");
        let is_known = written != own && value(scope, name).is_some();
        let is_of_steps = written != own && name == StepValue::MissionPrompt.name();
        is_known.then_some(own).or_else(|| is_of_steps.then(|| SUMMARY.to_owned()))
    });
}

/// Reports what is written like a placeholder and is none, if `meant` says what to write for it.
pub(super) fn report_look_alikes(
    decoder: &mut Decoder<'_>,
    text: &Text,
    meant: impl Fn(&str, &str) -> Option<String>,
) {
    let value_of = text.value.as_str();
    for (at, _) in
        value_of.match_indices(['{', '$', '<']).filter(|(at, _)| !value_of[..*at].ends_with(['{', '$']))
    {
        let Some((written, word)) = look_alike(&value_of[at..]) else { continue };
        let is_left_open = written.starts_with('<') && is_for_readers(value_of, at, word);
        let Some(meant) = meant(written, &word.to_ascii_lowercase()).filter(|_| !is_left_open) else {
            continue;
        };
        let span = text.locate(at, at + written.len());
        let message = format!("`{written}` is not a placeholder: agents will not read its value there");
        let fix = decoder.rewritten(span, written, &meant);
        decoder.report(Diagnostic::new(&C84, span, message).help(format!("write `{meant}`")).fix_if(fix));
    }
}

/// True if `<word>` is an argument of a command that the reader fills in, or a tag with an end.
fn is_for_readers(text: &str, at: usize, word: &str) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    line.contains("orange") || text.contains(&format!("</{word}>"))
}

/// The start of a text, and the word in it, if it is written like a placeholder in some language.
fn look_alike(text: &str) -> Option<(&str, &str)> {
    const FORMS: [(&str, &str); 5] = [("{{", "}}"), ("${", "}"), ("$", ""), ("<", ">"), ("{", "}")];
    FORMS.iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?;
        let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let word = &inside[..inside.find(|it| !is_part(it)).unwrap_or(inside.len())];
        let is_whole = inside[word.len()..].starts_with(close);
        (is_whole && !word.is_empty()).then(|| (&text[..open.len() + word.len() + close.len()], word))
    })
}

#[derive(Default)]
struct Cutter {
    pieces: Vec<PromptPiece>,
    literal: String,
}

impl Cutter {
    fn value(&mut self, value: Value) {
        self.end_text();
        self.pieces.push(PromptPiece::Value(value));
    }

    fn end_text(&mut self) {
        if !self.literal.is_empty() {
            self.pieces.push(PromptPiece::Text(std::mem::take(&mut self.literal)));
        }
    }

    fn finish(mut self) -> Vec<PromptPiece> {
        self.end_text();
        self.pieces
    }
}

/// The `word` of a text that begins with `{word}`.
fn placeholder(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('{')?;
    let (word, _) = inside.split_once('}')?;
    let first = word.starts_with(|it: char| it.is_ascii_lowercase() || it == '_');
    let rest = word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
    (first && rest).then_some(word)
}

fn value(scope: &Scope<'_>, word: &str) -> Option<Value> {
    let named = Value::NAMED.into_iter().find(|(name, _)| *name == word).map(|(_, value)| value);
    named.or_else(|| scope.counter(word).map(Value::Counter))
}

fn report(decoder: &mut Decoder<'_>, scope: &Scope<'_>, text: &Text, word: &str, at: usize) {
    let known = Value::NAMED.into_iter().map(|(name, _)| name).chain(scope.counter_names());
    let close = suggest::closest(word, known.clone());
    let meant = suggest::only(word, known.clone());
    let help = match (close, suggest::list(known)) {
        _ if word == StepValue::MissionPrompt.name() => {
            format!("prompts of steps have it; the request of a task is `{SUMMARY}`")
        }
        (Some(close), _) => {
            format!("did you mean `{{{close}}}`? To write braces, double them: `{{{{{word}}}}}`")
        }
        (None, Some(all)) => {
            format!("the placeholders are {all}; to write braces, double them: `{{{{{word}}}}}`")
        }
        (None, None) => format!("to write braces, double them: `{{{{{word}}}}}`"),
    };
    let message = format!("unknown placeholder `{{{word}}}`: agents will read it as it stands");
    let span = text.locate(at, at + word.len() + 2);
    let fix = meant.and_then(|it| decoder.rewritten(span, &format!("{{{word}}}"), &format!("{{{it}}}")));
    decoder.report(Diagnostic::new(&C84, span, message).help(help).fix_if(fix));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Counter, CounterId};
    use crate::source::Source;
    use crate::span::Span;

    #[track_caller]
    fn check(text: &str, expect: &[PromptPiece], unknown: &[&str]) {
        let mut scope = Scope::default();
        scope.add_counter(Counter { name: "review_round".to_owned(), start: 0, declared: None });
        let decoded = Text::verbatim(text.to_owned(), Span::new(0, text.len() as u32));
        let source = Source::new("flow.yml", text);
        let mut decoder = Decoder::new(&source);
        assert_eq!(pieces(&mut decoder, &scope, &decoded), expect, "{text}");
        let found: Vec<&str> = decoder.finish().iter().map(|it| &text[it.span.range()]).collect();
        assert_eq!(found, unknown, "{text}");
    }

    fn text(text: &str) -> PromptPiece {
        PromptPiece::Text(text.to_owned())
    }

    #[test]
    fn placeholders_and_text_come_in_order() {
        let round = PromptPiece::Value(Value::Counter(CounterId(0)));
        check("", &[], &[]);
        check(
            "a {summary}{id} b",
            &[text("a "), PromptPiece::Value(Value::Summary), PromptPiece::Value(Value::Id), text(" b")],
            &[],
        );
        check("{review_round} of 2", &[round, text(" of 2")], &[]);
    }

    #[test]
    fn doubled_braces_are_braces() {
        check("{{summary}}", &[text("{summary}")], &[]);
        check("{{{summary}}}", &[text("{"), PromptPiece::Value(Value::Summary), text("}")], &[]);
    }

    #[test]
    fn other_braces_stay_and_unknown_words_are_reported() {
        check("${HOME} {} { x } {A} {1} {", &[text("${HOME} {} { x } {A} {1} {")], &[]);
        check("{sumary} {é} {x", &[text("{sumary} {é} {x")], &["{sumary}"]);
    }

    #[test]
    fn what_other_programs_would_fill_in_is_reported() {
        let check = |text: &str, expect: &[&str]| {
            let decoded = Text::verbatim(text.to_owned(), Span::new(0, text.len() as u32));
            let source = Source::new("flow.yml", text);
            let mut decoder = Decoder::new(&source);
            look_alikes(&mut decoder, &Scope::default(), &decoded);
            let found: Vec<&str> = decoder.finish().iter().map(|it| &text[it.span.range()]).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("{{mission_prompt}} {mission_prompt} {{context}}", &["{{mission_prompt}}"]);
        check("{{summary}} {Summary} {BRANCH}", &["{{summary}}", "{Summary}", "{BRANCH}"]);
        check("$summary, ${branch} and <branch>.", &["$summary", "${branch}", "<branch>"]);
        check("{summary} {{{summary}}} {{sumary}} $HOME <details> $ {} < {", &[]);
        check("orange task show <id> <summary>More</summary> $summaryx $$branch <branch name>", &[]);
    }

    #[test]
    fn a_message_has_no_placeholder_but_those_that_are_filled_in() {
        let text = "{orange} task update, {summary}, {x}";
        let decoded = Text::verbatim(text.to_owned(), Span::new(0, text.len() as u32));
        let check = |filled_in: &[Value], expect: &[&str]| {
            let source = Source::new("flow.yml", text);
            let mut decoder = Decoder::new(&source);
            without_placeholders(&mut decoder, &Scope::default(), &decoded, filled_in);
            let found: Vec<&str> = decoder.finish().iter().map(|it| &text[it.span.range()]).collect();
            assert_eq!(found, expect);
        };
        check(&[], &["{orange}", "{summary}"]);
        check(&[Value::Orange], &["{summary}"]);
    }
}
