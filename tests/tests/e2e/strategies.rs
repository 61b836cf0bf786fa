//! Merges by each strategy, into other branches, and killed at every call of git.

use std::fs;

use serde_json::json;

use crate::every_step::{KillMoment, killed_in};
use crate::world::{World, write_program};

/// A branch with one file of its own.
fn branch(world: &World, name: &str) {
    world.commit_on(name, &format!("{name}.txt"));
}

#[test]
fn parallel_tasks_merge_with_one_command_each() {
    let world = World::new();
    world.ok(&["project", "update", "--merge-strategy", "squash"]);
    let branches = ["a", "b", "c", "d", "e"];
    branches.iter().for_each(|name| branch(&world, name));
    world.commit_on("clash", "a.txt");
    fs::write(world.path("note"), "").unwrap();
    let tasks = branches.map(|name| world.create(name, &format!("Add {name}"), &["--status", "reviewing"]));
    let clash = world.create("clash", "Add it, too", &["--status", "reviewing"]);
    for task in &tasks {
        let planned = task.ok("merge", &["--dry-run"]);
        assert_eq!(planned["strategy"], "squash");
        let merged = task.ok("merge", &[]);
        let said = (&merged["strategy"], &merged["to"], &merged["hook_errors"]);
        assert_eq!(said, (&json!("squash"), &json!("done"), &json!([])));
    }
    let log = world.git(&world.path("toy.git"), &["log", "--format=%s", "main"]);
    assert_eq!(log, "Add e\nAdd d\nAdd c\nAdd b\nAdd a\nBegin");
    // The same file with the same text is nothing new.
    let refused = clash.fails(1, "refused", "merge", &[]);
    assert!(refused.contains("nothing to merge"), "{refused}");
}

