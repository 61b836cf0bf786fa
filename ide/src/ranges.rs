//! Parts of a text that an editor folds, and those to which it extends a selection.

use orange_codegen::source::Format;
use orange_codegen::syntax::{Node, NodeKind};
use orange_codegen::{EditorLines, Span};

use crate::document::Document;

/// A part that can be folded: of these lines, from 0, the first stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fold {
    /// The line that stays.
    pub first: u32,
    /// The last line, which is another one.
    pub last: u32,
    /// True if the lines are comments.
    pub is_comment: bool,
}

/// The parts that can be folded, in order; no two begin on one line.
pub fn folds(document: &Document) -> Vec<Fold> {
    let Some(tree) = document.tree() else { return Vec::new() };
    let text = document.text();
    let lines = EditorLines::new(text);
    let mut spans = Vec::new();
    let mut scalars = Vec::new();
    gather(tree, &mut spans, &mut scalars);
    let mut folds: Vec<Fold> = spans.iter().filter_map(|span| fold(&lines, *span, false)).collect();
    folds.extend(comments(text, &lines, &scalars));
    if document.source.format == Format::Toml {
        folds.extend(tables(text, &lines, &scalars));
    }
    // The longest of those that begin on one line.
    folds.sort_by_key(|it| (it.first, std::cmp::Reverse(it.last)));
    folds.dedup_by_key(|it| it.first);
    folds
}

/// The spans to which a selection at this byte grows, one after the other: the last one is the whole text.
pub fn selections(document: &Document, offset: u32) -> Vec<Span> {
    let text = document.text();
    let mut spans = vec![word(text, offset), Span::new(0, text.len() as u32)];
    if let Some(tree) = document.tree() {
        every_span(tree, &mut spans);
    }
    let line = text[..text.floor_char_boundary(offset as usize)].rfind('\n').map_or(0, |it| it + 1);
    let rest = text[line..].lines().next().unwrap_or_default();
    let start = line + rest.len() - rest.trim_start().len();
    spans.push(Span::new(start as u32, (line + rest.trim_end().len()).max(start) as u32));
    spans.sort_by_key(|it| it.end - it.start);
    let mut grown: Vec<Span> = Vec::new();
    for span in spans.into_iter().filter(|it| it.start <= offset && offset <= it.end) {
        let last = grown.last().copied().unwrap_or(Span::at(offset));
        let is_around = span.start <= last.start && last.end <= span.end;
        if is_around && grown.last() != Some(&span) {
            grown.push(span);
        }
    }
    grown
}

/// Each entry and item, and each scalar.
fn gather(node: &Node, spans: &mut Vec<Span>, scalars: &mut Vec<Span>) {
    match &node.kind {
        NodeKind::Scalar(_) => scalars.push(node.span),
        NodeKind::Sequence(items) => {
            for item in items {
                spans.push(item.span);
                gather(item, spans, scalars);
            }
        }
        NodeKind::Mapping(entries) => {
            for (key, value) in entries {
                spans.push(key.span.to(value.span));
                gather(key, spans, scalars);
                gather(value, spans, scalars);
            }
        }
    }
}

fn fold(lines: &EditorLines, span: Span, is_comment: bool) -> Option<Fold> {
    let (first, last) = (lines.line_of(span.start), lines.line_of(span.end));
    (first < last).then_some(Fold { first, last, is_comment })
}

/// Lines of comments below each other.
fn comments(text: &str, lines: &EditorLines, scalars: &[Span]) -> Vec<Fold> {
    let is_comment = |line: u32| {
        let range = lines.line(text, line);
        let start = (range.end - text[range.clone()].trim_start().len()) as u32;
        let is_inside = scalars.iter().any(|it| it.start < start && start < it.end);
        text[range].trim_start().starts_with('#') && !is_inside
    };
    let mut folds = Vec::new();
    let mut first = None;
    for line in 0..=lines.count() {
        let continues = line < lines.count() && is_comment(line);
        match (first, continues) {
            (None, true) => first = Some(line),
            (Some(start), false) => {
                if start + 1 < line {
                    folds.push(Fold { first: start, last: line - 1, is_comment: true });
                }
                first = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    folds
}

/// Tables of TOML: from each header to the last line before the next one that is not blank.
fn tables(text: &str, lines: &EditorLines, scalars: &[Span]) -> Vec<Fold> {
    let is_header = |line: &u32| {
        let range = lines.line(text, *line);
        let is_inside =
            scalars.iter().any(|it| it.range().start < range.start && range.start < it.range().end);
        text[range].starts_with('[') && !is_inside
    };
    let headers: Vec<u32> = (0..lines.count()).filter(is_header).collect();
    let ends = headers.iter().copied().skip(1).chain([lines.count()]);
    let folds = headers.iter().copied().zip(ends).map(|(first, next)| {
        let is_written = |line: &u32| {
            let written = text[lines.line(text, *line)].trim_start();
            !written.is_empty() && !written.starts_with('#')
        };
        let last = (first..next).rev().find(is_written).unwrap_or(first);
        Fold { first, last, is_comment: false }
    });
    folds.filter(|it| it.first < it.last).collect()
}

/// The spans of all nodes and entries, and of texts without their quotes.
fn every_span(node: &Node, spans: &mut Vec<Span>) {
    spans.push(node.span);
    match &node.kind {
        NodeKind::Scalar(scalar) => spans.push(scalar.text.locate(0, scalar.text.value.len())),
        NodeKind::Sequence(items) => items.iter().for_each(|it| every_span(it, spans)),
        NodeKind::Mapping(entries) => {
            for (key, value) in entries {
                spans.push(key.span.to(value.span));
                every_span(key, spans);
                every_span(value, spans);
            }
        }
    }
}

fn word(text: &str, offset: u32) -> Span {
    let offset = text.floor_char_boundary(offset as usize);
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    let start = text[..offset].trim_end_matches(is_part).len();
    let end = text.len() - text[offset..].trim_start_matches(is_part).len();
    Span::new(start as u32, end as u32)
}
