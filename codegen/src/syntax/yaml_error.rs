//! Messages about broken YAML, where the parser's own words say too little.

use granit_parser::ErrorKind;

use super::conflict::{self, lines_from};
use super::limits;
use crate::catalogue::S01;
use crate::diag::Diagnostic;
use crate::span::Span;

/// The text read before the fault: the end of the last piece, and the collections that are still open.
#[derive(Default)]
pub(super) struct ReadSoFar {
    last: u32,
    open: Vec<(bool, Span)>,
}

impl ReadSoFar {
    pub(super) fn passed(&mut self, end: u32) {
        self.last = self.last.max(end);
    }

    pub(super) fn opened(&mut self, flow: bool, start: Span) {
        self.open.push((flow, start));
    }

    pub(super) fn closed(&mut self) {
        self.open.pop();
    }

    /// The innermost bracket that is still open.
    fn bracket(&self) -> Option<Span> {
        self.open.last().filter(|(flow, _)| *flow).map(|(_, start)| *start)
    }

    /// The signs that close the quotes and brackets that are open at the end, innermost first. The parser looks ahead, so that its events
    /// do not have the last ones.
    pub(super) fn closing(&self, text: &str) -> String {
        let closer = |opening: char| match opening {
            '{' => Some('}'),
            '[' => Some(']'),
            _ => None,
        };
        let opened = self.open.iter().filter(|(flow, _)| *flow).map(|(_, start)| *start);
        let signs = opened.filter_map(|it| text[it.start as usize..].chars().next());
        let mut closers: Vec<char> = signs.filter_map(closer).collect();
        let (mut quote, mut before, mut is_comment) = (None, ' ', false);
        for character in text[self.last as usize..].chars() {
            let begins = before.is_whitespace() || "[{,:".contains(before);
            match (quote, character) {
                _ if is_comment => is_comment = character != '\n',
                (Some('"'), _) if before == '\\' => {
                    before = ' ';
                    continue;
                }
                (Some(open), _) => quote = Some(open).filter(|_| open != character),
                (None, '"' | '\'') if begins => quote = Some(character),
                (None, '#') => is_comment = before.is_whitespace(),
                (None, '}' | ']') => closers.truncate(closers.len().saturating_sub(1)),
                (None, _) => closers.extend(closer(character)),
            }
            before = character;
        }
        let escape = (quote == Some('"') && before == '\\').then_some('\\');
        escape.into_iter().chain(quote).chain(closers.into_iter().rev()).collect()
    }
}

/// The finding for a fault that the parser saw at byte `at`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the parser's enum, which it may extend")]
pub(super) fn explain(text: &str, kind: &ErrorKind, at: usize, read: &ReadSoFar) -> Diagnostic {
    let at = (0..=at).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    if let Some(conflict) = conflict::find(text) {
        return conflict;
    }
    let fault = YamlFault { text, at, read };
    match kind {
        ErrorKind::RecursionLimitExceeded => limits::too_deep(Span::at(at as u32)),
        ErrorKind::TabInPlainScalar
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabNotAllowed
        | ErrorKind::TabAtBlockScalarStart => fault.tab(),
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => fault.quote(),
        ErrorKind::SimpleKeyExpected => fault.no_colon(),
        ErrorKind::MappingValueNotAllowed => fault.extra_colon(),
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::InvalidIndentation => fault.indentation(kind),
        ErrorKind::UnexpectedCharacter { character } => fault.character(*character),
        ErrorKind::DirectiveDisallowed => {
            fault.whole_line("directives have no meaning in a workflow").help("delete this line")
        }
        _ => fault.other(kind),
    }
}

struct YamlFault<'f> {
    text: &'f str,
    at: usize,
    read: &'f ReadSoFar,
}