#[test]
fn a_conflict_names_files_for_every_strategy() {
    let world = World::new();
    branch(&world, "fix");
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    fs::write(world.repo().join("fix.txt"), "mine\n").unwrap();
    world.git(&world.repo(), &["add", "."]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Mine"]);
    for strategy in ["ff", "merge", "squash", "rebase", "auto"] {
        for more in [&[][..], &["--dry-run"]] {
            let refused = task.fails(1, "refused", "merge", &[&["--strategy", strategy], more].concat());
            assert!(refused.contains("`fix` conflicts with `main` in fix.txt"), "{strategy}: {refused}");
            assert!(refused.contains("--by-agent"), "{strategy}: {refused}");
        }
    }
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Mine");
}

#[test]
fn a_project_says_how_its_merges_are_made() {
    let world = World::new();
    let repo = world.repo();
    for (at, message) in
        ["Add a\n\nIt was missing.\n\nCo-authored-by: Eve <eve@e>", "Add b"].iter().enumerate()
    {
        let name = format!("{at}.txt");
        world.git(&repo, &["switch", "--quiet", if at == 0 { "--create" } else { "--no-guess" }, "fix"]);
        fs::write(repo.join(&name), "new\n").unwrap();
        world.git(&repo, &["add", &name]);
        world.git(&repo, &["commit", "--quiet", "--message", message]);
    }
    world.git(&repo, &["branch", "next", "main"]);
    world.git(&repo, &["switch", "--quiet", "main"]);
    let settings = ["--merge-strategy=squash", "--merge-message=commits", "--merge-coauthors=false"];
    world.ok(&[&["project", "update"], &settings[..], &["--merge-push=false", "--merge-into=next"]].concat());
    let shown = world.ok(&["project", "show"]);
    assert_eq!(shown["settings"]["merge"]["into"], json!({"value": "next", "source": "project"}));
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    let planned = task.ok("merge", &["--dry-run"]);
    let message = "Mend it\n\n* Add a\n\nIt was missing.\n\n* Add b\n";
    assert_eq!((&planned["message"], &planned["pushed"]), (&json!(message), &json!(false)));
    // An editor begins with that message, and without a text nothing is merged.
    let edited = |script: &str| {
        write_program(&world.path("agents/editor"), &format!("#!/bin/sh\n{script}\n"));
        let mut command = world.command(world.program);
        command.env("EDITOR", "editor").env("VISUAL", "").current_dir(&repo);
        world.said(command.args(["--json", "task", "merge", &task.id, "--edit"]))
    };
    let refused = edited("grep -q 'It was missing' \"$1\" && : > \"$1\"").fails(1, "refused");
    assert!(refused.contains("nothing is merged"), "{refused}");
    let merged = edited("sed -i 's/^Mend it$/Mend it well/' \"$1\"").ok();
    assert_eq!((&merged["into"], &merged["pushed"]), (&json!("next"), &json!(false)));
    let text = world.git(&repo, &["log", "-1", "--format=%B", "next"]);
    assert_eq!(text.trim(), message.replace("Mend it", "Mend it well").trim());
    let remote = world.git(&world.path("toy.git"), &["branch", "--list", "next"]);
    assert_eq!((remote.as_str(), task.status().as_str()), ("", "done"));
}

#[test]
fn a_kept_task_is_merged_again_with_what_is_new() {
    let world = World::new();
    branch(&world, "fix");
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    let merged = task.ok("merge", &["--strategy", "squash", "--keep", "--message", "First half"]);
    assert_eq!((&merged["kept"], &merged["to"]), (&json!(true), &json!("reviewing")));
    assert_eq!(
        (task.status().as_str(), &task.events_of("task.merged")[0]["kept"]),
        ("reviewing", &json!(true))
    );
    let repo = world.repo();
    world.git(&repo, &["switch", "--quiet", "fix"]);
    fs::write(repo.join("fix.txt"), "somebody was here again\n").unwrap();
    world.git(&repo, &["commit", "--quiet", "--all", "--message", "Again"]);
    world.git(&repo, &["switch", "--quiet", "main"]);
    task.ok("merge", &["--strategy", "squash"]);
    let log = world.git(&world.path("toy.git"), &["log", "--format=%s", "main"]);
    assert_eq!((log.as_str(), task.status().as_str()), ("Mend it\nFirst half\nBegin", "done"));
    assert_eq!(fs::read_to_string(repo.join("fix.txt")).unwrap(), "somebody was here again\n");
}

#[test]
fn a_task_is_merged_into_its_base() {
    let world = World::new();
    let repo = world.repo();
    world.git(&repo, &["branch", "release"]);
    branch(&world, "fix");
    world.fails(2, "usage", &["task", "create", "fix", "Mend it", "--base", "fix"]);
    world.fails(3, "not_found", &["task", "create", "fix", "Mend it", "--base", "nowhere"]);
    let task = world.create("fix", "Mend it", &["--status", "reviewing", "--base", "release"]);
    assert_eq!(task.show()["base"], "release");
    let text = fs::read_to_string(task.show()["path"].as_str().unwrap()).unwrap();
    assert!(text.contains("\nbase: \"release\"\n") || text.contains("\nbase: release\n"), "{text}");
    assert_eq!(task.ok("merge", &["--dry-run"])["into"], "release");
    assert_eq!(task.ok("merge", &[])["into"], "release");
    let of = |branch: &str| world.git(&repo, &["log", "-1", "--format=%s", branch]);
    assert_eq!((of("release"), of("main")), ("Before".into(), "Begin".into()));

    branch(&world, "more");
    let task = world.create("more", "Mend more", &["--status", "reviewing"]);
    task.fails(2, "usage", "merge", &["--into", "more"]);
    task.fails(3, "not_found", "merge", &["--into", "nowhere"]);
    let merged = task.ok("merge", &["--into", "release", "--strategy", "rebase"]);
    assert_eq!(merged["into"], "release");
    assert_eq!(world.git(&repo, &["show", "--name-only", "--format=", "release"]), "more.txt");
    assert_eq!(of("main"), "Begin");
}

#[test]
fn a_branch_where_an_agent_works_gets_no_merge() {
    let world = World::new();
    let other = world.create("other", "Do it [agents: hang]", &[]);
    other.agent(1).begun();
    other.reaches("working");
    branch(&world, "fix");
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    let before = world.git(&world.repo(), &["rev-parse", "other"]);
    let refused = task.fails(1, "refused", "merge", &["--into", "other"]);
    assert!(refused.contains("agent 1 is at work"), "{refused}");
    assert_eq!(world.git(&world.repo(), &["rev-parse", "other"]), before);
    other.ok("stop", &[]);
    let loose = other.worktree().join("loose.txt");
    fs::write(&loose, "not committed\n").unwrap();
    let refused = task.fails(1, "refused", "merge", &["--into", "other"]);
    assert!(refused.contains("loose.txt"), "{refused}");
    fs::remove_file(loose).unwrap();
    task.ok("merge", &["--into", "other"]);
    assert!(other.worktree().join("fix.txt").exists());
}

/// Kills `orange task merge` after each call of git that it makes. Whatever was done, a repetition merges the work once.
#[test]
fn a_merge_that_is_killed_at_any_call_is_finished() {
    let world = World::new();
    let real = world.find("git");
    for call in 1.. {
        let name = format!("fix{call}");
        branch(&world, &name);
        world.git(&world.repo(), &["commit", "--quiet", "--allow-empty", "--message", "Meanwhile"]);
        let task = world.create(&name, &format!("Mend {call}"), &["--status", "reviewing"]);
        let args = ["task", "merge", &name, "--strategy", "squash"];
        let moment = if call % 2 == 0 { KillMoment::Before } else { KillMoment::After };
        let was_killed = killed_in(&world, "task merge", call, moment, &args);
        for program in ["git", "tmux"] {
            fs::remove_file(world.path("agents").join(program)).unwrap();
        }
        if task.status() != "done" {
            task.ok("merge", &["--strategy", "squash"]);
        }
        task.reaches("done");
        let begun = task.events_of("merge.started");
        let subject = format!("Mend {call}");
        let count = world.git(&world.path("toy.git"), &["log", "--format=%s", "main"]);
        let count = count.lines().filter(|line| *line == subject).count();
        assert_eq!((count, task.events_of("task.merged").len()), (1, 1), "call {call}: {begun:?}");
        assert!(world.repo().join(format!("{name}.txt")).exists());
        assert_eq!(world.git(&world.repo(), &["status", "--porcelain"]), "");
        let tip = world.git(&world.repo(), &["rev-parse", "main"]);
        let merged = &task.events_of("task.merged")[0]["commit"];
        assert_eq!(*merged, json!(tip), "call {call}");
        assert!(begun.iter().any(|event| event["commit"] == *merged), "call {call}: {begun:?}");
        let planned = world.git(&world.repo(), &["for-each-ref", "refs/orange/merge"]);
        assert_eq!(planned, "", "call {call}: what was planned is kept no longer");
        for file in ["killed", "calls", "stopped", "go"] {
            fs::remove_file(world.path(file)).unwrap_or_default();
        }
        if !was_killed {
            assert!(
                call > 10,
                "the merge makes {call} calls: are they those of the merge? {}",
                real.display()
            );
            return;
        }
    }
}

#[test]
fn a_planned_merge_outlives_a_garbage_collection() {
    let world = World::new();
    branch(&world, "fix");
    fs::write(world.repo().join("fix.txt"), "in the way\n").unwrap();
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    let refused = task.fails(1, "refused", "merge", &["--strategy", "squash"]);
    assert!(refused.contains("cannot take the merge"), "{refused}");
    world.git(&world.repo(), &["reflog", "expire", "--expire=now", "--all"]);
    world.git(&world.repo(), &["gc", "--quiet", "--prune=now"]);
    fs::remove_file(world.repo().join("fix.txt")).unwrap();
    let merged = task.ok("merge", &["--strategy", "squash"]);
    let begun = task.events_of("merge.started");
    assert_eq!((begun.len(), &begun[0]["commit"]), (1, &merged["commit"]));
}

#[test]
fn a_message_needs_a_commit_of_its_own() {
    let world = World::new();
    branch(&world, "fix");
    let task = world.create("fix", "Mend it", &["--status", "reviewing"]);
    let refused = task.fails(2, "usage", "merge", &["--message", "Mine"]);
    assert!(refused.contains("--strategy squash"), "{refused}");
    fs::write(world.repo().join("orange.toml"), "[merge]\nstrategy = \"merge\"\n").unwrap();
    world.git(&world.repo(), &["add", "."]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Settings"]);
    world.ok(&["project", "trust", "--yes"]);
    task.ok("merge", &["--message", "Mine"]);
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Mine");
}
