//! `cargo xtask demo` runs from the first line to the last, and says what it should.

use std::process::Command;

use orange_tests::programs::built;

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
