//! The build script: what it prints for cargo, and what it writes, for folders of every kind.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use orange_codegen::build::{Output, workflows};

const ONE: &str = "name: one\nversion: 1\nstates: {open: {}, done: {terminal: true}}\ntransitions: []\n";
const TWO: &str = "name: two\nversion: 1\nstates: {open: {}, done: {terminal: true}}\ntransitions: []\n";

/// Builds a folder with these files.
fn build(files: &[(&str, &str)]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let output = workflows(folder.path()).compile();
    (folder, output)
}

/// The lines of one kind for cargo, with the folder left out of paths.
fn lines_of(folder: &Path, output: &Output, kind: &str) -> Vec<String> {
    let prefix = format!("cargo::{kind}=");
    let here = format!("{}/", folder.display());
    output
        .instructions
        .iter()
        .filter_map(|line| Some(line.strip_prefix(&prefix)?.replace(&here, "")))
        .collect()
}

#[test]
fn a_folder_becomes_a_file_with_its_machines_sorted_by_name() {
    let (folder, output) = build(&[
        ("a.yml", TWO),
        ("b.yaml", ONE),
        ("Cargo.toml", "[package]\nname = 'x'\n"),
        ("c.md", "# no"),
    ]);
    assert_eq!(lines_of(folder.path(), &output, "error"), [""; 0]);
    let watched = lines_of(folder.path(), &output, "rerun-if-changed");
    assert_eq!(watched, [&folder.path().display().to_string(), "a.yml", "b.yaml"]);
    let code = output.code.unwrap();
    assert!(code.contains("& [& one :: MACHINE , & two :: MACHINE]"), "{code}");
    assert!(code.contains(":: orange_engine :: core as orange"), "{code}");
}

#[test]
fn the_same_folder_gives_the_same_bytes() {
    let files = [("one.yml", ONE), ("two.yml", TWO)];
    assert_eq!(build(&files).1.code, build(&files).1.code);
}

#[test]
fn every_error_of_every_workflow_has_its_place() {
    let bad = ONE.replace("transitions: []", "transitions: [{from: dnoe, to: done}]");
    let worse = TWO.replace("transitions: []", "transitions: [{from: done, to: done}, {from: x, to: y}]");
    let (folder, output) = build(&[("one.yml", &bad), ("two.yml", &worse)]);
    let errors = lines_of(folder.path(), &output, "error");
    let headlines: Vec<_> =
        errors.iter().filter_map(|line| line.split_once("]: ").map(|(head, _)| head)).collect();
    let expect = [
        "one.yml:4:22: error[A02 unknown-from",
        "two.yml:4:22: error[A03 from-terminal",
        "two.yml:4:46: error[A02 unknown-from",
        "two.yml:4:53: error[A01 unknown-to",
    ];
    assert_eq!(headlines, expect);
    assert!(errors.iter().any(|line| line.contains("= help: ")), "{errors:#?}");
    assert!(output.code.is_none());
}

#[test]
fn two_workflows_of_one_name_are_an_error() {
    let (folder, output) = build(&[("one.yml", ONE), ("other.yml", ONE)]);
    let errors = lines_of(folder.path(), &output, "error").join("\n");
    assert!(errors.starts_with("other.yml:1:7: error[S06 name-mismatch]: "), "{errors}");
    assert!(errors.contains("one.yml"), "{errors}");
    assert!(output.code.is_none());
}

/// No transition leaves its state `lost`, which a lint denies.
const LOST: &str = "name: lost\nversion: 1\nstates:\n  a: {terminal: false}\n  lost: {terminal: false}\n  b: {terminal: true}\n\
                    transitions:\n  - {from: a, to: b}\n  - {from: a, to: lost}\n";

#[test]
fn denied_lints_fail_a_build_that_asks_them() {
    let (folder, without) = build(&[("lost.yml", LOST)]);
    assert!(without.code.is_some(), "{without:?}");
    let output = workflows(folder.path()).compiled_by(orange_analysis::lint).compile();
    let errors = lines_of(folder.path(), &output, "error").join("\n");
    assert!(output.code.is_none() && errors.contains("deny[C02 dead-end]"), "{errors}");
}

#[test]
fn warnings_are_reported_and_fail_nothing() {
    let (folder, output) = build(&[("other.yml", ONE)]);
    let warnings = lines_of(folder.path(), &output, "warning").join("\n");
    assert!(warnings.starts_with("other.yml:1:7: warn[S06 name-mismatch]: "), "{warnings}");
    assert!(output.code.is_some());
}

