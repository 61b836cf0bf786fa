//! Comments with the nodes that they belong to, and the author's blank lines.

use orange_codegen::Span;
use orange_codegen::syntax::layout::{Layout, WrittenForm, WrittenNode};

/// A whole text, its comments attached.
#[derive(Debug)]
pub(super) struct CommentedText<'t> {
    /// Comments before the `---`.
    pub before: Vec<CommentLine<'t>>,
    /// True if there is a `---`.
    pub starts: bool,
    /// Everything else.
    pub root: Collection<'t>,
}

/// A list or a mapping.
#[derive(Debug)]
pub(super) struct Collection<'t> {
    /// True if brackets are around it.
    pub flow: bool,
    pub is_mapping: bool,
    /// True if a comment stands between its brackets.
    pub commented: bool,
    /// Its entries or items.
    pub pieces: Vec<CollectionItem<'t>>,
    /// Comments behind the last of them.
    pub tail: Vec<CommentLine<'t>>,
}

/// An entry of a mapping, or an item of a list.
#[derive(Debug)]
pub(super) struct CollectionItem<'t> {
    /// Comments on lines of their own before it.
    pub leading: Vec<CommentLine<'t>>,
    /// True if a blank line is before it and its comments.
    pub blank: bool,
    /// True if a blank line is between its comments and it.
    pub apart: bool,
    /// The key, if it is an entry.
    pub key: Option<&'t WrittenNode>,
    /// The anchor of its value.
    pub anchor: Option<Span>,
    pub value: Value<'t>,
    /// The comment on its first line.
    pub trailing: Option<Trailing<'t>>,
}

/// The value behind a key or a dash.
#[derive(Debug)]
pub(super) enum Value<'t> {
    /// A scalar, an alias, or nothing.
    Leaf {
        /// As it is written.
        written: &'t WrittenNode,
        is_guard: bool,
    },
    /// A list or a mapping.
    Collection(Collection<'t>),
}

/// A comment on a line of its own.
#[derive(Debug)]
pub(super) struct CommentLine<'t> {
    /// True if a blank line is before it.
    pub blank: bool,
    /// From its `#` on.
    pub text: &'t str,
}

/// A comment behind something else on the line.
#[derive(Debug)]
pub(super) struct Trailing<'t> {
    /// Distance from that, in characters.
    pub gap: usize,
    /// From its `#` on.
    pub text: &'t str,
}

/// Gives every comment of a text its place. `None` where the root is not a plain mapping, or a key is not a word.
pub(super) fn attach<'t>(text: &'t str, layout: &'t Layout) -> Option<CommentedText<'t>> {
    if !has_words_for_keys(text, &layout.root) {
        return None;
    }
    let mut attacher = Attacher { text, comments: &layout.comments };
    let before = layout.start.map(|it| attacher.lines_before(it.start)).unwrap_or_default();
    let mut root = attacher.collection(&layout.root)?;
    root.tail.extend(attacher.lines_before(u32::MAX));
    let is_plain = root.is_mapping && layout.root.anchor.is_none();
    is_plain.then_some(CommentedText { before, starts: layout.start.is_some(), root })
}

struct Attacher<'t> {
    text: &'t str,
    /// Those that have no place yet.
    comments: &'t [Span],
}

impl<'t> Attacher<'t> {
    fn collection(&mut self, written: &'t WrittenNode) -> Option<Collection<'t>> {
        let before = self.comments.len();
        let (flow, is_mapping, pieces) = match &written.form {
            WrittenForm::Sequence { flow, items } => {
                (*flow, false, items.iter().map(|it| self.piece(None, it)).collect())
            }
            WrittenForm::Mapping { flow, entries } => {
                (*flow, true, entries.iter().map(|(key, it)| self.piece(Some(key), it)).collect())
            }
            WrittenForm::Nothing
            | WrittenForm::Alias
            | WrittenForm::Scalar { .. }
            | WrittenForm::Block { .. } => return None,
        };
        let tail = if flow { self.lines_before(written.span.end) } else { self.tail(written.span) };
        let commented = flow && self.comments.len() < before;
        Some(Collection { flow, is_mapping, commented, pieces, tail })
    }

    fn piece(&mut self, key: Option<&'t WrittenNode>, written: &'t WrittenNode) -> CollectionItem<'t> {
        let start = first_byte(key.unwrap_or(written));
        let mut leading = self.lines_before(start);
        let blank = leading.first().map_or_else(|| self.is_below_blank(start), |it| it.blank);
        let apart = self.is_below_blank(start);
        let on_first_line = key.and_then(|key| self.on_the_line_of(key.span.end, written));
        let value = self.value(written, &mut leading);
        let on_last_line = self.behind(written.span.end);
        let trailing = match (on_first_line, on_last_line) {
            (Some(first), Some(last)) => {
                leading.push(CommentLine { blank: false, text: last.text });
                Some(first)
            }
            (first, last) => first.or(last),
        };
        CollectionItem { leading, blank, apart, key, anchor: written.anchor, value, trailing }
    }

