//! `check --fix`: what is mended, what is written, and what is left alone.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::bad_input::mutilated;
use crate::scratch::{CLEAN, Scratch};

/// Two misspelled names, odd spacing and comments.
const BROKEN: &str = "\
# Mine.
name:   flow   # odd, and mine
version: 1
commands: {cancel: done}
states:
  pending: {}
  later: {}
  done: {terminal: true}

transistions:   # [sic]
  - {from: pending, to: later}
  - {from: later, to: pending}
  - {from: [pending, later],   to: 'doen'}   # the end
";

fn mended() -> String {
    BROKEN.replace("transistions", "transitions").replace("doen", "done")
}

#[test]
fn a_file_is_mended_in_place() {
    let scratch = Scratch::with(&[("flow.yml", BROKEN), ("clean.yml", CLEAN)]);
    let run = scratch.run(&["check", ".", "--fix"]);
    assert_eq!(
        (run.exit, run.out.as_str(), run.err.as_str()),
        (0, "checked 2 files: nothing wrong\n", "made 2 fixes in flow.yml\n")
    );
    assert_eq!(scratch.read("flow.yml"), mended());
    assert_eq!(scratch.read("clean.yml"), CLEAN);
    let again = scratch.run(&["check", ".", "--fix"]);
    assert_eq!((again.exit, again.err.as_str()), (0, ""));
}

#[test]
fn a_check_alone_writes_nothing() {
    let scratch = Scratch::with(&[("flow.yml", BROKEN)]);
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(scratch.run(&["check", "flow.yml"]).exit, 1);
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(scratch.read("flow.yml"), BROKEN);
}

#[test]
fn a_diff_is_only_shown() {
    let scratch = Scratch::with(&[("flows/flow.yml", BROKEN), ("flows/clean.yml", CLEAN)]);
    for flags in [&["--diff"][..], &["--fix", "--diff"], &["--unsafe-fixes", "--diff"]] {
        let run = scratch.run(&[&["check", "flows"], flags].concat());
        assert_eq!(
            (run.exit, run.err.as_str()),
            (0, "would make 2 fixes in flows/flow.yml\n"),
            "{}",
            run.out
        );
        assert!(run.out.starts_with("--- a/flows/flow.yml\n+++ b/flows/flow.yml\n@@ "), "{}", run.out);
        assert!(run.out.contains("\n-transistions:   # [sic]\n"), "{}", run.out);
        assert_eq!(scratch.read("flows/flow.yml"), BROKEN);
    }
    let nothing = scratch.run(&["check", "flows/clean.yml", "--diff"]);
    assert_eq!((nothing.exit, nothing.out.as_str(), nothing.err.as_str()), (0, "", ""));
}

#[test]
fn a_diff_says_what_it_would_leave() {
    let scratch = Scratch::with(&[("flow.yml", &BROKEN.replace("from: later", "from: nowhere"))]);
    let run = scratch.run(&["check", "flow.yml", "--diff"]);
    assert_eq!(
        (run.exit, run.err.as_str()),
        (1, "would make 2 fixes in flow.yml\nwould be left: 1 error\n"),
        "{}",
        run.out
    );
}

#[test]
fn a_failed_write_is_not_reported_as_a_fix() {
    // There is no room in the folder's entry for the name of the file that is written beside it first.
    let name = format!("{}.yml", "x".repeat(250));
    let scratch = Scratch::with(&[(&name, BROKEN)]);
    let run = scratch.run(&["check", &name, "--fix"]);
    assert_eq!(run.exit, 2);
    assert!(run.err.starts_with("error: cannot write x"), "{}", run.err);
    assert_eq!(scratch.read(&name), BROKEN);
}

#[test]
fn what_cannot_be_mended_is_still_found() {
    let scratch = Scratch::with(&[("flow.yml", &BROKEN.replace("from: later", "from: nowhere"))]);
    let run = scratch.run(&["check", "flow.yml", "--fix", "--format", "json"]);
    assert_eq!((run.exit, run.codes()), (1, vec!["A02".to_owned()]), "{}", run.err);
    assert_eq!(scratch.read("flow.yml"), mended().replace("from: later", "from: nowhere"));
    assert_eq!(scratch.run(&["check", "flow.yml", "--fix", "--exit-zero"]).exit, 0);
}

#[test]
fn a_fix_that_breaks_something_else_is_named_and_not_made() {
    let flow = CLEAN.replace("clean", "flow");
    let scratch = Scratch::with(&[(
        "flow.yml",
        &format!("{flow}  - {{from: pending, to: done, when: \"crash_count =< 1\"}}\n"),
    )]);
    let before = scratch.read("flow.yml");
    let run = scratch.run(&["check", "flow.yml", "--fix"]);
    assert_eq!(run.exit, 1);
    let says = "not fixed in flow.yml: write `<=`: there would be a new error[A07 ambiguous-transitions]: ";
    assert!(run.err.starts_with(says), "{}", run.err);
    assert_eq!(scratch.read("flow.yml"), before);
}