const STEPS: &str = "[workflow]\nname = 'two-steps'\n[[steps]]\nid = 'a'\nprompt_file = 'a.md'\n\
                     [[steps]]\nid = 'b'\nprompt_file = './a.md'\n";

#[test]
fn a_step_workflow_becomes_a_plan_and_its_prompts_are_watched() {
    let files = [("one.yml", ONE), ("two-steps.toml", STEPS), ("a.md", "Do it."), ("b.md", "Not read.")];
    let (folder, output) = build(&files);
    let watched = lines_of(folder.path(), &output, "rerun-if-changed");
    let here = folder.path().display().to_string();
    assert_eq!(watched, [here.as_str(), "one.yml", "two-steps.toml", "./a.md", "a.md"]);
    let code = output.code.unwrap();
    assert!(code.contains("& [& one :: MACHINE]") && code.contains("& [& two_steps :: PLAN]"), "{code}");
    let other = build(&[("one.yml", ONE), ("two-steps.toml", STEPS), ("a.md", "Do it well.")]);
    assert_ne!(code, other.1.code.unwrap());
}

#[test]
fn the_file_that_a_prompt_includes_is_watched() {
    let flow = ONE.to_owned() + "prompts: {worker: {include: do/a.md}}\n";
    let built = |prompt: &str| build(&[("one.yml", flow.as_str()), ("do/a.md", prompt)]);
    let (folder, output) = built("Do it.");
    let watched = lines_of(folder.path(), &output, "rerun-if-changed");
    assert_eq!(watched[1..], ["one.yml", "do/a.md"]);
    let (code, other) = (output.code.unwrap(), built("Do it well.").1.code.unwrap());
    assert!(code.contains("Do it.") && other.contains("Do it well.") && !other.contains("Do it."), "{code}");
}

#[test]
fn a_step_workflow_without_its_prompt_is_not_built() {
    let (folder, output) = build(&[("two-steps.toml", STEPS)]);
    let errors = lines_of(folder.path(), &output, "error").join("\n");
    assert!(errors.starts_with("two-steps.toml:5:15: error[B18 missing-prompt-file]: "), "{errors}");
    assert!(output.code.is_none());
}

#[test]
fn a_plan_and_a_machine_of_one_name_are_an_error() {
    let steps = STEPS.replace("two-steps", "one");
    for other in [("one.yml", ONE), ("other.toml", steps.as_str())] {
        let (folder, output) = build(&[("one.toml", &steps), other, ("a.md", "Do it.")]);
        let errors = lines_of(folder.path(), &output, "error").join("\n");
        assert!(errors.contains("error[S06 name-mismatch]: "), "{errors}");
        assert!(output.code.is_none());
    }
}

#[test]
fn a_folder_without_workflows_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().display();
    let here = folder.path();
    let empty = workflows(here).compile();
    assert_eq!(
        lines_of(here, &empty, "error"),
        [format!("there is no workflow in {shown}: write one, `<name>.yml`")]
    );
    let gone = workflows(here.join("gone")).compile();
    let error = lines_of(here, &gone, "error").join("\n");
    assert!(error.starts_with("cannot look through gone: "), "{error}");
}

#[test]
fn what_is_no_text_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yml"), b"\xff\xfe").unwrap();
    let output = workflows(folder.path()).compile();
    let error = lines_of(folder.path(), &output, "error").join("\n");
    assert!(error.starts_with("cannot read a.yml: "), "{error}");
}

#[test]
fn an_environment_variable_is_watched_and_may_name_the_folder() {
    let build = workflows("flows").or_from("ORANGE_TESTS_NOBODY_SETS_THIS");
    let output = build.compile();
    assert_eq!(output.instructions[0], "cargo::rerun-if-env-changed=ORANGE_TESTS_NOBODY_SETS_THIS");
    assert_eq!(output.instructions[1], "cargo::rerun-if-changed=flows");
}

#[test]
fn what_is_no_workflow_is_left_out_and_named() {
    let (folder, output) = build(&[("a.yml", "on: push"), ("empty.yml", ""), ("one.yml", ONE)]);
    let expect = ["a.yml is not a workflow and is left out", "empty.yml is not a workflow and is left out"];
    assert_eq!(lines_of(folder.path(), &output, "warning"), expect);
    assert!(output.code.is_some());
}

#[test]
fn scenario_files_beside_a_workflow_are_left_out_silently() {
    let (folder, output) = build(&[("one.test.yml", "scenarios: []"), ("one.yml", ONE)]);
    assert_eq!(lines_of(folder.path(), &output, "warning"), [""; 0]);
    assert!(output.code.is_some());
}
