//! `check`: which files, which levels, which format, which exit status.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::scratch::{CLEAN, Scratch};

/// One error, A01, at 7:25.
pub(crate) const BROKEN: &str = "\
name: broken
version: 1
states:
  pending: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: doen}
  - {from: pending, to: done}
";

/// One warning, S07, at 5:26.
pub(crate) const WARNED: &str = "\
name: warned
version: 1
commands: {cancel: done}
states:
  pending: {description: on}
  later: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: later}
  - {from: later, to: pending}
  - {from: [pending, later], to: done}
";

#[track_caller]
fn exits(args: &[&str], expect: i32) {
    let scratch = Scratch::with(&[("clean.yml", CLEAN), ("broken.yml", BROKEN), ("warned.yml", WARNED)]);
    let run = scratch.run(&[&["check"], args].concat());
    assert_eq!(run.exit, expect, "{args:?}\n{}{}", run.out, run.err);
}

#[test]
fn exit_statuses() {
    exits(&["clean.yml"], 0);
    exits(&["broken.yml"], 1);
    exits(&["warned.yml"], 0);
    exits(&["."], 1);
    exits(&[".", "--exit-zero"], 0);
    exits(&["nowhere.yml"], 2);
    exits(&["clean.yml", "nowhere.yml"], 2);
    exits(&["nowhere.yml", "--exit-zero"], 2);
}

#[test]
fn levels() {
    exits(&["warned.yml", "--deny", "warnings"], 1);
    exits(&["warned.yml", "--deny", "yaml-trap"], 1);
    exits(&["warned.yml", "--deny", "S07"], 1);
    exits(&["warned.yml", "--deny", "crash-no-stuck"], 0);
    exits(&["warned.yml", "--deny", "warnings", "--allow", "yaml-trap"], 0);
    exits(&["warned.yml", "--deny", "warnings", "--warn", "yaml-trap"], 0);
    exits(&["warned.yml", "--deny", "S07", "--allow", "S07"], 2);
    exits(&["warned.yml", "--deny", "warning"], 2);
    exits(&["broken.yml", "--allow", "unknown-to"], 2);
    exits(&["broken.yml", "--warn", "unknown-to"], 2);
    exits(&["broken.yml", "--deny", "unknown-to"], 1);
}

#[test]
fn what_is_allowed_is_not_shown() {
    let scratch = Scratch::with(&[("warned.yml", WARNED)]);
    let shown = scratch.run(&["check", "warned.yml", "--format", "json"]);
    assert_eq!(shown.codes(), ["S07"]);
    let allowed = scratch.run(&["check", "warned.yml", "--format", "json", "--allow", "yaml-trap"]);
    assert_eq!(allowed.json()["diagnostics"], json!([]));
    let denied = scratch.run(&["check", "warned.yml", "--format", "json", "--deny", "warnings"]);
    assert_eq!(denied.json()["diagnostics"][0]["level"], "deny");
    assert_eq!(denied.json()["summary"], json!({"error": 0, "deny": 1, "warn": 0, "info": 0}));
}

#[test]
fn a_misspelled_check_gets_a_suggestion() {
    let run = Scratch::new().run(&["check", ".", "--deny", "yaml-tarp"]);
    assert_eq!(run.exit, 2);
    assert!(run.err.contains("did you mean `yaml-trap`?"), "{}", run.err);
}

#[test]
fn a_folder_is_searched_and_what_is_no_workflow_is_named() {
    let scratch = Scratch::with(&[
        ("flows/clean.yml", CLEAN),
        ("flows/deep/er/broken.yaml", BROKEN),
        ("flows/steps.toml", include_str!("../../../../tests/fixtures/dev-task.toml")),
        ("flows/ci.yml", "on: push\njobs: {}\n"),
        ("flows/empty.yml", ""),
        ("flows/notes.md", "states:\n"),
        ("flows/.hidden/broken.yml", BROKEN),
        ("flows/cache/CACHEDIR.TAG", ""),
        ("flows/cache/broken.yml", BROKEN),
        ("flows/almost.yml", "name: almost\nsates: {}\n"),
    ]);
    let run = scratch.run(&["check", "flows", "--format", "json"]);
    assert_eq!(run.exit, 1);
    assert_eq!(run.json()["files"], 3);
    let broken =
        &run.json()["diagnostics"].as_array().unwrap().iter().find(|it| it["code"] == "A01").cloned();
    assert_eq!(broken.as_ref().unwrap()["file"], "flows/deep/er/broken.yaml");
    let skipped = run.json()["skipped"].clone();
    let of = |at: usize, key: &str| skipped[at][key].as_str().unwrap().to_owned();
    let shown: Vec<String> =
        (0..3).map(|at| format!("skipped {}: {}", of(at, "file"), of(at, "reason"))).collect();
    assert_eq!(shown, run.err.lines().collect::<Vec<_>>());
    let skipped: Vec<&str> = run.err.lines().collect();
    assert_eq!(
        skipped,
        [
            "skipped flows/almost.yml: no workflow, though almost one: name it to have it checked",
            "skipped flows/ci.yml: no workflow",
            "skipped flows/empty.yml: no workflow",
        ]
    );
}