impl YamlFault<'_> {
    fn tab(&self) -> Diagnostic {
        let line_start = self.text[..self.at].rfind('\n').map_or(0, |it| it + 1);
        let tab = lines_from(self.text, line_start).find_map(|(start, line)| {
            let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
            indentation.find('\t').map(|it| start + it)
        });
        match tab {
            Some(tab) => {
                let tabs = self.text[tab..].bytes().take_while(|byte| *byte == b'\t').count();
                self.found(tab..tab + tabs, "a tab indents this line, and YAML is indented with spaces")
                    .help("put spaces in its place")
            }
            None => self.found(self.char(), "a tab cannot stand here").help("put a space in its place"),
        }
    }

    fn quote(&self) -> Diagnostic {
        let opening =
            self.text[self.read.last as usize..].find(['"', '\'']).map(|it| it + self.read.last as usize);
        match opening.filter(|it| *it <= self.at) {
            Some(opening) => {
                let quote = &self.text[opening..=opening];
                self.found(opening..opening + 1, format!("this {quote} is never closed"))
                    .help(format!("close it with another {quote} at the end of the text"))
            }
            None => {
                self.found(self.char(), "a quote before this place is never closed").help("close the quote")
            }
        }
    }

    fn no_colon(&self) -> Diagnostic {
        let (start, line) = line_at(self.text, self.at);
        self.found(trimmed(start, line), "this line has no `:`").help("write `key: value`")
    }

    fn extra_colon(&self) -> Diagnostic {
        let colon = self.at..(self.at + 1).min(self.text.len());
        let (start, line) = line_at(self.text, self.at);
        let read = &self.text[start..self.at];
        let value_on_this_line = read.contains(": ") || read.trim_start().starts_with("- ");
        if value_on_this_line {
            return self
                .found(colon, "a second `: ` in one value")
                .help(format!("put the value in quotes: {}", quoted_value(line)));
        }
        let (start, line) = line_before(self.text, start).unwrap_or((start, line));
        self.found(
            trimmed(start, line),
            "this line should be `key: value`, or end the value that the next one goes on with",
        )
        .label(span(colon), "so that a `:` cannot stand here")
        .help("add the missing `:`, or align the two lines")
    }

    fn indentation(&self, kind: &ErrorKind) -> Diagnostic {
        let message = if *kind == ErrorKind::ExpectedBlockSequenceEntry {
            "a list goes on here, but this line has no `- `"
        } else if *kind == ErrorKind::BlockSequenceEntryNotAllowed {
            "a list cannot begin here"
        } else {
            "this line is indented like none of those around it"
        };
        self.whole_line(message).help("align it with the line that it belongs beside")
    }

    fn character(&self, character: char) -> Diagnostic {
        self.found(self.char(), format!("a value cannot begin with `{character}`"))
            .help("put the value in quotes")
    }

    fn other(&self, kind: &ErrorKind) -> Diagnostic {
        if let Some(bracket) = self.read.bracket() {
            let open = &self.text[bracket.range()];
            let close = if open == "{" { "}" } else { "]" };
            if self.at == bracket.start as usize {
                return self
                    .found(bracket.range(), format!("this `{open}` is never closed"))
                    .help(format!("add a `{close}`"));
            }
            return self
                .found(self.char(), format!("`{close}` or `,` was expected here"))
                .label(bracket, "the bracket that is still open")
                .help(format!("close the bracket, or put a value that begins with `{open}` in quotes"));
        }
        self.found(self.char(), kind.to_string())
    }

    fn whole_line(&self, message: &str) -> Diagnostic {
        let (start, line) = line_at(self.text, self.at);
        self.found(trimmed(start, line), message)
    }

    /// The character at the fault; nothing at the end of the file.
    fn char(&self) -> std::ops::Range<usize> {
        let len = self.text[self.at..].chars().next().filter(|it| !matches!(it, '\r' | '\n'));
        self.at..self.at + len.map_or(0, char::len_utf8)
    }

    fn found(&self, range: std::ops::Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&S01, span(range), message)
    }
}

fn quoted_value(line: &str) -> String {
    let line = line.trim();
    match line.split_once(": ") {
        Some((key, value)) => format!("`{key}: \"{}\"`", value.replace('"', "\\\"")),
        None => "`key: \"value\"`".to_owned(),
    }
}

fn line_at(text: &str, at: usize) -> (usize, &str) {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    (start, text[start..].lines().next().unwrap_or_default())
}

fn line_before(text: &str, start: usize) -> Option<(usize, &str)> {
    Some(line_at(text, start.checked_sub(1)?))
}

fn trimmed(start: usize, line: &str) -> std::ops::Range<usize> {
    let start = start + (line.len() - line.trim_start().len());
    start..start + line.trim().len()
}

fn span(range: std::ops::Range<usize>) -> Span {
    Span::new(range.start as u32, range.end as u32)
}
