//! Several transitions of one pair of states, of which the actor or the verdict in the section chooses one.

use std::fs;

use crate::task::Task;
use crate::world::World;

/// A workflow in which a build that fails leads back to work and is counted, by the program that built it; a person takes work back
/// without either. A verdict decides whether a person's acceptance is one.
const FLOW: &str = "\
name: pairs
actors: [ci]
fields: {failed_builds: 0, accepted: 0, doubted: 0}
states:
  working: {respawn_prompt: worker}
  built: {}
  closed: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - {from: working, to: built}
  - from: built
    to: working
    by: ci
    gate: {section: \"## Build\", verdict: FAIL, strict: true, written_by: ci}
    hooks: [{action: increment, field: failed_builds}]
  - {from: built, to: working, by: human}
  - from: built
    to: closed
    by: human
    gate: {section: \"## Build\", verdict: PASS, strict: true, written_by: ci}
    hooks: [{action: increment, field: accepted}]
  - from: built
    to: closed
    by: human
    gate: {section: \"## Build\", verdict: FAIL, strict: true, written_by: ci}
    hooks: [{action: increment, field: doubted}]
  - {from: [working, built], to: cancelled, by: human}
prompts: {worker: \"Build it.\\n{summary}\\n\"}
";

fn built<'w>(world: &'w World, branch: &str) -> Task<'w> {
    let task = world.create(branch, "Build it", &["--workflow", "pairs", "--no-spawn"]);
    task.ok("update", &["--status", "built"]);
    task
}

#[track_caller]
fn counted(task: &Task<'_>, expect: [u64; 3]) {
    let shown = task.ok("show", &[]);
    let of = |name: &str| shown["counters"][name].as_u64().unwrap_or_default();
    assert_eq!(["failed_builds", "accepted", "doubted"].map(of), expect, "{shown}");
}

#[test]
fn who_asks_chooses_between_two_transitions() {
    let world = World::new();
    world.workflow("pairs.yml", FLOW);
    let task = built(&world, "asked");
    let file = world.path("token");
    fs::write(&file, world.orange(&["project", "token", "ci"]).out).unwrap();
    let as_ci = ["--status", "working", "--as", "ci", "--token-file", &file.to_string_lossy()];

    let missing = task.fails(1, "gate_failed", "update", &as_ci);
    assert!(missing.contains("`## Build` is missing"), "{missing}");
    task.ok("update", &["--status", "working"]);
    counted(&task, [0, 0, 0]);

    task.ok("update", &["--status", "built"]);
    task.write("## Build\n\nVerdict: PASS");
    let other = task.fails(1, "gate_failed", "update", &as_ci);
    assert!(other.contains("FAIL"), "{other}");
    task.write("## Build\n\nVerdict: FAIL");
    task.ok("update", &as_ci);
    counted(&task, [1, 0, 0]);
    assert_eq!(task.status(), "working");
}

#[test]
fn the_verdict_chooses_between_two_transitions() {
    let world = World::new();
    world.workflow("pairs.yml", FLOW);
    for (branch, verdict, expect) in [("passed", "PASS", [0, 1, 0]), ("failed", "FAIL", [0, 0, 1])] {
        let task = built(&world, branch);
        let none = task.fails(1, "gate_failed", "update", &["--status", "closed"]);
        assert!(none.contains("Verdict: PASS") || none.contains("`## Build`"), "{none}");
        task.write(&format!("## Build\n\nVerdict: {verdict}"));
        task.ok("update", &["--status", "closed"]);
        counted(&task, expect);
    }
}
