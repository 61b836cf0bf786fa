//! `init`: what it writes is sound, and nothing is overwritten.

use std::fs;

use crate::scratch::Scratch;

#[track_caller]
fn refuses(args: &[&str], says: &str) {
    let scratch = Scratch::with(&[("there.yml", "mine")]);
    let run = scratch.run(&[&["init"], args].concat());
    assert_eq!((run.exit, run.out.as_str()), (2, ""), "{}", run.err);
    assert!(run.err.contains(says) && run.err.contains("\n  help: "), "{}", run.err);
    assert_eq!(scratch.read("there.yml"), "mine");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
}

#[test]
fn what_it_writes_is_silent() {
    for (args, file) in [
        (&["init"][..], "workflow.yml"),
        (&["init", "bug-fix"], "bug-fix.yml"),
        (&["init", "a.yaml"], "a.yaml"),
        (&["init", "workflows/bug-fix"], "workflows/bug-fix.yml"),
        (&["init", "--steps"], "workflow.toml"),
        (&["init", "--template", "steps", "deep/er/two-eyes"], "deep/er/two-eyes.toml"),
        (&["init", "--steps", "two-eyes"], "two-eyes.toml"),
        (&["init", "--steps", "two-eyes.yml"], "two-eyes.yml"),
    ] {
        let scratch = Scratch::new();
        let run = scratch.run(args);
        assert_eq!((run.exit, run.out.as_str()), (0, ""), "{}", run.err);
        let scenarios = format!("{}.test.yml", file.split_once('.').unwrap().0);
        let next = format!("wrote {file}; next: orange-workflow check {file}\n");
        assert_eq!(run.err, format!("{next}wrote {scenarios}; next: orange-workflow test {scenarios}\n"));
        let check = scratch.run(&["check", file, "--deny", "warnings"]);
        assert_eq!((check.exit, check.out.as_str()), (0, "checked 1 file: nothing wrong\n"), "{}", check.out);
        assert_eq!(scratch.run(&["emit", file]).exit, 0);
        let test = scratch.run(&["test", &scenarios]);
        assert!(test.exit == 0 && test.out.contains(" 0 failed\n"), "{}", test.out);
    }
}

#[test]
fn steps_are_the_same_in_both_formats() {
    let emitted = |file: &str| {
        let scratch = Scratch::new();
        scratch.run(&["init", "--steps", file]);
        let rust = scratch.run(&["emit", file]).out;
        rust.lines()
            .filter(|it| !it.contains("SOURCE_HASH") && !it.contains(file))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(emitted("two-eyes.toml") == emitted("two-eyes.yml"));
}

#[test]
fn it_can_be_printed() {
    let scratch = Scratch::new();
    let printed = scratch.run(&["init", "--stdout"]);
    assert!(printed.out.contains("\nname: workflow\n"), "{}", printed.out);
    assert_eq!(scratch.run(&["init", "-"]).out, printed.out);
    assert!(scratch.run(&["init", "fix", "--stdout"]).out.contains("\nname: fix\n"));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn nothing_is_overwritten_and_no_bad_name_is_taken() {
    refuses(&["there"], "error: there.yml is there already\n");
    refuses(&["there.yml"], "error: there.yml is there already\n");
    let scratch = Scratch::with(&[("fix.test.yml", "mine")]);
    let run = scratch.run(&["init", "fix"]);
    assert!(run.exit == 0 && run.err.contains("fix.test.yml is there already, and is left"), "{}", run.err);
    assert_eq!(scratch.read("fix.test.yml"), "mine");
    let unknown = scratch.run(&["init", "--template", "step", "new"]);
    assert!(unknown.exit == 2 && unknown.err.contains("a similar value exists: 'steps'"), "{}", unknown.err);
    assert!(!scratch.path().join("new.toml").exists());
    refuses(&["Fix"], "error: `Fix` is not a name for a workflow\n");
    refuses(&["--steps", "there.yml"], "error: there.yml is there already\n");
    refuses(&["--steps", "a.json"], "error: a.json does not end in .toml or .yml\n");
    refuses(&["a.toml"], "error: a.toml does not end in .yml\n");
    refuses(&["there.yml/flow"], "error: cannot write there.yml/flow.yml: ");
}
