//! Semantic tokens: names by their kind, and what a prompt says in fixed words.

use std::ops::Range;

use orange_codegen::Span;
use orange_codegen::model::Definition;
use orange_codegen::model::keys::{NameKind, PromptKind, Takes};
use orange_codegen::model::occurrences::{in_prompt, occurrences};
use orange_codegen::model::visit::{Visited, visit};
use orange_codegen::syntax::{NodeKind, Text};

use crate::document::Document;
use crate::project::keys_of;
use crate::workspace::Workspace;

/// A part of a line with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The part; it is not empty and stands on one line.
    pub span: Span,
    /// Meaning by which editors colour it.
    pub kind: TokenKind,
    /// True if the name is defined here.
    pub is_definition: bool,
    /// True if it is a state that no transition leaves.
    pub is_terminal: bool,
    /// True if it is a state that no run reaches.
    pub is_unreachable: bool,
}

/// Meaning of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name of this kind.
    Name(NameKind),
    /// A sign or a word between comparisons of a guard, or within one.
    Operator,
    /// A number in a guard.
    Number,
    /// A heading in a prompt: `## Review`.
    Heading,
    /// A verdict in a prompt: `PASS` behind `Verdict:`.
    Verdict,
    /// A command in a prompt: `orange task update`.
    Command,
    /// An option of such a command.
    Flag,
}

/// The tokens of a document, in order; no two overlap. `is_unreachable` says which states no run reaches.
pub fn tokens(
    workspace: &Workspace,
    document: &Document,
    is_unreachable: &dyn Fn(&str) -> bool,
) -> Vec<Token> {
    let Some((tree, keys)) = document.tree().zip(keys_of(workspace, document)) else { return Vec::new() };
    let mut tokens: Vec<Token> = Vec::new();
    let terminal = terminal_states(document);
    for name in occurrences(tree, keys) {
        let is_state = name.kind == NameKind::States;
        tokens.push(Token {
            is_definition: name.is_definition,
            is_terminal: is_state && terminal.contains(&name.name.as_str()),
            is_unreachable: is_state && is_unreachable(&name.name),
            ..token(name.span, TokenKind::Name(name.kind))
        });
    }
    visit(tree, keys, &mut |_, visited| {
        let Visited::Value { node, takes } = visited else { return };
        let NodeKind::Scalar(scalar) = &node.kind else { return };
        if matches!(takes, Takes::Guard) {
            tokens.extend(of_guard(&scalar.text));
        } else if is_prompt(takes) {
            tokens.extend(of_prompt(&scalar.text));
        }
    });
    in_order(document.text(), tokens)
}

/// The tokens of a file with the prompt of a task or of a step.
pub fn in_prompt_file(text: &str, kind: PromptKind) -> Vec<Token> {
    let whole = Text::verbatim(text.to_owned(), Span::new(0, text.len() as u32));
    let values = in_prompt(&whole, kind).into_iter().map(|it| token(it.span, TokenKind::Name(it.kind)));
    let tokens = of_prompt(&whole).into_iter().chain(values).collect();
    in_order(text, tokens)
}

fn is_prompt(takes: &Takes) -> bool {
    let is_one = |it: &Takes| matches!(it, Takes::Prompt(_));
    is_one(takes) || matches!(takes, Takes::OneOf(several) if several.iter().any(is_one))
}

const fn token(span: Span, kind: TokenKind) -> Token {
    Token { span, kind, is_definition: false, is_terminal: false, is_unreachable: false }
}

fn terminal_states(document: &Document) -> Vec<&str> {
    match document.compilation.definition() {
        Some(Definition::Machine(it)) => {
            it.states.iter().filter(|it| it.terminal).map(|it| it.name.value.as_str()).collect()
        }
        Some(Definition::Steps(_)) | None => Vec::new(),
    }
}

