//! Merging: what is ready, where it goes, and everything as it was when it cannot be.

use std::fs;

use serde_json::json;

use crate::world::World;

#[test]
fn nothing_is_merged_that_is_not_ready() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    task.agent(2).begun();
    task.reaches("agent-review");
    let refused = task.fails(1, "no_transition", "merge", &["--local"]);
    assert!(refused.contains("agent-review to done"), "{refused}");

    task.write("## Review\n\nVerdict: PASS");
    task.ok("update", &["--status", "reviewing"]);
    let loose = task.worktree().join("loose.txt");
    fs::write(&loose, "not committed\n").unwrap();
    let refused = task.fails(1, "refused", "merge", &["--local"]);
    assert!(refused.contains("loose.txt"), "{refused}");
    assert_eq!(
        (task.status(), world.git(&world.repo(), &["log", "-1", "--format=%s"])),
        ("reviewing".into(), "Begin".into())
    );

    fs::remove_file(loose).unwrap();
    task.ok("merge", &["--local"]);
    let again = task.fails(1, "no_transition", "merge", &["--local"]);
    assert!(again.contains("final"), "{again}");
}

#[test]
fn a_person_s_own_changes_in_the_main_checkout_stop_a_merge_before_it_begins() {
    let world = World::new();
    world.commit_on("fix", "README.md");
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    fs::write(world.repo().join("README.md"), "mine\n").unwrap();
    let refused = task.fails(1, "refused", "merge", &["--local"]);
    assert!(refused.contains("README.md"), "{refused}");
    assert_eq!(fs::read_to_string(world.repo().join("README.md")).unwrap(), "mine\n");
    let pushed = world.git(&world.path("toy.git"), &["log", "-1", "--format=%s", "main"]);
    assert_eq!((task.status(), pushed), ("reviewing".into(), "Begin".into()));
}

#[test]
fn branches_that_conflict_are_named_and_left_as_they_are() {
    let world = World::new();
    world.commit_on("mine", "README.md");
    let task = world.create("mine", "Mend it", &[]);
    task.reaches("reviewing");
    fs::write(world.repo().join("README.md"), "somebody else was faster\n").unwrap();
    world.git(&world.repo(), &["commit", "--quiet", "--all", "--message", "Faster"]);
    let refused = task.fails(1, "refused", "merge", &["--local", "--strategy", "merge"]);
    assert!(refused.contains("conflicts") && refused.contains("README.md"), "{refused}");
    let subject = world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]);
    assert_eq!((task.status().as_str(), subject.as_str()), ("reviewing", "Faster"));
    assert_eq!(world.git(&world.repo(), &["status", "--porcelain"]), "");
}

#[test]
fn a_merge_can_be_asked_for_in_the_worktree_that_it_gives_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let merged = task.here(&["merge", "--local"]).ok();
    assert_eq!((&merged["to"], &merged["hook_errors"]), (&json!("done"), &json!([])));
    assert!(world.repo().join(format!("work-{}.txt", task.id)).exists(), "the main checkout has moved on");
}

#[test]
fn a_repository_without_a_remote_is_merged_where_it_is() {
    let world = World::empty();
    world.git(&world.repo(), &["remote", "remove", "origin"]);
    world.ok(&["project", "add", "--name", "toy"]);
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    let merged = task.ok("merge", &["--local"]);
    assert_eq!((&merged["pushed"], &merged["hook_errors"]), (&json!(false), &json!([])));
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Agent 3 did its part");
}

#[test]
fn a_merge_that_could_not_be_pushed_can_be_repeated() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    fs::rename(world.path("toy.git"), world.path("away.git")).unwrap();
    let message = task.fails(5, "environment", "merge", &["--local"]);
    assert!(message.contains("not pushed") && message.contains("merge again"), "{message}");
    assert_eq!(task.status(), "reviewing");
    fs::rename(world.path("away.git"), world.path("toy.git")).unwrap();
    assert_eq!(task.ok("merge", &["--local"])["pushed"], true);
    assert_eq!(
        world.git(&world.path("toy.git"), &["log", "-1", "--format=%s", "main"]),
        "Agent 3 did its part"
    );
}
