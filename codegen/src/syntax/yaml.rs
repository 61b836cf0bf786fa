//! Reads YAML: builds the syntax tree from the events of the parser. Beside this module, only [`super::layout`] and the
//! explanations of syntax errors use the parser.

use std::borrow::Cow;
use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use super::limits::{self, MAX_ALIAS_NODES, MAX_BYTES, MAX_DEPTH};
use super::text::{Notation, Text};
use super::{Node, NodeKind, Scalar, ScalarForm, yaml_error};
use crate::catalogue::{S01, S04, S07, S10};
use crate::diag::{Diagnostic, Level};
use crate::span::Span;

/// The tree of the first document, and the findings about it.
pub(super) fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    let mut reader = Reader::new(text);
    let tree = reader.stream().unwrap_or_else(|fatal| {
        reader.found.push(*fatal);
        None
    });
    reader.report_unused_anchors();
    (tree, reader.found)
}

/// The signs that close the quotes and brackets that are open at the end of a text, innermost first. `None` where the text has no fault.
pub(super) fn closing(text: &str) -> Option<String> {
    let mut reader = Reader::new(text);
    reader.stream().err()?;
    Some(reader.read.closing(text))
}

/// The parser of a text. [`super::layout`] uses it too, so that both refuse the same texts.
pub(super) fn parser(text: &str) -> Parser<'_, granit_parser::StrInput<'_>> {
    let options = granit_parser::options! {
        emit_comments: false,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        disallow_directives: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    Parser::new_from_str_with_options(text, options)
}

type Fatal = Box<Diagnostic>;

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    found: Vec<Diagnostic>,
    anchors: BTreeMap<usize, Anchor>,
    /// Nodes that the aliases in the rest of the text may repeat, at most.
    alias_nodes: usize,
    /// Bytes that the aliases in the rest of the text may repeat, at most.
    alias_bytes: usize,
    /// Bytes of nodes that the anchors in the rest of the text may keep, at most.
    anchor_bytes: usize,
    /// Facts about the text before a fault, for [`yaml_error`].
    read: yaml_error::ReadSoFar,
}

struct Anchor {
    name: String,
    span: Span,
    used: bool,
    /// `None` while the node is being read, and afterwards if it is too large to repeat.
    node: Option<(Node, Measure)>,
}

