//! The few lines of a source that a finding is about, cut so that no file can flood a screen.

use std::collections::BTreeMap;
use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use orange_codegen::{LineIndex, Position, Source, Span};

use super::is_unprintable;

/// The columns of a line that numbers and marks take.
const MARGIN: usize = 8;

/// Longer lines are cut in a sentence, in characters.
const MAX_QUOTE: usize = 64;

/// Columns of a tab, at most.
pub(super) const TAB: usize = 4;

/// Length of the part of a cut line that stays before the first place it is shown for, in characters.
const BEFORE: usize = 30;

/// Lines of a source, copied into a text of their own with the places that they are shown for.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    blocks: Vec<ExcerptBlock>,
    /// Place of each shown span in `text`, and in the source.
    places: Vec<(SourceSpan, Position)>,
}

/// The line that has the byte `at`, without the white space around it, short enough for a sentence.
pub(super) fn quote(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at);
    let line = line_around(text, at);
    let shown = window(text, &line, at, MAX_QUOTE);
    let before = if shown.start > line.start { "…" } else { "" };
    let after = if shown.end < line.end { "…" } else { "" };
    let shown = text[shown].trim_start_matches('\u{feff}').trim();
    let shown: String = shown.chars().map(|it| if is_unprintable(it) { ' ' } else { it }).collect();
    format!("{before}{shown}{after}")
}

/// Neighbouring lines.
#[derive(Debug)]
struct ExcerptBlock {
    /// The number of the first line, from 0.
    first: usize,
    lines: usize,
    text: Range<usize>,
}

/// A line of the source without its end.
#[derive(Clone, Debug)]
struct ExcerptLine {
    number: usize,
    range: Range<usize>,
}

/// A span that is to be shown, and where it begins.
#[derive(Clone, Copy, Debug)]
struct ExcerptSpan {
    span: Span,
    position: Position,
}

impl ExcerptSpan {
    fn line(&self) -> usize {
        self.position.line as usize - 1
    }
}

impl Excerpt {
    /// The lines of these spans, with one line before and after each, cut to this width. Of a span over several lines the
    /// first is shown.
    pub(super) fn new(source: &Source, index: &LineIndex<'_>, spans: &[Span], width: usize) -> Self {
        let wanted: Vec<ExcerptSpan> = spans
            .iter()
            .map(|span| ExcerptSpan { span: *span, position: index.position(span.start) })
            .collect();
        let mut excerpt =
            Self { name: source.path.clone(), text: String::new(), blocks: Vec::new(), places: Vec::new() };
        let mut moved = BTreeMap::new();
        for line in lines(&source.text, &wanted).values() {
            let start = excerpt.text.len();
            let here: Vec<Span> =
                wanted.iter().filter(|it| it.line() == line.number).map(|it| it.span).collect();
            excerpt.copy(&source.text, line, &here, &mut moved, width.saturating_sub(MARGIN));
            excerpt.extend_blocks(line.number, start);
        }
        for ExcerptSpan { span, position } in wanted {
            let shown = moved.get(&span).cloned().unwrap_or(0..0);
            excerpt.places.push(((shown.start, shown.len()).into(), position));
        }
        excerpt
    }

    /// Place of the span of this number in the excerpt.
    pub(super) fn place(&self, number: usize) -> SourceSpan {
        self.places.get(number).map_or((0, 0).into(), |(span, _)| *span)
    }

    /// True if the lines of two places of the excerpt are neighbours.
    pub(super) fn are_neighbours(&self, a: &SourceSpan, b: &SourceSpan) -> bool {
        self.blocks.iter().any(|it| it.text.contains(&a.offset()) && it.text.contains(&b.offset()))
    }

    /// For each place how many columns of a terminal are left of its label, line number and gutter included. The
    /// label stands below the middle of its place; of places that overlap, a later one begins where the earlier ends.
    pub(super) fn columns_before_labels(&self) -> Vec<usize> {
        let gutter = self.blocks.last().map_or(0, |it| (it.first + it.lines).to_string().len()) + 4;
        let mut columns = vec![0; self.places.len()];
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by_key(|it| self.places[*it].0.offset());
        let mut taken = (0, 0);
        for at in order {
            let place = self.places[at].0;
            let line = self.text[..place.offset()].rfind('\n').map_or(0, |it| it + 1);
            let highest = if taken.0 == line { taken.1 } else { 0 };
            let start = self.columns(line, place.offset()).max(highest);
            let end = self.columns(line, place.offset() + place.len()).max(start + 1);
            columns[at] = gutter + (start + end) / 2;
            taken = (line, end);
        }
        columns
    }

