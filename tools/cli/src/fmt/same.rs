//! Comparison of the meanings of two texts: one tree, one machine, the same findings, the same comments.

use orange_codegen::emit::{self, Options};
use orange_codegen::syntax::layout::layout;
use orange_codegen::syntax::{self, Node, NodeKind, Scalar};
use orange_codegen::{Compilation, Source, compile};

use super::scalar::is_plain;

/// The difference of the second text, if there is one.
pub(super) fn difference(before: &Source, after: &Source) -> Option<String> {
    let (old, new) = (syntax::parse(before).0, syntax::parse(after).0);
    let same_tree = old.as_ref().zip(new.as_ref()).is_some_and(|(old, new)| same(old, new));
    let (old, new) = (compile(before), compile(after));
    let differences = [
        (!same_tree, "its values would not be the same"),
        (codes(&old) != codes(&new), "it would have other findings"),
        (machine(&old) != machine(&new), "it would be another machine"),
        (comments(&before.text) != comments(&after.text), "a comment would be lost"),
        (marks(&before.text) != marks(&after.text), "a `#` would be lost"),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what.to_owned())
}

/// True if two nodes have the same meaning, with keys in any order.
fn same(old: &Node, new: &Node) -> bool {
    match (&old.kind, &new.kind) {
        (NodeKind::Scalar(old), NodeKind::Scalar(new)) => same_scalar(old, new),
        (NodeKind::Sequence(old), NodeKind::Sequence(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old, new))
        }
        (NodeKind::Mapping(old), NodeKind::Mapping(new)) => {
            let (old, new) = (by_key(old), by_key(new));
            let same_entry =
                |(old, new): (&&(Node, Node), &&(Node, Node))| same(&old.0, &new.0) && same(&old.1, &new.1);
            old.len() == new.len() && old.iter().zip(&new).all(same_entry)
        }
        (NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_), _) => false,
    }
}

/// True if two scalars have one text, with or without quotes.
fn same_scalar(old: &Scalar, new: &Scalar) -> bool {
    let text = &old.text.value;
    *text == new.text.value && (old.style == new.style || is_plain(text, false) || is_guard(text))
}

/// A comparison is text without quotes, too.
fn is_guard(text: &str) -> bool {
    text.contains(['<', '>', '='])
}

fn by_key(entries: &[(Node, Node)]) -> Vec<&(Node, Node)> {
    let key = |entry: &&(Node, Node)| match &entry.0.kind {
        NodeKind::Scalar(scalar) => Some(scalar.text.value.clone()),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    };
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_cached_key(key);
    sorted
}

fn codes(compilation: &Compilation) -> Vec<&'static str> {
    let mut codes: Vec<_> = compilation.diagnostics.iter().map(|it| it.code()).collect();
    codes.sort_unstable();
    codes
}

/// The Rust that the text compiles to, without the hash of its source; none if it does not compile.
fn machine(compilation: &Compilation) -> Option<String> {
    let checked = compilation.checked.as_ref()?;
    let tokens = emit::emit(checked, &Options::default()).ok()?;
    Some(tokens.to_string().replace(checked.hash(), ""))
}

fn comments(text: &str) -> Option<Vec<&str>> {
    let mut comments: Vec<_> = layout(text)?.comments.iter().map(|it| &text[it.range()]).collect();
    comments.sort_unstable();
    Some(comments)
}

/// The number of `#`s: no comment is lost, even one that the layout does not know of.
fn marks(text: &str) -> usize {
    text.matches('#').count()
}
