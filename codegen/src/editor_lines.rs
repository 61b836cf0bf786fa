//! Lines and columns as editors count them: both from 0, columns in units of UTF-8 or UTF-16.
//!
//! People read [`crate::Position`], which counts from 1 and in characters. The two differ in one more point: for an editor a lone
//! carriage return ends a line, too.

/// Unit in which an editor counts the columns of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16: a character beyond U+FFFF has two.
    Utf16,
}

/// A place as an editor counts it: both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditorPosition {
    /// The line, from 0.
    pub line: u32,
    /// The column, from 0, in units of the [`Encoding`].
    pub column: u32,
}

/// The lines of one text. It does not borrow the text, so that both can be kept together: each function takes the text that it
/// was made of.
#[derive(Clone, Debug)]
pub struct EditorLines {
    /// The first byte of each line.
    starts: Vec<u32>,
    /// The number of UTF-16 units before each [`STRIDE`]th byte: columns of one very long line are counted from near by.
    marks: Vec<u32>,
}

/// Bytes between two marks.
const STRIDE: usize = 1024;

impl EditorLines {
    /// Reads the text once; a line ends after `\n`, `\r\n` or a lone `\r`.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
        let marks = bytes.chunks(STRIDE).scan(0, |before, chunk| {
            let mark = *before;
            *before += units(chunk);
            Some(mark)
        });
        Self { starts, marks: marks.collect() }
    }

    /// Number of lines; at least one.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The bytes of a line, without its end and without a byte order mark; those of the last line where there are fewer lines.
    pub fn line(&self, text: &str, line: u32) -> std::ops::Range<usize> {
        let line = (line as usize).min(self.starts.len() - 1);
        let start = self.starts[line] as usize;
        let end = self.starts.get(line + 1).map_or(text.len(), |it| *it as usize);
        let mark = if start == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let content = text[start + mark..end].trim_end_matches(['\r', '\n']).len();
        start + mark..start + mark + content
    }

    /// The line of a byte, from 0; past the end it is the last one.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32 - 1
    }

    /// The position of a byte. Inside a character it is the start of that character, past the end of the text the end, and
    /// within the end of a line the end of what stands on it.
    pub fn position(&self, text: &str, offset: u32, encoding: Encoding) -> EditorPosition {
        let offset = text.floor_char_boundary(offset as usize);
        let line = self.line_of(offset as u32);
        let content = self.line(text, line);
        let offset = offset.clamp(content.start, content.end);
        let column = match encoding {
            Encoding::Utf8 => (offset - content.start) as u32,
            Encoding::Utf16 => self.units_before(text, offset) - self.units_before(text, content.start),
        };
        EditorPosition { line, column }
    }

    /// The byte at a position. A line past the last one is the end of the text, a column past the end of its line is that end,
    /// and one inside a character is the start of that character.
    pub fn offset(&self, text: &str, position: EditorPosition, encoding: Encoding) -> u32 {
        if position.line >= self.count() {
            return text.len() as u32;
        }
        let content = self.line(text, position.line);
        let column = position.column as usize;
        let offset = match encoding {
            Encoding::Utf8 => text.floor_char_boundary(content.start.saturating_add(column).min(content.end)),
            Encoding::Utf16 => {
                let wanted = self.units_before(text, content.start).saturating_add(position.column);
                self.at_unit(text, wanted, content)
            }
        };
        offset as u32
    }

    /// The byte in these ones before which there are so many units, or the start of the character that has the unit inside.
    fn at_unit(&self, text: &str, wanted: u32, within: std::ops::Range<usize>) -> usize {
        let mark = self.marks.partition_point(|before| *before <= wanted).saturating_sub(1);
        let from = text.ceil_char_boundary(mark * STRIDE).clamp(within.start, within.end);
        let mut units = self.units_before(text, from);
        for (at, character) in text[from..within.end].char_indices() {
            units += character.len_utf16() as u32;
            if units > wanted {
                return from + at;
            }
        }
        within.end
    }

    /// Number of UTF-16 units that begin before this byte.
    fn units_before(&self, text: &str, offset: usize) -> u32 {
        let mark = offset / STRIDE;
        match self.marks.get(mark) {
            Some(before) => before + units(&text.as_bytes()[mark * STRIDE..offset]),
            None => units(text.as_bytes()),
        }
    }
}

