//! Unresolved merge conflicts, which no parser names.

use crate::catalogue::S01;
use crate::diag::Diagnostic;
use crate::span::Span;

/// The markers that git leaves behind, when all three are there.
pub(super) fn find(text: &str) -> Option<Diagnostic> {
    let mut marks = ["<<<<<<< ", "=======", ">>>>>>> "].into_iter().peekable();
    let mut places = Vec::new();
    for (start, line) in lines_from(text, 0) {
        if let Some(mark) = marks.next_if(|mark| line.starts_with(mark)) {
            places.push(Span::new(start as u32, (start + mark.trim_end().len()) as u32));
        }
    }
    let [ours, between, theirs] = places[..] else { return None };
    let found = Diagnostic::new(&S01, ours, "an unresolved merge conflict")
        .label(ours, "one side begins")
        .label(between, "the other side begins")
        .label(theirs, "the conflict ends");
    Some(found.help("keep what is right and delete the three marker lines"))
}

/// The lines from byte `start` on, each with its first byte and without its line end.
pub(super) fn lines_from(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = start;
    text[start..].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\r', '\n']))
    })
}