/// Size of a subtree.
#[derive(Clone, Copy, Default)]
struct Measure {
    nodes: usize,
    bytes: usize,
    height: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            parser: parser(text),
            found: Vec::new(),
            anchors: BTreeMap::new(),
            alias_nodes: MAX_ALIAS_NODES,
            alias_bytes: MAX_BYTES,
            anchor_bytes: MAX_BYTES,
            read: yaml_error::ReadSoFar::default(),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's enum, which it may extend")]
    fn stream(&mut self) -> Result<Option<Node>, Fatal> {
        let mut tree = None;
        while let Some((event, span)) = self.next()? {
            match event {
                Event::StreamStart | Event::DocumentEnd | Event::StreamEnd => {}
                Event::DocumentStart(..) if tree.is_some() => {
                    let message = "a second YAML document begins here; a workflow file holds one";
                    return Err(Box::new(
                        Diagnostic::new(&S01, span, message)
                            .help("delete the `---` line, or put the second workflow into a file of its own"),
                    ));
                }
                Event::DocumentStart(..) => {}
                event => tree = Some(self.node(event, span, 1)?),
            }
        }
        Ok(tree)
    }

    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Fatal> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                self.report_tag(&event, span);
                let span = self.span(span);
                self.read.passed(span.end);
                Ok(Some((event, span)))
            }
            Some(Err(error)) => {
                let at = error.marker().byte_offset().unwrap_or(self.text.len()).min(self.text.len());
                Err(Box::new(yaml_error::explain(self.text, error.kind(), at, &self.read)))
            }
        }
    }

    /// The next event inside a collection. The parser closes every collection that it opens, so a missing event is a fault of the
    /// file.
    fn inside(&mut self) -> Result<(Event<'t>, Span), Fatal> {
        self.next()?.ok_or_else(|| {
            let end = Span::at(self.text.len() as u32);
            Box::new(Diagnostic::new(&S01, end, "the file ends too early"))
        })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's enum, which it may extend")]
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Fatal> {
        if depth > MAX_DEPTH {
            return Err(Box::new(limits::too_deep(span)));
        }
        match event {
            Event::Scalar(value, style, anchor, _) => {
                self.name_anchor(anchor)?;
                let node = Node { span, kind: NodeKind::Scalar(self.scalar(value, style, span)) };
                self.keep_anchor(anchor, &node);
                Ok(node)
            }
            Event::SequenceStart(style, anchor, _) => {
                self.name_anchor(anchor)?;
                let node = self.sequence(span, style, depth)?;
                self.keep_anchor(anchor, &node);
                Ok(node)
            }
            Event::MappingStart(style, anchor, _) => {
                self.name_anchor(anchor)?;
                let node = self.mapping(span, style, depth)?;
                self.keep_anchor(anchor, &node);
                Ok(node)
            }
            Event::Alias(id) => Ok(self.alias(id, span, depth)),
            Event::UnresolvedAlias(name) => Ok(self.undefined_alias(&name, span)),
            _ => Err(Box::new(Diagnostic::new(&S01, span, "a value was expected here"))),
        }
    }

    fn sequence(&mut self, start: Span, style: StructureStyle, depth: usize) -> Result<Node, Fatal> {
        self.read.opened(style == StructureStyle::Flow, start);
        let mut items = Vec::new();
        loop {
            match self.inside()? {
                (Event::SequenceEnd, end) => {
                    self.read.closed();
                    let end = collection_end(style, end, items.last());
                    return Ok(Node {
                        span: start.to(end.unwrap_or(start)),
                        kind: NodeKind::Sequence(items),
                    });
                }
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, start: Span, style: StructureStyle, depth: usize) -> Result<Node, Fatal> {
        self.read.opened(style == StructureStyle::Flow, start);
        let mut entries: Vec<(Node, Node)> = Vec::new();
        loop {
            match self.inside()? {
                (Event::MappingEnd, end) => {
                    self.read.closed();
                    let end = collection_end(style, end, entries.last().map(|(_, value)| value));
                    let entries = self.merged(entries);
                    return Ok(Node {
                        span: start.to(end.unwrap_or(start)),
                        kind: NodeKind::Mapping(entries),
                    });
                }
                (event, span) => {
                    let key = self.node(event, span, depth + 1)?;
                    let (event, span) = self.inside()?;
                    let mut value = self.node(event, span, depth + 1)?;
                    if value.span.is_empty() {
                        value.span = key.span;
                    }
                    entries.push((key, value));
                }
            }
        }
    }

    /// Adds the entries of `base` for `<<: *base`, except those whose keys are there already.
    fn merged(&mut self, entries: Vec<(Node, Node)>) -> Vec<(Node, Node)> {
        if !entries.iter().any(|(key, _)| is_merge_key(key)) {
            return entries;
        }
        let (merges, mut own): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(key, _)| is_merge_key(key));
        let mut names: std::collections::HashSet<String> =
            own.iter().filter_map(|(key, _)| name_of(key)).collect();
        for (key, value) in merges {
            let sources = match value.kind {
                NodeKind::Mapping(entries) => vec![entries],
                NodeKind::Sequence(items)
                    if items.iter().all(|it| matches!(it.kind, NodeKind::Mapping(_))) =>
                {
                    items.into_iter().filter_map(mapping_entries).collect()
                }
                NodeKind::Sequence(_) | NodeKind::Scalar(_) => {
                    let message = "`<<` merges a mapping, but this value is not one";
                    self.found.push(Diagnostic::new(&S04, key.span.to(value.span), message));
                    continue;
                }
            };
            for (key, value) in sources.into_iter().flatten() {
                if name_of(&key).is_none_or(|name| names.insert(name)) {
                    own.push((key, value));
                }
            }
        }
        own
    }

    fn scalar(&self, value: Cow<'t, str>, style: ScalarStyle, span: Span) -> Scalar {
        let slice = &self.text[span.range()];
        match style {
            // The parser gives `~` for an absent value.
            ScalarStyle::Plain if slice.is_empty() => {
                Scalar { text: Text::verbatim(String::new(), span), style: ScalarForm::Plain }
            }
            ScalarStyle::Plain if slice == value => {
                Scalar { text: Text::verbatim(value.into_owned(), span), style: ScalarForm::Plain }
            }
            ScalarStyle::Plain => self.decoded(value, span, span.start, Notation::Bare, ScalarForm::Plain),
            ScalarStyle::SingleQuoted => {
                self.decoded(value, span, span.start + 1, Notation::Single, ScalarForm::Quoted)
            }
            ScalarStyle::DoubleQuoted => {
                self.decoded(value, span, span.start + 1, Notation::Double, ScalarForm::Quoted)
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                self.decoded(value, span, span.start, Notation::Bare, ScalarForm::Quoted)
            }
        }
    }

    fn decoded(
        &self,
        value: Cow<'t, str>,
        span: Span,
        start: u32,
        notation: Notation,
        style: ScalarForm,
    ) -> Scalar {
        let start = start.min(span.end);
        Scalar { text: Text::decoded(value.into_owned(), span, start, self.text, notation), style }
    }

    /// The parser's span, limited to the text and without the white space at its end, which a block scalar can have.
    fn span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(self.text.len()..self.text.len());
        let start = floor_boundary(self.text, range.start);
        let end = floor_boundary(self.text, range.end).max(start);
        let kept = self.text[start..end].trim_end_matches([' ', '\t', '\r', '\n']).len();
        Span::new(start as u32, (start + kept) as u32)
    }

    fn report_tag(&mut self, event: &Event<'t>, span: granit_parser::Span) {
        let Some(tag) = event.tag() else { return };
        let at = self.span(span.tag_span().unwrap_or(span));
        let message = format!("the tag `{}` has no meaning in a workflow", tag.original());
        self.found.push(Diagnostic::new(&S04, at, message).help("delete the tag"));
    }
}

