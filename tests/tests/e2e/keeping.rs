//! Work is never lost: the trash, backups and how they are restored, and worktrees that nobody holds.

use std::fs;

use serde_json::{Value, json};

use crate::missions;
use crate::task::Task;
use crate::world::World;

/// A task that holds a worktree with work in it, and whose agent hangs.
fn at_work<'w>(world: &'w World, branch: &str) -> Task<'w> {
    let task = world.create(branch, "Mend it [agents: hang hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    fs::write(task.worktree().join("new.txt"), format!("of {branch}\n")).unwrap();
    task
}

/// Fate of each worktree, as `name fate`.
fn fates(collected: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    collected
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", text(&one["name"]), text(&one["fate"])))
        .collect()
}

fn has_branch(world: &World, branch: &str) -> bool {
    !world.git(&world.repo(), &["branch", "--list", branch]).is_empty()
}

#[test]
fn a_deleted_task_is_in_the_trash_and_comes_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let journal = fs::read(task.folder().join("history.jsonl")).unwrap();
    let there = world.home().join("trash/toy").join(&task.id);
    assert_eq!(task.ok("delete", &["--yes"])["path"], json!(there));
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
    assert!(task.fails(3, "not_found", "show", &[]).contains(&task.id));
    assert!(fs::read(there.join("history.jsonl")).unwrap().starts_with(&journal));

    // Meanwhile somebody else may want the branch.
    let other = world.create("fix", "Mend it otherwise", &["--no-spawn"]);
    assert!(task.fails(1, "refused", "restore", &[]).contains(&other.id));
    other.ok("delete", &["--yes"]);
    assert_eq!(task.ok("restore", &[])["status"], "pending");
    assert_eq!((task.events_of("task.deleted").len(), task.events_of("task.restored").len()), (1, 1));
    assert_eq!(task.show()["summary"], "Mend it");
}

#[test]
fn only_a_person_deletes_tasks_that_are_over_or_not_started() {
    let world = World::new();
    let task = at_work(&world, "fix");
    let refused = task.fails(1, "refused", "delete", &["--yes"]);
    assert!(refused.contains(&format!("orange task cancel {}", task.name())), "{refused}");
    task.ok("cancel", &["--yes"]);
    assert!(task.fails(2, "usage", "delete", &[]).contains("--yes"));
    let said = world.said(task.as_agent("worker", "1").args(["task", "delete", &task.id, "--yes"]));
    said.fails(1, "not_allowed");
    task.ok("delete", &["--yes"]);
    assert!(has_branch(&world, "fix"));
    assert_eq!(world.git(&world.repo(), &["for-each-ref", "--format=x", "refs/orange/backup"]), "x");
}

#[test]
fn a_deleted_mission_is_in_the_trash_and_comes_back() {
    let world = missions::world();
    let mission = world.start("toy", &["--branch", "fast"]);
    missions::ends(&mission, "completed");
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    task.ok("delete", &["--yes"]);
    let there = world.home().join("trash/toy").join(&mission.id);
    assert_eq!(mission.ok("delete", &["--dry-run"])["path"], json!(there));
    assert!(mission.folder().exists());
    assert_eq!(mission.ok("delete", &["--yes"])["path"], json!(there));
    assert!(mission.fails(3, "not_found", "show", &[]).contains(&mission.id));
    for lists in ["mission", "task"] {
        assert_eq!(world.ok(&[lists, "list", "--all"]), json!([]));
    }
    let looks = world.orange(&["doctor"]).out;
    assert!(looks.contains("2 deleted tasks and missions"), "{looks}");
    world.ok(&["monitor", "--once"]);

    // Neither comes back as the other.
    for (word, other) in [("task", &mission), ("mission", &task)] {
        world.fails(3, "not_found", &[word, "restore", &other.id]);
    }
    world.fails(3, "not_found", &["mission", "restore", "slow"]);
    assert_eq!(mission.ok("restore", &["--dry-run"])["status"], "completed");
    assert!(there.exists());
    let back = world.ok(&["mission", "restore", "fast"]);
    assert_eq!((&back["status"], &back["path"]), (&json!("completed"), &mission.show()["path"]));
    assert_eq!((mission.events_of("task.deleted").len(), mission.events_of("task.restored").len()), (1, 1));
}

