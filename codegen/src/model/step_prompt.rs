//! Prompts of steps: in the workflow or in a file beside it, with placeholders in double braces.

use std::ops::Range;

use super::decoder::{Decoder, ObjectFields, shortened};
use super::prompt_file::{self, WRITE};
use super::{StepPiece, StepPrompt, StepValue, prompts};
use crate::catalogue::{B19, S04, S09};
use crate::diag::Diagnostic;
use crate::prompt_files::PromptFiles;
use crate::span::{Span, Spanned};
use crate::suggest;
use crate::syntax::Text;

/// The prompt of a step. One that is not there is reported, and empty.
pub(super) fn prompt(
    decoder: &mut Decoder<'_>,
    files: &PromptFiles,
    fields: &ObjectFields<'_>,
    step: &Spanned<String>,
) -> StepPrompt {
    match (fields.get("prompt"), fields.get("prompt_file")) {
        (Some(_), Some(file)) => {
            let message = format!("the step `{}` has a prompt here and in a file", shortened(&step.value));
            decoder.report(Diagnostic::new(&S04, file.key, message).help("delete one of the two"));
            empty(file.value.span)
        }
        (Some(text), None) => {
            let Some(text) = decoder.text(&text).cloned() else { return empty(text.value.span) };
            if text.value.trim().is_empty() {
                let message = format!("the prompt of the step `{}` is empty", shortened(&step.value));
                decoder.report(Diagnostic::new(&S09, text.span, message).help(WRITE));
            }
            let pieces = pieces(decoder, &text);
            look_alikes(decoder, &text);
            StepPrompt { span: text.span, file: None, pieces }
        }
        (None, Some(file)) => match decoder.string(&file) {
            Some(name) => from_file(decoder, files, name),
            None => empty(file.value.span),
        },
        (None, None) => {
            let message = format!("the step `{}` has no prompt", shortened(&step.value));
            let help = "add `prompt_file = \"do/….md\"` or `prompt = \"\"\"…\"\"\"`";
            decoder.report(Diagnostic::new(&S09, step.span, message).help(help));
            empty(step.span)
        }
    }
}

fn empty(span: Span) -> StepPrompt {
    StepPrompt { span, file: None, pieces: Vec::new() }
}

fn from_file(decoder: &mut Decoder<'_>, files: &PromptFiles, name: Spanned<String>) -> StepPrompt {
    let Some(text) = prompt_file::read(decoder, files, &name) else { return empty(name.span) };
    let pieces = pieces(decoder, &text);
    look_alikes(decoder, &text);
    StepPrompt { span: name.span, pieces, file: Some(name.value) }
}

/// Reports what other programs or prompts of tasks write for a placeholder of steps: `{branch}`, `${branch}`, `$branch`, `<branch>`, and
/// `{summary}` for the request. Of words that texts have for much else, only those in braces are reported.
fn look_alikes(decoder: &mut Decoder<'_>, text: &Text) {
    const CLEAR: [StepValue; 3] = [StepValue::MissionPrompt, StepValue::WorktreePath, StepValue::Branch];
    prompts::report_look_alikes(decoder, text, |written, name| match name {
        _ if written.starts_with("{{") => None,
        "summary" if written.starts_with('{') => Some("{{mission_prompt}}".to_owned()),
        "orange" if written.starts_with('{') => Some("orange".to_owned()),
        _ => {
            let value = StepValue::ALL.into_iter().find(|it| it.name() == name)?;
            let is_clear = written.starts_with('{') || CLEAR.contains(&value);
            is_clear.then(|| format!("{{{{{name}}}}}"))
        }
    });
}

/// Cuts a text at its placeholders.
fn pieces(decoder: &mut Decoder<'_>, source: &Text) -> Vec<StepPiece> {
    let text = source.value.as_str();
    let mut pieces = Vec::new();
    let mut taken = 0;
    for word in placeholders(text) {
        let (at, end) = (word.start - 2, word.end + 2);
        let word = &text[word];
        match StepValue::ALL.iter().find(|it| it.name() == word.trim()) {
            Some(value) => {
                if at > taken {
                    pieces.push(StepPiece::Text(text[taken..at].to_owned()));
                }
                pieces.push(StepPiece::Value(*value));
                taken = end;
            }
            None => {
                let message = format!("unknown placeholder `{{{{{word}}}}}`");
                let known = StepValue::ALL.iter().map(|it| it.name());
                let help = suggest::help(word.trim(), "placeholders", known);
                decoder.report(Diagnostic::new(&B19, source.locate(at, end), message).help_if(help));
            }
        }
    }
    if taken < text.len() {
        pieces.push(StepPiece::Text(text[taken..].to_owned()));
    }
    pieces
}

/// The words between double braces, with the blanks around them, as bytes of the text.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut taken = 0;
    text.match_indices("{{").filter_map(move |(at, _)| {
        let word = placeholder(&text[at..]).filter(|_| at >= taken)?;
        taken = at + word.len() + 4;
        Some(at + 2..at + 2 + word.len())
    })
}

/// The text between double braces at the start of a text, if that is one word.
fn placeholder(text: &str) -> Option<&str> {
    let (word, _) = text.strip_prefix("{{")?.split_once("}}")?;
    let name = word.trim();
    let is_word = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    is_word.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    #[track_caller]
    fn check(text: &str, expect: &[StepPiece], unknown: &[&str]) {
        let source = Source::new("flow.toml", text);
        let mut decoder = Decoder::new(&source);
        let decoded = Text::verbatim(text.to_owned(), Span::new(0, text.len() as u32));
        assert_eq!(pieces(&mut decoder, &decoded), expect, "{text}");
        let found: Vec<&str> = decoder.finish().iter().map(|it| &text[it.span.range()]).collect();
        assert_eq!(found, unknown, "{text}");
    }

    fn text(text: &str) -> StepPiece {
        StepPiece::Text(text.to_owned())
    }

    #[test]
    fn placeholders_and_text_come_in_order() {
        let (step, context) = (StepPiece::Value(StepValue::Step), StepPiece::Value(StepValue::Context));
        check("", &[], &[]);
        check("a {{step}}{{ context }} b", &[text("a "), step.clone(), context, text(" b")], &[]);
        check("{{{step}}}", &[text("{{{step}}}")], &[]);
        check("${x} {step} {{}} {{a b}} {{", &[text("${x} {step} {{}} {{a b}} {{")], &[]);
    }

    #[test]
    fn unknown_placeholders_are_reported_and_stay() {
        check("{{misson_prompt}}", &[text("{{misson_prompt}}")], &["{{misson_prompt}}"]);
    }

    #[test]
    fn placeholders_of_other_programs_are_reported() {
        let check = |text: &str, expect: &[&str]| {
            let source = Source::new("flow.toml", text);
            let mut decoder = Decoder::new(&source);
            let decoded = Text::verbatim(text.to_owned(), Span::new(0, text.len() as u32));
            look_alikes(&mut decoder, &decoded);
            let found: Vec<&str> = decoder.finish().iter().map(|it| &text[it.span.range()]).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("Do {mission_prompt} on {branch}", &["{mission_prompt}", "{branch}"]);
        check("{summary}, `{orange} step complete`, {Context}", &["{summary}", "{orange}", "{Context}"]);
        check("$branch, ${branch} and <branch>.", &["$branch", "${branch}", "<branch>"]);
        check("{{branch}} {{ context }} {{{step}}} {{Branch}} {id} {status} {}", &[]);
        check("$step $base <step> <context>{{context}}</context> orange step <branch>", &[]);
    }
}
