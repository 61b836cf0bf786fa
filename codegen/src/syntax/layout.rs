//! Layout of a YAML text: every node with its style and its place, and the comments between them.
//!
//! The syntax tree says what a text means and forgets this; the formatter needs it.

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use super::limits::{MAX_BYTES, MAX_DEPTH};
use super::yaml::parser;
use crate::span::Span;

#[cfg(test)]
mod tests;

/// A text as it is written.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The only document's root.
    pub root: WrittenNode,
    /// The `---` before it, if there is one.
    pub start: Option<Span>,
    /// Every comment, in order, from its `#` to the end of its text.
    pub comments: Vec<Span>,
}

/// One node as it is written.
#[derive(Clone, Debug)]
pub struct WrittenNode {
    /// From its first to after its last character: quotes, brackets and the header of a block scalar included, its anchor
    /// not. Empty where nothing is written. A block scalar ends where the line of its last text ends, and one that keeps
    /// its blank lines after those.
    pub span: Span,
    /// `&name` before it.
    pub anchor: Option<Span>,
    /// Its written form.
    pub form: WrittenForm,
}

/// Written form of a node.
#[derive(Clone, Debug)]
pub enum WrittenForm {
    /// Nothing at all.
    Nothing,
    /// `*name`
    Alias,
    /// A scalar within quotes, or without.
    Scalar {
        /// The quotes around it.
        quotes: Quotes,
        /// Text of the scalar.
        text: String,
    },
    /// A scalar on lines of its own, below `|` or `>`.
    Block {
        /// The header: `|`, `>-`, `|2+`.
        header: Span,
        /// Number of spaces at the start of each line that are not part of the text.
        indent: usize,
    },
    /// A list.
    Sequence {
        /// True if brackets are around it.
        flow: bool,
        /// Its items.
        items: Vec<WrittenNode>,
    },
    /// A mapping.
    Mapping {
        /// True if braces are around it.
        flow: bool,
        /// Its keys and values.
        entries: Vec<(WrittenNode, WrittenNode)>,
    },
}

/// The quotes around a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// There are none.
    None,
    /// `'`
    Single,
    /// `"`
    Double,
}

/// The layout of a YAML text. `None` where it is broken, says nothing, or has what no workflow has: tags, directives,
/// several documents.
pub fn layout(text: &str) -> Option<Layout> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut reader = Reader::new(text);
    let root = reader.document()?;
    let mut tokens = reader.tokens;
    tokens.sort_unstable();
    let comments = comments(text, &tokens)?;
    Some(Layout { root, start: reader.start, comments })
}

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    start: Option<Span>,
    /// Everything but white space, signs and comments.
    tokens: Vec<Span>,
    /// The end of the last token.
    at: u32,
}