    fn columns(&self, line: usize, at: usize) -> usize {
        self.text[line..at].chars().map(|it| if it == '\t' { TAB } else { 1 }).sum()
    }

    /// Copies a line, or the part of it around the first span in it, and notes where the spans are now.
    fn copy(
        &mut self,
        text: &str,
        line: &ExcerptLine,
        spans: &[Span],
        moved: &mut BTreeMap<Span, Range<usize>>,
        max: usize,
    ) {
        let first = spans.iter().map(|it| it.range().start).min().unwrap_or(line.range.start);
        let shown = window(text, &line.range, first, max);
        let mut offsets = BTreeMap::new();
        if shown.start > line.range.start {
            self.text.push('…');
        }
        for (at, it) in text[shown.clone()].char_indices() {
            offsets.insert(shown.start + at, self.text.len());
            match it {
                '\u{feff}' => {}
                '\t' => self.text.push(it),
                it if is_unprintable(it) => self.text.push('\u{fffd}'),
                it => self.text.push(it),
            }
        }
        let end = self.text.len();
        if shown.end < line.range.end {
            self.text.push('…');
        }
        self.text.push('\n');
        let find = |offset: usize| offsets.range(offset..).next().map_or(end, |(_, new)| *new);
        moved.extend(spans.iter().map(|span| (*span, find(span.range().start)..find(span.range().end))));
    }

    fn extend_blocks(&mut self, number: usize, start: usize) {
        let end = self.text.len();
        match self.blocks.last_mut() {
            Some(block) if block.first + block.lines == number => {
                block.lines += 1;
                block.text.end = end;
            }
            Some(_) | None => self.blocks.push(ExcerptBlock { first: number, lines: 1, text: start..end }),
        }
    }
}

impl SourceCode for Excerpt {
    /// The whole block around a span; without context, the place of the span in the source.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let block = self.blocks.iter().find(|it| it.text.contains(&span.offset()));
        let block = block.ok_or(MietteError::OutOfBounds)?;
        let source = self.places.iter().find(|(it, _)| it.offset() == span.offset());
        let (line, column) = match source {
            Some((_, position)) if before + after == 0 => {
                (position.line as usize - 1, position.column as usize - 1)
            }
            Some(_) | None => (block.first, 0),
        };
        let data = &self.text.as_bytes()[block.text.clone()];
        let whole = (block.text.start, block.text.len()).into();
        let name = self.name.clone();
        Ok(Box::new(MietteSpanContents::new_named(name, data, whole, line, column, block.lines)))
    }
}

/// The lines of these places and their neighbours, by number.
fn lines(text: &str, wanted: &[ExcerptSpan]) -> BTreeMap<usize, ExcerptLine> {
    let mut lines = BTreeMap::new();
    let mut add = |number, at| {
        let range = line_around(text, at);
        lines.insert(number, ExcerptLine { number, range: range.clone() });
        range
    };
    for it in wanted {
        let range = add(it.line(), text.floor_char_boundary(it.span.range().start));
        if let Some(before) = range.start.checked_sub(1) {
            add(it.line() - 1, before);
        }
        if let Some(after) = next_line(text, range.end) {
            add(it.line() + 1, after);
        }
    }
    lines
}

/// The line that has the byte `at`, without its line end.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let end = text[at..].find('\n').map_or(text.len(), |after| at + after);
    let end = if text[start..end].ends_with('\r') { end - 1 } else { end };
    start..end
}

/// Start of the line after one that ends at `end`, if there is anything in the text after it.
fn next_line(text: &str, end: usize) -> Option<usize> {
    let rest = &text[end..];
    let start = end + rest.find('\n')? + 1;
    (start < text.len()).then_some(start)
}

/// The part of a line, of at most `max` characters, that is shown when `first` is the first byte of interest in it.
fn window(text: &str, line: &Range<usize>, first: usize, max: usize) -> Range<usize> {
    let whole = &text[line.clone()];
    if whole.len() <= max || whole.chars().nth(max).is_none() {
        return line.clone();
    }
    let first = text.floor_char_boundary(first.min(line.end));
    let before = text[line.start..first].char_indices().rev().nth(BEFORE - 1);
    let start = before.map_or(line.start, |(at, _)| line.start + at);
    let after = text[start..line.end].char_indices().nth(max);
    start..after.map_or(line.end, |(at, _)| start + at)
}
