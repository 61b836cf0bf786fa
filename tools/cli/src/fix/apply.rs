//! Edits in a text.

use orange_codegen::{Edit, Fix};

/// The text with these fixes made; their edits do not overlap.
pub(super) fn apply<'f>(text: &str, fixes: impl Iterator<Item = &'f Fix>) -> String {
    let mut edits: Vec<&Edit> = fixes.flat_map(|it| &it.edits).collect();
    edits.sort_by_key(|it| it.span);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.span.start as usize]);
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(&text[at..]);
    out
}

/// True if two fixes cannot be made at once: they touch the same bytes, or put something at the same place.
pub(super) fn overlap(a: &Fix, b: &Fix) -> bool {
    let meet = |a: &Edit, b: &Edit| a.span.start <= b.span.end && b.span.start <= a.span.end;
    a.edits.iter().any(|a| b.edits.iter().any(|b| meet(a, b)))
}
