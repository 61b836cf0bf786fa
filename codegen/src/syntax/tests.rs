//! Spans on tricky YAML and TOML: every scalar's slice, and a caret inside every kind of scalar.

use super::*;
use crate::diag::Level;

fn scalars(node: &Node, all: &mut Vec<(Span, Scalar)>) {
    match &node.kind {
        NodeKind::Scalar(scalar) => all.push((node.span, scalar.clone())),
        NodeKind::Sequence(items) => items.iter().for_each(|it| scalars(it, all)),
        NodeKind::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            scalars(key, all);
            scalars(value, all);
        }),
    }
}

fn tree(source: &Source) -> Node {
    let (tree, found) = parse(source);
    assert!(found.iter().all(|it| it.level != Level::Error), "{found:#?}");
    tree.expect("a tree")
}

/// Each scalar as `decoded=<source slice>`.
#[track_caller]
fn slices(path: &str, text: &str, expect: &[&str]) {
    let mut all = Vec::new();
    scalars(&tree(&Source::new(path, text)), &mut all);
    let seen: Vec<String> =
        all.iter().map(|(span, it)| format!("{}={}", it.text.value, &text[span.range()])).collect();
    assert_eq!(seen, expect, "{text:?}");
}

/// The caret for `word` inside the last scalar of the text covers exactly `slice`.
#[track_caller]
fn caret(path: &str, text: &str, word: &str, slice: &str) {
    let mut all = Vec::new();
    scalars(&tree(&Source::new(path, text)), &mut all);
    let (_, scalar) = all.last().expect("a scalar");
    let at = scalar.text.value.find(word).unwrap_or_else(|| panic!("{word:?} in {:?}", scalar.text.value));
    let span = scalar.text.locate(at, at + word.len());
    assert_eq!(&text[span.range()], slice, "{text:?}");
    let first = text.rfind(slice).expect("the slice is in the text");
    assert_eq!(span.start as usize, first, "{text:?}");
}

#[track_caller]
fn broken(path: &str, text: &str, code: &str, slice: &str, message: &str) {
    let (tree, found) = parse(&Source::new(path, text));
    assert!(tree.is_none(), "{text:?} gave a tree");
    let [it] = &found[..] else { panic!("{found:#?}") };
    let seen = (it.code(), &text[it.span.range()], it.message.as_str());
    assert_eq!(seen, (code, slice, message), "{text:?}");
}

#[test]
fn yaml_spans_are_exact() {
    slices("a.yml", "a: 1\nb: x y\n", &["a=a", "1=1", "b=b", "x y=x y"]);
    slices("a.yml", "{a: [x, 'y', \"z\"], b: }", &["a=a", "x=x", "y='y'", "z=\"z\"", "b=b", "=b"]);
    slices("a.yml", "日本: \"é\\u00e9\" # ß\nb: ü\n", &["日本=日本", "éé=\"é\\u00e9\"", "b=b", "ü=ü"]);
    slices("a.yml", "\u{feff}a: 1\r\nb: 'it''s'\r\n", &["a=a", "1=1", "b=b", "it's='it''s'"]);
    slices("a.yml", "a:\t1\nb:\n", &["a=a", "1=1", "b=b", "=b"]);
    slices("a.yml", "a: |\n  x\n   y\n\nb: >-\n  x\n  y\n", &["a=a", "x\n y\n=x\n   y", "b=b", "x y=x\n  y"]);
    slices("a.yml", "? a\n: b\n", &["a=a", "b=b"]);
    slices("a.yml", "a: x\n  y\n", &["a=a", "x y=x\n  y"]);
}

#[test]
fn toml_spans_are_exact() {
    slices("a.toml", "a = 1_000\nb = true\n", &["a=a", "1000=1_000", "b=b", "true=true"]);
    slices("a.toml", "\u{feff}\"b\" = 'x'\r\n", &["b=\"b\"", "x='x'"]);
    slices("a.toml", "z = \"é\"\na = 2020-01-01\n", &["z=z", "é=\"é\"", "a=a", "2020-01-01=2020-01-01"]);
    slices("a.toml", "[b]\ny = 0x1f\nx.w = 1.5\n", &["b=b", "y=y", "0x1f=0x1f", "x=x", "w=w", "1.5=1.5"]);
    slices("a.toml", "[[s]]\ni = 'a'\n[[s]]\ni = 'b'", &["s=s", "i=i", "a='a'", "i=i", "b='b'"]);
}

#[test]
fn collections_span_what_they_hold() {
    let text = "a:\n  - b: [1, 2]\n    c: 3 # x\n\nd: 4\n";
    let NodeKind::Mapping(entries) = tree(&Source::new("a.yml", text)).kind else { panic!("a mapping") };
    assert_eq!(&text[entries[0].1.span.range()], "- b: [1, 2]\n    c: 3");
    let NodeKind::Sequence(items) = &entries[0].1.kind else { panic!("a list") };
    assert_eq!(&text[items[0].span.range()], "b: [1, 2]\n    c: 3");
    let NodeKind::Mapping(entries) = &items[0].kind else { panic!("a mapping") };
    assert_eq!(&text[entries[0].1.span.range()], "[1, 2]");
}