#[test]
fn a_syntax_error_in_a_found_workflow_is_no_reason_to_skip_it() {
    let scratch = Scratch::with(&[("torn.yml", "name: torn\nstates: {a: {}\n"), ("clean.yml", CLEAN)]);
    let run = scratch.run(&["check", ".", "--format", "short"]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""));
    assert!(run.out.starts_with("torn.yml:"), "{}", run.out);
    assert!(run.out.contains(" error[S01 syntax-error]: "), "{}", run.out);
}

#[test]
fn a_folder_without_a_workflow_is_not_clean() {
    let scratch = Scratch::with(&[("ci.yml", "on: push\n")]);
    let run = scratch.run(&["check", "."]);
    assert_eq!((run.exit, run.out.as_str()), (2, ""));
    assert!(run.err.contains("skipped ci.yml: no workflow\nerror: no workflow found in .\n"), "{}", run.err);
}

#[test]
fn a_missing_path_hides_nothing() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let run = scratch.run(&["check", "nowhere", "broken.yml", "--format", "short"]);
    assert_eq!(run.exit, 2);
    assert!(run.out.starts_with("broken.yml:7:25: error[A01 unknown-to]: "), "{}", run.out);
    assert!(run.err.contains("error: no such file or folder: nowhere\n  help: "), "{}", run.err);
}

#[test]
fn a_file_that_is_named_twice_is_checked_once() {
    let scratch = Scratch::with(&[("flows/clean.yml", CLEAN)]);
    let absolute = scratch.path().join("flows/clean.yml");
    let run =
        scratch.run(&["check", "flows", "./flows/clean.yml", absolute.to_str().unwrap(), "--format", "json"]);
    assert_eq!((run.exit, run.json()["files"].as_u64()), (0, Some(1)), "{}", run.out);
}

#[test]
fn a_file_is_called_as_it_was_named_first() {
    let scratch = Scratch::with(&[("flow.yml", "name: other\n"), ("flows/none.yml", "a: 1\n")]);
    let run = scratch.run(&["check", "flow.yml", "./flows/../flow.yml", "--format", "short"]);
    assert!(run.out.starts_with("flow.yml:1:"), "{}", run.out);
    let run = scratch.run(&["check", "flows", "flows/none.yml", "--format", "short"]);
    assert_eq!(run.exit, 1);
    assert!(run.out.starts_with("flows/none.yml:1:1: error[S08 unreadable-file]"), "{}", run.out);
}

#[test]
fn two_workflows_of_one_name() {
    let other = format!("# The other one.\n{CLEAN}");
    let scratch = Scratch::with(&[("a/clean.yml", CLEAN), ("b/clean.yml", &other)]);
    let run = scratch.run(&["check", ".", "--format", "short"]);
    assert_eq!(run.exit, 1);
    assert_eq!(
        run.out,
        "b/clean.yml:2:7: error[S06 name-mismatch]: the workflow `clean` is already defined in a/clean.yml\n"
    );
    assert_eq!(scratch.run(&["check", "b/clean.yml"]).exit, 0);
}

#[test]
fn a_name_for_standard_input_needs_it() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    for command in ["check", "fmt"] {
        let run = scratch.run(&[command, "clean.yml", "--stdin-name", "flow.yml"]);
        assert_eq!(run.exit, 2);
        assert!(run.err.contains("error: --stdin-name names `-`"), "{}", run.err);
    }
}

#[test]
fn standard_input() {
    let scratch = Scratch::new();
    let run = scratch
        .run_with_stdin(&["check", "-", "--stdin-name", "flows/broken.yml", "--format", "short"], BROKEN);
    assert_eq!(run.exit, 1);
    assert!(run.out.starts_with("flows/broken.yml:7:25: "), "{}", run.out);
    let toml = include_str!("../../../../tests/fixtures/dev-task.toml");
    scratch.write_prompts();
    let steps = scratch.run_with_stdin(&["check", "-", "--stdin-name", "dev-task.toml"], toml);
    assert!(!steps.out.contains("B18"), "{}", steps.out);
    let unnamed = scratch.run_with_stdin(&["check", "-"], CLEAN);
    assert_eq!(
        (unnamed.exit, unnamed.out.as_str()),
        (0, "checked 1 file: nothing wrong\n"),
        "{}",
        unnamed.out
    );
}

