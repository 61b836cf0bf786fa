//! Prompts of steps: in the workflow or in a file beside it, with placeholders in double braces.

use std::ops::Range;

use super::decoder::{Decoder, Field, ObjectFields, shortened};
use super::prompt_file::{self, WRITE};
use super::step_scope::StepScope;
use super::{InputId, Operand, StepId, StepValue, prompts, step_condition};
use crate::catalogue::{B19, B32, B33, S04, S09};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::suggest;
use crate::syntax::{NodeKind, Text};

/// A piece of the prompt of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepPiece {
    /// Literal text.
    Text(String),
    /// A placeholder: put in once and never looked at again.
    Value(StepValue),
    /// `{{inputs.target}}`, `{{plan.risk}}`: a value that the mission has, with its name.
    Read(Operand, Spanned<String>),
}

/// The prompt of a step.
#[derive(Clone, Debug)]
pub struct StepPrompt {
    /// Place at which the workflow has it, or names its file.
    pub span: Span,
    /// The files, those of its role first; none where the workflow has the text itself.
    pub files: Vec<StepPromptFile>,
    /// The text in pieces; joined in order they are the prompt.
    pub pieces: Vec<StepPiece>,
}

/// A file of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPromptFile {
    /// As the workflow names it.
    pub name: String,
    /// Its text, with placeholders.
    pub text: String,
}

/// The files of a prompt, and their text.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptParts {
    files: Vec<StepPromptFile>,
    pieces: Vec<StepPiece>,
}

impl PromptParts {
    /// Adds a text, after a blank line if another one stands before it.
    fn add(&mut self, pieces: Vec<StepPiece>) {
        if pieces.is_empty() {
            return;
        }
        if let Some(StepPiece::Text(text)) = self.pieces.last_mut() {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if !self.pieces.is_empty() {
            self.add_text("\n\n");
        }
        for piece in pieces {
            match piece {
                StepPiece::Text(text) => self.add_text(&text),
                value @ (StepPiece::Value(_) | StepPiece::Read(..)) => self.pieces.push(value),
            }
        }
    }

    fn add_text(&mut self, more: &str) {
        match self.pieces.last_mut() {
            Some(StepPiece::Text(text)) => text.push_str(more),
            Some(StepPiece::Value(_) | StepPiece::Read(..)) | None => {
                self.pieces.push(StepPiece::Text(more.to_owned()))
            }
        }
    }
}

/// The text of a `prompt_file`: one file, or several.
pub(super) fn parts(decoder: &mut Decoder<'_>, scope: &StepScope<'_>, field: &Field<'_>) -> PromptParts {
    let mut parts = PromptParts::default();
    for item in decoder.one_or_list(field) {
        let Some(name) = decoder.string(&item) else { continue };
        let Some(text) = prompt_file::read(decoder, scope.files, &name) else { continue };
        let pieces = pieces(decoder, scope, &text);
        look_alikes(decoder, &text);
        parts.add(pieces);
        parts.files.push(StepPromptFile { name: name.value, text: text.value });
    }
    parts
}

/// The prompt of a step, which begins with that of its role. One that is not there is reported, and empty.
pub(super) fn prompt(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    fields: &ObjectFields<'_>,
    step: &Spanned<String>,
    (of_role, role): (&PromptParts, Span),
) -> StepPrompt {
    if let Some(question) = fields.get("ask") {
        return text_here(
            decoder,
            scope,
            &question,
            &format!("the question of the step `{}`", shortened(&step.value)),
        );
    }
    if let Some(program) = fields.get("run") {
        return empty(program.value.span);
    }
    if of_role.pieces.contains(&StepPiece::Value(StepValue::Item)) && !scope.has_item {
        let message = format!(
            "the prompt of this role has `{{{{item}}}}`, and `{}` has no items",
            shortened(&step.value)
        );
        let help = "give the step a `for_each`, or write `{{item}}` in the prompts of its fan-outs alone";
        decoder.report(Diagnostic::new(&B19, role, message).help(help));
    }
    match (fields.get("prompt"), fields.get("prompt_file")) {
        (Some(_), Some(file)) => {
            let message = format!("the step `{}` has a prompt here and in a file", shortened(&step.value));
            decoder.report(Diagnostic::new(&S04, file.key, message).help("delete one of the two"));
            empty(file.value.span)
        }
        (Some(text), None) => {
            let what = format!("the prompt of the step `{}`", shortened(&step.value));
            let StepPrompt { span, files, pieces } = text_here(decoder, scope, &text, &what);
            joined(span, of_role, PromptParts { files, pieces })
        }
        (None, Some(file)) => {
            let own = parts(decoder, scope, &file);
            if matches!(&file.value.kind, NodeKind::Sequence(items) if items.is_empty()) {
                let message = format!("the step `{}` has no prompt", shortened(&step.value));
                decoder.report(Diagnostic::new(&S09, file.value.span, message).help(WRITE));
            }
            joined(file.value.span, of_role, own)
        }
        (None, None) => {
            let message = format!("the step `{}` has no prompt", shortened(&step.value));
            let help = "add `prompt_file = \"do/….md\"` or `prompt = \"\"\"…\"\"\"`, or `run = [\"…\"]` for a program, or `ask = \"…\"` for a person";
            decoder.report(Diagnostic::new(&S09, step.span, message).help(help));
            empty(step.span)
        }
    }
}

/// A text that stands in the workflow itself.
fn text_here(decoder: &mut Decoder<'_>, scope: &StepScope<'_>, field: &Field<'_>, what: &str) -> StepPrompt {
    let Some(text) = decoder.text(field).cloned() else { return empty(field.value.span) };
    if text.value.trim().is_empty() {
        decoder.report(Diagnostic::new(&S09, text.span, format!("{what} is empty")).help(WRITE));
    }
    let pieces = pieces(decoder, scope, &text);
    look_alikes(decoder, &text);
    StepPrompt { span: text.span, files: Vec::new(), pieces }
}

fn empty(span: Span) -> StepPrompt {
    StepPrompt { span, files: Vec::new(), pieces: Vec::new() }
}

fn joined(span: Span, of_role: &PromptParts, own: PromptParts) -> StepPrompt {
    let mut all = of_role.clone();
    all.add(own.pieces);
    all.files.extend(own.files);
    StepPrompt { span, files: all.files, pieces: all.pieces }
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
            let value = StepValue::ALL.into_iter().find(|it| it.name() == name && *it != StepValue::Item)?;
            let is_clear = written.starts_with('{') || CLEAR.contains(&value);
            is_clear.then(|| format!("{{{{{name}}}}}"))
        }
    });
}

