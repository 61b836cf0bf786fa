//! Edits by example: the text before, what is marked with «», and the text after.

use super::*;

/// The text without its marks, and the span between them.
#[track_caller]
fn marked(text: &str) -> (String, Span) {
    let (before, rest) = text.split_once('«').expect("a mark");
    let (inside, after) = rest.split_once('»').expect("a second mark");
    let start = before.len() as u32;
    ([before, inside, after].concat(), Span::new(start, start + inside.len() as u32))
}

fn applied(text: &str, edit: &Edit) -> String {
    [&text[..edit.span.start as usize], &edit.text, &text[edit.span.end as usize..]].concat()
}

#[track_caller]
fn removes(text: &str, expect: &str) {
    let (text, span) = marked(text);
    let edit = remove_entry(&text, span).unwrap_or_else(|| panic!("nothing to remove in {text:?}"));
    assert_eq!(applied(&text, &edit), expect, "{text:?}");
}

#[track_caller]
fn inserts(path: &str, text: &str, expect: &str) {
    let (text, span) = marked(text);
    let source = Source::new(path, text);
    let edit = insert_before(&source, span, ("action", "kill_session"));
    let edit = edit.unwrap_or_else(|| panic!("nothing to insert in {:?}", source.text));
    assert_eq!(applied(&source.text, &edit), expect);
}

#[track_caller]
fn puts_first(path: &str, text: &str, expect: Option<&str>) {
    let (text, span) = marked(text);
    let source = Source::new(path, text);
    let edit = put_first(&source, span, ("fresh", "true"));
    assert_eq!(edit.map(|edit| applied(&source.text, &edit)).as_deref(), expect);
}

#[track_caller]
fn replaces(written: &str, word: &str, new: &str, expect: Option<&str>) {
    let fix = replace_word(written, Span::new(0, written.len() as u32), word, new);
    assert_eq!(fix.map(|it| applied(written, &it.edits[0])).as_deref(), expect, "{written:?}");
}

#[test]
fn a_word_is_replaced_inside_its_quotes() {
    replaces("wroking", "wroking", "working", Some("working"));
    replaces("\"wroking\"", "wroking", "working", Some("\"working\""));
    replaces("'wroking'", "wroking", "a b", Some("'a b'"));
    replaces("wroking", "wroking", "a b", None);
    replaces("ture", "ture", "true", None);
    replaces("\"wr\\x6fking\"", "wroking", "working", None);
    replaces("\"\"", "", "x", Some("\"x\""));
}

#[test]
fn an_entry_goes_with_its_lines() {
    removes("a: 1\n«b: 2»\nc: 3\n", "a: 1\nc: 3\n");
    removes("a: 1\n«b:\n  c: 2» # x\n", "a: 1\n");
    removes("«a: 1»\n\nb: 2\n", "b: 2\n");
    removes("a: 1\n\n«b: 2»\n\nc: 3\n", "a: 1\n\nc: 3\n");
    removes("a: 1\n\n«b: 2»\n\n", "a: 1\n");
    removes("a: 1\n«b»:\nc: 3\n", "a: 1\nc: 3\n");
    removes("a: 1\r\n\r\n«b: 2»\r\n\r\nc: 3\r\n", "a: 1\r\n\r\nc: 3\r\n");
    removes("p:\n  a: x\n  «b: |\n    one\n\n    two»\n\n  c: x\n", "p:\n  a: x\n\n  c: x\n");
}

#[test]
fn an_entry_goes_with_its_comments() {
    removes("a: 1\n\n# of b\n# too\n«b: 2»  # b\n# of c\nc: 3\n", "a: 1\n\n# of c\nc: 3\n");
    removes("a: 1\n# apart\n\n«b: 2»\nc: 3\n", "a: 1\n# apart\n\nc: 3\n");
    removes("a:\n  x: 1\n# of b\n«b: 2»\n", "a:\n  x: 1\n");
}

#[test]
fn an_item_goes_with_its_dash() {
    removes("a:\n  - «x: 1\n    y: 2»\n  - z: 3\n", "a:\n  - z: 3\n");
    removes("a:\n  # why\n  - «x»\n  - z\n", "a:\n  - z\n");
    removes("a:\n  - «x: 1»\n    y: 2\n", "a:\n  - y: 2\n");
    removes("a:\n  - «x: 1»  # c\n    # d\n    y: 2\n", "a:\n  - y: 2\n");
}

