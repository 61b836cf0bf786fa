//! TOML: the parser's tables into our own tree. The only place that names that parser.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::limits::{self, MAX_DEPTH};
use super::text::{Notation, Text};
use super::{Node, NodeKind, Scalar, ScalarForm, conflict};
use crate::catalogue::{S01, S03};
use crate::diag::Diagnostic;
use crate::span::Span;

/// The tree of the document, and everything wrong with it.
pub(super) fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    // Spans count from the byte order mark on, which the parser leaves out.
    let shift = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, shift, found: Vec::new() };
    let tree = match DeTable::parse(&text[shift..]) {
        Ok(table) => reader.document(&table),
        Err(error) => {
            let fault = reader.fault(error.message(), error.span());
            reader.found.push(fault);
            None
        }
    };
    (tree, reader.found)
}

struct Reader<'t> {
    text: &'t str,
    shift: usize,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn document(&mut self, table: &Spanned<DeTable<'_>>) -> Option<Node> {
        let span = Span::new(0, self.text.trim_end().len() as u32);
        let entries = self.table(table.get_ref(), 1);
        (!entries.is_empty()).then_some(Node { span, kind: NodeKind::Mapping(entries) })
    }

    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Vec<(Node, Node)> {
        let mut sorted: Vec<_> = table.iter().collect();
        sorted.sort_by_key(|(key, _)| key.span().start);
        sorted.into_iter().map(|(key, value)| (self.key(key), self.value(value, depth + 1))).collect()
    }

    fn key(&self, key: &Spanned<DeString<'_>>) -> Node {
        self.string(key.get_ref(), self.span(key.span()))
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, depth: usize) -> Node {
        let span = self.span(value.span());
        if depth > MAX_DEPTH {
            if self.found.is_empty() {
                self.found.push(limits::too_deep(span));
            }
            return Node {
                span,
                kind: NodeKind::Scalar(Scalar { text: Text::empty(span), style: ScalarForm::Broken }),
            };
        }
        let slice = &self.text[span.range()];
        match value.get_ref() {
            DeValue::String(text) => self.string(text, span),
            DeValue::Integer(it) if it.radix() == 10 => self.plain(it.as_str(), span),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => self.plain(slice, span),
            DeValue::Boolean(it) => self.plain(if *it { "true" } else { "false" }, span),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.value(item, depth + 1)).collect();
                Node { span, kind: NodeKind::Sequence(items) }
            }
            DeValue::Table(table) => Node { span, kind: NodeKind::Mapping(self.table(table, depth)) },
        }
    }

    fn plain(&self, text: &str, span: Span) -> Node {
        let text = Text::verbatim(text.to_owned(), span);
        Node { span, kind: NodeKind::Scalar(Scalar { text, style: ScalarForm::Plain }) }
    }

    fn string(&self, value: &str, span: Span) -> Node {
        let slice = &self.text[span.range()];
        let notation = if slice.starts_with('"') { Notation::TomlDouble } else { Notation::TomlSingle };
        let text = match opening(slice) {
            0 => Text::verbatim(value.to_owned(), span),
            opening => {
                Text::decoded(value.to_owned(), span, span.start + opening as u32, self.text, notation)
            }
        };
        Node { span, kind: NodeKind::Scalar(Scalar { text, style: ScalarForm::Quoted }) }
    }

    fn fault(&self, message: &str, range: Option<std::ops::Range<usize>>) -> Diagnostic {
        if let Some(conflict) = conflict::find(self.text) {
            return conflict;
        }
        let span = self.span(range.unwrap_or(0..0));
        if message == "duplicate key" {
            let key = &self.text[span.range()];
            let before = self.text[..span.start as usize].trim_end();
            let is_table = before.ends_with('[') && !before.ends_with("[[");
            let help = match is_table {
                true => format!("write `[[{key}]]` above each item of a list, or delete one of the two"),
                false => "delete one of the two".to_owned(),
            };
            return Diagnostic::new(&S03, span, format!("the key `{key}` stands here a second time"))
                .help(help);
        }
        if message.contains("recursion depth") {
            return limits::too_deep(span);
        }
        Diagnostic::new(&S01, span, message)
    }

    fn span(&self, range: std::ops::Range<usize>) -> Span {
        let boundary = |at: usize| {
            let at = (at + self.shift).min(self.text.len());
            (0..=at).rev().find(|it| self.text.is_char_boundary(*it)).unwrap_or(0) as u32
        };
        let start = boundary(range.start);
        Span::new(start, boundary(range.end).max(start))
    }
}

/// The length of what opens a string: its quotes, and the line break that follows three of them.
fn opening(token: &str) -> usize {
    let quotes = match token {
        _ if token.starts_with(r#"""""#) || token.starts_with("'''") => 3,
        _ if token.starts_with('"') || token.starts_with('\'') => return 1,
        _ => return 0,
    };
    let rest = &token[quotes..];
    quotes + [("\r\n", 2), ("\n", 1)].iter().find(|(it, _)| rest.starts_with(it)).map_or(0, |(_, len)| *len)
}
