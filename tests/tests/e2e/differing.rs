//! `orange task diff`: what a task has changed, and that looking changes nothing.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::attach::AttachedTerminal;
use crate::task::Task;
use crate::world::World;

/// A task whose agent hangs in its worktree.
fn begun(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

/// The files of an answer: path, path before, change, lines.
fn files(diff: &Value) -> Vec<Value> {
    let of = |file: &Value| {
        json!([file["path"], file["was"], file["change"], file["added"], file["removed"], file["binary"]])
    };
    diff["files"].as_array().unwrap().iter().map(of).collect()
}

/// Everything that a look must leave alone: the index, its time, the status, and what lies in git's folder for the worktree.
fn state(world: &World, task: &Task<'_>) -> (Vec<u8>, std::time::SystemTime, String, Vec<String>) {
    let worktree = task.worktree();
    let own = world.git(&worktree, &["rev-parse", "--absolute-git-dir"]);
    let index = std::path::Path::new(&own).join("index");
    let mut names: Vec<String> = fs::read_dir(&own)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let before = fs::read(&index).unwrap();
    let time = fs::metadata(&index).unwrap().modified().unwrap();
    let mut status = world.command("git");
    let status = status.args(["status", "--porcelain", "--ignored"]).env("GIT_OPTIONAL_LOCKS", "0");
    let status = status.current_dir(&worktree).output().unwrap();
    (before, time, String::from_utf8(status.stdout).unwrap(), names)
}

#[test]
fn a_diff_has_commits_and_all_that_is_not_committed() {
    let world = World::new();
    let task = begun(&world);
    let worktree = task.worktree();
    let base = world.git(&worktree, &["rev-parse", "HEAD"]);
    fs::write(worktree.join("a.txt"), "one\ntwo\n").unwrap();
    fs::write(worktree.join("gone.txt"), "one\n").unwrap();
    world.git(&worktree, &["add", "."]);
    world.git(&worktree, &["commit", "--quiet", "--message", "One"]);
    let commit = world.git(&worktree, &["rev-parse", "HEAD"]);
    fs::write(worktree.join("a.txt"), "one\nthree\nfour\n").unwrap();
    fs::remove_file(worktree.join("gone.txt")).unwrap();
    world.git(&worktree, &["mv", "README.md", "LIES.md"]);
    fs::write(worktree.join("new ü\".txt"), "new\n").unwrap();
    fs::write(worktree.join("*"), "no pattern\n").unwrap();
    fs::write(worktree.join("picture"), b"\0\x01\x02").unwrap();
    fs::create_dir(worktree.join("deep")).unwrap();
    symlink("a.txt", worktree.join("deep/link")).unwrap();
    world.git(&worktree, &["init", "--quiet", "nested"]);
    fs::write(worktree.join("nested/inside"), "x").unwrap();

    let before = state(&world, &task);
    let diff = task.ok("diff", &[]);
    assert_eq!((&diff["base"], &diff["commit"], &diff["commits"]), (&json!(base), &json!(commit), &json!(1)));
    let expect = [
        json!(["*", null, "added", 1, 0, false]),
        json!(["LIES.md", "README.md", "renamed", 0, 0, false]),
        json!(["a.txt", null, "added", 3, 0, false]),
        json!(["deep/link", null, "added", 1, 0, false]),
        json!(["new ü\".txt", null, "added", 1, 0, false]),
        json!(["picture", null, "added", 0, 0, true]),
    ];
    assert_eq!(files(&diff), expect);
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(6), &json!(0)));
    assert!(diff["patch"].as_str().unwrap().contains("+three\n+four"), "{diff}");
    assert!(!diff["patch"].as_str().unwrap().contains("TASK.md"));
    let stat = world.orange_in(&worktree, &["task", "diff", "--stat"]);
    assert!(stat.out.contains("6 files changed, 6 insertions(+)"), "{stat:?}");
    assert_eq!(task.ok("diff", &["--stat"])["patch"], json!(null));
    assert!(world.orange(&["task", "diff", "fix"]).out.contains("+four"));
    world.fails(2, "usage", &["task", "diff", "fix", "--tool"]);
    assert_eq!(state(&world, &task), before);
}

