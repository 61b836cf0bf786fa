//! One comment taken apart: `# orange: allow(name, name) reason`.

use super::MARK;
use crate::catalogue::S13;
use crate::diag::{Diagnostic, Edit};
use crate::span::Span;

/// A comment that allows something.
pub(super) struct Comment<'t> {
    /// From its `#` to its end.
    pub span: Span,
    /// The names between the parentheses.
    pub names: Vec<SuppressedName<'t>>,
    /// True if there is a word behind them.
    pub has_reason: bool,
}

/// One name in it.
pub(super) struct SuppressedName<'t> {
    pub text: &'t str,
    pub span: Span,
}

/// Reads the comment at this span; `None` when it is about something else.
pub(super) fn read(text: &str, span: Span) -> Option<Result<Comment<'_>, Box<Diagnostic>>> {
    let inside = text[span.range()].trim_start_matches('#').trim_start().strip_prefix(MARK)?.trim_start();
    let (word, rest) = inside.split_at(inside.find(|it: char| !it.is_alphanumeric()).unwrap_or(inside.len()));
    match (word, rest.trim_start().strip_prefix('(')) {
        ("allow", Some(list)) => Some(allow(text, span, list)),
        ("allow", None) => Some(Err(invalid(span, "`allow` takes the names of checks in parentheses"))),
        (word, Some(_)) if !word.is_empty() => Some(Err(invalid(span, &other_word(word)))),
        (_, _) => None,
    }
}

fn allow<'t>(text: &'t str, span: Span, list: &'t str) -> Result<Comment<'t>, Box<Diagnostic>> {
    let Some((list, reason)) = list.split_once(')') else {
        return Err(invalid(span, "the parenthesis after `allow` is not closed"));
    };
    let names: Vec<SuppressedName<'_>> =
        list.split(',').map(str::trim).map(|it| SuppressedName::new(text, it)).collect();
    if names.iter().any(|it| it.text.is_empty()) {
        return Err(invalid(span, "between the parentheses stand the names of checks, with commas"));
    }
    Ok(Comment { span, names, has_reason: reason.contains(char::is_alphanumeric) })
}

fn other_word(word: &str) -> String {
    let shown: String = word.chars().take(60).collect();
    format!("a comment can `allow` a finding, and nothing can `{shown}` one")
}

fn invalid(span: Span, message: &str) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new(&S13, span, message)
            .help("write `# orange: allow(name) reason`, with a name or a code of a check"),
    )
}

impl<'t> SuppressedName<'t> {
    /// A part of the text, which knows where it is.
    fn new(text: &'t str, part: &'t str) -> Self {
        let start = (part.as_ptr().addr() - text.as_ptr().addr()) as u32;
        Self { text: part, span: Span::new(start, start + part.len() as u32) }
    }
}

impl Comment<'_> {
    /// Takes the name of this number out, and the comma that goes with it; `None` when it is the only one.
    pub(super) fn without(&self, number: usize) -> Option<Edit> {
        let Span { start, end } = self.names[number].span;
        let before = number.checked_sub(1).map(|it| self.names[it].span.end);
        let span = match (self.names.get(number + 1), before) {
            (Some(next), _) => Span::new(start, next.span.start),
            (None, Some(before)) => Span::new(before, end),
            (None, None) => return None,
        };
        Some(Edit { span, text: String::new() })
    }
}