/// Cuts a text at its placeholders.
pub(super) fn pieces(decoder: &mut Decoder<'_>, scope: &StepScope<'_>, source: &Text) -> Vec<StepPiece> {
    let text = source.value.as_str();
    let mut pieces = Vec::new();
    let mut taken = 0;
    for word in placeholders(text) {
        let (at, end) = (word.start - 2, word.end + 2);
        let written = Spanned::new(text[word].trim(), source.locate(at, end));
        let Some(piece) = piece(decoder, scope, &written) else { continue };
        if at > taken {
            pieces.push(StepPiece::Text(text[taken..at].to_owned()));
        }
        pieces.push(piece);
        taken = end;
    }
    if taken < text.len() {
        pieces.push(StepPiece::Text(text[taken..].to_owned()));
    }
    pieces
}

/// The piece of a placeholder; `None` where the text stays as it is.
fn piece(decoder: &mut Decoder<'_>, scope: &StepScope<'_>, written: &Spanned<&str>) -> Option<StepPiece> {
    let read = |of: Operand| StepPiece::Read(of, Spanned::new(written.value.to_owned(), written.span));
    match written.value.split_once('.') {
        Some((step_condition::INPUTS, name)) => {
            let input = scope.input(decoder, &Spanned::new(name.to_owned(), written.span))?;
            Some(read(Operand::Input(InputId(input as u16))))
        }
        Some((step, field)) => field_of(decoder, scope, written, (step, field)).map(read),
        None => {
            let known = || StepValue::ALL.into_iter().filter(|it| scope.has_item || *it != StepValue::Item);
            if let Some(value) = known().find(|it| it.name() == written.value) {
                return Some(StepPiece::Value(value));
            }
            let (message, help) = match written.value == StepValue::Item.name() {
                true => (
                    "`{{item}}` stands in a step without items".to_owned(),
                    Some("add `for_each`, with a list, to the step".to_owned()),
                ),
                false => (
                    format!("unknown placeholder `{{{{{}}}}}`", written.value),
                    suggest::help(written.value, "placeholders", known().map(StepValue::name)),
                ),
            };
            decoder.report(Diagnostic::new(&B19, written.span, message).help_if(help));
            None
        }
    }
}

