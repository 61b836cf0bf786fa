//! `emit` and `graph`: the commands for one workflow.

use crate::scratch::{CLEAN, Scratch};

#[test]
fn output_goes_into_a_file() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    for command in ["graph", "emit"] {
        let printed = scratch.run(&[command, "clean.yml"]);
        let run = scratch.run(&[command, "clean.yml", "-o", "out.txt"]);
        assert_eq!((run.exit, run.out.as_str(), run.err.as_str()), (0, "", ""));
        assert_eq!(scratch.read("out.txt"), printed.out);
    }
    let refused = scratch.run(&["graph", "clean.yml", "-o", "no/such/folder.txt"]);
    assert_eq!(refused.exit, 2);
    assert!(refused.err.starts_with("error: cannot write no/such/folder.txt: "), "{}", refused.err);
}

#[test]
fn a_workflow_comes_from_standard_input_too() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    for command in ["graph", "emit", "prove"] {
        let named = scratch.run(&[command, "clean.yml"]);
        let run = scratch.run_with_stdin(&[command, "-"], CLEAN);
        assert_eq!((run.exit, run.err.as_str()), (named.exit, ""), "{command}");
        assert_eq!(run.out, named.out.replace("clean.yml", "<stdin>"));
    }
    for args in [
        &["diff", "-", "-"][..],
        &["graph", "-", "--trace", "-"],
        &["simulate", "-"],
        &["simulate", "-", "--script", "-"],
    ] {
        let run = scratch.run(args);
        assert_eq!((run.exit, run.out.as_str()), (2, ""), "{args:?}");
        assert!(run.err.contains("two things are to be read from standard input"), "{}", run.err);
    }
}

#[test]
fn nothing_comes_of_a_broken_workflow() {
    let scratch =
        Scratch::with(&[("clean.yml", &CLEAN.replace("to: done", "to: doen")), ("out.txt", "as it was")]);
    for command in ["graph", "emit"] {
        let run = scratch.run(&[command, "clean.yml", "-o", "out.txt"]);
        assert_eq!((run.exit, run.out.as_str()), (1, ""));
        assert!(run.err.contains("Error A01 unknown-to, at clean.yml:11:34:"), "{}", run.err);
        assert_eq!(scratch.read("out.txt"), "as it was");
        assert_eq!(scratch.run(&[command, "nowhere.yml"]).exit, 2);
        let folder = scratch.run(&[command, "."]);
        assert_eq!(folder.exit, 2);
        assert!(folder.err.contains("is a folder"), "{}", folder.err);
    }
}

#[test]
fn the_emitted_rust_names_the_crate_that_is_asked_for() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    let run = scratch.run(&["emit", "clean.yml"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""));
    assert!(run.out.contains("use ::orange_core as ") && run.out.contains("enum State"), "{}", run.out);
    let run = scratch.run(&["emit", "clean.yml", "--core", "orange_engine::core"]);
    assert!(
        run.out.contains("use ::orange_engine::core as ") && !run.out.contains("::orange_core"),
        "{}",
        run.out
    );
    assert_eq!(scratch.run(&["emit", "clean.yml", "--core", "a b"]).exit, 2);
}
