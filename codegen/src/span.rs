//! Places in a source: byte ranges, and the lines and columns people count in.

use std::ops::Range;

/// A half-open range of bytes in one source, always on character boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

/// A value and where it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The place in the source at which it was written.
    pub span: Span,
}

/// A place as people count it: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Turns byte offsets of one text into positions.
#[derive(Clone, Debug)]
pub struct LineIndex<'text> {
    text: &'text str,
    starts: Vec<u32>,
    /// The number of characters that begin before each [`STRIDE`]th byte: columns of one very long line are
    /// counted from near by.
    marks: Vec<u32>,
}

/// Bytes between two marks.
const STRIDE: usize = 1024;

impl Span {
    /// The bytes from `start` up to `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// An empty span at `offset`.
    pub const fn at(offset: u32) -> Self {
        Self { start: offset, end: offset }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// True if it covers no byte.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The part of it on its first line, without white space at the end.
    pub fn first_line(self, text: &str) -> Self {
        let line = text[self.range()].lines().next().unwrap_or_default().trim_end();
        Self { start: self.start, end: self.start + line.len() as u32 }
    }

    /// The range to slice a text with.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl<T> Spanned<T> {
    /// A value that was written at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Changes the value, and keeps its place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

impl Spanned<String> {
    /// The borrowed text, with its place.
    pub fn as_str(&self) -> Spanned<&str> {
        Spanned { value: &self.value, span: self.span }
    }
}

impl<'text> LineIndex<'text> {
    /// Reads the text once; a line ends after `\n`, so `\r\n` ends one line.
    pub fn new(text: &'text str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
        let marks = text.as_bytes().chunks(STRIDE).scan(0, |before, chunk| {
            let mark = *before;
            *before += characters(chunk);
            Some(mark)
        });
        Self { text, starts, marks: marks.collect() }
    }

    /// The position of a byte; past the end it is the end, inside a character it is that character.
    /// A byte order mark at the start of the text takes no column.
    pub fn position(&self, offset: u32) -> Position {
        let offset = self.text.floor_char_boundary(offset as usize);
        let line = self.starts.partition_point(|start| *start as usize <= offset) - 1;
        let start = self.starts[line] as usize;
        let mark = start == 0 && offset > 0 && self.text.starts_with('\u{feff}');
        let column = self.before(offset) - self.before(start) - u32::from(mark);
        Position { line: line as u32 + 1, column: column + 1 }
    }

    /// Number of characters that end at this byte or before it.
    fn before(&self, offset: usize) -> u32 {
        let mark = offset / STRIDE;
        self.marks.get(mark).map_or_else(
            || characters(self.text.as_bytes()),
            |before| before + characters(&self.text.as_bytes()[mark * STRIDE..offset]),
        )
    }
}

/// Number of characters that begin in these bytes of UTF-8.
fn characters(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: u32, line: u32, column: u32) {
        assert_eq!(LineIndex::new(text).position(offset), Position { line, column });
    }

    #[test]
    fn positions_count_from_one_in_characters() {
        check("", 0, 1, 1);
        check("ab\ncd", 0, 1, 1);
        check("ab\ncd", 2, 1, 3);
        check("ab\ncd", 3, 2, 1);
        check("ab\ncd", 5, 2, 3);
        check("ab\ncd", 500, 2, 3);
        check("日本: x", 8, 1, 5);
        check("日本: x", 4, 1, 2);
    }

    #[test]
    fn a_long_line_is_counted_like_a_short_one() {
        let line = "日x".repeat(STRIDE);
        let text = format!("{line}\n{line}");
        for at in [0, 1, STRIDE / 4, STRIDE - 1, STRIDE] {
            check(&text, at as u32 * 4, 1, at as u32 * 2 + 1);
            check(&text, (line.len() + 1 + at * 4) as u32, 2, at as u32 * 2 + 1);
        }
        check(&text, text.len() as u32 + 9, 2, STRIDE as u32 * 2 + 1);
    }

    #[test]
    fn crlf_ends_one_line_and_a_byte_order_mark_takes_no_column() {
        check("a\r\nb", 3, 2, 1);
        check("\u{feff}ab", 3, 1, 1);
        check("\u{feff}ab", 4, 1, 2);
    }
}
