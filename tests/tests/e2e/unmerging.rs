//! `orange task undo` of a merge: the target goes back, or takes the merge back by a commit, and the task is open again.

use std::fs;

use serde_json::json;

use crate::every_step::{KillMoment, killed_in};
use crate::task::Task;
use crate::world::World;

/// A task under review, whose branch adds a file of its name.
fn reviewing<'w>(world: &'w World, name: &str) -> Task<'w> {
    world.commit_on(name, &format!("{name}.txt"));
    world.create(name, &format!("Mend {name}"), &["--status", "reviewing"])
}

fn commit(world: &World, file: &str, text: &str) {
    let repo = world.repo();
    fs::write(repo.join(file), text).unwrap();
    world.git(&repo, &["add", file]);
    world.git(&repo, &["commit", "--quiet", "--message", &format!("Change {file}")]);
}

fn pushed(world: &World) -> String {
    world.git(&world.path("toy.git"), &["log", "--format=%s", "main"])
}

#[test]
fn a_merge_that_nobody_has_goes_back() {
    let world = World::empty();
    world.git(&world.repo(), &["remote", "remove", "origin"]);
    world.ok(&["project", "add", "--name", "toy"]);
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let (before, tip) = (world.git(&world.repo(), &["rev-parse", "main"]), task.worktree());
    let tip = world.git(&tip, &["rev-parse", "HEAD"]);
    for strategy in ["ff", "squash"] {
        task.ok("merge", &["--strategy", strategy]);
        assert_ne!(world.git(&world.repo(), &["rev-parse", "main"]), before);
        let dry = task.ok("undo", &["--dry-run"]);
        assert_eq!((&dry["to"], &dry["merge"]["commit"]), (&json!("reviewing"), &json!(before)));
        assert_eq!(task.status(), "done");
        let undone = task.ok("undo", &[]);
        let expect = json!({"into": "main", "commit": before, "reverts": false, "pushed": false});
        assert_eq!((&undone["merge"], &undone["to"]), (&expect, &json!("reviewing")));
        assert_eq!(world.git(&world.repo(), &["rev-parse", "main"]), before);
        assert_eq!(world.git(&world.repo(), &["status", "--porcelain"]), "");
        assert!(!world.repo().join(format!("work-{}.txt", task.id)).exists());
        assert_eq!(world.git(&task.worktree(), &["rev-parse", "HEAD"]), tip);
        assert_eq!(task.status(), "reviewing");
    }
    // Without a merge there is nothing to take back.
    let refused = task.fails(1, "refused", "undo", &[]);
    assert!(refused.contains("neither cancelled nor merged"), "{refused}");
    task.ok("merge", &[]);
}

#[test]
fn a_merge_that_was_pushed_is_reverted_by_a_commit() {
    let world = World::new();
    let task = reviewing(&world, "fix");
    task.ok("merge", &[]);
    commit(&world, "later.txt", "later\n");
    let undone = task.ok("undo", &[]);
    assert_eq!((&undone["merge"]["reverts"], &undone["merge"]["pushed"]), (&json!(true), &json!(true)));
    assert_eq!(pushed(&world), "Revert the merge of branch 'fix'\nChange later.txt\nBefore\nBegin");
    assert!(world.repo().join("later.txt").exists() && !world.repo().join("fix.txt").exists());
    // Git takes the commits of the branch for merged.
    for strategy in ["ff", "merge"] {
        let refused = task.fails(1, "refused", "merge", &["--strategy", strategy]);
        assert!(refused.contains("took them back") && refused.contains("--strategy squash"), "{refused}");
    }
    assert_eq!(task.ok("merge", &["--strategy", "auto", "--dry-run"])["strategy"], "rebase");
    task.ok("merge", &["--strategy", "squash"]);
    assert!(world.repo().join("later.txt").exists() && world.repo().join("fix.txt").exists());
    assert_eq!(pushed(&world).lines().next(), Some("Mend fix"));
    // Once more, and the branch takes the target in: its next merge is one as any other.
    task.ok("undo", &[]);
    assert_eq!(task.ok("merge", &["--strategy", "rebase", "--dry-run"])["strategy"], "rebase");
    for with in ["merge", "rebase"] {
        let dry = task.ok("sync", &["--with", with, "--dry-run"]);
        let files = world.git(&world.repo(), &["ls-tree", "--name-only", dry["commit"].as_str().unwrap()]);
        assert!(files.contains("fix.txt") && files.contains("later.txt"), "{with}: {files}");
    }
    task.ok("sync", &[]);
    task.ok("merge", &[]);
    assert!(world.repo().join("fix.txt").exists());
}

