//! Remains of tasks that are over: merged ones may go when they are old, and nothing else does.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::missions;
use crate::task::Task;
use crate::world::World;

/// Makes a file or a folder so many days older.
fn age(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 86_400);
    File::open(path).unwrap().set_modified(then).unwrap();
}

/// Remains that could go, as `kind name`, with the ids of tasks replaced by their branches.
fn kinds(found: &Value, tasks: &[&Task<'_>]) -> Vec<String> {
    let removed = |one: &Value| {
        let name = one["name"].as_str().unwrap().rsplit("orange/").next().unwrap();
        let mut line = format!("{} {name}", one["kind"].as_str().unwrap());
        for task in tasks {
            line = line.replace(&task.id, task.show()["branch"].as_str().unwrap());
        }
        line
    };
    found.as_array().unwrap().iter().map(removed).collect()
}

/// A task that was cancelled with this file in its worktree, so many days ago.
fn cancelled<'w>(world: &'w World, branch: &str, file: &str, text: &str, days: u64) -> Task<'w> {
    let task = world.create(branch, "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    fs::write(task.worktree().join(file), text).unwrap();
    task.ok("cancel", &["--yes"]);
    task.is_left();
    age(&task.folder().join("history.jsonl"), days);
    task
}

/// Has the default branch get a file with this text.
fn merged(world: &World, file: &str, text: &str) {
    fs::write(world.repo().join(file), text).unwrap();
    world.git(&world.repo(), &["add", file]);
    world.git(&world.repo(), &["commit", "--quiet", "-m", "The same, by hand"]);
}

#[test]
fn old_merged_backups_go_and_the_last_copy_stays() {
    let world = World::new();
    let unmerged = cancelled(&world, "unmerged", "idea.txt", "half an idea\n", 1000);
    let done = cancelled(&world, "done", "done.txt", "all of it\n", 40);
    let young = cancelled(&world, "young", "young.txt", "just now\n", 10);
    merged(&world, "done.txt", "all of it\n");
    merged(&world, "young.txt", "just now\n");
    let live = world.create("live", "Mend it [agents: hang]", &[]);
    live.agent(1).begun();
    live.reaches("working");
    let all = [&unmerged, &done, &young, &live];

    // Of the branches none has a commit of its own.
    let expect = ["backup backup/done/1", "branch done", "branch unmerged"];
    let found = world.ok(&["gc"]);
    let mut names = kinds(&found, &all);
    names.sort();
    assert_eq!(names, expect, "{found}");
    assert!(found.as_array().unwrap().iter().all(|one| one["dry_run"] == true && one["removed"] == false));
    assert_eq!(kinds(&world.ok(&["gc"]), &all).len(), 3, "nothing was removed");
    let message = world.orange(&["doctor"]).out;
    assert!(message.contains("1 backup, 2 branch (0 B); `orange gc`"), "{message}");

    let removed = world.ok(&["gc", "--yes"]);
    assert!(removed.as_array().unwrap().iter().all(|one| one["removed"] == true), "{removed}");
    assert_eq!(world.ok(&["gc"]), json!([]));
    let refs =
        |pattern: &str| world.git(&world.repo(), &["for-each-ref", "--format=%(refname:short)", pattern]);
    assert_eq!(refs("refs/heads").lines().collect::<Vec<_>>(), ["live", "main", "young"]);
    let kept = format!("refs/orange/backup/{}/1", unmerged.id);
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:idea.txt")]), "half an idea");

    // Whatever the age that is asked for.
    let removed = kinds(&world.ok(&["gc", "--older-than", "0", "--yes"]), &all);
    assert_eq!(removed, ["backup backup/young/1", "branch young"]);
    assert_eq!(refs("refs/orange/backup").lines().count(), 1);
    assert_eq!(world.git(&live.worktree(), &["branch", "--show-current"]), "live");
}

#[test]
fn a_branch_stays_that_is_not_merged_or_that_no_task_has_made() {
    let world = World::new();
    world.commit_on("theirs", "theirs.txt");
    world.git(&world.repo(), &["merge", "--quiet", "theirs"]);
    let theirs = cancelled(&world, "theirs", "a.txt", "a\n", 100);
    let ahead = world.create("ahead", "Mend it [agents: work hang]", &[]);
    ahead.agent(2).begun();
    ahead.ok("cancel", &["--yes"]);
    age(&ahead.folder().join("history.jsonl"), 100);
    assert_eq!(kinds(&world.ok(&["gc", "--yes"]), &[&theirs, &ahead]), Vec::<String>::new());
    let left = world.git(&world.repo(), &["branch", "--format=%(refname:short)"]);
    assert_eq!(left, "ahead\nmain\ntheirs");
    world.git(&world.repo(), &["merge", "--quiet", "ahead"]);
    let removed = kinds(&world.ok(&["gc", "--kind", "branch", "--yes"]), &[&theirs, &ahead]);
    assert_eq!(removed, ["branch ahead"]);
}

