//! Access to a syntax tree, and small edits of its source.

use orange_codegen::syntax::{Node, NodeKind};
use orange_codegen::{Edit, Source, Span, edit};

/// An entry of a mapping: its key and its value.
#[derive(Clone, Copy)]
pub(super) struct MappingEntry<'n> {
    pub name: &'n str,
    pub key: &'n Node,
    pub value: &'n Node,
}

impl MappingEntry<'_> {
    /// Its whole span.
    pub fn span(&self) -> Span {
        self.key.span.to(self.value.span)
    }
}

/// The entries of a mapping; none of any other node.
pub(super) fn entries(node: &Node) -> impl Iterator<Item = MappingEntry<'_>> {
    let entries = match &node.kind {
        NodeKind::Mapping(entries) => entries.as_slice(),
        NodeKind::Sequence(_) | NodeKind::Scalar(_) => &[],
    };
    entries.iter().map(|(key, value)| MappingEntry { name: text(key), key, value })
}

/// The entry with this key.
pub(super) fn entry<'n>(node: &'n Node, key: &str) -> Option<MappingEntry<'n>> {
    entries(node).find(|it| it.name == key)
}

/// The items of a list; none of any other node.
pub(super) fn items(node: &Node) -> &[Node] {
    match &node.kind {
        NodeKind::Sequence(items) => items,
        NodeKind::Mapping(_) | NodeKind::Scalar(_) => &[],
    }
}

/// The items of the list with this key.
pub(super) fn items_of<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    entry(node, key).map_or(&[], |it| items(it.value))
}

/// The text of a scalar; empty for any other node.
pub(super) fn text(node: &Node) -> &str {
    match &node.kind {
        NodeKind::Scalar(scalar) => &scalar.text.value,
        NodeKind::Mapping(_) | NodeKind::Sequence(_) => "",
    }
}

/// The text of the scalar with this key.
pub(super) fn value<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    entry(node, key).map(|it| text(it.value))
}

/// The source with these edits, which do not overlap.
pub(super) fn edited(source: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|it| std::cmp::Reverse(it.span.start));
    let mut text = source.to_owned();
    edits.iter().for_each(|it| text.replace_range(it.span.range(), &it.text));
    text
}

/// Removes an entry or an item.
pub(super) fn removed(source: &Source, span: Span) -> Option<String> {
    edit::remove_entry(&source.text, span).map(|it| edited(&source.text, &[it]))
}

/// Replaces a span.
pub(super) fn replaced(source: &Source, span: Span, text: &str) -> String {
    edited(&source.text, &[Edit { span, text: text.to_owned() }])
}

/// Swaps two spans.
pub(super) fn swapped(source: &Source, first: Span, second: Span) -> String {
    let text = |span: Span| source.text[span.range()].trim_end().to_owned();
    let trimmed = |span: Span| Span::new(span.start, span.start + text(span).len() as u32);
    let edits = [
        Edit { span: trimmed(first), text: text(second) },
        Edit { span: trimmed(second), text: text(first) },
    ];
    edited(&source.text, &edits)
}
