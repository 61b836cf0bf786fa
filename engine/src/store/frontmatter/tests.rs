//! The frontmatter as people, agents and editors write it.

use granit_parser::{Event, Parser};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn parse(text: &str) -> Document {
    Document::of(text.to_owned()).unwrap()
}

/// Checks the decoded value of `key: …` in the frontmatter.
#[track_caller]
fn check_get(raw: &str, expect: Option<&str>) {
    let document = parse(&format!("---\nbefore: 1\nkey:{raw}\nafter: 2\n---\n"));
    assert_eq!(document.get("key").unwrap().as_deref(), expect, "{raw:?}");
    assert_eq!(document.get("after").unwrap().as_deref(), Some("2"), "{raw:?}");
}

#[track_caller]
fn check_bad_value(raw: &str, expect: &str) {
    let flaw = parse(&format!("---\nkey:{raw}\n---\n")).get("key").unwrap_err();
    assert_eq!((flaw.line, flaw.what.as_str()), (2, expect));
}

#[track_caller]
fn check_set(before: &str, value: Value, after: &str) {
    let mut document = parse(before);
    document.set("key", value).unwrap();
    assert_eq!(document.text(), after);
    assert_eq!(document.get("key").unwrap(), value.decoded().map(Into::into));
}

#[track_caller]
fn check_flaw(bytes: &[u8], line: usize, expect: &str) {
    let flaw = Document::parse(bytes).unwrap_err();
    assert_eq!((flaw.line, flaw.what.as_str()), (line, expect));
    assert!(!flaw.mend.is_empty());
}

#[test]
fn plain_values() {
    check_get("", None);
    check_get(" ~", None);
    check_get(" null # why", None);
    check_get(" a b", Some("a b"));
    check_get("\ta\t# tab", Some("a"));
    check_get(" a#b # c", Some("a#b"));
    check_get(" [wip] fix: it", Some("[wip] fix: it"));
    check_get(" https://x.y/z", Some("https://x.y/z"));
    check_get(" one\n  two # c\n\n  three", Some("one two\nthree"));
    check_get("\n  below", Some("below"));
    check_get(" # only a comment", None);
    check_get(" -1", Some("-1"));
}