    /// A value. What is said between a key and it, or in a list of nothing, has no line of its own there: it comes to
    /// stand before the key.
    fn value(&mut self, written: &'t WrittenNode, leading: &mut Vec<CommentLine<'t>>) -> Value<'t> {
        if let WrittenForm::Block { .. } = written.form {
            leading.extend(self.lines_before(written.span.end));
        } else if !is_block(written) {
            leading.extend(self.lines_before(first_byte(written)));
        }
        match self.collection(written) {
            Some(mut collection) => {
                if collection.pieces.is_empty() {
                    leading.append(&mut collection.tail);
                }
                Value::Collection(collection)
            }
            None => Value::Leaf { written, is_guard: false },
        }
    }

    /// The comments before a place that have none yet.
    fn lines_before(&mut self, place: u32) -> Vec<CommentLine<'t>> {
        let count = self.comments.iter().take_while(|it| it.start < place).count();
        self.take(count)
    }

    /// The comments behind the last piece of a block that begin no further left than its pieces do, unless what
    /// follows begins there, too: then they are about that.
    fn tail(&mut self, block: Span) -> Vec<CommentLine<'t>> {
        let column = self.column(block.start);
        let next = self.next_content(block.end);
        if next.is_some_and(|it| self.column(it) >= column) {
            return Vec::new();
        }
        let is_ours = |it: &&Span| next.is_none_or(|next| it.start < next) && self.column(it.start) >= column;
        let count = self.comments.iter().take_while(is_ours).count();
        self.take(count)
    }

    fn take(&mut self, count: usize) -> Vec<CommentLine<'t>> {
        let (taken, rest) = self.comments.split_at(count);
        self.comments = rest;
        taken
            .iter()
            .map(|it| CommentLine { blank: self.is_below_blank(it.start), text: self.slice(*it) })
            .collect()
    }

    /// The comment on the line of a key, before the value begins: behind the colon, the bracket that opens a list, or the
    /// header of a block scalar.
    fn on_the_line_of(&mut self, key_end: u32, value: &WrittenNode) -> Option<Trailing<'t>> {
        let begins = match &value.form {
            WrittenForm::Sequence { flow: true, items } => items.first().map_or(value.span.end, first_byte),
            WrittenForm::Mapping { flow: true, entries } => {
                entries.first().map_or(value.span.end, |(key, _)| first_byte(key))
            }
            WrittenForm::Block { .. } => value.span.end,
            WrittenForm::Nothing => u32::MAX,
            WrittenForm::Alias
            | WrittenForm::Scalar { .. }
            | WrittenForm::Sequence { .. }
            | WrittenForm::Mapping { .. } => first_byte(value),
        };
        let comment = self.comments.first().filter(|it| it.start < begins)?;
        let is_there =
            self.between(key_end, comment.start).is_some_and(|it| !it.contains(['\n', ',', ']', '}']));
        is_there.then(|| self.take_trailing())?
    }

    /// The comment behind something on its line, unless a bracket is closed between the two.
    fn behind(&mut self, end: u32) -> Option<Trailing<'t>> {
        let comment = self.comments.first()?;
        let is_behind = self.between(end, comment.start).is_some_and(|it| !it.contains(['\n', ']', '}']));
        is_behind.then(|| self.take_trailing())?
    }

    fn take_trailing(&mut self) -> Option<Trailing<'t>> {
        let (comment, rest) = self.comments.split_first()?;
        self.comments = rest;
        let before = self.line_before(comment.start);
        let gap = before.chars().rev().take_while(|it| it.is_whitespace()).count();
        Some(Trailing { gap, text: self.slice(*comment) })
    }

    fn between(&self, start: u32, end: u32) -> Option<&'t str> {
        self.text.get(start as usize..end as usize)
    }

    fn slice(&self, span: Span) -> &'t str {
        &self.text[span.range()]
    }

    fn line_start(&self, at: u32) -> usize {
        self.text[..at as usize].rfind('\n').map_or(0, |it| it + 1)
    }

    fn line_before(&self, at: u32) -> &'t str {
        &self.text[self.line_start(at)..at as usize]
    }

    fn column(&self, at: u32) -> usize {
        self.line_before(at).trim_start_matches('\u{feff}').chars().count()
    }

    /// Start of the text of the next line that has something other than a comment.
    fn next_content(&self, from: u32) -> Option<u32> {
        let mut at = from as usize + self.text[from as usize..].find('\n')? + 1;
        for line in self.text[at..].split_inclusive('\n') {
            let content = line.trim_start();
            if !content.is_empty() && !content.starts_with('#') {
                return Some((at + line.len() - content.len()) as u32);
            }
            at += line.len();
        }
        None
    }

    fn is_below_blank(&self, at: u32) -> bool {
        let above = &self.text[..self.line_start(at)];
        above.lines().next_back().is_some_and(|line| line.trim().is_empty())
    }
}

fn has_words_for_keys(text: &str, written: &WrittenNode) -> bool {
    let is_word = |key: &WrittenNode| {
        matches!(key.form, WrittenForm::Scalar { .. } | WrittenForm::Alias)
            && !text[key.span.range()].contains('\n')
    };
    match &written.form {
        WrittenForm::Sequence { items, .. } => items.iter().all(|it| has_words_for_keys(text, it)),
        WrittenForm::Mapping { entries, .. } => {
            entries.iter().all(|(key, value)| is_word(key) && has_words_for_keys(text, value))
        }
        WrittenForm::Nothing
        | WrittenForm::Alias
        | WrittenForm::Scalar { .. }
        | WrittenForm::Block { .. } => true,
    }
}

fn is_block(written: &WrittenNode) -> bool {
    matches!(
        written.form,
        WrittenForm::Sequence { flow: false, .. } | WrittenForm::Mapping { flow: false, .. }
    )
}

fn first_byte(written: &WrittenNode) -> u32 {
    written.anchor.map_or(written.span.start, |it| it.start)
}
