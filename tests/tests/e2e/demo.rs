//! `orange demo` and `cargo xtask demo` run from the first line to the last, say what they should, and leave nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use orange_tests::programs::built;

use crate::attach::AttachedTerminal;
use crate::world::{World, processes, target_program};

/// The scratch folder that a demo names.
fn scratch_folder(said: &str) -> PathBuf {
    let (_, from) = said.split_once("scratch folder ").unwrap();
    PathBuf::from(from.split(". ").next().unwrap())
}

#[test]
fn a_demo_without_a_terminal_shows_a_whole_life() {
    let world = World::empty();
    let said = world.orange_in(&world.path(""), &["demo", "--keep"]);
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{said:#?}");
    for line in [
        "$ orange project add",
        "$ orange task create add-login",
        "  pending → clarification",
        "  The agent asks: 1. What is to be done?",
        "$ orange task send add-login \"Add a login form\"",
        "  clarification → working",
        "  working → agent-review",
        "  agent-review → working",
        "  agent-review → reviewing",
        "$ orange task merge add-login --local",
        "  reviewing → done",
    ] {
        assert!(said.out.lines().any(|said| said == line), "`{line}` is not in:\n{}", said.out);
    }
    assert!(!said.out.contains('\u{1b}'), "colour is for terminals");
    let folder = scratch_folder(&said.out);
    assert!(said.out.ends_with(&format!("`rm -r {}` removes them.\n", folder.display())), "{}", said.out);
    assert!(folder.join("orange/tasks/toy").is_dir());
    assert_eq!(processes(&folder.join("orange")).count(), 0);
    assert!(!world.home().exists(), "the demo has a home of its own");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_demo_without_tmux_says_what_is_missing() {
    let world = World::empty();
    let said = world.said(world.with_only(&["git"]).args(["demo", "--json"]));
    assert!(said.fails(5, "environment").contains("install tmux"));
}

#[test]
fn an_interrupted_demo_leaves_nothing() {
    let world = World::empty();
    target_program("orange-dashboard");
    let terminal = AttachedTerminal::plain(&world, "trap : INT; export TERM=xterm-256color; orange demo");
    let folder = scratch_folder(&terminal.shows("Nothing else of yours"));
    let is_left = |folder: &Path| folder.exists() || processes(&folder.join("orange")).next().is_some();
    assert!(is_left(&folder));
    terminal.shows("NEEDS YOU");
    terminal.press(&["q"]);
    terminal.shows("You read what was done.");
    terminal.press(&["C-c"]);
    terminal.shows("LEFT 130");
    world.until("nothing of the demo is left", || !is_left(&folder));
}

/// It is run as one runs it inside an agent's tmux, and must not be touched by that.
#[test]
fn the_demo_comes_out_as_its_page_says() {
    let mut demo = Command::new(built(&["--package", "xtask"]).join("xtask"));
    demo.arg("demo").env("TMUX", "/nowhere,1,0").env("ORANGE_TASK", "x").env("ORANGE_HOME", "/nowhere");
    let output = demo.output().unwrap();
    let (out, err) = (crate::world::text(&output.stdout), crate::world::text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    for line in [
        "  asks for agent-review       the worker, and is refused",
        "  agent-review → working      the reviewer asked",
        "      gate   `## Review` (first line `Verdict: FAIL`, rewritten): passed",
        "      guard  `review_round < 2` holds: review_round is 1",
        "  working → stuck             the engine, after too many crashes",
        "      hooks  kill_reviewer, notify_worker",
        "  reviewing → done            a person asked",
        "Attempts: plan 1, implement 1, review 2, fix 1, pr 1, hand-over 0.",
        "  pauses (2)                  boundary",
        "Attempts: plan 1, implement 1, review 4, fix 3, pr 0, hand-over 1.",
        "  is failed                   the engine",
        "Everything came out as this text says.",
    ] {
        assert!(out.contains(line), "`{line}` is not in:\n{out}");
    }
    assert_eq!(out.matches("reviewing → done            ").count(), 2);
    assert!(!out.contains('\u{1b}'), "colour is for terminals");
    let widest = out.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "a line has {widest} columns");
}
