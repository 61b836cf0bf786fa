//! The syntax tree: one shape for YAML and TOML, with a span on every node.
//!
//! Nothing after this module knows which language a file was written in.

use crate::span::Span;

/// One node: where it stands and what it is.
#[derive(Clone, Debug)]
pub struct Node {
    /// The whole node; a quoted scalar's quotes included.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Anything without children.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping, in source order, duplicates and all; keys are nodes too.
    Mapping(Vec<(Node, Node)>),
}

/// A scalar: its decoded text and how it was written.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The decoded text.
    pub text: Text,
    /// How it was written, which decides what it may be read as.
    pub style: Style,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: may be a boolean, an integer, nothing at all, or a string.
    Plain,
    /// In quotes or as a block: a string, whatever it says.
    Quoted,
}

/// A decoded text that knows which byte of the source each of its bytes came from.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text after escapes, folding and indentation were undone.
    pub value: String,
    /// The whole token in the source.
    pub span: Span,
    /// `(decoded, source)`: from this decoded offset on, both run side by side until the next entry.
    map: Vec<(u32, u32)>,
}

impl Text {
    /// A text whose decoded bytes are the source's own from `start` on.
    pub fn verbatim(value: String, span: Span, start: u32) -> Self {
        Self { value, span, map: vec![(0, start)] }
    }

    /// A text with a map from decoded to source offsets; both columns ascend and the first entry is for 0.
    pub fn mapped(value: String, span: Span, map: Vec<(u32, u32)>) -> Self {
        Self { value, span, map }
    }

    /// The source byte of a decoded offset.
    pub fn source(&self, offset: u32) -> u32 {
        let after = self.map.partition_point(|(decoded, _)| *decoded <= offset);
        let (decoded, source) = match after.checked_sub(1) {
            Some(last) => self.map[last],
            None => (0, self.span.start),
        };
        (source + (offset - decoded)).min(self.span.end)
    }

    /// The source span of a decoded range.
    pub fn locate(&self, start: usize, end: usize) -> Span {
        let start = self.source(start as u32);
        Span::new(start, self.source(end as u32).max(start))
    }
}
