//! Whole diagnostics as their readers see them, in every format, for at least one case of every check.
//!
//! A case is a file or a folder in `tests/diagnostics`, named after the code of its check and what is wrong in it.
//! `INSTA_UPDATE=always cargo test -p orange-tests --test diagnostics` writes the snapshots anew.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

use std::fs;

use orange_codegen::{catalogue, lint};
use orange_workflow::{Answer, Exit, Style, Styles, run};
use serde_json::Value;

const CASES: &str = "diagnostics";

/// The names of all cases with their extensions, sorted.
fn cases() -> Vec<String> {
    let entries = fs::read_dir(CASES).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The code that a case is named after.
fn code(case: &str) -> String {
    case.split('-').next().unwrap_or(case).to_uppercase()
}

fn check(case: &str, format: &str) -> Answer {
    let path = format!("{CASES}/{case}");
    let args = ["orange-workflow", "check", &path, "--format", format];
    run(args.map(Into::into), Styles { out: Style::Plain, err: Style::Plain })
}

fn codes(case: &str) -> Vec<String> {
    let json: Value = serde_json::from_str(&check(case, "json").out).unwrap();
    let found = json["diagnostics"].as_array().unwrap();
    found.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_case_fires_its_check_and_every_check_has_a_case() {
    let cases = cases();
    let silent: Vec<_> = cases.iter().filter(|case| !codes(case).contains(&code(case))).collect();
    assert!(silent.is_empty(), "cases that do not fire their check: {silent:?}");
    let without: Vec<_> = catalogue::all()
        .iter()
        // The pages of lints are their tests.
        .filter(|check| lint::GROUPS.iter().copied().flatten().all(|it| it.check != **check))
        .map(|it| it.code)
        .filter(|check| cases.iter().all(|it| code(it) != *check))
        .collect();
    assert!(without.is_empty(), "checks without a case: {without:?}");
}

#[test]
fn diagnostics_look_like_this() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for case in cases() {
            let answers = ["graphical", "narrated", "short", "json"].map(|format| check(&case, format));
            assert!(answers.iter().all(|it| it.err.is_empty() && it.exit != Exit::Failed), "{case}");
            let texts = answers.map(|it| it.out).join("────────\n");
            insta::assert_snapshot!(case.as_str(), texts);
        }
    });
}

#[test]
fn every_snapshot_is_of_a_case() {
    let wanted: Vec<String> = cases().iter().map(|case| format!("{case}.snap")).collect();
    let snapshots =
        fs::read_dir("tests/snapshots").unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let stale: Vec<String> = snapshots.filter(|it| it.ends_with(".snap") && !wanted.contains(it)).collect();
    assert!(stale.is_empty(), "{stale:?}");
}

#[test]
fn people_with_80_columns_can_read_them() {
    for case in cases() {
        for format in ["graphical", "narrated"] {
            let text = check(&case, format).out;
            let wide: Vec<&str> = text.lines().filter(|it| it.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{case}, {format}:\n{}", wide.join("\n"));
        }
    }
}

#[test]
fn what_is_narrated_has_no_drawing_characters() {
    for case in cases() {
        let text = check(&case, "narrated").out;
        let is_drawn = |it: char| matches!(it, '\u{2500}'..='\u{25ff}' | '×' | '⚠' | '·' | '\u{1b}');
        assert!(!text.contains(is_drawn), "{case}:\n{text}");
    }
}
