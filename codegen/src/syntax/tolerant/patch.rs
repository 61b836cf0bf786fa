//! A text with a part left out and something put in, and the spans of its tree in the text as it was.

use std::ops::Range;

use super::super::{Node, NodeKind};
use crate::span::Span;

/// A change of a text, of which [`Patch::restore`] takes the traces out of the tree.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    /// Bytes in whose place blanks stand.
    pub blank: Range<usize>,
    /// The place of `insert`, behind the blanks.
    pub at: usize,
    /// The text that is put in.
    pub insert: String,
}

impl Patch {
    /// Leaves out these bytes.
    pub(super) fn blanked(blank: Range<usize>) -> Self {
        Self { at: blank.end, blank, insert: String::new() }
    }

    /// Ends the text at this byte, with something behind it.
    pub(super) fn cut(at: usize, insert: String) -> Self {
        Self { blank: usize::MAX..usize::MAX, at, insert }
    }

    /// True if it changes nothing.
    pub(super) fn is_nothing(&self) -> bool {
        self.blank.is_empty() && self.blank.start != usize::MAX && self.insert.is_empty()
    }

    /// The changed text.
    pub(super) fn apply(&self, text: &str) -> String {
        if self.blank.start == usize::MAX {
            return format!("{}{}", &text[..self.at], self.insert);
        }
        let mut patched = String::with_capacity(text.len() + self.insert.len());
        patched.push_str(&text[..self.blank.start]);
        patched.extend(std::iter::repeat_n(' ', self.blank.len()));
        patched.push_str(&text[self.blank.end..self.at]);
        patched.push_str(&self.insert);
        patched.push_str(&text[self.at..]);
        patched
    }

    /// Turns the spans of the patched text into those of the text.
    pub(super) fn restore(&self, tree: &mut Node, text: &str) {
        let (at, added) = (self.at as u32, self.insert.len() as u32);
        let place = |offset: u32| match offset {
            _ if offset <= at => text.floor_char_boundary(offset as usize) as u32,
            _ if offset < at + added => at,
            _ => offset - added,
        };
        let blank = self.blank.start as u32..self.blank.end as u32;
        let is_changed = |span: Span| {
            let has_blank = !blank.is_empty() && span.start < blank.end && blank.start < span.end;
            has_blank || (added > 0 && span.start < at && at + added < span.end)
        };
        relocate(tree, &place, &is_changed);
    }
}

/// The tree of a text in which other bytes, so many, took the place of a span. The names in it have their places after the edit; it
/// says nothing about the new bytes.
pub fn after_edit(tree: &Node, replaced: Span, by: u32) -> Node {
    let place = |offset: u32| match offset {
        _ if offset <= replaced.start => offset,
        _ if offset >= replaced.end => offset - (replaced.end - replaced.start) + by,
        _ => replaced.start,
    };
    let is_changed = |span: Span| {
        span.start < replaced.end && replaced.start < span.end
            || (replaced.is_empty() && span.start < replaced.start && replaced.start < span.end)
    };
    let mut tree = tree.clone();
    relocate(&mut tree, &place, &is_changed);
    tree
}

/// Moves every span. A scalar that has changed keeps its text, and no byte of it is known any more.
fn relocate(node: &mut Node, place: &impl Fn(u32) -> u32, is_changed: &impl Fn(Span) -> bool) {
    let moved = |span: Span| {
        let start = place(span.start);
        Span::new(start, place(span.end).max(start))
    };
    match &mut node.kind {
        NodeKind::Scalar(scalar) => {
            let has_changed = is_changed(scalar.text.span);
            scalar.text.relocate(&moved, place, has_changed);
        }
        NodeKind::Sequence(items) => items.iter_mut().for_each(|it| relocate(it, place, is_changed)),
        NodeKind::Mapping(entries) => {
            for (key, value) in entries {
                relocate(key, place, is_changed);
                relocate(value, place, is_changed);
            }
        }
    }
    node.span = moved(node.span);
}
