//! Decoded texts that know which byte of the source each of their bytes came from.

use crate::span::Span;

/// A decoded text and its places in the source.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text after escapes, folding and indentation were undone.
    pub value: String,
    /// The whole token in the source; of an included text the name of its file.
    pub span: Span,
    /// Behind the last byte that one of its bytes can come from.
    end: u32,
    /// `(decoded, source)`: from this decoded offset on both run side by side, up to the next entry.
    /// Empty when they do so from the token's start.
    map: Vec<(u32, u32)>,
}

/// Notation of a token, by which it turns into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Characters stand for themselves; line breaks may fold.
    Bare,
    /// Like [`Notation::Bare`], and `''` is a quote.
    Single,
    /// Backslash escapes; line breaks fold.
    Double,
    /// TOML's basic strings: backslash escapes, line breaks stay.
    TomlDouble,
    /// TOML's literal strings: characters stand for themselves.
    TomlSingle,
}

impl Text {
    /// No text, where one should be.
    pub(crate) fn empty(span: Span) -> Self {
        Self::verbatim(String::new(), span)
    }

    /// A token that is its own text.
    pub fn verbatim(value: String, span: Span) -> Self {
        Self { value, span, end: span.end, map: Vec::new() }
    }

    /// The text of another file, whose bytes begin at `start`; the source names it at `span`.
    pub(crate) fn included(value: String, span: Span, start: u32) -> Self {
        let end = start + value.len() as u32;
        Self { value, span, end, map: vec![(0, start)] }
    }

    /// A token whose text begins at `start` and is written in `notation`. `source` is the whole file.
    pub(crate) fn decoded(value: String, span: Span, start: u32, source: &str, notation: Notation) -> Self {
        let map = Aligner::new(&source[start as usize..span.end as usize], &value, start, notation).run();
        Self { value, span, end: span.end, map }
    }

    /// Moves it to its place in another text. Where its bytes have changed, its start stands for all of them.
    pub(super) fn relocate(
        &mut self,
        moved: &impl Fn(Span) -> Span,
        place: &impl Fn(u32) -> u32,
        has_changed: bool,
    ) {
        self.span = moved(self.span);
        self.end = if has_changed { self.span.start } else { place(self.end).max(self.span.start) };
        for (_, source) in &mut self.map {
            *source = place(*source);
        }
    }

    /// The source span of a range of the decoded text.
    pub fn locate(&self, start: usize, end: usize) -> Span {
        let first = self.source(start as u32);
        Span::new(first, self.source(end as u32).max(first))
    }

    /// The source byte of a decoded offset.
    pub fn source(&self, offset: u32) -> u32 {
        let after = self.map.partition_point(|(decoded, _)| *decoded <= offset);
        let (decoded, source) = match after.checked_sub(1) {
            Some(last) => self.map[last],
            None => (0, self.span.start),
        };
        (source + (offset - decoded)).min(self.end)
    }

    /// The decoded offset of a source byte: the inverse of [`Text::source`]. Within an escape, and within white space that folds, it is
    /// the start of what that stands for. Nothing for a byte outside of the text.
    pub fn offset(&self, source: u32) -> Option<u32> {
        let whole = [(0, self.span.start)];
        let map = if self.map.is_empty() { &whole[..] } else { &self.map };
        let after = map.partition_point(|(_, start)| *start <= source);
        let (decoded, start) = map[after.checked_sub(1)?];
        let next = map.get(after).map_or(self.value.len() as u32, |(next, _)| *next);
        let offset = (decoded + (source - start)).min(next).min(self.value.len() as u32);
        (source <= self.end).then(|| self.value.floor_char_boundary(offset as usize) as u32)
    }
}

/// Walks token and text side by side and notes where they stop running in step.
struct Aligner<'t> {
    source: &'t [u8],
    text: &'t [u8],
    base: u32,
    notation: Notation,
    /// Place of each of the two walks.
    from: usize,
    to: usize,
    map: Vec<(u32, u32)>,
}