/// The part of a report that a placeholder names. A text that names no step is a text, unless it is almost one that does.
fn field_of(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    written: &Spanned<&str>,
    (name, field): (&str, &str),
) -> Option<Operand> {
    let Some(step) = scope.steps.id(name).map(StepId) else {
        let close = suggest::closest(name, scope.steps.names())?;
        scope.field(StepId(scope.steps.id(close)?), field)?;
        let message = format!("the placeholder `{{{{{}}}}}` names no step", written.value);
        let found = Diagnostic::new(&B32, written.span, message);
        decoder.report(found.help(format!("did you mean `{{{{{close}.{field}}}}}`?")));
        return None;
    };
    let Some((part, _)) = scope.field(step, field) else {
        let message = format!("`{name}` reports no `{}`", shortened(field));
        let help = suggest::help(field, "fields", scope.fields(step));
        decoder.report(Diagnostic::new(&B32, written.span, message).help_if(help));
        return None;
    };
    let of = Operand::Step(step, part);
    if step_condition::has_items(scope, of) {
        let message = format!("`{}` has a value for each item of a fan-out", written.value);
        let found = Diagnostic::new(&B33, written.span, message);
        decoder.report(found.help("write `{{context}}`, which has what each item has reported"));
        return None;
    }
    Some(of)
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
    let is_part = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    let is_name = |it: &str| !it.is_empty() && it.bytes().all(|it| is_part(it) || it == b'-');
    let is_word = match name.split_once('.') {
        Some((of, field)) => is_name(of) && is_name(field),
        None => !name.is_empty() && name.bytes().all(is_part),
    };
    is_word.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::scope::NameTable;
    use crate::model::{DeclaredValue, ValueKind};
    use crate::prompt_files::PromptFiles;
    use crate::source::Source;

    #[track_caller]
    fn check(text: &str, expect: &[StepPiece], unknown: &[&str]) {
        let source = Source::new("flow.toml", text);
        let mut decoder = Decoder::new(&source);
        let decoded = Text::verbatim(text.to_owned(), Span::new(0, text.len() as u32));
        let scope = scope();
        assert_eq!(pieces(&mut decoder, &scope, &decoded), expect, "{text}");
        let found: Vec<&str> = decoder.finish().iter().map(|it| &text[it.span.range()]).collect();
        assert_eq!(found, unknown, "{text}");
    }

    /// The input `target`, and no steps.
    fn scope() -> StepScope<'static> {
        let target = Spanned::new("target".to_owned(), Span::new(0, 0));
        StepScope {
            steps: NameTable::default(),
            roles: Vec::new(),
            has_declared_roles: false,
            files: &PromptFiles::Nowhere,
            inputs: vec![DeclaredValue { name: target, kind: ValueKind::Text, default: None }],
            outputs: Vec::new(),
            handles: Vec::new(),
            fan_outs: Vec::new(),
            has_item: false,
        }
    }

    #[test]
    fn inputs_are_placeholders_and_unknown_ones_reported() {
        let target = StepPiece::Read(
            Operand::Input(InputId(0)),
            Spanned::new("inputs.target".to_owned(), Span::new(4, 23)),
        );
        check("for {{ inputs.target }}", &[text("for "), target], &[]);
        check("{{inputs.tarjet}}", &[text("{{inputs.tarjet}}")], &["{{inputs.tarjet}}"]);
        check("{{inputs.}} {{output.x}}", &[text("{{inputs.}} {{output.x}}")], &[]);
    }

    #[test]
    fn a_placeholder_reads_a_field_of_a_step_before() {
        let found = |prompt: &str| -> Vec<String> {
            let text = format!(
                "[workflow]\nname = \"flow\"\n[[steps]]\nid = \"plan\"\nprompt = \"p\"\noutputs = {{ risk = {{ words = [\"low\"] }} }}\n\
                 [[steps]]\nid = \"other\"\nprompt = \"o\"\n\
                 [[steps]]\nid = \"build\"\ndepends_on = [\"plan\"]\nprompt = \"{prompt}\"\n"
            );
            let found = crate::compile(&Source::new("flow.toml", text.clone())).diagnostics;
            found.iter().map(|it| format!("{} {}", it.code(), &text[it.span.range()])).collect()
        };
        assert!(found("{{plan.risk}} {{ plan.summary }} {{plan.result}} {{plan.rounds}}").is_empty());
        assert_eq!(found("{{plan.rsk}}"), ["B32 {{plan.rsk}}"]);
        assert_eq!(found("{{plam.risk}}"), ["B32 {{plam.risk}}"]);
        assert_eq!(found("{{other.summary}}"), ["B07 {{other.summary}}"]);
        assert_eq!(found("{{build.summary}}"), ["B07 {{build.summary}}"]);
        assert!(
            found("{{values.image}} {{plam.image}} {{.risk}} {{plan.}} {{a.b.c}}").is_empty(),
            "they are texts"
        );
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
