//! Layouts by example: what comes of them, and that nothing comes of that.

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let laid = laid_out(text).unwrap_or_else(|| panic!("no layout of {text:?}"));
    assert_eq!(laid, expect, "of\n{text}");
    assert_eq!(laid_out(&laid).as_deref(), Some(expect), "once more");
}

#[track_caller]
fn stays(text: &str) {
    check(text, text);
}

#[test]
fn keys_come_in_the_order_of_the_language() {
    check("states: {a: {}}\nversion: 1\nname: x\n", "name: x\nversion: 1\nstates: {a: {}}\n");
    check(
        "transitions:\n  - to: b\n    hooks:\n      - prompt: p\n        action: spawn_agent\n    from: a\n",
        "transitions:\n  - from: a\n    to: b\n    hooks:\n      - action: spawn_agent\n        prompt: p\n",
    );
    check("transitions: [{to: b, from: a}]\n", "transitions: [{from: a, to: b}]\n");
    check("states: {b: {}, a: {}}\nwhat: x\nname: y\n", "name: y\nstates: {b: {}, a: {}}\nwhat: x\n");
    stays("states:\n  b: &x {}\n  a: *x\n\nname: y\n");
}

#[test]
fn indentation_is_two_spaces() {
    check("states:\n    a:\n       terminal:   true\n", "states:\n  a:\n    terminal: true\n");
    check("transitions:\n- from: a\n  to: b\n", "transitions:\n  - from: a\n    to: b\n");
    check("transitions:\n    -   from: a\n        to: b\n", "transitions:\n  - from: a\n    to: b\n");
    check("states:\n  a:\n    {}\n", "states:\n  a: {}\n");
    check("? states\n: a: x  \n", "states:\n  a: x\n");
    stays("a:\n  - - b\n    - c\n  - d\n");
}

#[test]
fn sections_are_one_blank_line_apart() {
    check(
        "name: a\nversion: 1\nstates:\n\n  a: {}\n\n\n\n  b: {}\ntransitions: []\nprompts:\n  p: |\n    x\n\n\n  q: y\n",
        "name: a\nversion: 1\n\nstates:\n  a: {}\n\n  b: {}\n\ntransitions: []\n\nprompts:\n  p: |\n    x\n\n  q: y\n",
    );
    check("\n\nname: a\n\n\nversion: 1\n\n\n", "name: a\n\nversion: 1\n");
    stays("name: a\nstates: {a: {}}\ntransitions: []\n");
}

#[test]
fn quotes_stand_where_they_are_needed() {
    check("a: 'b'\nc: \"d e\"\n'f': g\n", "a: b\nc: d e\nf: g\n");
    check("a: '## x'\nb: 'true'\nc: '1'\nd: ''\n", "a: \"## x\"\nb: \"true\"\nc: \"1\"\nd: \"\"\n");
    check("a: [ 'b,c' , 'd' ]\n", "a: [\"b,c\", d]\n");
    stays("a: 'say \"x\"'\nb: \"caf\\u00e9:\"\nc: 'C:\\x'\nd: \"on\"\ne: \"a: b\"\n");
    check(
        "transitions:\n  - when: a < 1\n  - {when: 'a < 1'}\n",
        "transitions:\n  - when: \"a < 1\"\n  - {when: \"a < 1\"}\n",
    );
}

#[test]
fn brackets_stay_where_they_fit() {
    check("a: [ b,c ,d, ]\nb: { }\nc: [\n  d,\n  e\n]\n", "a: [b, c, d]\nb: {}\nc: [d, e]\n");
    let long = "x".repeat(45);
    check(
        &format!("a: [{long}, {{b: {long}, c: d}}]\n"),
        &format!("a:\n  - {long}\n  - {{b: {long}, c: d}}\n"),
    );
    check(
        &format!("a: [b, {{c: {long}, d: {long}, e: f}}]\n"),
        &format!("a:\n  - b\n  - c: {long}\n    d: {long}\n    e: f\n"),
    );
    check("a: [b: c]\n", "a: [{b: c}]\n");
    check("a: {b: , c}\n", "a: {b: , c: }\n");
}