#[test]
fn a_branch_that_was_merged_by_a_commit_is_merged_again() {
    let world = World::new();
    let task = reviewing(&world, "fix");
    commit(&world, "other.txt", "other\n");
    task.ok("merge", &["--strategy", "merge"]);
    task.ok("undo", &[]);
    assert!(world.repo().join("other.txt").exists() && !world.repo().join("fix.txt").exists());
    task.ok("merge", &["--strategy", "rebase"]);
    assert!(world.repo().join("other.txt").exists() && world.repo().join("fix.txt").exists());
    assert_eq!(pushed(&world).lines().next(), Some("Before"));
}

#[test]
fn a_merge_that_others_build_on_stays() {
    let world = World::new();
    let task = reviewing(&world, "fix");
    task.ok("merge", &["--strategy", "squash"]);
    commit(&world, "fix.txt", "changed since\n");
    let before = world.git(&world.repo(), &["rev-parse", "main"]);
    for more in [&[][..], &["--dry-run"]] {
        let refused = task.fails(1, "refused", "undo", more);
        assert!(refused.contains("cannot be taken back") && refused.contains("fix.txt"), "{refused}");
    }
    assert_eq!((task.status().as_str(), task.events_of("merge.undoing").len()), ("done", 0));
    assert_eq!(world.git(&world.repo(), &["rev-parse", "main"]), before);

    // Neither is a branch changed that somebody has used since.
    let task = reviewing(&world, "more");
    task.ok("merge", &["--strategy", "squash"]);
    world.git(&world.repo(), &["branch", "--force", "more", "main"]);
    let refused = task.fails(1, "refused", "undo", &[]);
    assert!(refused.contains("has moved since"), "{refused}");
}

/// Kills `orange task undo` before or after each call of git that it makes. Whatever was done, a repetition takes the merge back once.
#[test]
fn an_undo_that_is_killed_at_any_call_is_finished() {
    let world = World::new();
    for call in 1.. {
        let name = format!("fix{call}");
        let task = reviewing(&world, &name);
        task.ok("merge", &["--strategy", "squash"]);
        let moment = if call % 2 == 0 { KillMoment::Before } else { KillMoment::After };
        let was_killed = killed_in(&world, "task undo", call, moment, &["task", "undo", &name]);
        for program in ["git", "tmux"] {
            fs::remove_file(world.path("agents").join(program)).unwrap();
        }
        if task.status() == "done" {
            task.ok("undo", &[]);
        }
        assert_eq!(task.status(), "reviewing", "call {call}");
        let subject = format!("Revert the merge of branch '{name}'");
        let count = pushed(&world).lines().filter(|line| *line == subject).count();
        assert_eq!((count, task.events_of("task.reopened").len()), (1, 1), "call {call}");
        assert!(!world.repo().join(format!("{name}.txt")).exists());
        assert_eq!(world.git(&world.repo(), &["status", "--porcelain", "--branch"]), "## main...origin/main");
        let tip = world.git(&world.repo(), &["rev-parse", "main"]);
        assert_eq!(task.events_of("merge.undoing").last().unwrap()["commit"], json!(tip), "call {call}");
        for file in ["killed", "calls", "stopped", "go"] {
            fs::remove_file(world.path(file)).unwrap_or_default();
        }
        if !was_killed {
            assert!(call > 10, "the undo makes {call} calls: are they those of the undo?");
            return;
        }
    }
}