/// Anchors and aliases.
impl Reader<'_> {
    fn name_anchor(&mut self, id: usize) -> Result<(), Fatal> {
        if id == 0 {
            return Ok(());
        }
        if let (Event::Anchor(id, name), span) = self.inside()? {
            self.anchors.insert(id, Anchor { name: name.into_owned(), span, used: false, node: None });
        }
        Ok(())
    }

    fn keep_anchor(&mut self, id: usize, node: &Node) {
        let Some(anchor) = self.anchors.get_mut(&id) else { return };
        let measure = measure(node);
        if measure.nodes <= MAX_ALIAS_NODES && measure.bytes <= self.anchor_bytes {
            self.anchor_bytes -= measure.bytes;
            anchor.node = Some((node.clone(), measure));
        }
    }

    fn alias(&mut self, id: usize, span: Span, depth: usize) -> Node {
        let Some(anchor) = self.anchors.get_mut(&id) else { return nothing(span) };
        anchor.used = true;
        let Some((node, measure)) = &anchor.node else {
            let message = format!(
                "`*{}` refers to a value that contains it, or that is too large to repeat",
                anchor.name
            );
            self.found.push(Diagnostic::new(&S10, span, message).label(anchor.span, "the anchor"));
            return nothing(span);
        };
        if measure.nodes > self.alias_nodes || measure.bytes > self.alias_bytes {
            // One finding is enough: a file that exceeds the limit once does so many times.
            if self.alias_nodes > 0 {
                self.found.push(limits::exceeded("nodes that stand in for aliases", MAX_ALIAS_NODES, span));
            }
            self.alias_nodes = 0;
            return nothing(span);
        }
        if depth + measure.height > MAX_DEPTH {
            self.found.push(limits::too_deep(span));
            return nothing(span);
        }
        self.alias_nodes -= measure.nodes;
        self.alias_bytes -= measure.bytes;
        node.clone()
    }

    fn undefined_alias(&mut self, name: &str, span: Span) -> Node {
        let message = format!("the alias `*{name}` names an anchor that is not defined before it");
        let known: Vec<&str> = self.anchors.values().map(|anchor| anchor.name.as_str()).collect();
        let help = match crate::suggest::closest(name, known.iter().copied()) {
            Some(close) => format!("did you mean `*{close}`?"),
            None => format!("define it with `&{name}` first, or put `\"*{name}\"` in quotes if it is text"),
        };
        self.found.push(Diagnostic::new(&S07, span, message).at_level(Level::Error).help(help));
        nothing(span)
    }

    fn report_unused_anchors(&mut self) {
        for anchor in self.anchors.values().filter(|anchor| !anchor.used) {
            let message = format!("the anchor `&{}` is never used", anchor.name);
            self.found.push(Diagnostic::new(&S07, anchor.span, message).help("delete it"));
        }
    }
}

fn collection_end(style: StructureStyle, end: Span, last: Option<&Node>) -> Option<Span> {
    match style {
        StructureStyle::Flow => Some(end),
        StructureStyle::Block => last.map(|node| node.span),
    }
}

/// A broken scalar in the place of an alias that cannot be expanded.
fn nothing(span: Span) -> Node {
    Node { span, kind: NodeKind::Scalar(Scalar { text: Text::empty(span), style: ScalarForm::Broken }) }
}

fn is_merge_key(key: &Node) -> bool {
    matches!(&key.kind, NodeKind::Scalar(it) if it.style == ScalarForm::Plain && it.text.value == "<<")
}

fn name_of(key: &Node) -> Option<String> {
    match &key.kind {
        NodeKind::Scalar(scalar) => Some(scalar.text.value.clone()),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    }
}

fn mapping_entries(node: Node) -> Option<Vec<(Node, Node)>> {
    match node.kind {
        NodeKind::Mapping(entries) => Some(entries),
        NodeKind::Sequence(_) | NodeKind::Scalar(_) => None,
    }
}

fn measure(node: &Node) -> Measure {
    let mut all = Measure { nodes: 1, bytes: size_of::<Node>(), height: 0 };
    let mut add = |child: &Node| {
        let below = measure(child);
        all.nodes += below.nodes;
        all.bytes += below.bytes;
        all.height = all.height.max(below.height + 1);
    };
    match &node.kind {
        NodeKind::Scalar(scalar) => all.bytes += scalar.text.value.len(),
        NodeKind::Sequence(items) => items.iter().for_each(add),
        NodeKind::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            add(key);
            add(value);
        }),
    }
    all
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