#[test]
fn a_diff_reads_what_git_is_told_to_hold_back() {
    let world = World::new();
    let task = begun(&world);
    let worktree = task.worktree();
    // A merge that stopped at a conflict, with the user's settings at their most unusual.
    world.git(&worktree, &["checkout", "--quiet", "-b", "other"]);
    fs::write(worktree.join("README.md"), "Theirs.\n").unwrap();
    world.git(&worktree, &["commit", "--quiet", "--all", "--message", "Theirs"]);
    world.git(&worktree, &["checkout", "--quiet", "fix"]);
    fs::write(worktree.join("README.md"), "Ours.\n").unwrap();
    world.git(&worktree, &["commit", "--quiet", "--all", "--message", "Ours"]);
    let merged = world.command("git").args(["merge", "--quiet", "other"]).current_dir(&worktree).output();
    assert!(!merged.unwrap().status.success());
    for (key, value) in [
        ("diff.external", "/bin/false"),
        ("diff.noprefix", "true"),
        ("color.ui", "always"),
        ("diff.renames", "false"),
        ("core.quotePath", "false"),
    ] {
        world.git(&worktree, &["config", key, value]);
    }
    let before = state(&world, &task);
    let diff = task.ok("diff", &[]);
    assert_eq!(files(&diff), [json!(["README.md", null, "modified", 5, 1, false])]);
    assert!(diff["patch"].as_str().unwrap().contains("+++ b/README.md\n"), "{diff}");
    assert_eq!(state(&world, &task), before);
}

#[test]
fn a_diff_outlives_the_worktree_and_the_merge() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work pass]", &[]);
    task.reaches("reviewing");
    let work = format!("work-{}.txt", task.id);
    let expect = [json!([work, null, "added", 1, 0, false])];
    assert_eq!(files(&task.ok("diff", &[])), expect);
    task.ok("merge", &["--local"]);
    assert_eq!(task.owned("workspace"), json!(null));
    let merged = task.ok("diff", &[]);
    assert_eq!((files(&merged), &merged["commits"]), (expect.to_vec(), &json!(1)));
    world.git(&world.repo(), &["branch", "-D", "fix"]);
    assert_eq!(files(&task.ok("diff", &[])), expect, "of a branch that is gone, what was merged");

    let other = world.create("other", "Mend that", &["--no-spawn"]);
    let refused = other.fails(1, "refused", "diff", &[]);
    assert!(refused.contains("there is no branch other"), "{refused}");
}

#[test]
fn a_mission_has_a_diff_too() {
    let world = World::new();
    world.acts("plan", "echo planned >plan.txt; exec sleep 1000000");
    let mission = world.start("dev-task", &[]);
    mission.agent(1).begun();
    world.until("it has written", || mission.worktree().join("plan.txt").exists());
    let diff = world.ok(&["task", "diff", &mission.id]);
    assert_eq!(files(&diff), [json!(["plan.txt", null, "added", 1, 0, false])]);
}

#[test]
fn a_terminal_shows_a_diff_in_the_user_s_pager_and_tool() {
    let world = World::new();
    let task = begun(&world);
    fs::write(task.worktree().join("new.txt"), "new\n").unwrap();
    world.git(&world.repo(), &["config", "core.pager", "sed s/^/PAGED:/"]);
    world.git(&world.repo(), &["config", "diff.tool", "mine"]);
    world.git(&world.repo(), &["config", "difftool.prompt", "false"]);
    world.git(&world.repo(), &["config", "difftool.mine.cmd", "echo TOOL $MERGED; cat $REMOTE"]);
    let before = state(&world, &task);
    let terminal = AttachedTerminal::plain(&world, "orange task diff fix");
    terminal.shows("LEFT 0");
    terminal.shows("PAGED:");
    let terminal = AttachedTerminal::plain(&world, "orange task diff fix --tool");
    terminal.shows("TOOL new.txt");
    terminal.shows("LEFT 0");
    assert_eq!(state(&world, &task), before);
}
