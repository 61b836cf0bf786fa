//! Byte offsets of the compiler and positions of the protocol.

use orange_codegen::Span;
use orange_codegen::editor_lines::{EditorLines, EditorPosition, Encoding};

use super::wire::{Position, PositionEncodingKind, Range};

/// The lines of one text, in the units of the client.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    encoding: Encoding,
    lines: EditorLines,
}

/// The name of a unit.
pub(super) fn kind(encoding: Encoding) -> PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
    }
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        Self { text, encoding, lines: EditorLines::new(text) }
    }

    /// The position of a byte; past the end it is the end.
    pub(super) fn position(&self, offset: u32) -> Position {
        let EditorPosition { line, column } = self.lines.position(self.text, offset, self.encoding);
        Position { line, character: column }
    }

    /// The byte at a position; past the end of its line it is that end, past the last line the end of the text.
    pub(super) fn offset(&self, position: Position) -> u32 {
        let position = EditorPosition { line: position.line, column: position.character };
        self.lines.offset(self.text, position, self.encoding)
    }

    pub(super) fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    /// The bytes of a range; one that ends before its start is empty.
    pub(super) fn span(&self, range: Range) -> Span {
        let start = self.offset(range.start);
        Span::new(start, self.offset(range.end).max(start))
    }
}
