//! What has passed a gate: journaled with its hash and its commit, told, and not let through again.

use serde_json::json;

use crate::task::Task;
use crate::world::World;

#[track_caller]
fn commit(world: &World, task: &Task<'_>, file: &str) -> String {
    let worktree = task.worktree();
    std::fs::write(worktree.join(file), "done\n").unwrap();
    world.git(&worktree, &["add", file]);
    world.git(&worktree, &["commit", "--quiet", "--message", file]);
    world.git(&worktree, &["rev-parse", "HEAD"])
}

#[test]
fn what_passed_is_on_record_with_the_commit_it_was_about() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let first = commit(&world, &task, "first");
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "agent-review"]);
    let gate = &task.events_of("transition.started").pop().unwrap()["gate"];
    assert_eq!((&gate["section"], &gate["commit"]), (&json!("## Handoff"), &json!(first)));
    let expect = json!({ "## Handoff": { "hash": gate["hash"], "commit": first, "unchanged": true } });
    assert_eq!(task.show()["gates"], expect);

    task.write("## Review\n\nVerdict: FAIL");
    task.ok("update", &["--status", "working"]);
    let stale = task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);
    let told =
        format!("as it was when it last passed, at commit {}, where the worktree still stands", &first[..10]);
    assert!(stale.contains(&told), "{stale}");

    let second = commit(&world, &task, "second");
    let stale = task.fails(1, "gate_failed", "update", &["--status", "agent-review"]);
    let told = format!("at commit {}, and the worktree stands on {} now", &first[..10], &second[..10]);
    assert!(stale.contains(&told), "{stale}");
    let next = task.ok("next", &[]);
    let way = next.as_array().unwrap().iter().find(|way| way["to"] == "agent-review").unwrap();
    assert!(way["missing"].as_str().unwrap().contains(&told), "{way}");
    let shown = world.orange(&["task", "show", &task.id]).out;
    assert!(
        shown.contains(&format!("DONE: all of it  (passed at {}, unchanged since)", &first[..10])),
        "{shown}"
    );
}