#[test]
fn standard_input_is_mended_on_standard_output() {
    let scratch = Scratch::new();
    let run = scratch.run_with_stdin(&["check", "-", "--stdin-name", "flow.yml", "--fix"], BROKEN);
    assert_eq!((run.exit, run.out.as_str()), (0, mended().as_str()));
    assert_eq!(run.err, "made 2 fixes in flow.yml\nchecked 1 file: nothing wrong\n");
    let diff = scratch.run_with_stdin(&["check", "-", "--stdin-name", "flow.yml", "--diff"], BROKEN);
    assert!(diff.out.starts_with("--- a/flow.yml\n"), "{}", diff.out);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn what_is_allowed_is_not_mended() {
    let warned = CLEAN.replace("done: {terminal: true}", "done: {terminal: true, description: off}");
    let scratch = Scratch::with(&[("clean.yml", &warned)]);
    scratch.run(&["check", "clean.yml", "--fix", "--allow", "yaml-trap"]);
    assert_eq!(scratch.read("clean.yml"), warned);
    scratch.run(&["check", "clean.yml", "--fix"]);
    assert_eq!(scratch.read("clean.yml"), warned.replace("off", "\"off\""));
}

#[test]
fn permissions_links_line_ends_and_marks_stay() {
    let scratch = Scratch::new();
    let text = format!("\u{feff}{}", BROKEN.replace('\n', "\r\n"));
    scratch.write("real/flow.yml", &text);
    let file = scratch.path().join("real/flow.yml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
    symlink("real/flow.yml", scratch.path().join("flow.yml")).unwrap();
    let run = scratch.run(&["check", "flow.yml", "--fix"]);
    assert_eq!(run.exit, 0, "{}{}", run.out, run.err);
    assert_eq!(scratch.read("real/flow.yml"), format!("\u{feff}{}", mended().replace('\n', "\r\n")));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o604);
    assert!(fs::symlink_metadata(scratch.path().join("flow.yml")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(scratch.path().join("real")).unwrap().count(), 1);
}

#[test]
fn toml_is_mended_too() {
    let text = "name = \"flow\" # mine\n[states.a]\n[states.z]\nterminl = true\n[[transitions]]\nfrom = 'a'\nto = 'zz' # z\n";
    let scratch = Scratch::with(&[("flow.toml", text)]);
    let run = scratch.run(&["check", "flow.toml", "--fix"]);
    assert_eq!(run.exit, 0, "{}{}", run.out, run.err);
    assert_eq!(scratch.read("flow.toml"), text.replace("terminl", "terminal").replace("'zz'", "'z'"));
}

#[test]
fn broken_syntax_is_left_alone() {
    let text = BROKEN.replace("name:   flow", "name   flow: [");
    let scratch = Scratch::with(&[("flow.yml", &text)]);
    let run = scratch.run(&["check", "flow.yml", "--fix", "--unsafe-fixes"]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""));
    assert_eq!(scratch.read("flow.yml"), text);
}

#[test]
fn a_fix_that_causes_a_warning_is_left_out() {
    let seed = include_str!("../../../../tests/fixtures/seed-default.yml");
    let scratch = Scratch::with(&[("default.yml", seed)]);
    let run = scratch.run(&["check", "default.yml", "--unsafe-fixes", "--format", "json"]);
    let refused = "not fixed in default.yml: put `kill_session` before this hook: there would be a new warn[";
    assert!(run.err.contains(refused), "{}", run.err);
    assert!(scratch.read("default.yml").contains("strict: true"));
    assert!(run.err.starts_with("made 3 fixes in default.yml\n"), "{}", run.err);
}

#[test]
fn mutilated_files_are_mended_or_laid_out_or_left() {
    let scratch = Scratch::new();
    let names: Vec<String> = (0..200).map(|seed| format!("{seed}.yml")).collect();
    for (seed, name) in names.iter().enumerate() {
        scratch.write(name, mutilated(BROKEN, seed));
    }
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    scratch.run(&[&["check", "--unsafe-fixes", "--diff"], &files[..]].concat());
    let laid_out = scratch.run(&[&["fmt"], &files[..]].concat());
    assert!(!laid_out.err.contains("a bug of"), "{}", laid_out.err);
    assert!(laid_out.err.contains("laid out"), "{}", laid_out.err);
}
