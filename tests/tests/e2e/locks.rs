//! A git is killed and leaves its lock: nothing is lost, and the error about the lock says what to do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::task::kill;
use crate::world::World;

/// Kills a git that has locked the index of a worktree, in the editor of its commit; gives the lock.
fn git_dies_in(world: &World, worktree: &Path) -> PathBuf {
    let lock = PathBuf::from(world.git(worktree, &["rev-parse", "--absolute-git-dir"])).join("index.lock");
    let editor = world.path("editor");
    let script = format!("sh -c 'echo $$ >{0}.new; mv {0}.new {0}; exec sleep 600'", editor.display());
    let mut commit = world.command("git");
    let mut commit =
        commit.args(["commit", "--all"]).env("GIT_EDITOR", script).current_dir(worktree).spawn().unwrap();
    world.until("the editor is open", || editor.exists());
    kill(i32::try_from(commit.id()).unwrap());
    kill(fs::read_to_string(&editor).unwrap().trim().parse().unwrap());
    commit.wait().unwrap();
    assert!(lock.exists(), "git has taken its lock with it");
    lock
}

#[test]
fn a_worktree_locked_by_a_dead_git_is_released_after_unlock() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let worktree = task.worktree();
    fs::write(worktree.join("README.md"), "half an idea\n").unwrap();
    fs::write(worktree.join("new.txt"), "another half\n").unwrap();
    let lock = git_dies_in(&world, &worktree);

    let said = task.ok("cancel", &["--yes"]);
    let error = said["hook_errors"][0].as_str().unwrap();
    assert!(error.contains(&format!("rm '{}'", lock.display())), "{error}");
    let attention = task.show()["attention"].as_str().unwrap().to_owned();
    assert!(attention.contains("index.lock"), "{attention}");
    let found = world.json(&["doctor"]).json()["findings"].clone();
    let found: Vec<_> = found.as_array().unwrap().iter().filter(|one| one["check"] == "git-locks").collect();
    assert_eq!(found[0]["level"], json!("warning"));
    assert!(found[0]["remedy"].as_str().unwrap().contains(&format!("rm '{}'", lock.display())), "{found:?}");

    fs::remove_file(&lock).unwrap();
    world.ok(&["workspace", "gc"]);
    assert_eq!(world.git(&worktree, &["status", "--porcelain"]), "");
    assert_eq!(task.owned("workspace"), json!(null));
    let kept = format!("refs/orange/backup/{}/1", task.id);
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:README.md")]), "half an idea");
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:new.txt")]), "another half");
}