#[test]
fn only_a_person_deletes_missions_and_only_those_that_are_over() {
    let world = missions::world();
    world.acts("build", "exec sleep 1000000");
    let mission = world.start("toy", &["--branch", "fast"]);
    mission.agent(1).begun();
    for more in [&["--yes"][..], &["--dry-run"]] {
        let refused = mission.fails(1, "refused", "delete", more);
        assert!(refused.contains(&format!("orange mission cancel {}", mission.name())), "{refused}");
    }
    fs::write(mission.worktree().join("half.txt"), "half\n").unwrap();
    mission.ok("cancel", &["--yes"]);
    assert!(mission.fails(2, "usage", "delete", &[]).contains("--yes"));
    world.fails(3, "not_found", &["mission", "delete", "slow", "--yes"]);
    assert!(
        world.fails(3, "not_found", &["task", "delete", &mission.id, "--yes"]).contains("mission show"),
        "it is not a task"
    );
    let mut agent = mission.as_agent("worker", "1");
    world.said(agent.args(["mission", "delete", &mission.id, "--yes"])).fails(1, "not_allowed");
    assert_eq!(mission.ok("restore", &[])["branch"], "fast-backup-1");
    mission.ok("delete", &["--yes"]);
    assert!(has_branch(&world, "fast"));
    assert_eq!(world.git(&world.repo(), &["show", "fast-backup-1:half.txt"]), "half");
}

#[test]
fn a_backup_becomes_a_branch_and_nothing_else_moves() {
    let world = World::new();
    let task = at_work(&world, "fix");
    let worktree = task.worktree();
    let cancelled = task.ok("cancel", &["--yes"]);
    let kept = format!("refs/orange/backup/{}/1", task.id);
    assert_eq!(cancelled["backed_up"], json!([kept]));
    let before = world.git(&worktree, &["rev-parse", "HEAD"]);
    let answer = task.ok("restore", &[]);
    assert_eq!((&answer["branch"], &answer["reference"]), (&json!("fix-backup-1"), &json!(kept)));
    assert_eq!(world.git(&world.repo(), &["show", "fix-backup-1:new.txt"]), "of fix");
    assert_eq!(task.ok("restore", &["--backup", "1"])["branch"], "fix-backup-1");
    assert_eq!(world.git(&worktree, &["rev-parse", "HEAD"]), before);
    assert_eq!(world.git(&worktree, &["status", "--porcelain"]), "");

    let second = format!("refs/orange/backup/{}/2", task.id);
    world.git(&world.repo(), &["update-ref", &second, "main"]);
    let several = task.fails(2, "usage", "restore", &[]);
    assert!(several.contains(&kept) && several.contains("--backup"), "{several}");
    assert!(task.fails(3, "not_found", "restore", &["--backup", "3"]).contains("no backup 3"));
    // Also of a task that is in the trash.
    task.ok("delete", &["--yes"]);
    assert_eq!(task.ok("restore", &["--backup", "2"])["branch"], "fix-backup-2");
}

