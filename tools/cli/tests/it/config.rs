//! `orange-workflow.toml`: which one counts, for which files, and what about a wrong one.

use crate::check::{BROKEN, WARNED};
use crate::scratch::Scratch;

const DENY: &str = "[lints]\nyaml-trap = \"deny\"\n";
const ALLOW: &str = "[lints]\nS07 = { level = \"allow\", reason = \"only our own tools read this\" }\n";

#[track_caller]
fn exits(config: &str, args: &[&str], expect: i32) {
    let scratch = Scratch::with(&[("orange-workflow.toml", config), ("flows/warned.yml", WARNED)]);
    let run = scratch.run(&[&["check"], args].concat());
    assert_eq!(run.exit, expect, "{config}\n{args:?}\n{}{}", run.out, run.err);
}

#[test]
fn levels() {
    exits("", &["flows"], 0);
    exits(DENY, &["flows"], 1);
    exits(DENY, &["flows/warned.yml"], 1);
    exits("[lints]\nwarnings = 'deny'\n", &["flows"], 1);
    exits("[lints]\nwarnings = 'deny'\nS07 = 'warn'\n", &["flows"], 0);
    exits("[[paths]]\nfiles = 'flows/w*.yml'\nlints.S07 = 'deny'\n", &["flows"], 1);
    exits("[[paths]]\nfiles = 'flows/x*.yml'\nlints.S07 = 'deny'\n", &["flows"], 0);
}

#[test]
fn flags_win() {
    exits(DENY, &["flows", "--warn", "S07"], 0);
    exits(DENY, &["flows", "--allow", "S07"], 0);
    exits(ALLOW, &["flows", "--deny", "warnings"], 0);
    exits(ALLOW, &["flows", "--deny", "S07"], 1);
    exits("[lints]\nS07 = 'warn'\n", &["flows", "--deny", "warnings"], 1);
    exits(DENY, &["flows", "--no-config"], 0);
}

#[test]
fn the_nearest_one_counts_for_each_file() {
    let scratch = Scratch::with(&[
        ("orange-workflow.toml", DENY),
        ("a/warned.yml", WARNED),
        ("b/orange-workflow.toml", ALLOW),
        ("b/deep/warned.yml", &WARNED.replace("name: warned", "name: other")),
    ]);
    let run = scratch.run(&["check", ".", "--format", "short", "--allow", "name-mismatch"]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""));
    let found: Vec<&str> = run.out.lines().filter(|it| it.contains("S07")).collect();
    assert!(found.len() == 1 && found[0].starts_with("a/warned.yml:5:26: deny[S07 "), "{}", run.out);
    let mut inside = scratch.command(&["check", "warned.yml", "--format", "short"]);
    let output = inside.current_dir(scratch.path().join("b/deep")).output().unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains("S07"));
}

#[test]
fn standard_input_has_the_place_of_its_name() {
    let scratch = Scratch::with(&[("flows/orange-workflow.toml", DENY)]);
    let run = scratch.run_with_stdin(&["check", "-", "--stdin-name", "flows/warned.yml"], WARNED);
    assert_eq!(run.exit, 1, "{}{}", run.out, run.err);
    assert_eq!(scratch.run_with_stdin(&["check", "-", "--stdin-name", "warned.yml"], WARNED).exit, 0);
}

#[test]
fn a_wrong_one_is_reported_and_hides_no_finding() {
    let scratch = Scratch::with(&[
        ("orange-workflow.toml", "[lints]\nyaml-tarp = 'warn'\nS07 = 'deny'\nC40 = 'off'\n"),
        ("flows/warned.yml", WARNED),
        ("flows/broken.yml", BROKEN),
    ]);
    let run = scratch.run(&["check", ".", "--format", "short"]);
    assert_eq!(run.exit, 2);
    assert_eq!(
        run.err,
        "error: orange-workflow.toml:2:1: there is no check `yaml-tarp`\n  \
           help: did you mean `yaml-trap`?\n\
         error: orange-workflow.toml:4:7: this is not a level\n  \
           help: write \"allow\", \"info\", \"warn\" or \"deny\"\n"
    );
    assert!(run.out.contains("flows/broken.yml:7:25: error[A01 "), "{}", run.out);
    assert!(run.out.contains("flows/warned.yml:5:26: deny[S07 "), "{}", run.out);
    assert_eq!(scratch.run(&["check", ".", "--no-config", "--exit-zero"]).exit, 0);
    let fine = Scratch::with(&[("flows/broken.yml", BROKEN)]);
    std::fs::create_dir(fine.path().join("orange-workflow.toml")).unwrap();
    let run = fine.run(&["check", "flows", "--format", "short"]);
    assert_eq!((run.exit, run.out.lines().count()), (2, 1), "{}", run.err);
}

#[test]
fn it_is_no_workflow_itself() {
    let scratch = Scratch::with(&[("flows/orange-workflow.toml", DENY), ("flows/warned.yml", WARNED)]);
    let run = scratch.run(&["check", "flows", "--format", "json"]);
    assert_eq!((run.json()["files"].as_u64(), run.err.as_str()), (Some(1), ""));
}

#[test]
fn several_checks_are_named_at_once() {
    let scratch = Scratch::with(&[("warned.yml", WARNED)]);
    let exit = |args: &[&str]| scratch.run(&[&["check", "warned.yml"], args].concat()).exit;
    assert_eq!(exit(&[]), 0);
    for deny in ["S07", "C61,S07", "S0", "s", "C61,yaml-trap"] {
        assert_eq!(exit(&["--deny", deny]), 1, "{deny}");
    }
    assert_eq!(exit(&["--deny", "S", "--allow", "S07"]), 0);
    assert_eq!(exit(&["--deny", "warnings", "--warn", "S0"]), 0);
    for (deny, help) in
        [("yaml-trp,S06", "did you mean `yaml-trap`?"), ("Z9", "explain --list"), ("", "explain --list")]
    {
        let run = scratch.run(&["check", "warned.yml", "--deny", deny]);
        assert!(run.exit == 2 && run.err.contains(help), "{}", run.err);
    }
    scratch.write("orange-workflow.toml", "[lints]\nS = \"deny\"\n");
    assert_eq!(exit(&[]), 1);
    scratch.write("orange-workflow.toml", "[lints]\nS = \"deny\"\nS07 = \"warn\"\n");
    assert_eq!(exit(&[]), 0);
}
