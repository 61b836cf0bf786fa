//! The worktree of a task that waits for a person is reclaimed for another task, and restored.

use std::fs;

use serde_json::json;

use crate::task::Task;
use crate::world::World;

/// A project with one worktree, and a task in it that waits for a person, with work that is not committed.
fn waiting(world: &World) -> Task<'_> {
    let settings = ["--pool-size", "1", "--queue", "auto", "--reclaim-when-waiting", "true"];
    world.ok(&[&["project", "update"], &settings[..]].concat());
    let task = world.create("one", "Mend it [agents: work]", &["--workflow", "minimal"]);
    task.reaches("reviewing");
    task.is_left();
    fs::write(task.worktree().join("idea"), "half\n").unwrap();
    fs::write(task.worktree().join("README.md"), "A better toy.\n").unwrap();
    task
}

fn look(world: &World) -> String {
    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["errors"], json!([]), "{looked}");
    looked.to_string()
}

fn has_its_work(task: &Task<'_>) {
    assert_eq!(fs::read_to_string(task.worktree().join("idea")).unwrap(), "half\n");
    assert_eq!(fs::read_to_string(task.worktree().join("README.md")).unwrap(), "A better toy.\n");
}

#[test]
fn a_worktree_is_reclaimed_and_restored() {
    let world = World::new();
    let first = waiting(&world);
    look(&world);
    has_its_work(&first);
    assert_eq!(first.owned("workspace"), "toy--1", "no task waits for it");
    let second = world.create("two", "Mend that [agents: hang]", &["--workflow", "minimal"]);
    assert_eq!(second.status(), "pending");
    let looked = look(&world);
    assert!(looked.contains("toy--1 was reclaimed for another task"), "{looked}");
    second.reaches("working");
    second.agent(1).begun();
    assert_eq!(first.owned("workspace"), json!(null));
    assert_eq!(fs::read_to_string(second.worktree().join("README.md")).unwrap(), "A toy.\n");
    assert!(!second.worktree().join("idea").exists());
    assert!(world.kept_texts().contains("half"));

    // A person who goes on with it has to wait, and the answer says so.
    for _ in 0..2 {
        let refused = first.fails(1, "refused", "merge", &["--local"]);
        assert!(refused.contains("waits for a free worktree of toy"), "{refused}");
    }
    assert_eq!(first.events_of("worktree.requested").len(), 1);
    second.ok("cancel", &["--yes"]);
    let third = world.create("three", "Mend it all [agents: hang]", &["--workflow", "minimal", "--no-spawn"]);
    let looked = look(&world);
    assert!(looked.contains("has a worktree again"), "{looked}");
    has_its_work(&first);
    assert_eq!(third.status(), "pending", "the worktree was requested before");
    look(&world);
    has_its_work(&first);
    assert_eq!(world.git(&first.worktree(), &["branch", "--show-current"]), "one");
    world.git(&first.worktree(), &["commit", "--quiet", "--all", "--message", "Better"]);
    fs::remove_file(first.worktree().join("idea")).unwrap();
    first.ok("merge", &["--local"]);
    assert_eq!(world.git(&world.repo(), &["show", "main:README.md"]), "A better toy.");
}

#[test]
fn reclaimed_work_is_in_a_backup_after_a_cancel() {
    let world = World::new();
    let first = waiting(&world);
    let second = world.create("two", "Mend that [agents: hang]", &["--workflow", "minimal"]);
    look(&world);
    second.agent(1).begun();
    first.ok("cancel", &["--yes"]);
    assert_eq!(second.status(), "working");
    let kept = world.kept_texts();
    assert!(kept.contains("half") && kept.contains("A better toy."), "{kept:?}");
}

#[test]
fn a_project_that_does_not_allow_it_keeps_worktrees() {
    let world = World::new();
    let first = waiting(&world);
    world.ok(&["project", "update", "--reclaim-when-waiting", "false"]);
    let second = world.create("two", "Mend that [agents: hang]", &["--workflow", "minimal"]);
    look(&world);
    assert_eq!((second.status().as_str(), first.owned("workspace")), ("pending", json!("toy--1")));
    has_its_work(&first);
}
