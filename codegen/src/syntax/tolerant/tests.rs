//! A tree on nearly every keystroke, with spans of the text as it is.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::span::Span;
use crate::syntax::NodeKind;

/// Keystrokes in a hundred after which there is a tree of all lines but the one that is typed.
const FLOOR: usize = 97;

fn workflow(name: &str) -> Source {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name);
    let text = fs::read_to_string(&path).unwrap();
    Source::new(path.display().to_string(), text)
}

/// The text after each of these keystrokes, and the place of the last of them: the whole file is typed, or one line of it after the
/// other while the rest is there.
fn keystrokes(source: &Source, step: usize) -> impl Iterator<Item = (Source, usize)> {
    let places = (1..source.text.len()).step_by(step).filter(|at| source.text.is_char_boundary(*at));
    places.flat_map(move |at| {
        let (before, after) = source.text.split_at(at);
        let rest = after.find('\n').map_or("", |it| &after[it..]);
        [before.to_owned(), format!("{before}{rest}")].map(|text| (Source { text, ..source.clone() }, at))
    })
}

fn scalars<'n>(node: &'n Node, all: &mut Vec<(Span, &'n crate::syntax::Scalar)>) {
    match &node.kind {
        NodeKind::Scalar(scalar) => all.push((node.span, scalar)),
        NodeKind::Sequence(items) => items.iter().for_each(|it| scalars(it, all)),
        NodeKind::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            scalars(key, all);
            scalars(value, all);
        }),
    }
}

/// Each span can be sliced, and a plain word stands where its span says.
fn check_spans(text: &str, tree: &Node) {
    let mut all = Vec::new();
    scalars(tree, &mut all);
    for (span, scalar) in all {
        let slice = text.get(span.range());
        assert!(slice.is_some(), "{span:?} of {text:?}");
        let value = &scalar.text.value;
        assert!(text.get(scalar.text.locate(0, value.len()).range()).is_some(), "{value:?} of {text:?}");
        let is_word = value.len() == span.range().len() && !value.contains(char::is_whitespace);
        assert!(!is_word || slice == Some(value), "{value:?} is {slice:?}");
    }
}

#[test]
fn nearly_every_keystroke_has_a_tree() {
    let files = [
        ("workflows/minimal.yml", 3),
        ("tests/realistic/hotfix.yml", 23),
        ("tests/realistic/dependency-bumps.toml", 11),
        ("workflows/default.yml", 1009),
        ("workflows/dev-task.toml", 151),
    ];
    for (name, step) in files {
        let source = workflow(name);
        let (mut all, mut mended) = (0, 0);
        for (typed, at) in keystrokes(&source, step) {
            let read = parse_tolerant(&typed, Some(at as u32));
            assert_eq!(
                read.recovery == Recovery::Whole,
                read.faults.iter().all(|it| it.level != Level::Error)
            );
            if let Some(tree) = &read.tree {
                check_spans(&typed.text, tree);
            }
            all += 1;
            mended += usize::from(!matches!(read.recovery, Recovery::Partial { .. }));
        }
        assert!(mended * 100 >= all * FLOOR, "{name}: {mended} of {all}");
    }
}

/// The tree of a text in which `‸` is the cursor, as its scalars: `text=slice of the source`.
#[track_caller]
fn check(path: &str, text: &str, recovery: Recovery, expected: &[&str]) {
    let at = text.find('‸').unwrap();
    let source = Source::new(path, text.replace('‸', ""));
    let read = parse_tolerant(&source, Some(at as u32));
    let tree = read.tree.unwrap();
    let mut all = Vec::new();
    scalars(&tree, &mut all);
    let seen: Vec<_> = all
        .iter()
        .map(|(_, it)| format!("{}={}", it.text.value, &source.text[it.text.span.range()]))
        .collect();
    assert_eq!(
        (read.recovery, seen.iter().map(String::as_str).collect::<Vec<_>>()),
        (recovery, expected.to_vec())
    );
    assert_eq!(read.faults.len(), 1, "{:?}", read.faults);
}