#[test]
fn a_caret_inside_a_yaml_scalar_is_exact() {
    caret("a.yml", "a: round < 2", "<", "<");
    caret("a.yml", "a: 'it''s round'", "round", "round");
    caret("a.yml", "a: 'it''s'", "'s", "''s");
    caret("a.yml", "a: \"\\u00e9 \\x41 \\U0001F600 \\\\ round\"", "round", "round");
    caret("a.yml", "a: \"\\ud83d\\ude00 round\"", "round", "round");
    caret("a.yml", "a: \"x \\n y round\"", "round", "round");
    caret("a.yml", "a: \"x\n  y\n\n\n  round\"", "round", "round");
    caret("a.yml", "a: \"x \\\n  \\  y \\\r\n\r\n round\"", "round", "round");
    caret("a.yml", "a: \"tab\\\tround\"", "round", "round");
    caret("a.yml", "a: x\n  y\n\n  round", "round", "round");
    caret("a.yml", "a: 'x  \n  y\r\n\r\n  round'", "round", "round");
    caret("a.yml", "a: |\n  é\n     x\n  round", "round", "round");
    caret("a.yml", "a: |2\n     x\n  round\n", "round", "round");
    caret("a.yml", "a: |\r\n\r\n  x\r\n\r\n  round\r\n", "round", "round");
    caret("a.yml", "a: |\n\n\n  round\n", "round", "round");
    caret("a.yml", "a: >-\n  x\n  y\n\n    z\n  w\n  round\n", "round", "round");
    caret("a.yml", "a: >+\n  x\n\n\n  round\n\n", "round", "round");
}

#[test]
fn a_caret_inside_a_toml_string_is_exact() {
    caret("a.toml", "a = \"\\u00e9\\t\\\\ round\"", "round", "round");
    caret("a.toml", "a = 'x\\ round'", "round", "round");
    caret("a.toml", "a = \"\"\"\nx\\\n   y\r\n\\  \n  round\"\"\"", "round", "round");
    caret("a.toml", "a = '''\r\nx\r\n\r\nround'''", "round", "round");
}

#[test]
fn aliases_and_merge_keys_are_expanded() {
    let text = "a: &b {x: 1, y: 2}\nc: {<<: *b, y: 3}\nd: *b\ne: {<<: [*b, {z: 4}]}\n";
    let tree = tree(&Source::new("a.yml", text));
    let mut all = Vec::new();
    scalars(&tree, &mut all);
    let seen: Vec<&str> = all.iter().map(|(_, it)| it.text.value.as_str()).collect();
    assert_eq!(seen.join(" "), "a x 1 y 2 c y 3 x 1 d x 1 y 2 e x 1 y 2 z 4");
}

#[track_caller]
fn findings(text: &str, expect: &[(&str, Level, &str)]) {
    let (_, found) = parse(&Source::new("a.yml", text));
    let seen: Vec<_> = found.iter().map(|it| (it.code(), it.level, &text[it.span.range()])).collect();
    assert_eq!(seen, expect, "{text:?}");
}

#[test]
fn anchors_aliases_and_tags_are_reported_and_do_not_stop() {
    findings("a: &x 1\nb: *y\n", &[("S07", Level::Error, "*y"), ("S07", Level::Warn, "&x")]);
    findings("a: &x [*x]\n", &[("S10", Level::Error, "*x")]);
    findings("a: !!str 1\nb: !c {}\n", &[("S04", Level::Error, "!!str"), ("S04", Level::Error, "!c")]);
    findings("a: {<<: 1}\n", &[("S04", Level::Error, "<<: 1")]);
}

#[test]
fn alias_bombs_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let before = format!("*a{}", n - 1);
        bomb += &format!("a{n}: &a{n} [{}]\n", [before.as_str(); 10].join(", "));
    }
    let (_, found) = parse(&Source::new("a.yml", bomb));
    assert!(found.iter().any(|it| it.code() == "S10"), "{found:#?}");
    assert!(found.len() < 20);
    let wide = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 9_000].join(", "));
    let (_, found) = parse(&Source::new("a.yml", wide));
    assert_eq!(found.iter().map(|it| it.code()).collect::<Vec<_>>(), ["S10"]);
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        "a: [".repeat(70),
    ] {
        let (tree, found) = parse(&Source::new("a.yml", text.as_str()));
        assert!(tree.is_none() && !found.is_empty(), "{}", &text[..20]);
    }
    let mixed = format!("{}{}", "- ".repeat(40), "[".repeat(40) + &"]".repeat(40));
    broken("a.yml", &mixed, "S10", "[", "nested too deeply: the limit is 64 levels");
    for text in ["[".repeat(100_000), format!("a = {}", "[".repeat(100_000)), "a.".repeat(100_000) + "a = 1"]
    {
        let (_, found) = parse(&Source::new("a.toml", text.as_str()));
        assert!(!found.is_empty(), "{}", &text[..20]);
    }
}

