//! `orange task undo`: a cancellation is taken back, and no work is lost in either direction.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::task::Task;
use crate::world::World;

/// A task whose agent hangs, with commits and every kind of uncommitted work in its worktree.
fn at_work(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let worktree = task.worktree();
    fs::write(worktree.join("committed.txt"), "one\n").unwrap();
    fs::write(worktree.join("removed.txt"), "one\n").unwrap();
    world.git(&worktree, &["add", "."]);
    world.git(&worktree, &["commit", "--quiet", "--message", "One"]);
    fs::write(worktree.join("committed.txt"), "one\ntwo\r\n").unwrap();
    fs::remove_file(worktree.join("removed.txt")).unwrap();
    fs::write(worktree.join("staged.txt"), "staged\n").unwrap();
    world.git(&worktree, &["add", "staged.txt"]);
    fs::create_dir(worktree.join("deep")).unwrap();
    fs::write(worktree.join("deep/new ü\".txt"), b"new\0\xff").unwrap();
    symlink("../committed.txt", worktree.join("deep/link")).unwrap();
    task
}

/// Every file of a worktree that is work, with its content or its target.
fn files(worktree: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![worktree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(worktree).unwrap().display().to_string();
            let kind = path.symlink_metadata().unwrap();
            if name == ".git" || name == ".orange" || name == "TASK.md" {
            } else if kind.is_symlink() {
                found.insert(name, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if kind.is_dir() {
                folders.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn agents(task: &Task<'_>) -> usize {
    task.events_of("agent.spawned").len() + task.events_of("agent.respawned").len()
}

#[test]
fn a_cancelled_task_comes_back_with_all_its_work_and_no_agent() {
    let world = World::new();
    world.ok(&["project", "update", "--queue", "auto"]);
    let task = at_work(&world);
    let (before, tip) = (files(&task.worktree()), world.git(&world.repo(), &["rev-parse", "fix"]));
    task.ok("cancel", &["--yes"]);
    let events = task.events();
    let dry = task.ok("undo", &["--dry-run"]);
    assert_eq!((&dry["to"], &dry["dry_run"]), (&json!("working"), &json!(true)));
    assert_eq!((task.events(), task.owned("workspace")), (events, json!(null)));

    let undone = task.ok("undo", &[]);
    assert_eq!((&undone["from"], &undone["to"]), (&json!("cancelled"), &json!("working")));
    assert_eq!((&undone["waits_for"], &undone["backup"]), (&json!(null), &dry["backup"]));
    assert_eq!(files(&task.worktree()), before);
    assert_eq!(world.git(&task.worktree(), &["rev-parse", "HEAD"]), tip);
    assert_eq!(world.git(&task.worktree(), &["symbolic-ref", "--short", "HEAD"]), "fix");
    assert_eq!(task.events_of("task.reopened").len(), 1);
    assert_eq!(task.show()["session"], "stopped");
    world.ok(&["monitor", "--once"]);
    assert_eq!((agents(&task), task.status()), (1, "working".to_owned()), "no agent is started");
    assert_eq!(files(&task.worktree()), before);
    let again = task.fails(1, "refused", "undo", &[]);
    assert!(again.contains("task fix is working, neither cancelled nor merged"), "{again}");
    assert!(again.contains("`orange task next fix`"), "{again}");
    task.ok("respawn", &[]);
    assert_eq!(agents(&task), 2);
    task.agent(2).begun();
    task.ok("cancel", &["--yes"]);
    task.ok("undo", &[]);
    assert_eq!(files(&task.worktree()), before, "and once more");
}

#[test]
fn without_a_free_worktree_the_work_waits_for_one() {
    let world = World::new();
    world.ok(&["project", "update", "--pool-size", "1"]);
    let task = at_work(&world);
    let before = files(&task.worktree());
    task.ok("cancel", &["--yes"]);
    let other = world.create("other", "Mend that [agents: hang]", &[]);
    other.agent(1).begun();
    let undone = task.ok("undo", &[]);
    assert!(undone["waits_for"].is_string() && undone["workspace"].is_null(), "{undone}");
    assert_eq!(task.status(), "working");
    assert!(task.ok("undo", &[])["waits_for"].is_string(), "it may be asked again");
    task.fails(1, "refused", "spawn", &[]);
    // A second cancellation in between loses nothing.
    task.ok("cancel", &["--yes"]);
    task.ok("undo", &[]);
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.owned("workspace"), json!(null));
    other.ok("cancel", &["--yes"]);
    world.until("the monitor gives it a worktree", || {
        world.ok(&["monitor", "--once"]);
        task.owned("workspace").is_string()
    });
    assert_eq!(files(&task.worktree()), before);
    assert_eq!(agents(&task), 1);
}

#[test]
fn an_agent_that_starts_later_finds_the_work() {
    let world = World::new();
    world.ok(&["project", "update", "--pool-size", "1"]);
    let task = at_work(&world);
    let before = files(&task.worktree());
    task.ok("cancel", &["--yes"]);
    let other = world.create("other", "Mend that [agents: hang]", &[]);
    other.agent(1).begun();
    task.ok("undo", &[]);
    other.ok("cancel", &["--yes"]);
    task.ok("spawn", &[]);
    task.agent(2).begun();
    assert_eq!(files(&task.worktree()), before);
}

#[test]
fn a_branch_that_somebody_has_moved_is_left_alone() {
    let world = World::new();
    let task = at_work(&world);
    let tip = world.git(&world.repo(), &["rev-parse", "fix"]);
    task.ok("cancel", &["--yes"]);
    world.git(&world.repo(), &["branch", "--force", "fix", "main"]);
    let (events, refs) = (task.events(), world.git(&world.repo(), &["for-each-ref"]));
    let refused = task.fails(1, "refused", "undo", &[]);
    assert!(refused.contains("the branch fix has moved") && refused.contains("task restore"), "{refused}");
    assert_eq!((task.events(), world.git(&world.repo(), &["for-each-ref"])), (events.clone(), refs));
    world.git(&world.repo(), &["branch", "-D", "fix"]);
    task.ok("undo", &["--dry-run"]);
    assert!(world.git(&world.repo(), &["branch", "--list", "fix"]).is_empty(), "a dry run makes no branch");
    task.ok("undo", &[]);
    assert_eq!(world.git(&task.worktree(), &["rev-parse", "fix"]), tip, "a branch that is gone comes back");
}

#[test]
fn what_cannot_be_taken_back_is_refused() {
    let world = World::new();
    let task = at_work(&world);
    task.fails(1, "refused", "undo", &[]);
    let mut agent = task.as_agent("worker", "1");
    world.said(agent.args(["task", "undo"]).current_dir(task.worktree())).fails(1, "not_allowed");
    task.ok("cancel", &["--yes"]);
    let other = world.create("fix", "Mend that", &["--no-spawn"]);
    let taken = task.fails(1, "refused", "undo", &[]);
    assert!(taken.contains(&other.id), "{taken}");
    other.ok("cancel", &["--yes"]);
    other.ok("delete", &["--yes"]);
    task.ok("delete", &["--yes"]);
    let deleted = task.fails(1, "refused", "undo", &[]);
    assert!(deleted.contains(&format!("orange task restore {}", task.id)), "{deleted}");
    task.ok("restore", &[]);
    task.ok("undo", &[]);
    assert!(task.worktree().join("staged.txt").exists());
    world.fails(3, "not_found", &["task", "undo", "nobody"]);
}

#[test]
fn a_task_without_a_worktree_comes_back_as_it_was() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    task.ok("cancel", &["--yes"]);
    let undone = task.ok("undo", &[]);
    assert_eq!(
        (&undone["to"], &undone["workspace"], &undone["waits_for"]),
        (&json!("pending"), &Value::Null, &Value::Null)
    );
    assert_eq!(task.owned("workspace"), json!(null));
}
