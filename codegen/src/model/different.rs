//! Lists in which each item stands once.

use std::collections::HashMap;
use std::hash::Hash;

use super::decoder::Decoder;
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};

/// The items of a list without those that stand there before; these are reported.
pub(super) fn different<T: Clone + Eq + Hash>(
    decoder: &mut Decoder<'_>,
    items: Vec<Spanned<T>>,
    name: impl Fn(&T) -> String,
) -> Vec<Spanned<T>> {
    let mut known: HashMap<T, Span> = HashMap::new();
    let is_new = |it: &Spanned<T>| match known.insert(it.value.clone(), it.span) {
        None => true,
        Some(first) => {
            let message = format!("`{}` stands here a second time", name(&it.value));
            let found = Diagnostic::new(&S04, it.span, message).label(first, "the first one");
            decoder.report(found.label(it.span, "the second one").help("delete one of the two"));
            false
        }
    };
    items.into_iter().filter(is_new).collect()
}