#[test]
fn broken_yaml_says_what_to_do() {
    broken(
        "a.yml",
        "name: x\nstates:\n\ta: 1\n",
        "S01",
        "\t",
        "a tab indents this line, and YAML is indented with spaces",
    );
    broken(
        "a.yml",
        "name: x\n\tb: 1\n",
        "S01",
        "\t",
        "a tab indents this line, and YAML is indented with spaces",
    );
    broken("a.yml", "name: \"x\nb: 1\n", "S01", "\"", "this \" is never closed");
    broken("a.yml", "name: 'x\n", "S01", "'", "this ' is never closed");
    broken("a.yml", "name: x\nversion 1\nb: 2\n", "S01", "version 1", "this line has no `:`");
    broken("a.yml", "a: b: c\n", "S01", ":", "a second `: ` in one value");
    broken(
        "a.yml",
        "name x\nversion: 1\n",
        "S01",
        "name x",
        "this line should be `key: value`, or end the value that the next one goes on with",
    );
    broken("a.yml", "a:\n - x\n b: 1\n", "S01", "b: 1", "a list goes on here, but this line has no `- `");
    broken("a.yml", "a: [1, 2\nb: 3\n", "S01", ":", "`]` or `,` was expected here");
    broken("a.yml", "a: @x\n", "S01", "@", "a value cannot begin with `@`");
    broken("a.yml", "%YAML 1.2\n---\na: 1\n", "S01", "%YAML 1.2", "directives have no meaning in a workflow");
    broken(
        "a.yml",
        "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n",
        "S01",
        "<<<<<<<",
        "an unresolved merge conflict",
    );
    broken(
        "a.yml",
        "a: 1\n---\nb: 2\n",
        "S01",
        "---",
        "a second YAML document begins here; a workflow file holds one",
    );
}

#[test]
fn a_table_that_is_there_twice_may_be_meant_as_a_list() {
    let help = |text: &str| parse(&Source::new("a.toml", text)).1[0].help.clone().unwrap();
    assert!(help("[steps]\nid = 1\n[steps]\nid = 2\n").starts_with("write `[[steps]]` above each item"));
    assert_eq!(help("a = 1\na = 2\n"), "delete one of the two");
}

#[test]
fn broken_toml_says_where() {
    broken("a.toml", "a = 1\na = 2\n", "S03", "a", "the key `a` stands here a second time");
    let conflict = "a = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> x\n";
    broken("a.toml", conflict, "S01", "<<<<<<<", "an unresolved merge conflict");
    broken("a.toml", "\u{feff}a = 1\nb\n", "S01", "", "key with no value, expected `=`");
}

#[test]
fn toml_in_a_file_of_yaml_is_recognised() {
    let source = Source::new("flows/a.yml", "[workflow]\nname = 'a'\n[[steps]]\nid = 'x'\n");
    let (tree, found) = parse(&source);
    assert!(tree.is_none());
    assert_eq!(found[0].message, "this file is TOML, and its name says that it is YAML");
    assert_eq!(found[0].help.as_deref(), Some("give it a name that ends with `.toml`"));
}

#[test]
fn nothing_is_no_tree() {
    for path in ["a.yml", "a.toml"] {
        for text in ["", "\u{feff}", "# only a comment\n"] {
            let (tree, found) = parse(&Source::new(path, text));
            assert!(tree.is_none() && found.is_empty(), "{text:?}");
        }
    }
}

/// Each visible character of the last scalar is found from its place in the source.
#[track_caller]
fn there_and_back(path: &str, text: &str) {
    let mut all = Vec::new();
    scalars(&tree(&Source::new(path, text)), &mut all);
    let (_, scalar) = all.last().expect("a scalar");
    let decoded = &scalar.text;
    let visible = decoded.value.char_indices().filter(|(_, it)| !it.is_whitespace());
    for (at, character) in visible {
        assert_eq!(decoded.offset(decoded.source(at as u32)), Some(at as u32), "{character:?} of {text:?}");
    }
    assert_eq!(decoded.offset(0), None, "{text:?}");
    assert_eq!(decoded.offset(text.len() as u32 + 1), None, "{text:?}");
}

#[test]
fn a_place_in_the_source_leads_to_the_text() {
    there_and_back("a.yml", "a: x日y");
    there_and_back("a.yml", "a: \"x\\u00e9y\\n z\"");
    there_and_back("a.yml", "a: 'it''s'");
    there_and_back("a.yml", "a: |\n  x y\n    日 z\n\n  w\n");
    there_and_back("a.yml", "a: >-\n  x\n  y\n\n  z");
    there_and_back("a.yml", "a: x\n  y");
    there_and_back("a.toml", "a = \"\"\"\nx \\\n   y\nz\"\"\"");
    there_and_back("a.toml", "a = 'x'");
}