#[test]
fn worktrees_that_are_too_many_go_and_what_is_in_them_stays() {
    let world = World::new();
    world.ok(&["workspace", "init"]);
    let live = at_work(&world, "fix");
    fs::write(world.home().join("workspaces/toy--2/left.txt"), "left\n").unwrap();
    let stray = world.home().join("workspaces/mine");
    fs::create_dir(&stray).unwrap();
    fs::write(stray.join("precious"), "p\n").unwrap();
    assert_eq!(fates(&world.ok(&["workspace", "gc"])), ["mine left alone"]);

    world.ok(&["project", "update", "toy", "--pool-size", "1"]);
    assert_eq!(fates(&world.ok(&["workspace", "gc", "--dry-run"])), ["mine left alone", "toy--2 removed"]);
    let collected = world.ok(&["workspace", "gc"]);
    assert_eq!(fates(&collected), ["mine left alone", "toy--2 removed"]);
    let kept = "refs/orange/backup/toy--2/1";
    assert_eq!(collected[1]["kept"], json!([kept]));
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:left.txt")]), "left");
    assert!(!world.home().join("workspaces/toy--2").exists() && stray.join("precious").exists());
    assert!(live.worktree().join("new.txt").exists());
    assert_eq!(world.ok(&["workspace", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn worktrees_whose_task_or_folder_is_gone_are_cleaned() {
    let world = World::new();
    let [gone, removed] = ["gone", "removed"].map(|branch| at_work(&world, branch));
    world.tmux(&["kill-server"]);
    [&gone, &removed].into_iter().for_each(Task::is_left);
    let (gone_worktree, removed_worktree) = (gone.worktree(), removed.worktree());
    fs::remove_dir_all(gone.folder()).unwrap();
    world.git(&removed_worktree, &["add", "new.txt"]);
    removed.ok("cancel", &["--yes"]);
    fs::remove_dir_all(&removed_worktree).unwrap();
    let collected = world.ok(&["workspace", "gc"]);
    assert_eq!(fates(&collected), ["toy--1 cleaned", "toy--2 removed"]);
    let kept = format!("refs/orange/backup/{}/1", gone.id);
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:new.txt")]), "of gone");
    assert_eq!(world.git(&gone_worktree, &["status", "--porcelain"]), "");
    assert_eq!(world.git(&world.repo(), &["worktree", "list"]).lines().count(), 2);
    assert_eq!(fates(&world.ok(&["workspace", "gc"])), Vec::<String>::new());
}

#[test]
fn a_finished_task_releases_its_worktree_after_the_move() {
    let world = World::new();
    let task = at_work(&world, "fix");
    let moved = world.path("elsewhere");
    fs::rename(world.repo(), &moved).unwrap();
    let answer = world.orange_in(&world.home(), &["--json", "task", "cancel", &task.id, "--yes"]).ok();
    assert!(answer["hook_errors"][0].as_str().unwrap().contains("release_workspace"), "{answer}");
    let failed = world.orange_in(&world.home(), &["--json", "workspace", "gc"]);
    assert_eq!((failed.status, fates(&failed.json())), (5, vec!["toy--1 failed".to_owned()]));

    let path = moved.to_string_lossy();
    let updated =
        world.orange_in(&world.home(), &["--json", "project", "update", "toy", "--path", &path]).ok();
    assert_eq!(updated["path"], json!(fs::canonicalize(&moved).unwrap()));
    let collected = world.orange_in(&moved, &["--json", "workspace", "gc"]).ok();
    assert_eq!(fates(&collected), ["toy--1 given back"]);
    let kept = format!("refs/orange/backup/{}/1", task.id);
    assert_eq!(collected[0]["kept"], json!([kept]));
    assert_eq!(world.git(&moved, &["show", &format!("{kept}:new.txt")]), "of fix");
    assert_eq!(task.owned("workspace"), json!(null));
}

#[test]
fn worktrees_of_a_moved_repository_stay_and_the_remedy_is_named() {
    let world = World::new();
    world.ok(&["workspace", "init"]);
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    fs::rename(world.repo(), world.path("elsewhere")).unwrap();
    let said = |args: &[&str]| world.orange_in(&world.home(), &[&["--json"], args].concat());
    let collected = said(&["workspace", "gc"]).ok();
    assert_eq!(fates(&collected), ["toy--1 left alone", "toy--2 left alone"]);
    let remedy = "`orange project update toy --path PATH`";
    assert!(collected[0]["reason"].as_str().unwrap().contains(remedy), "{collected}");
    let refused = said(&["task", "spawn", &task.id]).fails(5, "environment");
    assert!(refused.contains("`orange project update NAME --path PATH`"), "{refused}");
    let nowhere = said(&["project", "update", "toy", "--path", "/nowhere"]).fails(3, "not_found");
    assert!(nowhere.contains("no folder /nowhere"), "{nowhere}");
}

#[test]
fn the_worktrees_of_a_removed_project_go_with_their_work_kept() {
    let world = World::new();
    let task = at_work(&world, "fix");
    let worktree = task.worktree();
    task.ok("cancel", &["--yes"]);
    fs::write(worktree.join("later.txt"), "later\n").unwrap();
    world.ok(&["project", "remove", "toy"]);
    assert_eq!(fates(&world.ok(&["workspace", "gc"])), ["toy--1 removed"]);
    assert_eq!(world.git(&world.repo(), &["show", "refs/orange/backup/toy--1/1:later.txt"]), "later");
    assert!(!worktree.exists());
}

#[test]
fn a_wrong_branch_name_takes_nothing() {
    let world = World::new();
    for branch in ["a..b", "x.lock", "a b"] {
        world.fails(2, "usage", &["task", "create", branch, "Mend it"]);
    }
    assert_eq!(
        (world.ok(&["task", "list", "--all"]), world.ok(&["workspace", "list"])),
        (json!([]), json!([]))
    );
}

#[test]
fn a_folder_in_the_place_of_the_copy_is_kept_elsewhere() {
    let world = World::new();
    let task = at_work(&world, "fix");
    let place = task.worktree().join("TASK.md");
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    fs::write(place.join("plan.txt"), "by an agent\n").unwrap();
    task.ok("cancel", &["--yes"]);
    let events = task.events_of("work.set_aside");
    let folder = events.first().unwrap()["folder"].as_str().unwrap();
    assert_eq!(fs::read_to_string(format!("{folder}/plan.txt")).unwrap(), "by an agent\n");
    at_work(&world, "next");
}

#[test]
fn a_name_brings_back_the_deleted_task_beside_a_finished_one() {
    let world = World::new();
    let deleted = world.create("fix", "Mend it", &["--no-spawn"]);
    deleted.ok("delete", &["--yes"]);
    let finished = world.create("fix", "Mend it", &["--no-spawn"]);
    finished.ok("cancel", &["--yes"]);
    assert_eq!(world.ok(&["task", "restore", "fix"])["id"], json!(deleted.id));
    assert_eq!(world.ok(&["task", "show", "fix"])["id"], json!(deleted.id));
}
