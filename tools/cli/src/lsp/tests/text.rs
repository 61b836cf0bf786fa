//! The text of the server and that of the client are equal after every edit.

use orange_codegen::editor_lines::Encoding;

use super::super::sync::edited;
use super::super::wire::{
    Position, Range, TextDocumentContentChangeEvent as ContentChange,
    TextDocumentContentChangePartial as Partial, TextDocumentContentChangeWholeDocument as Whole,
};

/// A change of a client.
#[expect(deprecated, reason = "the field has to be given, and nobody reads it")]
pub(super) fn change([l0, c0, l1, c1]: [u32; 4], text: &str) -> ContentChange {
    let range =
        Range { start: Position { line: l0, character: c0 }, end: Position { line: l1, character: c1 } };
    let text = text.to_owned();
    ContentChange::TextDocumentContentChangePartial(Partial { range, range_length: None, text })
}

#[track_caller]
fn check(text: &str, changes: &[([u32; 4], &str)], expect: &str) {
    let changes = changes.iter().map(|(range, text)| change(*range, text)).collect();
    assert_eq!(edited(text, changes, Encoding::Utf16), expect);
}

#[test]
fn each_edit_is_one_of_the_text_before_it() {
    check("ab\ncd\n", &[([0, 1, 0, 1], "X"), ([0, 2, 1, 1], "Y")], "aXYd\n");
    check("", &[([0, 0, 0, 0], "a\n"), ([1, 0, 1, 0], "b")], "a\nb");
}

#[test]
fn line_ends_are_kept() {
    check("a\r\nb\r\n", &[([0, 1, 0, 1], "x")], "ax\r\nb\r\n");
    check("a\r\nb\r\n", &[([0, 1, 1, 0], "")], "ab\r\n");
    check("a\rb", &[([1, 0, 1, 1], "c")], "a\rc");
}

#[test]
fn edits_outside_of_the_text_are_moved_into_it() {
    check("a\nb", &[([0, 99, 0, 99], "x")], "ax\nb");
    check("a\nb", &[([9, 9, 9, 9], "x")], "a\nbx");
    check("a\nb", &[([1, 1, 0, 0], "x")], "a\nbx");
}

#[test]
fn columns_count_in_the_units_of_the_client() {
    let text = "𝒳ñ: y";
    let at = |column| vec![change([0, column, 0, column], "|")];
    assert_eq!(edited(text, at(3), Encoding::Utf16), "𝒳ñ|: y");
    assert_eq!(edited(text, at(6), Encoding::Utf8), "𝒳ñ|: y");
    assert_eq!(edited(text, at(1), Encoding::Utf16), "|𝒳ñ: y");
}

#[test]
fn a_whole_text_takes_the_place_of_the_old_one() {
    let whole = ContentChange::TextDocumentContentChangeWholeDocument(Whole { text: "new".to_owned() });
    assert_eq!(edited("old", vec![whole, change([0, 0, 0, 1], "N")], Encoding::Utf8), "New");
}
