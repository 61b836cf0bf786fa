//! The merge on plain texts, and on any two edits of one text.

use proptest::prelude::*;

use super::*;

fn document(head: &str, body: &str) -> Document {
    Document::of(format!("---\n{head}---\n{body}")).unwrap()
}

#[track_caller]
fn check_body(base: &str, own: &str, copy: &str, expect: &str) {
    assert_eq!(body(base, own, copy), expect);
    let [base, own, merged] = [base, own, expect].map(|text| document("", text));
    assert!(!loses(&base, &own, &merged));
}

#[test]
fn changes_of_both_sides_are_merged() {
    check_body("a\n", "a\n", "b\n", "b\n");
    check_body("a\n", "b\n", "a\n", "b\n");
    check_body("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n");
    check_body("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n");
    check_body("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n");
    check_body("a\n", "a\nown\n", "a\ncopy\n", "a\ncopy\nown\n");
    check_body("a", "a\nown", "a\ncopy", "a\ncopy\nown");
    check_body("", "own\n", "copy\n", "copy\nown\n");
    check_body("a\nb\n", "a\nx\nb\n", "A\nb\n", "A\nx\nb\n");
    check_body("a\nb\n", "x\na\nb\n", "A\nb\n", "x\nA\nb\n");
    check_body("a\r\nb\r\n", "a\r\nb\r\nx\r\n", "A\r\nb\r\n", "A\r\nb\r\nx\r\n");
}

#[test]
fn a_section_on_both_sides_is_the_worktrees() {
    let (own, copy) = ("a\n## Review\nFAIL\n", "a\n## Review\nPASS\n");
    assert_eq!(body("a\n", own, copy), copy);
    check_body(
        "a\n",
        "a\n## Feedback\nMore\n",
        "a\n## Review\nPASS\n",
        "a\n## Review\nPASS\n## Feedback\nMore\n",
    );
}

#[track_caller]
fn check_clash(base: &str, own: &str, copy: &str, expect: &str, loss: bool) {
    let merged = body(base, own, copy);
    assert_eq!(merged, expect);
    let [base, own, merged] = [base, own, &merged].map(|text| document("", text));
    assert_eq!(loses(&base, &own, &merged), loss);
}

#[test]
fn the_worktree_wins_a_clash() {
    check_clash("a\nb\nc\n", "a\nown\nc\n", "a\ncopy\nc\n", "a\ncopy\nc\n", true);
    check_clash("a\nb\nc\n", "a\nown\nc\n", "a\nc\n", "a\nc\n", true);
    check_clash("a\nb\nc\n", "a\nc\n", "a\ncopy\nc\n", "a\ncopy\nc\n", false);
    check_clash("a\nb\nc\n", "a\nc\n", "copy\n", "copy\n", false);
    check_clash("x\nb\n", "x\nx\nown\n", "x\ncopy\n", "x\ncopy\n", true);
}

#[track_caller]
fn check_head(own: &str, copy: &str, expect: &str) {
    let base = "id: 1\nsummary: s # why\ntags:\n- a\n";
    let merged = merge(&document(base, ""), &document(own, ""), &document(copy, "")).unwrap();
    assert_eq!(merged.text(), format!("---\n{expect}---\n"));
}

#[test]
fn the_frontmatter_is_merged_by_key() {
    let base = "id: 1\nsummary: s # why\ntags:\n- a\n";
    check_head(base, base, base);
    let odd = "# mine\nmood: \"good\"\nsummary: s # why\ntags:\n- a\nid: 1\n";
    check_head(base, odd, odd);
    check_head(odd, base, odd);
    check_head(
        "id: 1\nsummary: own\ntags:\n- a\npr_url: x\n",
        "id: 1\nsummary: s # why\ntags:\n- a\n- b\n",
        "id: 1\nsummary: own\ntags:\n- a\n- b\npr_url: x\n",
    );
    check_head("id: 1\nsummary: own\ntags: []\n", "id: 1\nsummary: copy\n", "id: 1\nsummary: copy\n");
    check_head("id: 1\ntags:\n- a\n", "id: 1\nsummary: s # why\ntags: b\n", "id: 1\ntags: b\n");
}

/// A text after edits: each of its lines stays, goes, or is rewritten, perhaps with new lines before it.
fn edited(base: &[String], edits: &[(u8, u8)], who: &str) -> String {
    let mut lines = Vec::new();
    for (number, line) in base.iter().map(String::as_str).chain([""]).enumerate() {
        let (kind, more) = edits.get(number).copied().unwrap_or_default();
        lines.extend((0..more).map(|more| format!("{who} {number}.{more}")));
        match kind {
            0 if number < base.len() => lines.push(format!("{who} {number}")),
            1 if number < base.len() => {}
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

proptest! {
    #[test]
    fn no_line_is_lost(
        length in 0_usize..8,
        own in proptest::collection::vec((0_u8..8, 0_u8..2), 9),
        copy in proptest::collection::vec((0_u8..8, 0_u8..2), 9),
    ) {
        let lines: Vec<String> = (0..length).map(|number| format!("line {}", number % 5)).collect();
        let base = edited(&lines, &[(9, 0); 9], "");
        let (own, copy) = (edited(&lines, &own, "own"), edited(&lines, &copy, "copy"));
        let merged = body(&base, &own, &copy);
        for line in copy.lines().filter(|line| line.starts_with("copy")) {
            prop_assert!(merged.lines().any(|found| found == line), "{line} of the worktree is lost: {merged:?}");
        }
        let [before, ours, after] = [&base, &own, &merged].map(|text| document("", text));
        if !loses(&before, &ours, &after) {
            let new = own.lines().filter(|line| line.starts_with("own"));
            for line in new {
                prop_assert!(merged.lines().any(|found| found == line), "{line} is lost: {merged:?}");
            }
        }
        prop_assert_eq!(body(&base, &base, &copy), copy.clone());
        prop_assert_eq!(body(&base, &own, &base), own.clone());
    }
}