#[test]
fn json_has_every_key_of_the_contract() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let run = scratch.run(&["check", "broken.yml", "--format", "json"]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""));
    let json = run.json();
    assert_eq!((&json["version"], &json["files"]), (&json!(1), &json!(1)));
    assert_eq!(json["summary"], json!({"error": 1, "deny": 0, "warn": 0, "info": 0}));
    let found = &json["diagnostics"][0];
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "code",
            "column",
            "end_column",
            "end_line",
            "file",
            "fix",
            "help",
            "labels",
            "level",
            "line",
            "message",
            "name",
            "steps",
            "trace",
            "url",
            "witness"
        ]
    );
    assert_eq!((&found["line"], &found["column"]), (&json!(7), &json!(25)));
    assert_eq!((&found["end_line"], &found["end_column"]), (&json!(7), &json!(29)));
    assert_eq!(found["url"], json!(null));
}

#[test]
fn columns_count_characters() {
    let scratch = Scratch::with(&[("broken.yml", &BROKEN.replace("{from: pending, to: doen}", "{日本: 1}"))]);
    let run = scratch.run(&["check", "broken.yml", "--format", "json"]);
    let unknown =
        run.json()["diagnostics"].as_array().unwrap().iter().find(|it| it["code"] == "S02").cloned();
    let unknown = unknown.unwrap();
    assert_eq!((&unknown["column"], &unknown["end_column"]), (&json!(6), &json!(8)));
}

#[test]
fn a_hundred_files_always_come_in_the_same_order() {
    let scratch = Scratch::new();
    for number in 0..100 {
        let text = if number % 2 == 0 { BROKEN } else { WARNED };
        scratch.write(
            &format!("{:02}/f{number}.yml", number % 7),
            text.replacen("name: ", &format!("name: f{number}-"), 1),
        );
    }
    for format in ["graphical", "narrated", "short", "json"] {
        let first = scratch.run(&["check", ".", "--format", format]);
        assert_eq!(first.exit, 1);
        for _ in 0..3 {
            assert!(scratch.run(&["check", ".", "--format", format]).out == first.out, "{format}");
        }
    }
    let short = scratch.run(&["check", ".", "--format", "short"]).out;
    let paths: Vec<&str> = short.lines().map(|it| it.split(':').next().unwrap()).collect();
    assert!(paths.is_sorted() && paths.len() >= 100, "{short}");
}

#[test]
fn findings_without_a_terminal_are_sentences_of_80_columns() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN), ("warned.yml", WARNED)]);
    let run = scratch.run(&["check", "."]);
    assert_eq!(run.out, scratch.run(&["check", ".", "--format", "narrated"]).out);
    assert!(!run.out.contains(['\u{1b}', '─', '│', '×', '⚠']), "{}", run.out);
    assert!(run.out.lines().all(|it| it.chars().count() <= 80), "{}", run.out);
    assert!(run.out.contains("Error A01 unknown-to, at broken.yml:7:25:\n"), "{}", run.out);
    assert!(run.out.ends_with("checked 2 files: 1 error, 1 warning\n"), "{}", run.out);
}

#[test]
fn findings_are_drawn_on_request() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let run = scratch.run(&["check", ".", "--format", "graphical"]);
    assert!(!run.out.contains('\u{1b}'), "{}", run.out);
    assert!(run.out.contains("─[broken.yml:7:25]"), "{}", run.out);
}

#[test]
fn a_file_cannot_command_the_terminal() {
    let text = BROKEN.replace("doen", "\"do\\e[31men\"").replace("name: broken", "name: broken # \u{9b}31m");
    let scratch = Scratch::with(&[("broken.yml", &text)]);
    for format in ["graphical", "narrated", "short"] {
        let run = scratch.run(&["check", "broken.yml", "--format", format]);
        assert!(!run.out.contains(['\u{1b}', '\u{9b}']), "{:?}", run.out);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let scratch = Scratch::new();
    for number in 0..200 {
        scratch.write(&format!("f{number}.yml"), BROKEN);
    }
    let mut child =
        scratch.command(&["check", "."]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(1), ""));
}

#[test]
fn a_full_disk_is_a_failure() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = scratch.command(&["check", "clean.yml"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: cannot write the answer: "));
}