#[test]
fn a_deleted_task_goes_when_it_has_no_backup() {
    let world = World::new();
    let [with, without] = [("with", 100), ("without", 100)].map(|(branch, days)| {
        let task = cancelled(&world, branch, &format!("{branch}.txt"), branch, days);
        task.ok("delete", &["--yes"]);
        age(&world.home().join("trash/toy").join(&task.id).join("history.jsonl"), days);
        task
    });
    world.git(&world.repo(), &["update-ref", "-d", &format!("refs/orange/backup/{}/1", without.id)]);
    let removed = kinds(&world.ok(&["gc", "--kind", "trash", "--yes"]), &[]);
    assert_eq!(removed.len(), 1, "{removed:?}");
    assert!(removed[0].contains(&without.id), "{removed:?}");
    let trash = world.home().join("trash/toy");
    assert!(trash.join(&with.id).exists() && !trash.join(&without.id).exists());
    with.ok("restore", &["--backup", "1"]);
    with.ok("restore", &[]);
}

#[test]
fn a_deleted_mission_goes_when_it_has_no_backup() {
    let world = missions::world();
    world.acts("build", "exec sleep 1000000");
    let trash = world.home().join("trash/toy");
    let [with, without] = ["with", "without"].map(|branch| {
        let mission = world.start("toy", &["--branch", branch]);
        mission.agent(1).begun();
        if branch == "with" {
            fs::write(mission.worktree().join("idea.txt"), "half an idea\n").unwrap();
        }
        mission.ok("cancel", &["--yes"]);
        mission.is_left();
        mission.ok("delete", &["--yes"]);
        mission
    });
    assert_eq!(world.ok(&["gc", "--kind", "trash"]), json!([]));
    for mission in [&with, &without] {
        age(&trash.join(&mission.id).join("history.jsonl"), 100);
    }
    let removed = kinds(&world.ok(&["gc", "--kind", "trash", "--yes"]), &[]);
    assert_eq!(removed, [format!("trash trash/toy/{}", without.id)]);
    assert!(trash.join(&with.id).exists() && !trash.join(&without.id).exists());
    assert_eq!(with.ok("restore", &["--backup", "1"])["branch"], "with-backup-1");
    assert_eq!(with.ok("restore", &[])["status"], "cancelled");
}

#[test]
fn the_monitor_removes_what_the_project_says_and_nothing_else() {
    let world = World::new();
    let done = cancelled(&world, "done", "done.txt", "all of it\n", 40);
    merged(&world, "done.txt", "all of it\n");
    let removed = || {
        let look = world.ok(&["monitor", "--once"]);
        let stories = look["events"].as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap());
        stories.filter(|story| story.starts_with("removed")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(removed(), Vec::<String>::new());
    world.ok(&["project", "update", "toy", "--backup-days", "50"]);
    assert_eq!(removed(), Vec::<String>::new());
    let set = world.ok(&["project", "update", "toy", "--backup-days", "30"]);
    assert_eq!((&set["backup_days"], &set["branch_days"]), (&json!(30), &json!(null)));
    assert_eq!(removed(), [format!("removed backup refs/orange/backup/{}/1", done.id)]);
    let never = world.ok(&["project", "update", "toy", "--backup-days", "never"]);
    assert_eq!(never["backup_days"], json!(null));
}

#[test]
fn only_a_person_removes_anything() {
    let world = World::new();
    let done = cancelled(&world, "done", "done.txt", "all of it\n", 40);
    merged(&world, "done.txt", "all of it\n");
    let mut gc = done.as_agent("worker", "1");
    world.said(gc.args(["gc", "--yes"])).fails(1, "not_allowed");
    assert!(world.fails(3, "not_found", &["gc", "--project", "nothing"]).contains("nothing"));
    assert_eq!(world.ok(&["gc"]).as_array().unwrap().len(), 2);
}
