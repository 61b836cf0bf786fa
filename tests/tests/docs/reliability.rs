//! The page about reliability has every failure mode, and something to say of each.

use crate::page::MarkdownPage;

/// Number of the failure modes that are collected.
const LAST: u32 = 55;

#[test]
fn every_failure_mode_is_on_the_page() {
    let page = MarkdownPage::read("docs/reliability.md");
    let (_, modes) = page.text.split_once("## Failure modes\n").unwrap();
    let entries: Vec<&str> = modes.split("\n**F").skip(1).collect();
    let numbers: Vec<&str> =
        entries.iter().map(|entry| entry.split_once(".** ").map_or(*entry, |(number, _)| number)).collect();
    let expect: Vec<_> = (1..=LAST).map(|number| number.to_string()).collect();
    assert_eq!(numbers, expect);
    for entry in entries {
        let (problem, answer) = entry.split_once("\n\n").unwrap_or((entry, ""));
        assert!(problem.ends_with('.') && !answer.trim().is_empty(), "{entry}");
        assert!(!answer.split("\n\n").any(is_unfinished), "{entry}");
    }
}

#[test]
fn an_answer_that_is_still_to_be_written_is_noticed() {
    for answer in ["…", "`tests/tests/e2e/kills.rs::a`; …", "…; by design"] {
        assert!(is_unfinished(answer), "{answer}");
    }
    assert!(!is_unfinished("at once, after 10 s, 20 s … 300 s"));
}

/// Dots in the place of a statement; between two numbers they stand for those between.
fn is_unfinished(answer: &str) -> bool {
    answer.split(';').any(|part| part.trim().starts_with('…') || part.trim().ends_with('…'))
}