/// Number of UTF-16 units of the characters that begin in these bytes of UTF-8.
fn units(bytes: &[u8]) -> u32 {
    let of_byte = |byte: &u8| match byte {
        0x80..0xc0 => 0,
        0xf0.. => 2,
        _ => 1,
    };
    bytes.iter().map(of_byte).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The position of each character boundary of a text, counted character by character.
    fn oracle(text: &str, encoding: Encoding) -> Vec<(usize, EditorPosition)> {
        let mut all = Vec::new();
        let mut at = EditorPosition::default();
        let mut ended = false;
        for (offset, character) in text.char_indices().chain([(text.len(), ' ')]) {
            let before = text[..offset].chars().next_back();
            if ended && !(before == Some('\r') && character == '\n' && offset < text.len()) {
                at = EditorPosition { line: at.line + 1, column: 0 };
                ended = false;
            }
            all.push((offset, at));
            match character {
                '\r' | '\n' => ended = true,
                '\u{feff}' if offset == 0 => {}
                other => {
                    at.column += match encoding {
                        Encoding::Utf8 => other.len_utf8(),
                        Encoding::Utf16 => other.len_utf16(),
                    } as u32;
                }
            }
        }
        all
    }

    fn check(text: &str) {
        let lines = EditorLines::new(text);
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let known = oracle(text, encoding);
            for (offset, position) in &known {
                assert_eq!(lines.position(text, *offset as u32, encoding), *position, "{text:?} {offset}");
            }
            let last = known.last().map(|(_, it)| *it).unwrap();
            assert_eq!(lines.count(), last.line + 1, "{text:?}");
            for line in 0..last.line + 2 {
                let on_line: Vec<_> = known.iter().filter(|(_, it)| it.line == line).collect();
                let past = on_line.last().map_or(0, |(_, it)| it.column);
                for column in 0..past + 3 {
                    let expected = match on_line.iter().rev().find(|(_, it)| it.column <= column) {
                        None => text.len(),
                        Some((_, same)) => on_line
                            .iter()
                            .filter(|(_, it)| it == same)
                            .map(|(offset, _)| *offset)
                            .find(|it| !text[*it..].starts_with('\u{feff}') || *it > 0)
                            .unwrap(),
                    };
                    let position = EditorPosition { line, column };
                    let offset = lines.offset(text, position, encoding);
                    assert_eq!(offset as usize, expected, "{text:?} {position:?} {encoding:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn both_directions_agree_with_counting(text in "\u{feff}?([aé日🦀\r\n]|\r\n| ){0,24}") {
            check(&text);
        }
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let text = "\u{feff}ab";
        let lines = EditorLines::new(text);
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            assert_eq!(lines.position(text, 0, encoding), EditorPosition { line: 0, column: 0 });
            assert_eq!(lines.position(text, 4, encoding), EditorPosition { line: 0, column: 1 });
            assert_eq!(lines.offset(text, EditorPosition::default(), encoding), 3);
        }
    }

    #[test]
    fn places_within_characters_and_past_ends_are_limited() {
        let text = "a🦀\r\nb";
        let lines = EditorLines::new(text);
        let at = |line, column| EditorPosition { line, column };
        assert_eq!(lines.offset(text, at(0, 2), Encoding::Utf16), 1);
        assert_eq!(lines.offset(text, at(0, 3), Encoding::Utf16), 5);
        assert_eq!(lines.offset(text, at(0, u32::MAX), Encoding::Utf16), 5);
        assert_eq!(lines.offset(text, at(0, u32::MAX), Encoding::Utf8), 5);
        assert_eq!(lines.offset(text, at(9, 0), Encoding::Utf8), 8);
        assert_eq!(lines.position(text, 3, Encoding::Utf16), at(0, 1));
        assert_eq!(lines.position(text, 6, Encoding::Utf16), at(0, 3));
        assert_eq!(lines.position(text, 99, Encoding::Utf8), at(1, 1));
    }

    #[test]
    fn a_long_line_is_counted_like_a_short_one() {
        let line = "日🦀é".repeat(STRIDE);
        let text = format!("{line}\r{line}");
        let lines = EditorLines::new(&text);
        for group in [0, 1, 7, STRIDE / 9, STRIDE - 1, STRIDE] {
            for (line_number, start) in [(0, 0), (1, line.len() + 1)] {
                let offset = (start + group * 9) as u32;
                let position = EditorPosition { line: line_number, column: group as u32 * 4 };
                assert_eq!(lines.position(&text, offset, Encoding::Utf16), position);
                assert_eq!(lines.offset(&text, position, Encoding::Utf16), offset);
            }
        }
    }
}
