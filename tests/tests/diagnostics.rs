//! Whole diagnostics as their readers see them, in every format.
//!
//! A case is a file or a folder in `tests/diagnostics`, named after the code of its check and what is wrong in it. Lints
//! need none, for their pages are that; those are only held to what goes for every text here.
//! `INSTA_UPDATE=always cargo test -p orange-tests --test diagnostics` writes the snapshots again.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

use std::fs;

use orange_analysis::catalogue::{self, Check};
use orange_analysis::lint;
use orange_codegen::Level;
use orange_workflow::{Answer, Exit, Screens, run};
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

/// Findings in a case by its own check and by those that are not lints: a new lint changes no other's case.
fn check(case: &str, format: &str) -> Answer {
    // Nothing lowers an error.
    let lowered =
        lint::lints().map(|it| it.page.0).filter(|it| it.level > Level::Error && it.code != code(case));
    let others: Vec<&str> = lowered.flat_map(|it| ["--allow", it.code]).collect();
    answer(&format!("{CASES}/{case}"), format, &others)
}

fn answer(path: &str, format: &str, flags: &[&str]) -> Answer {
    let args = [&["orange-workflow", "check", path, "--format", format], flags].concat();
    run(args.into_iter().map(Into::into), Screens::plain())
}

fn lints() -> impl Iterator<Item = &'static str> {
    lint::lints().map(|it| it.page.0.code)
}

/// True if a check needs a case: lints have cases in their pages, and the checks of group D compare two workflows.
fn needs_case(check: &Check) -> bool {
    lints().all(|it| it != check.code) && !check.code.starts_with('D')
}

fn codes(case: &str) -> Vec<String> {
    let json: Value = serde_json::from_str(&check(case, "json").out).unwrap();
    let found = json["diagnostics"].as_array().unwrap();
    found.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

/// Every case and the first example of every page, in one format, each after its name.
fn texts(format: &str) -> Vec<(String, String)> {
    let mut texts: Vec<_> =
        cases().into_iter().map(|case| (case.clone(), check(&case, format).out)).collect();
    let folder = tempfile::tempdir().unwrap();
    for page in catalogue::all() {
        let (_, block) = catalogue::page(page).split_once("```").unwrap();
        let (language, text) = block.split_once("```").unwrap().0.split_once('\n').unwrap();
        let path = folder.path().join(if language == "toml" { "flow.toml" } else { "flow.yml" });
        fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        let text = answer(path, format, &[]).out.replace(path, "flow.yml");
        texts.push((page.name.to_owned(), text));
    }
    texts
}

#[test]
fn each_case_fires_its_check_and_each_check_has_a_case() {
    let cases = cases();
    let silent: Vec<_> = cases.iter().filter(|case| !codes(case).contains(&code(case))).collect();
    assert!(silent.is_empty(), "cases that do not fire their check: {silent:?}");
    let without: Vec<_> = catalogue::all()
        .iter()
        .filter(|check| needs_case(check) && cases.iter().all(|it| code(it) != check.code))
        .map(|it| it.code)
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
    for format in ["graphical", "narrated"] {
        for (name, text) in texts(format) {
            let wide: Vec<&str> = text.lines().filter(|it| it.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{name}, {format}:\n{}", wide.join("\n"));
        }
    }
}

#[test]
fn what_is_narrated_has_no_drawing_characters() {
    let is_drawn = |it: char| matches!(it, '\u{2500}'..='\u{25ff}' | '×' | '⚠' | '·' | '\u{1b}');
    for (name, text) in texts("narrated") {
        assert!(!text.contains(is_drawn), "{name}:\n{text}");
    }
}