#[test]
fn comments_stay_with_what_they_belong_to() {
    check(
        "# file\nversion: 1   # v\nname: x # n\n# states\nstates:  # all\n      # a\n   a: {} #a\n   # b?\n",
        "# file\nname: x  # n\nversion: 1   # v\n\n# states\nstates:  # all\n  # a\n  a: {}  #a\n  # b?\n",
    );
    check(
        "transitions:\n  - to: b # to\n    # from\n    from: a # f\n    # end\n  # next\n  - from: c\n# last\n",
        "transitions:\n  # from\n  - from: a  # f\n    to: b  # to\n    # end\n  # next\n  - from: c\n\n# last\n",
    );
    check(
        "a:\n  b:\n    c: d\n    # in b\n  # in a\n# out\ne: f\n",
        "a:\n  b:\n    c: d\n    # in b\n  # in a\n\n# out\ne: f\n",
    );
    check(
        "a: [ # open\n  b, # of b\n  # of c\n  c\n  # end\n] # close\n",
        "# close\na:  # open\n  - b  # of b\n  # of c\n  - c\n  # end\n",
    );
    check("a:  # of a\n  b\nc:\n  # of d\n  d\n", "a: b  # of a\n# of d\nc: d\n");
    for text in ["- x\n", "a: b\rc: d\n", "? [a]\n: b\n", "? a\n  b\n: c\n", "&x\na: b\n"] {
        assert_eq!(laid_out(text), None, "{text:?}");
    }
}

#[test]
fn comments_of_lists_and_documents() {
    check("a:\n  - # first\n    b: c\n  -   d # d\n", "a:\n  # first\n  - b: c\n  - d  # d\n");
    check("# one\n\n--- # two\n# three\na: b\n...\n# four\n", "# one\n---\n# two\n# three\na: b\n# four\n");
    check("hooks:\n- a\n# of to\nto: x\n", "hooks:\n  - a\n\n# of to\nto: x\n");
    check("a: {} # x\n\n\n# y\n\n\n\n# z\nb: c\n", "a: {}  # x\n\n# y\n\n# z\nb: c\n");
    check("a: [\n  # nothing\n]\n", "# nothing\na: []\n");
}

#[test]
fn block_scalars_keep_their_text() {
    check(
        "a:\n    b: |\n            x\n              y  \n\n            # z\n\n\n    c: d\n",
        "a:\n  b: |\n    x\n      y  \n\n    # z\n\n  c: d\n",
    );
    check("a: |  # why\n x\nb: >-\n  y\n\n  z\n", "a: |  # why\n  x\n\nb: >-\n  y\n\n  z\n");
    check("a: |+\n  x\n\n\nb: |4-\n      y\n    z\n", "a: |+\n  x\n\n\nb: |2-\n    y\n  z\n");
    check("a:\n  - |\n    x\n  - |-\n\n    y\n", "a:\n  - |\n    x\n  - |-\n\n    y\n");
    check("a: |\n    x  \n      \n  \nb: c\n", "a: |\n  x  \n    \n\nb: c\n");
    check("a: # one\n  | # two\n  x\n", "# two\na: |  # one\n  x\n");
    stays("a: |\n\nb: |+\n\n\nc: |-\n");
}

#[test]
fn scalars_over_several_lines_keep_them() {
    check("a: b\n      c\n\n      d\n", "a: b\n  c\n\n  d\n");
    check("a:   \"b \n      c\\\n      \\  d\"  # x\n", "a: \"b\n  c\\\n  \\  d\"  # x\n");
    check("transitions:\n  - when: a < 1\n      && b < 2\n", "transitions:\n  - when: \"a < 1 && b < 2\"\n");
}

#[test]
fn anchors_and_aliases_stay() {
    stays("a: &x\n  b: c\n\nd: *x\n\ne:\n  <<: *x\n  f: &y g\n\nh: [*x, &z i]\n");
    stays("a:\n  - &x\n    b: c\n");
}

#[test]
fn line_ends_and_marks_are_the_files_own() {
    check("\u{feff}a:   b\r\nc: |\r\n    d\r\n", "\u{feff}a: b\r\n\r\nc: |\r\n  d\r\n");
    check("a: b", "a: b\n");
}

#[test]
fn a_difference_is_found() {
    let source = |text: &str| Source::new("a.yml", text);
    let text = "name: a\nstates: {x: {}}  # why\n";
    let check = |after: &str| difference(&source(text), &source(after));
    assert_eq!(check(text), None);
    assert_eq!(check("states: {x: {}}  # why\nname: a\n"), None);
    assert_eq!(
        check("name: a\nstates: {y: {}}  # why\n").as_deref(),
        Some("its values would not be the same")
    );
    assert_eq!(check("name: a\nstates: {x: {}}  # because\n").as_deref(), Some("a comment would be lost"));
    assert!(check("name: a\nstates: {x: {}}\n").is_some());
}
