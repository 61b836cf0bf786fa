//! Layouts by example.

use super::*;

/// The nodes of a text in order, each as it is written, and what it is.
fn show(text: &str, node: &WrittenNode, out: &mut Vec<String>) {
    let slice = &text[node.span.range()];
    let anchor = node.anchor.map_or("", |it| &text[it.range()]);
    match &node.form {
        WrittenForm::Nothing => out.push(format!("{anchor}nothing")),
        WrittenForm::Alias => out.push(format!("alias {slice}")),
        WrittenForm::Scalar { quotes, .. } => out.push(format!("{anchor}{quotes:?} {slice}")),
        WrittenForm::Block { header, indent } => {
            out.push(format!("{anchor}block {} {indent} {slice:?}", &text[header.range()]));
        }
        WrittenForm::Sequence { flow, items } => {
            out.push(format!("{anchor}{} of {}", if *flow { "[]" } else { "-" }, items.len()));
            items.iter().for_each(|it| show(text, it, out));
        }
        WrittenForm::Mapping { flow, entries } => {
            out.push(format!("{anchor}{} of {}", if *flow { "{}" } else { ":" }, entries.len()));
            entries.iter().for_each(|(key, value)| {
                show(text, key, out);
                show(text, value, out);
            });
        }
    }
}

#[track_caller]
fn check(text: &str, nodes: &[&str], comments: &[&str]) {
    let layout = layout(text).unwrap_or_else(|| panic!("no layout of {text:?}"));
    let mut seen = Vec::new();
    show(text, &layout.root, &mut seen);
    assert_eq!(seen, nodes, "{text}");
    let seen: Vec<_> = layout.comments.iter().map(|it| &text[it.range()]).collect();
    assert_eq!(seen, comments, "{text}");
}

#[test]
fn nodes_are_as_they_are_written() {
    check("a: 1 # x\n'b': \"c\"\n", &[": of 2", "None a", "None 1", "Single 'b'", "Double \"c\""], &["# x"]);
    check("a: [x, {y: }]\n", &[": of 1", "None a", "[] of 2", "None x", "{} of 1", "None y", "nothing"], &[]);
    check("- &a x\n- *a\n-\n", &["- of 3", "&aNone x", "alias *a", "nothing"], &[]);
    check("a: &b\n  c: d\n", &[": of 1", "None a", "&b: of 1", "None c", "None d"], &[]);
    check("? a\n: b\n", &[": of 1", "None a", "None b"], &[]);
}

#[test]
fn block_scalars_end_with_their_text() {
    check(
        "a: |  # h\n  x\n\n  # no\n\n# c\n",
        &[": of 1", "None a", "block | 2 \"|  # h\\n  x\\n\\n  # no\""],
        &["# h", "# c"],
    );
    check(
        "a: >-2\n   x\n  y\nb: |+\n    z\n\n",
        &[
            ": of 2",
            "None a",
            "block >-2 2 \">-2\\n   x\\n  y\"",
            "None b",
            "block |+ 4 \"|+\\n    z\\n\\n\"",
        ],
        &[],
    );
    check("a: |\n\nb: |\n", &[": of 2", "None a", "block | 0 \"|\"", "None b", "block | 0 \"|\""], &[]);
    check(
        "a:\r\n  - |\r\n    x\r\n  - y\r\n",
        &[": of 1", "None a", "- of 2", "block | 4 \"|\\r\\n    x\"", "None y"],
        &[],
    );
    check(
        "a: |\n  x  \n   \n  \nb: |\n  y  ",
        &[": of 2", "None a", "block | 2 \"|\\n  x  \\n   \"", "None b", "block | 2 \"|\\n  y  \""],
        &[],
    );
    check("a: # one | two\n  |\n  x\n", &[": of 1", "None a", "block | 2 \"|\\n  x\""], &["# one | two"]);
}

#[test]
fn comments_are_what_no_scalar_holds() {
    check(
        "# a\n---\n# b\na: 'x # y' # c\n...\n# d",
        &[": of 1", "None a", "Single 'x # y'"],
        &["# a", "# b", "# c", "# d"],
    );
    check(
        "a: [ # x\n  b, # y  \n  # z\n]\n",
        &[": of 1", "None a", "[] of 1", "None b"],
        &["# x", "# y", "# z"],
    );
}

#[test]
fn what_no_workflow_has_has_no_layout() {
    for text in ["", "# c\n", "a: !t x\n", "a: 1\n---\nb: 2\n", "%YAML 1.2\n---\na: 1\n", "a: [", "a: \"x"] {
        assert!(layout(text).is_none(), "{text:?}");
    }
}