const fn mended(line: u32) -> Recovery {
    Recovery::Mended { line }
}

#[test]
fn an_open_bracket_is_closed_on_its_line() {
    check(
        "a.yml",
        "a:\n  - {b: c, d: [‸\n  - {e: f}\n",
        mended(1),
        &["a=a", "b=b", "c=c", "d=d", "e=e", "f=f"],
    );
    check(
        "a.yml",
        "a:\n  - {b: c, d: \"é‸\ne: f\n",
        mended(1),
        &["a=a", "b=b", "c=c", "d=d", "é=\"é", "e=e", "f=f"],
    );
    check("a.yml", "a: 1\nst‸\nb: 2\n", mended(1), &["a=a", "1=1", "st=st", "=", "b=b", "2=2"]);
}

#[test]
fn what_cannot_be_closed_is_left_out() {
    check("a.yml", "a: 1\nb: @é‸\nc: 2\n", mended(1), &["a=a", "1=1", "b=b", "=", "c=c", "2=2"]);
    check("a.yml", "a: 1\n\tx: 1‸\nc: 2\n", mended(1), &["a=a", "1=1", "c=c", "2=2"]);
    check("a.toml", "a = 1\nb = tr‸\n[c]\n", mended(1), &["a=a", "1=1", "b=b", "=", "c=c"]);
}

#[test]
fn toml_gets_what_its_line_lacks() {
    check("a.toml", "[[a]]\nb‸\nc = 'd'\n", mended(1), &["a=a", "b=b", "=", "c=c", "d='d'"]);
    check("a.toml", "[[a]]\nb = \"x\\‸\nc = 'd'\n", mended(1), &["a=a", "b=b", "x\\=\"x\\", "c=c", "d='d'"]);
    check("a.toml", "a = [\n  \"x\",\n  \"y‸", mended(2), &["a=a", "x=\"x\"", "y=\"y"]);
    check("a.toml", "a = {b = 1, c‸\nd = 2\n", mended(0), &["a=a", "b=b", "1=1", "c=c", "=", "d=d", "2=2"]);
    check("a.toml", "[[a‸\nb = 1\n", mended(0), &["a=a", "b=b", "1=1"]);
    check("a.toml", "a = \"\"\"\nx\n‸", mended(2), &["a=a", "x\n=\"\"\"\nx\n"]);
}

#[test]
fn a_fault_elsewhere_is_mended_where_it_stands() {
    check("a.yml", "a: [1\n\n\nb: 2\n‸c: 3\n", mended(0), &["a=a", "1=1", "b=b", "2=2", "c=c", "3=3"]);
}

#[test]
fn two_faults_leave_the_lines_before_them() {
    let text = "a: 1\nb: @\nc: @\n‸";
    check("a.yml", text, Recovery::Partial { up_to: 5 }, &["a=a", "1=1"]);
}

#[test]
fn a_whole_text_is_read_as_the_compiler_reads_it() {
    for (path, text) in [("a.yml", "a: 1\n"), ("a.toml", "a = 1\n"), ("a.yml", "# nothing\n")] {
        let source = Source::new(path, text);
        let read = parse_tolerant(&source, None);
        assert_eq!(format!("{:?}", read.tree), format!("{:?}", parse(&source).0));
        assert_eq!((read.recovery, read.faults.len()), (Recovery::Whole, 0));
    }
}

#[test]
fn the_last_good_tree_follows_an_edit() {
    let source = Source::new("a.yml", "a: one\nb: two\n");
    let tree = parse(&source).0.unwrap();
    let text = "a: {\"x\nb: two\n";
    let moved = after_edit(&tree, Span::new(3, 6), 3);
    let mut all = Vec::new();
    scalars(&moved, &mut all);
    let seen: Vec<_> = all.iter().map(|(span, it)| (it.text.value.as_str(), &text[span.range()])).collect();
    assert_eq!(seen, [("a", "a"), ("one", "{\"x"), ("b", "b"), ("two", "two")]);
    check_spans("a: oe\nb: two\n", &after_edit(&tree, Span::new(4, 5), 0));
}
