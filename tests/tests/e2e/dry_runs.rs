//! `--dry-run` of every command that changes a task: the home, the worktrees, the branches and tmux stay as they are.

use std::fs;

use serde_json::{Value, json};

use crate::dashboard::processes;
use crate::dry_run::{Entry, tree};
use crate::task::is_alive;
use crate::world::World;

/// Runs a command, whatever its answer, which must leave everything as it is.
#[track_caller]
fn dry(world: &World, words: &[&str]) -> Value {
    let state = || {
        let refs = world.git(&world.repo(), &["for-each-ref"]);
        (tree(&world.home()), refs, world.panes())
    };
    let (before, refs, panes) = state();
    let said = world.json(&[words, &["--dry-run"]].concat());
    let (after, refs_after, panes_after) = state();
    let (is_new, is_gone) = (|it: &&Entry| !before.contains(it), |it: &&Entry| !after.contains(it));
    let changed = after.iter().filter(is_new).chain(before.iter().filter(is_gone));
    let changed: Vec<&str> = changed.map(|(path, ..)| path.as_str()).collect();
    assert_eq!(changed, [""; 0], "changed by {words:?}: {said:?}");
    assert_eq!((refs_after, panes_after), (refs, panes), "changed by {words:?}: {said:?}");
    said.json()
}

#[test]
fn a_dry_run_changes_nothing_and_answers_like_the_real_call() {
    let world = World::new().with_github();
    let task = world.create("fix", "Mend it [agents: hang work pass]", &["--no-spawn"]);
    let id = task.id.as_str();
    let code = |answer: &Value| answer["error"]["code"].as_str().unwrap_or_default().to_owned();
    let arrow = |answer: &Value| format!("{} {} {}", answer["from"], answer["to"], answer["dry_run"]);

    let created = dry(&world, &["task", "create", "new", "Mend that"]);
    assert_eq!(
        (&created["id"], &created["branch"], &created["dry_run"]),
        (&json!(null), &json!("new"), &json!(true))
    );
    assert_eq!(code(&dry(&world, &["task", "create", "fix", "Mend that"])), "refused");
    assert_eq!(arrow(&dry(&world, &["task", "spawn", id])), r#""pending" "working" true"#);
    assert_eq!(code(&dry(&world, &["task", "stop", id])), "refused");
    assert!(dry(&world, &["task", "delete", id])["path"].as_str().unwrap().contains("trash"));
    task.ok("spawn", &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");

    assert_eq!(dry(&world, &["task", "stop", id])["stopped"], json!([1]));
    assert_eq!(code(&dry(&world, &["task", "respawn", id])), "not_respawnable");
    assert_eq!(dry(&world, &["task", "restart", id])["spawn"], 2);
    assert_eq!(dry(&world, &["task", "send", id, "Go on"])["spawn"], 1);
    assert_eq!(code(&dry(&world, &["task", "delete", id])), "refused");
    assert_eq!(code(&dry(&world, &["task", "merge", id, "--local"])), "no_transition");
    let migrated = dry(&world, &["task", "migrate", id, "--to", "reviewing"]);
    assert_eq!(arrow(&migrated), r#""working" "reviewing" true"#);
    fs::write(task.worktree().join("idea.txt"), "half an idea\n").unwrap();
    assert_eq!(arrow(&dry(&world, &["task", "cancel", id])), r#""working" "cancelled" true"#);
    assert_eq!(code(&dry(&world, &["task", "create-pr", id])), "refused");
    assert!(is_alive(agent));
    fs::remove_file(task.worktree().join("idea.txt")).unwrap();

    task.ok("stop", &[]);
    assert_eq!(dry(&world, &["task", "respawn", id])["spawn"], 2);
    task.ok("respawn", &[]);
    task.reaches("reviewing");
    // What is around an agent writes a little longer than the agent.
    world.until("no agent is left", || processes(&world, "agent").is_empty());
    let merged = dry(&world, &["task", "merge", id, "--local"]);
    assert_eq!(arrow(&merged), r#""reviewing" "done" true"#);
    assert_eq!((&merged["strategy"], &merged["pushed"]), (&json!("ff"), &json!(true)));
    let pr = dry(&world, &["task", "create-pr", id]);
    assert_eq!((&pr["pr_url"], &pr["created"]), (&json!(null), &json!(true)));
    task.ok("merge", &["--local"]);
    task.ok("delete", &["--yes"]);
    assert_eq!(dry(&world, &["task", "restore", id])["status"], "done");
    assert!(!task.folder().exists());
}
