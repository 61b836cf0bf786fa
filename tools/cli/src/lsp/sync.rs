//! Keeps the text of a document equal to that of the client.

use orange_codegen::editor_lines::Encoding;

use super::convert::Lines;
use super::wire::TextDocumentContentChangeEvent as ContentChange;

/// A text after these changes, each of which is one of the text that the change before it left.
pub(super) fn edited(text: &str, changes: Vec<ContentChange>, encoding: Encoding) -> String {
    let mut text = text.to_owned();
    for change in changes {
        match change {
            ContentChange::TextDocumentContentChangePartial(it) => {
                let span = Lines::new(&text, encoding).span(it.range);
                text.replace_range(span.range(), &it.text);
            }
            ContentChange::TextDocumentContentChangeWholeDocument(it) => text = it.text,
        }
    }
    text
}