impl<'t> Aligner<'t> {
    fn new(source: &'t str, text: &'t str, base: u32, notation: Notation) -> Self {
        let map = vec![(0, base)];
        Self { source: source.as_bytes(), text: text.as_bytes(), base, notation, from: 0, to: 0, map }
    }

    fn run(mut self) -> Vec<(u32, u32)> {
        while self.to < self.text.len() && self.from < self.source.len() {
            match self.source[self.from] {
                b'\\' if self.has_escapes() => self.escape(),
                b'\'' if self.notation == Notation::Single => self.step(2, 1),
                b'\r' if self.is_toml() => self.carriage_return(),
                b' ' | b'\t' | b'\r' | b'\n' if !self.is_toml() => self.space(),
                other if other != self.text[self.to] && is_space(self.text[self.to]) => self.skip_text(),
                _ => self.step(1, 1),
            }
        }
        self.map
    }

    fn has_escapes(&self) -> bool {
        matches!(self.notation, Notation::Double | Notation::TomlDouble)
    }

    fn is_toml(&self) -> bool {
        matches!(self.notation, Notation::TomlDouble | Notation::TomlSingle)
    }

    /// Goes on by so many bytes of each; notes the place when they no longer run in step.
    fn step(&mut self, source: usize, text: usize) {
        self.from += source;
        self.to += text;
        if source != text {
            self.map.push((self.to as u32, self.base + self.from as u32));
        }
    }

    fn escape(&mut self) {
        let escaped = self.source.get(self.from + 1).copied().unwrap_or_default();
        let digits = match escaped {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            b' ' | b'\t' if self.is_toml() => return self.continued_line(),
            b'\r' | b'\n' => return self.continued_line(),
            _ => 0,
        };
        let mut source = 2 + digits;
        let pair = self.source.get(self.from + source..self.from + source + 2) == Some(b"\\u");
        let decoded = char_len(self.text[self.to]);
        // JSON writes what is beyond U+FFFF as two escapes: one character of four bytes.
        if escaped == b'u' && decoded == 4 && pair {
            source += 6;
        }
        self.step(source, decoded);
    }

    /// A backslash at the end of a line: neither it nor the break is part of the text.
    fn continued_line(&mut self) {
        let (end, breaks) = self.run_of_space(self.from + 1);
        let kept = if self.is_toml() { 0 } else { breaks.saturating_sub(1) };
        self.jump(end, self.to + kept);
    }

    fn carriage_return(&mut self) {
        let dropped = self.text[self.to] != b'\r';
        self.step(1, usize::from(!dropped));
    }

    /// Blanks inside a line stand for themselves; a run with line breaks folds, or loses its indentation.
    fn space(&mut self) {
        let (end, breaks) = self.run_of_space(self.from);
        if breaks == 0 {
            let kept =
                self.text[self.to..].iter().take(end - self.from).take_while(|byte| is_space(**byte)).count();
            return self.jump(end, self.to + kept);
        }
        let kept = match self.notation {
            Notation::Double | Notation::Single => breaks.saturating_sub(1).max(1),
            Notation::Bare | Notation::TomlDouble | Notation::TomlSingle => {
                self.text[self.to..].iter().take_while(|byte| is_space(**byte)).count()
            }
        };
        self.jump(end, self.to + kept);
    }

    /// White space that no byte of the token stands for: the blank lines a block begins with.
    fn skip_text(&mut self) {
        let skipped = self.text[self.to..].iter().take_while(|byte| is_space(**byte)).count();
        self.step(0, skipped);
    }

    /// The end of the run of white space at `at`, and how many line breaks it has.
    fn run_of_space(&self, at: usize) -> (usize, usize) {
        let run = self.source[at..].iter().take_while(|byte| is_space(**byte)).count();
        let run = &self.source[at..at + run];
        let feeds = run.iter().filter(|byte| **byte == b'\n').count();
        let returns =
            run.iter().enumerate().filter(|(i, byte)| **byte == b'\r' && run.get(i + 1) != Some(&b'\n'));
        (at + run.len(), feeds + returns.count())
    }

    fn jump(&mut self, from: usize, to: usize) {
        let (source, text) = (from - self.from, to.min(self.text.len()) - self.to);
        self.step(source, text);
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn char_len(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}
