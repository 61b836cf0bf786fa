//! A prompt as its author laid it out: items, paragraphs, headings and code, and what stands under what.

use std::ops::Range;

/// A piece of a prompt that is read on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Its text, without the marker; several lines where it is wrapped.
    pub range: Range<usize>,
    /// What it is.
    pub kind: Kind,
    /// The block that it stands under: a heading, a line that ends in a colon, an item of which it is a part.
    pub parent: Option<usize>,
    /// The column in which it begins.
    indent: usize,
    /// Whether it ends in a colon, so that the list after it belongs to it.
    introduces: bool,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Paragraph,
    /// An item that has its place in an order.
    Step,
    /// An item without one, or a row of a table.
    Bullet,
    /// A heading and its level.
    Heading(usize),
    /// A line of a fenced block.
    Code,
}

/// Cuts a text into blocks, in order.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.line(line, start);
        start += line.len();
    }
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// The blocks that what comes next may stand under, the outermost first.
    open: Vec<usize>,
    /// The indentation of the fence that is open.
    fence: Option<usize>,
    /// Whether a blank line came before.
    gap: bool,
}

impl Reader {
    fn line(&mut self, line: &str, start: usize) {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        let start = start + indent;
        let range = start..start + text.len();
        if text.starts_with("```") || text.starts_with("~~~") {
            self.fence = if self.fence.is_some() { None } else { Some(indent) };
            self.gap = true;
        } else if let Some(fence) = self.fence {
            self.push(Kind::Code, fence, range, text);
        } else if text.is_empty() {
            self.gap = true;
        } else if let Some((kind, marker)) = marker(text) {
            self.push(kind, indent, start + marker..range.end, text);
        } else if self.continues(indent) {
            self.extend(range.end, text);
        } else {
            self.push(Kind::Paragraph, indent, range, text);
        }
    }

    /// Whether a line without a marker goes on with the block before it.
    fn continues(&self, indent: usize) -> bool {
        self.blocks.last().is_some_and(|last| match last.kind {
            Kind::Paragraph => !self.gap && !last.introduces && indent >= last.indent,
            Kind::Step | Kind::Bullet => !self.gap && !last.introduces && indent > last.indent,
            Kind::Heading(_) | Kind::Code => false,
        })
    }

    fn extend(&mut self, end: usize, line: &str) {
        if let Some(last) = self.blocks.last_mut() {
            last.range.end = end;
            last.introduces = introduces(line);
        }
    }

    fn push(&mut self, kind: Kind, indent: usize, range: Range<usize>, line: &str) {
        while let Some(top) = self.open.last().map(|at| &self.blocks[*at]) {
            if holds(top, kind, indent) {
                break;
            }
            self.open.pop();
        }
        let at = self.blocks.len();
        let (parent, introduces) = (self.open.last().copied(), introduces(line));
        self.blocks.push(Block { range, kind, parent, indent, introduces });
        self.gap = false;
        if kind != Kind::Code {
            self.open.push(at);
        }
    }
}

/// Whether a block that begins in this column stands under another one.
fn holds(above: &Block, kind: Kind, indent: usize) -> bool {
    match (above.kind, kind) {
        (Kind::Heading(above), Kind::Heading(level)) => above < level,
        (Kind::Heading(_), _) => true,
        (_, Kind::Heading(_)) => false,
        (_, Kind::Step | Kind::Bullet | Kind::Code) if above.introduces => above.indent <= indent,
        (_, _) => above.indent < indent,
    }
}

fn introduces(line: &str) -> bool {
    line.trim_end_matches(['*', '_', '`', '"', ' ']).ends_with(':')
}

/// What a line begins with, and where its text does.
fn marker(text: &str) -> Option<(Kind, usize)> {
    let hashes = text.bytes().take_while(|it| *it == b'#').count();
    if (1..=6).contains(&hashes) && text[hashes..].starts_with(' ') {
        return Some((Kind::Heading(hashes), hashes + 1));
    }
    if text.starts_with('|') {
        return Some((Kind::Bullet, 1));
    }
    if let Some(rest) = text.strip_prefix(['-', '*', '+', '•']) {
        return rest.starts_with(' ').then(|| (Kind::Bullet, text.len() - rest.trim_start().len()));
    }
    let number = text.bytes().take_while(u8::is_ascii_digit).count();
    let letter = usize::from(text.starts_with(|it: char| it.is_ascii_alphabetic()));
    let counted = if number > 0 { number } else { letter };
    let rest = text[counted..].strip_prefix(['.', ')'])?;
    (counted > 0 && rest.starts_with(' ')).then(|| (Kind::Step, text.len() - rest.trim_start().len()))
}