#[test]
fn between_brackets_the_comma_goes_too() {
    removes("a: {«x: 1», y: 2}\n", "a: {y: 2}\n");
    removes("a: {x: 1, «y: 2»}\n", "a: {x: 1}\n");
    removes("a: [«x»]\n", "a: []\n");
    removes("a: [\n  x,\n  «y», # why\n  z\n]\n", "a: [\n  x,\n  # why\n  z\n]\n");
    removes("a: [x, «{y: 1}»\n]\n", "a: [x\n]\n");
    removes("a = { x = 1, «y = 2» }\n", "a = { x = 1 }\n");
}

#[test]
fn what_shares_its_line_with_something_else_stays() {
    let (text, span) = marked("[states.«a]\nx = 1»\n");
    assert_eq!(remove_entry(&text, span), None);
}

#[test]
fn an_item_is_put_before_another() {
    inserts(
        "a.yml",
        "hooks:\n  - action: a\n  - «action: b»\n",
        "hooks:\n  - action: a\n  - action: kill_session\n  - action: b\n",
    );
    inserts(
        "a.yml",
        "hooks:\n  # why b\n  - «action: b\n    c: d»\n",
        "hooks:\n  - action: kill_session\n  # why b\n  - action: b\n    c: d\n",
    );
    inserts(
        "a.yml",
        "hooks:\r\n  - «{action: b}»\r\n",
        "hooks:\r\n  - {action: kill_session}\r\n  - {action: b}\r\n",
    );
    inserts("a.yml", "- - «action: b»\n", "- - action: kill_session\n  - action: b\n");
}

#[test]
fn between_brackets_an_item_gets_a_comma() {
    inserts("a.yml", "hooks: [«{action: b}»]\n", "hooks: [{action: kill_session}, {action: b}]\n");
    inserts(
        "a.yml",
        "hooks: [\n  «{action: b}», # b\n]\n",
        "hooks: [\n  {action: kill_session},\n  {action: b}, # b\n]\n",
    );
    inserts(
        "a.toml",
        "hooks = [«{ action = \"b\" }»]\n",
        "hooks = [{ action = \"kill_session\" }, { action = \"b\" }]\n",
    );
}

#[track_caller]
fn appends(path: &str, text: &str, expect: &str) {
    let (text, span) = marked(text);
    let source = Source::new(path, text);
    let edit = insert_after(&source, span, ("action", "kill_session"));
    let edit = edit.unwrap_or_else(|| panic!("nothing to insert in {:?}", source.text));
    assert_eq!(applied(&source.text, &edit), expect);
}

#[test]
fn an_item_is_put_behind_another() {
    appends(
        "a.yml",
        "hooks:\n  - «action: b\n    c: d»  # why\n\n  - action: e\n",
        "hooks:\n  - action: b\n    c: d  # why\n  - action: kill_session\n\n  - action: e\n",
    );
    appends("a.yml", "hooks:\n  - «{action: b}»", "hooks:\n  - {action: b}\n  - {action: kill_session}");
    appends("a.yml", "hooks: [«{action: b}»]\n", "hooks: [{action: b}, {action: kill_session}]\n");
    appends(
        "a.yml",
        "hooks: [\n  «{action: b}», # b\n]\n",
        "hooks: [\n  {action: b},\n  {action: kill_session}, # b\n]\n",
    );
    appends(
        "a.toml",
        "hooks = [«{ action = \"b\" }»]\n",
        "hooks = [{ action = \"b\" }, { action = \"kill_session\" }]\n",
    );
}

#[test]
fn tables_with_headers_take_no_item() {
    let (text, span) = marked("[[t.hooks]]\n«action = \"b\"»\n");
    assert_eq!(insert_before(&Source::new("a.toml", text), span, ("action", "x")), None);
}

#[test]
fn an_entry_comes_first_as_the_mapping_is_written() {
    puts_first("a.yml", "g: «{a: 1}»\n", Some("g: {fresh: true, a: 1}\n"));
    puts_first("a.yml", "g: «{ a: 1 }»\n", Some("g: { fresh: true, a: 1 }\n"));
    puts_first("a.toml", "g = «{ a = 1 }»\n", Some("g = { fresh = true, a = 1 }\n"));
    puts_first("a.yml", "g:\n  «a: 1\n  b: 2»\n", Some("g:\n  fresh: true\n  a: 1\n  b: 2\n"));
    puts_first("a.yml", "g: «{}»\n", None);
    puts_first("a.toml", "[g]\n«a = 1»\n", None);
}