#[test]
fn quoted_values() {
    check_get(" ''", Some(""));
    check_get(" \"\"", Some(""));
    check_get(" 'it''s' # c", Some("it's"));
    check_get(" 'null'", Some("null"));
    check_get(" '# no comment'", Some("# no comment"));
    check_get(r#" "a\tb\n\"c\" \\ \x41\u00e9\U0001F600 \uD83D\uDE00" # c"#, Some("a\tb\n\"c\" \\ Aé😀 😀"));
    check_get(" \"one \n  two\n\n  three \\\n  four\"", Some("one two\nthree four"));
    check_get(" 'one\n  two'", Some("one two"));
    check_bad_value(" \"open", "the value of `key` cannot be understood: the quote \" is not closed");
    check_bad_value(" 'it's'", "the value of `key` cannot be understood: `s'` follows the closing quote");
    check_bad_value(r#" "\q""#, r"the value of `key` cannot be understood: `\q` is not an escape sequence");
    check_bad_value(
        r#" "\uD83D""#,
        "the value of `key` cannot be understood: there is no character with the number D83D",
    );
    check_bad_value(
        r#" "\u12""#,
        "the value of `key` cannot be understood: an escape sequence wants 4 hexadecimal digits, not `12`",
    );
}

#[test]
fn block_values() {
    check_get(" |\n  one\n   two\n\n  # three", Some("one\n two\n\n# three\n"));
    check_get(" |-\n  one\n", Some("one"));
    check_get(" |+\n  one\n\n", Some("one\n\n"));
    check_get(" >- # c\n  one\n  two\n\n  three\n    four\n  five", Some("one two\nthree\n  four\nfive"));
    check_get(" |2\n   one\n  two", Some(" one\ntwo\n"));
    check_get(" |", Some(""));
    check_bad_value(
        " |\n  one\n two",
        "the value of `key` cannot be understood: `two` is not indented by 2 spaces",
    );
}

#[test]
fn values_are_replaced_in_their_place() {
    let text = Value::Text("new");
    check_set("---\nkey: old # c\n---\n", text, "---\nkey: new # c\n---\n");
    check_set("---\nkey:   'old'   # c\n---\n", text, "---\nkey: new   # c\n---\n");
    check_set("---\nkey: # c\n---\n", text, "---\nkey: new # c\n---\n");
    check_set("---\nkey: ''#c\n---\n", text, "---\nkey: new\n---\n");
    check_set("---\nkey:\n---\n", text, "---\nkey: new\n---\n");
    check_set("---\nkey: |\n  a\n  b\n\n# c\nb: 1\n---\n", text, "---\nkey: new\n\n# c\nb: 1\n---\n");
    check_set("---\nkey: old\n  # indented\nb: 1\n---\n", text, "---\nkey: new\n  # indented\nb: 1\n---\n");
    check_set("---\nkey:\n- a\n- b\nb: 1\n---\n", text, "---\nkey: new\nb: 1\n---\n");
    check_set("---\n\"key\": old\n---\n", text, "---\n\"key\": new\n---\n");
    check_set("---\nkey: new\n---\n", text, "---\nkey: new\n---\n");
    check_set("---\nkey: 'new'\n---\n", text, "---\nkey: 'new'\n---\n");
    check_set("---\nkey: old\n---\n", Value::Null, "---\nkey: null\n---\n");
    check_set("---\nkey: ~\n---\n", Value::Null, "---\nkey: ~\n---\n");
    check_set("---\nkey: 1 # round\n---\n", Value::Number(2), "---\nkey: 2 # round\n---\n");
}

#[test]
fn new_keys_come_last() {
    check_set("---\na: 1\n# end\n---\nbody", Value::Text("x"), "---\na: 1\n# end\nkey: x\n---\nbody");
    check_set("---\r\na: 1\r\n---\r\nbody", Value::Text("x"), "---\r\na: 1\r\nkey: x\r\n---\r\nbody");
    check_set("\u{FEFF}---\n---", Value::Text("x"), "\u{FEFF}---\nkey: x\n---");
    check_set("---\na: 1\n---\n", Value::Null, "---\na: 1\n---\n");
}

#[track_caller]
fn check_encoded(text: &str, expect: &str) {
    assert_eq!(Value::Text(text).encoded(), expect);
}

#[test]
fn values_are_quoted_only_when_needed() {
    for plain in
        ["fix", "Grind finer", "orange-tasks/4f2", "v1.2 (beta), it's 100%#1!", "añb", "a:b", "3 cups"]
    {
        check_encoded(plain, plain);
    }
    for quoted in
        ["", " a", "a ", "null", "Yes", "12", "1e5", "0x1f", "2026-11-21", "- a", "-a", "a: b", "a #b", "a:"]
    {
        check_encoded(quoted, &format!("\"{quoted}\""));
    }
    check_encoded("a\nb\t\"c\"\\", r#""a\nb\t\"c\"\\""#);
    check_encoded("\u{2028}\u{85}\u{FEFF}\0", r#""\u2028\u0085\uFEFF\u0000""#);
}

#[test]
fn bodies_are_replaced() {
    let mut document = parse("---\na: 1\n---\nold");
    document.set_body("new\n---\n");
    assert_eq!(document.text(), "---\na: 1\n---\nnew\n---\n");
    assert_eq!(document.body(), "new\n---\n");
    let mut document = parse("---\na: 1\n---");
    document.set_body("new");
    assert_eq!((document.text(), document.body()), ("---\na: 1\n---\nnew", "new"));
}

#[test]
fn broken_files_say_where() {
    let no_key = "this line of the frontmatter is neither a key nor a comment";
    check_flaw(b"", 0, "it is empty");
    check_flaw(b" \n\n", 0, "it is empty");
    check_flaw(b"# Task\n", 1, "the frontmatter does not begin in the first line");
    check_flaw(b"\n---\na: 1\n---\n", 1, "the frontmatter does not begin in the first line");
    check_flaw(b"---js\nprocess.exit()\n---\n", 1, "the frontmatter opens with `---js`");
    check_flaw(b"---\na: 1\n", 2, "the frontmatter is not closed");
    check_flaw(b"---\na: 1\n\tb: 2\n---\n", 3, "the line begins with a tab");
    check_flaw(b"---\na: 1\ngarbage\n---\n", 3, no_key);
    check_flaw(b"---\na:1\n---\n", 2, no_key);
    check_flaw(b"---\n  a: 1\n---\n", 2, no_key);
    check_flaw(b"---\na: 1\n- b\n---\n", 3, no_key);
    check_flaw(b"---\n{a: 1}\n---\n", 2, no_key);
    check_flaw(b"---\na: 1\n---\n\nbin \xFF\n", 5, "the file is not UTF-8 text");
    let flaw = parse("---\nkey: 1\nother: 2\nkey: 3\n---\n").set("key", Value::Number(4)).unwrap_err();
    assert_eq!((flaw.line, flaw.what.as_str()), (4, "`key` is there a second time"));
}

#[test]
fn merge_conflicts_are_found_outside_code() {
    let conflict = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n";
    let unresolved = "a merge conflict is not resolved";
    check_flaw(format!("---\n{conflict}---\n").as_bytes(), 2, unresolved);
    check_flaw(format!("---\na: 1\n---\ntext\n{conflict}").as_bytes(), 5, unresolved);
    check_flaw(format!("---\na: 1\n---\n```\ncode\n```\n{conflict}").as_bytes(), 7, unresolved);
    check_flaw(b"---\na: 1\n---\ntheirs\n>>>>>>> branch\n", 5, unresolved);
    parse(&format!("---\na: 1\n---\n~~~ diff\n```\n{conflict}~~~\n"));
    parse("---\na: 1\n---\nHeading\n=======\n<<<<<<<< not seven\n");
}

#[test]
fn unknown_lines_are_kept() {
    let text = "\u{FEFF}--- \r\n# head\r\nid: x\r\ntags: [a, b] # t\r\nnested:\r\n  deep:\r\n    - 1\r\n\r\n  # in\r\n  \
                more: 2\r\nlist:\r\n- a\r\n- b\r\n'quoted key': 1\r\n<<: *base\r\nsummary: x\r\n---\t\r\n\r\nBody";
    let mut document = parse(text);
    document.set("summary", Value::Text("z")).unwrap();
    assert_eq!(document.text(), text.replace("summary: x", "summary: z"));
    assert_eq!(document.get("quoted key").unwrap().as_deref(), Some("1"));
}

proptest! {
    #[test]
    fn any_text_is_one_line_of_data(value in any_text()) {
        let mut document = parse("---\na: 1\nkey: old\nb: 2\n---\nbody\n");
        document.set("key", Value::Text(&value)).unwrap();
        prop_assert_eq!(document.get("key").unwrap(), Some(value.clone()));
        prop_assert_eq!(document.text().lines().count(), 6);
        prop_assert!(document.text().starts_with("---\na: 1\nkey: ") && document.text().ends_with("\nb: 2\n---\nbody\n"));
        prop_assert_eq!(yaml_values(document.text()), vec!["1".to_owned(), value, "2".to_owned()]);
    }

    #[test]
    fn any_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        any_bytes(&bytes);
    }

    #[test]
    fn any_frontmatter_does_not_panic(lines in prop::collection::vec(any_line(), 0..12), newline in "\r?\n") {
        any_bytes(format!("---{newline}{}{newline}---{newline}body", lines.join(&newline)).as_bytes());
        any_bytes(lines.join(&newline).as_bytes());
    }

    #[test]
    fn one_edit_leaves_all_other_bytes_alone(above in any_lines(), below in any_lines(), value in any_text()) {
        let document = |key: &str| format!("---\n{above}{key}\n{below}---\nbody\r\n");
        let mut edited = parse(&document("key: 'old'   # why"));
        edited.set("key", Value::Text(&value)).unwrap();
        let line = format!("key: {}   # why", Value::Text(&value).encoded());
        prop_assert_eq!(edited.text(), document(&line));
    }
}

/// Text with everything in it that has ever broken a line of YAML.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        prop::sample::select(vec![
            "\n",
            "\r\n",
            "\t",
            " ",
            "'",
            "\"",
            "\\",
            "---",
            "- ",
            ": ",
            " #",
            "#",
            "$(touch x)",
            "`id`",
            "{branch}",
            "\u{2028}",
            "\u{85}",
            "\u{FEFF}",
            "\0",
            "\u{1B}[31m",
            "\u{7F}",
            "\u{FFFE}",
            "null",
            "~",
            "true",
            "0x1F",
            "1e3",
            "12:30:45",
            "2026-11-21",
            "[",
            "{",
            "&a",
            "*a",
            "!t",
            "|",
            ">",
            "%",
            "@",
            "?",
            "<<<<<<< ",
            "=",
            "é",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// One line of something like a frontmatter.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]: [ -~]{0,8}",
        "[a-c]:[ \t]*[|>\"'#\\-\\[{][ -~]{0,4}",
        "[ \t]{0,3}[ -~]{0,6}",
        "[ \t#\"'|>-]{0,4}[a-z:]{0,3}",
        Just("---".to_owned()),
        any::<String>(),
    ]
}

/// Lines that are well-formed, and are not about `key`.
fn any_lines() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a: 1",
        "# c",
        "",
        "b:\n  - x\n  # in\n  - y",
        "c: |\n  text\n\n  # text\n",
        "d: \"x\n  y\"",
        "e:\n- 1\n- 2",
        "'f g': {x: 1}",
        "  # indented comment",
        "h: 'it''s' # c",
        "i:",
        "j: >+\n  x\n\n",
    ]);
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The values of a flat mapping, as a real YAML parser reads them.
fn yaml_values(text: &str) -> Vec<String> {
    let yaml = text.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap();
    let events = Parser::new_from_str(yaml).map(|event| event.unwrap().0);
    let scalars =
        events.filter_map(
            |event| if let Event::Scalar(value, ..) = event { Some(value.into_owned()) } else { None },
        );
    scalars.skip(1).step_by(2).collect()
}
