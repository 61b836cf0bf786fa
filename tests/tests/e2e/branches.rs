//! A task gets another branch: git and the record say the same afterwards, or nothing has changed.

use std::fs;

use serde_json::json;

use crate::task::Task;
use crate::world::{World, write_program};

/// A world with a task at work in a worktree of its own.
fn working(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

fn has_branch(world: &World, name: &str) -> bool {
    !world.git(&world.repo(), &["branch", "--list", name]).is_empty()
}

#[track_caller]
fn check_on(world: &World, task: &Task<'_>, branch: &str) {
    assert_eq!(task.show()["branch"], branch);
    assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), branch);
    assert!(has_branch(world, branch));
}

#[test]
fn a_new_name_renames_the_branch_in_the_worktree() {
    let world = World::new();
    let task = working(&world);
    let planned = task.ok("update", &["--branch", "login/form", "--dry-run"]);
    assert_eq!(planned["updated"], json!(["branch"]));
    check_on(&world, &task, "fix");
    task.ok("update", &["--branch", "login/form"]);
    check_on(&world, &task, "login/form");
    assert!(!has_branch(&world, "fix"));
    // Merging and cleaning up go by the new name.
    fs::write(task.worktree().join("form.txt"), "a form\n").unwrap();
    world.git(&task.worktree(), &["add", "form.txt"]);
    world.git(&task.worktree(), &["commit", "--quiet", "--message", "Add a form"]);
    task.ok("merge", &["--local", "--force", "--yes"]);
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Add a form");
}

#[test]
fn a_task_without_a_worktree_keeps_its_work_under_the_new_name() {
    let world = World::new();
    let task = working(&world);
    fs::write(task.worktree().join("form.txt"), "a form\n").unwrap();
    world.git(&task.worktree(), &["add", "form.txt"]);
    world.git(&task.worktree(), &["commit", "--quiet", "--message", "Add a form"]);
    task.ok("cancel", &["--yes"]);
    task.ok("update", &["--branch", "form"]);
    assert_eq!(task.show()["branch"], "form");
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "form"]), "Add a form");
    assert!(!has_branch(&world, "fix"));
    // One that never had a branch gets none by that.
    let waiting = world.create("later", "Mend it later", &["--no-spawn"]);
    waiting.ok("update", &["--branch", "soon"]);
    assert_eq!(waiting.show()["branch"], "soon");
    assert!(!has_branch(&world, "soon") && !has_branch(&world, "later"));
}

#[test]
fn a_branch_that_is_there_is_taken_over_where_it_is_checked_out() {
    let world = World::new();
    let task = working(&world);
    world.git(&world.repo(), &["branch", "other"]);
    let refused = task.fails(1, "refused", "update", &["--branch", "other"]);
    assert!(refused.contains("switch other") && refused.contains("update --branch"), "{refused}");
    assert_eq!(task.fails(1, "refused", "update", &["--branch", "other", "--dry-run"]), refused);
    check_on(&world, &task, "fix");
    world.git(&task.worktree(), &["switch", "--quiet", "other"]);
    // A third name is neither what is checked out nor what is on record.
    task.fails(1, "refused", "update", &["--branch", "third"]);
    task.ok("update", &["--branch", "other"]);
    check_on(&world, &task, "other");
    assert!(has_branch(&world, "fix"));
}

#[test]
fn a_branch_that_others_know_keeps_its_name() {
    let world = World::new();
    let task = working(&world);
    world.git(&task.worktree(), &["push", "--quiet", "origin", "fix"]);
    let refused = task.fails(1, "refused", "update", &["--branch", "form"]);
    assert!(refused.contains("git branch -m fix form"), "{refused}");
    check_on(&world, &task, "fix");
    world.git(&task.worktree(), &["branch", "-m", "fix", "form"]);
    task.ok("update", &["--branch", "form"]);
    check_on(&world, &task, "form");
}

#[test]
fn a_rename_that_was_killed_is_finished_by_the_same_request() {
    for moment in ["before", "after"] {
        let world = World::new();
        let task = working(&world);
        let real = world.find("git");
        let call = if moment == "after" { format!("{} \"$@\"", real.display()) } else { ":".to_owned() };
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *'branch --move'*) {call}; kill -9 $PPID; exit 1 ;; esac\nexec {} \"$@\"\n",
            real.display()
        );
        write_program(&world.path("agents/git"), &script);
        let killed = world.json(&["task", "update", &task.id, "--branch", "form"]);
        assert_ne!(killed.status, 0, "killed {moment}");
        fs::remove_file(world.path("agents/git")).unwrap();
        assert_eq!(task.show()["branch"], "fix", "killed {moment}");
        assert_ne!(has_branch(&world, "fix"), has_branch(&world, "form"), "killed {moment}");
        task.ok("update", &["--branch", "form"]);
        check_on(&world, &task, "form");
    }
}