type ReadEvent<'t> = (Event<'t>, Span);

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, parser: parser(text), start: None, tokens: Vec::new(), at: 0 }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's enum, which it may extend")]
    fn document(&mut self) -> Option<WrittenNode> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart => {}
                Event::DocumentStart(..) if root.is_some() => return None,
                Event::DocumentStart(explicit, _) => {
                    self.start = explicit.then_some(span);
                    self.token(span);
                }
                Event::DocumentEnd => self.token(span),
                Event::StreamEnd => return root,
                event => root = Some(self.node(event, span, 1)?),
            }
        }
    }

    fn next(&mut self) -> Option<ReadEvent<'t>> {
        let (event, span) = self.parser.next_event()?.ok()?;
        let range = span.byte_range()?;
        let is_sound = event.tag().is_none() && self.text.get(range.clone()).is_some();
        is_sound.then_some((event, Span::new(range.start as u32, range.end as u32)))
    }

    fn token(&mut self, span: Span) {
        if !span.is_empty() {
            self.tokens.push(span);
            self.at = self.at.max(span.end);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's enum, which it may extend")]
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Option<WrittenNode> {
        if depth > MAX_DEPTH {
            return None;
        }
        match event {
            Event::Scalar(value, style, anchor, _) => {
                let anchor = self.anchor(anchor)?;
                let (span, form) = self.scalar(&value, style, span)?;
                Some(WrittenNode { span, anchor, form })
            }
            Event::SequenceStart(style, anchor, _) => {
                let anchor = self.anchor(anchor)?;
                self.sequence(span, style == StructureStyle::Flow, anchor, depth)
            }
            Event::MappingStart(style, anchor, _) => {
                let anchor = self.anchor(anchor)?;
                self.mapping(span, style == StructureStyle::Flow, anchor, depth)
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.token(span);
                Some(WrittenNode { span, anchor: None, form: WrittenForm::Alias })
            }
            _ => None,
        }
    }

    /// The anchor that the parser tells of behind a node that has one.
    fn anchor(&mut self, id: usize) -> Option<Option<Span>> {
        if id == 0 {
            return Some(None);
        }
        let (Event::Anchor(..), span) = self.next()? else { return None };
        self.token(span);
        Some(Some(span))
    }

    fn sequence(
        &mut self,
        start: Span,
        flow: bool,
        anchor: Option<Span>,
        depth: usize,
    ) -> Option<WrittenNode> {
        let mut items: Vec<WrittenNode> = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, end) => {
                    let end = if flow { end.end } else { items.last().map_or(start.end, |it| it.span.end) };
                    let span = Span::new(start.start, end.max(start.end));
                    return Some(WrittenNode { span, anchor, form: WrittenForm::Sequence { flow, items } });
                }
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(
        &mut self,
        start: Span,
        flow: bool,
        anchor: Option<Span>,
        depth: usize,
    ) -> Option<WrittenNode> {
        let mut entries: Vec<(WrittenNode, WrittenNode)> = Vec::new();
        loop {
            match self.next()? {
                (Event::MappingEnd, end) => {
                    let last = entries.last().map_or(start.end, |(_, it)| it.span.end);
                    let span = Span::new(start.start, if flow { end.end.max(last) } else { last });
                    return Some(WrittenNode { span, anchor, form: WrittenForm::Mapping { flow, entries } });
                }
                (event, span) => {
                    let key = self.node(event, span, depth + 1)?;
                    let (event, span) = self.next()?;
                    let mut value = self.node(event, span, depth + 1)?;
                    if matches!(value.form, WrittenForm::Nothing) {
                        value.span = Span::at(key.span.end);
                    }
                    entries.push((key, value));
                }
            }
        }
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, span: Span) -> Option<(Span, WrittenForm)> {
        let quotes = match style {
            ScalarStyle::Plain if span.is_empty() => return Some((span, WrittenForm::Nothing)),
            ScalarStyle::Plain => Quotes::None,
            ScalarStyle::SingleQuoted => Quotes::Single,
            ScalarStyle::DoubleQuoted => Quotes::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => return self.block(value, span),
        };
        self.token(span);
        Some((span, WrittenForm::Scalar { quotes, text: value.to_owned() }))
    }

    /// A block scalar. The parser's span begins with its text, and may end with the indentation of what follows.
    fn block(&mut self, value: &str, span: Span) -> Option<(Span, WrittenForm)> {
        let header = self.block_header()?;
        let body = self.text[header.end as usize..]
            .find('\n')
            .map_or(self.text.len(), |it| header.end as usize + it + 1);
        let end = (span.end as usize).max(body);
        let raw = whole_lines(self.text.get(body..end)?);
        let keeps = self.text[header.range()].contains('+');
        let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let first = |text: &str| text.lines().find(|it| !it.trim().is_empty()).map_or(0, spaces);
        let indent = first(raw).checked_sub(first(value))?;
        let kept = if keeps { raw } else { without_blank_lines(raw, indent) };
        self.token(header);
        self.token(Span::new(body as u32, (body + raw.len()) as u32));
        let end = if kept.is_empty() { header.end as usize } else { body + kept.len() };
        Some((Span::new(header.start, end as u32), WrittenForm::Block { header, indent }))
    }

    /// The `|` or `>` with its signs: what comes first behind the last token, but for signs and comments.
    fn block_header(&self) -> Option<Span> {
        let gap = self.text.get(self.at as usize..)?;
        let mut at = 0;
        loop {
            let rest = &gap[at..];
            at += rest.find(['#', '|', '>'])?;
            if !gap[at..].starts_with('#') {
                break;
            }
            at += gap[at..].find('\n')?;
        }
        let length = gap[at..].find(|it: char| !"|>+-0123456789".contains(it)).unwrap_or(gap.len() - at);
        let start = self.at + at as u32;
        Some(Span::new(start, start + length as u32))
    }
}

/// A text without the white space of a last line that has nothing else: it is the indentation of what follows.
fn whole_lines(text: &str) -> &str {
    let last = text.rfind('\n').map_or(0, |it| it + 1);
    if text[last..].trim().is_empty() { &text[..last] } else { text }
}

/// A text without the lines at its end that have nothing but indentation, and without its last line end.
fn without_blank_lines(text: &str, indent: usize) -> &str {
    let mut kept = text;
    loop {
        kept = kept.strip_suffix('\n').map_or(kept, |it| it.strip_suffix('\r').unwrap_or(it));
        let last = kept.rfind('\n').map_or(0, |it| it + 1);
        let is_blank = kept.len() - last <= indent && kept[last..].trim_matches(' ').is_empty();
        if !is_blank || kept.is_empty() {
            return kept;
        }
        kept = &kept[..last];
    }
}

/// The comments between the tokens; `None` where there is something else that is not a sign of YAML's.
fn comments(text: &str, tokens: &[Span]) -> Option<Vec<Span>> {
    let mut comments = Vec::new();
    let mut at = 0;
    for token in tokens.iter().copied().chain([Span::at(text.len() as u32)]) {
        let mut rest = text.get(at..token.start as usize)?;
        while let Some(sign) = rest.find(|it: char| !it.is_whitespace() && !"-?:,[]{}\u{feff}".contains(it)) {
            if !rest[sign..].starts_with('#') {
                return None;
            }
            let start = token.start as usize - rest.len() + sign;
            let line = rest[sign..].lines().next().unwrap_or_default();
            comments.push(Span::new(start as u32, (start + line.trim_end().len()) as u32));
            rest = &rest[sign + line.len()..];
        }
        at = token.end as usize;
    }
    Some(comments)
}
