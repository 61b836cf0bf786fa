//! `--baseline` and `--write-baseline`: known findings are left out wherever they move, new ones are not.

use serde_json::{Value, json};

use crate::check::{BROKEN, WARNED};
use crate::scratch::{CommandResult, Scratch};

/// A folder whose findings are all known.
fn known() -> Scratch {
    let scratch = Scratch::with(&[("flows/warned.yml", WARNED)]);
    let run = scratch.run(&["check", "flows", "--write-baseline", "known.json", "--format", "short"]);
    assert_eq!((run.exit, run.out.as_str()), (0, ""));
    assert!(run.err.starts_with("wrote ") && run.err.ends_with(" to known.json\n"), "{}", run.err);
    scratch
}

/// Checks with the baseline, and counts the traps that are left.
#[track_caller]
fn left(scratch: &Scratch, expect: usize) -> CommandResult {
    let args = ["check", "flows", "--baseline", "known.json", "--deny", "S07", "--format", "short"];
    let run = scratch.run(&args);
    assert_eq!(run.out.matches("S07").count(), expect, "{}{}", run.out, run.err);
    assert_eq!(run.exit, i32::from(expect > 0), "{}{}", run.out, run.err);
    run
}

#[test]
fn it_names_checks_and_places() {
    let written: Value = serde_json::from_str(&known().read("known.json")).unwrap();
    assert_eq!(written["version"], 1);
    let known =
        json!({"file": "flows/warned.yml", "check": "yaml-trap", "place": "states.pending.description"});
    assert!(written["findings"].as_array().unwrap().contains(&known), "{written}");
}

#[test]
fn what_is_known_is_left_out_wherever_it_moves() {
    let scratch = known();
    assert_eq!(left(&scratch, 0).err, "");
    let moved = WARNED
        .replace("states:\n", "# Much\n# more.\n\nstates:\n  first: {}\n")
        .replace("{description: on}", "\n    entry: true\n    description: on")
        .replace("{from: pending, to: later}", "{from: pending, to: later}\n  - {from: first, to: done}");
    scratch.write("flows/warned.yml", moved);
    assert_eq!(left(&scratch, 0).err, "");
}

#[test]
fn what_is_new_is_not() {
    let scratch = known();
    scratch.write("flows/warned.yml", WARNED.replace("later: {}", "later: {description: on}"));
    assert!(left(&scratch, 1).out.contains("warned.yml:6:24: "));
    scratch.write("flows/other.yml", WARNED.replace("name: warned", "name: other"));
    left(&scratch, 2);
}

#[test]
fn of_several_at_one_place_as_many_are_left_out_as_are_known() {
    let with = |prompt: &str| {
        let prompts = format!("prompts:\n  again: \"{prompt}\"\n");
        WARNED.replace("{description: on}", "{respawn_prompt: again}") + &prompts
    };
    let scratch = Scratch::with(&[("flows/warned.yml", &with("{sumary}"))]);
    scratch.run(&["check", "flows", "--write-baseline", "known.json"]);
    let left = |prompt: &str| {
        scratch.write("flows/warned.yml", with(prompt));
        let run = scratch.run(&["check", "flows", "--baseline", "known.json", "--format", "short"]);
        run.out.matches("C84").count()
    };
    assert_eq!([left("{sumary}"), left("{brnach} {sumary}"), left("{a} {b} {c}")], [0, 1, 2]);
}

#[test]
fn entries_that_match_nothing_are_reported() {
    let scratch = known();
    scratch.write("flows/warned.yml", WARNED.replace("on}", "'on'}"));
    let run = left(&scratch, 0);
    assert!(
        run.err.contains("no longer found: flows/warned.yml: yaml-trap at states.pending.description\n"),
        "{}",
        run.err
    );
    assert!(
        run.err.ends_with("  help: write the baseline again with --write-baseline known.json\n"),
        "{}",
        run.err
    );
    scratch.write("flows/warned.yml", WARNED.replace("to: done", "to: doen"));
    let run = scratch.run(&["check", "flows", "--baseline", "known.json"]);
    assert_eq!((run.exit, run.err.as_str()), (1, ""));
    std::fs::rename(scratch.path().join("flows/warned.yml"), scratch.path().join("flows/renamed.yml"))
        .unwrap();
    let run = scratch.run(&["check", "flows", "--baseline", "known.json"]);
    assert!(run.err.contains("no longer found: flows/warned.yml: yaml-trap"), "{}", run.err);
}

#[test]
fn paths_begin_at_the_folder_of_the_baseline() {
    let scratch = known();
    let mut inside =
        scratch.command(&["check", "warned.yml", "--baseline", "../known.json", "--deny", "S07"]);
    let output = inside.current_dir(scratch.path().join("flows")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8(output.stdout).unwrap());
}

#[test]
fn an_error_is_never_known() {
    let scratch = Scratch::with(&[("flows/broken.yml", BROKEN)]);
    let run = scratch.run(&["check", "flows", "--write-baseline", "known.json", "--format", "short"]);
    assert_eq!(run.exit, 1);
    assert!(run.out.contains("error[A01 "), "{}", run.out);
    assert!(!scratch.read("known.json").contains("unknown-to"));
}

#[test]
fn nothing_is_written_where_something_was_not_looked_at() {
    let scratch = Scratch::with(&[("flows/warned.yml", WARNED)]);
    let run = scratch.run(&["check", "flows", "nowhere", "--write-baseline", "known.json"]);
    assert_eq!(run.exit, 2);
    assert!(run.err.contains("error: known.json is not written: "), "{}", run.err);
    assert!(!scratch.path().join("known.json").exists());
}

#[test]
fn what_is_no_baseline_is_refused() {
    let scratch = Scratch::with(&[("warned.yml", WARNED)]);
    let refused = |text: &str, says: &str| {
        scratch.write("known.json", text);
        let run = scratch.run(&["check", "warned.yml", "--baseline", "known.json"]);
        assert_eq!((run.exit, run.out.as_str()), (2, ""));
        assert!(run.err.contains(says), "{}", run.err);
    };
    refused("", "known.json is not a baseline: ");
    refused("{\"version\": 2, \"findings\": []}", "its version is 2, and 1 is known here");
    refused("{\"version\": 1, \"finding\": []}", "unknown field `finding`");
    let run = scratch.run(&["check", "warned.yml", "--baseline", "nowhere.json"]);
    assert!(run.err.starts_with("error: cannot read the baseline nowhere.json: "), "{}", run.err);
}