/// Operators and numbers of a guard; its counters are names.
fn of_guard(text: &Text) -> Vec<Token> {
    let value = text.value.as_str();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = value[at..].chars().next() {
        let is_same: fn(char) -> bool = match first {
            _ if first.is_alphanumeric() || first == '_' => |it| it.is_alphanumeric() || it == '_',
            _ if "<>=!&|".contains(first) => |it| "<>=!&|".contains(it),
            _ => {
                at += first.len_utf8();
                continue;
            }
        };
        let length = value[at..].find(|it| !is_same(it)).unwrap_or(value.len() - at);
        let word = &value[at..at + length];
        let kind = match word {
            "and" | "or" | "not" => Some(TokenKind::Operator),
            _ if word.starts_with(|it: char| it.is_ascii_digit()) => Some(TokenKind::Number),
            _ if word.starts_with(|it: char| "<>=!&|".contains(it)) => Some(TokenKind::Operator),
            _ => None,
        };
        tokens.extend(kind.map(|kind| token(text.locate(at, at + length), kind)));
        at += length;
    }
    tokens
}

/// Headings, verdicts and commands of a prompt.
fn of_prompt(text: &Text) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for line in text.value.split_inclusive('\n') {
        let mut add = |range: Range<usize>, kind| {
            tokens.push(token(text.locate(start + range.start, start + range.end), kind));
        };
        let written = line.trim_end();
        let indent = written.len() - written.trim_start().len();
        let level = written[indent..].bytes().take_while(|it| *it == b'#').count();
        if (1..=6).contains(&level) && written[indent + level..].starts_with(' ') {
            add(indent..written.len(), TokenKind::Heading);
        } else {
            of_line(written, &mut add);
        }
        start += line.len();
    }
    tokens
}

fn of_line(line: &str, add: &mut dyn FnMut(Range<usize>, TokenKind)) {
    const VERDICT: &str = "Verdict:";
    for (at, _) in line.match_indices(VERDICT) {
        let rest = &line[at + VERDICT.len()..];
        let word = rest.trim_start();
        let from = line.len() - word.len();
        let length = word.find(|it: char| !it.is_ascii_uppercase()).unwrap_or(word.len());
        if length > 1 {
            add(from..from + length, TokenKind::Verdict);
        }
    }
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    for (at, command) in ["orange ", "{orange} "].iter().flat_map(|it| line.match_indices(it)) {
        let is_whole = !line[..at].ends_with(is_part);
        let words = at + command.len();
        let is_word = |it: char| it.is_ascii_lowercase() || it == '-';
        let end = line[words..].split(' ').take(2).try_fold(words, |end, word| {
            let length = word.find(|it| !is_word(it)).unwrap_or(word.len());
            let is_last = length < word.len();
            let end = if length == 0 || word.starts_with('-') { end } else { end + length };
            if is_last { Err(end) } else { Ok(end + 1) }
        });
        let end = line[..end.unwrap_or_else(|end| end).min(line.len())].trim_end().len();
        if !is_whole || end <= words {
            continue;
        }
        add(words..end, TokenKind::Command);
        let stop = line[end..].find(['`', '.', ';']).map_or(line.len(), |it| end + it);
        for (option, _) in line[end..stop].match_indices(" --") {
            let from = end + option + 1;
            let length = line[from..].find(|it: char| !is_part(it)).unwrap_or(line.len() - from);
            add(from..from + length, TokenKind::Flag);
        }
    }
}

/// Sorts tokens, and leaves out those that overlap another one or do not stand on one line.
fn in_order(text: &str, mut tokens: Vec<Token>) -> Vec<Token> {
    tokens.retain(|it| {
        text.get(it.span.range()).is_some_and(|it| !it.is_empty() && !it.contains(['\n', '\r']))
    });
    tokens.sort_by_key(|it| it.span);
    let mut end = 0;
    tokens.retain(|it| {
        let is_free = it.span.start >= end;
        end = if is_free { it.span.end } else { end };
        is_free
    });
    tokens
}
