//! `orange task sync`: branches are brought up to their base, pushed where they were pushed, and killed at every call.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::every_step::{KillMoment, killed_in};
use crate::task::Task;
use crate::world::World;

/// A commit on `main` that changes this file.
fn main_goes_on(world: &World, file: &str, text: &str) -> String {
    commit(world, &world.repo(), file, text)
}

fn commit(world: &World, folder: &Path, file: &str, text: &str) -> String {
    fs::write(folder.join(file), text).unwrap();
    world.git(folder, &["add", file]);
    world.git(folder, &["commit", "--quiet", "--message", file]);
    world.git(folder, &["rev-parse", "HEAD"])
}

/// A task whose agent was stopped, with one commit of its own in its worktree.
fn stopped(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let refused = task.fails(1, "refused", "sync", &[]);
    assert!(refused.contains("agent 1 is at work") && refused.contains("task stop"), "{refused}");
    task.ok("stop", &[]);
    commit(world, &task.worktree(), "own.txt", "one\n");
    task
}

#[test]
fn five_parallel_tasks_merge_or_say_who_can_help() {
    let world = World::new();
    for branch in ["a", "b", "c", "d"] {
        world.commit_on(branch, &format!("{branch}.txt"));
    }
    world.git(&world.repo(), &["switch", "--quiet", "--create", "e"]);
    commit(&world, &world.repo(), "a.txt", "something else\n");
    world.git(&world.repo(), &["switch", "--quiet", "main"]);
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"]
        .map(|name| world.create(name, &format!("Add {name} [agents: hang]"), &["--status", "reviewing"]));
    a.ok("merge", &[]);
    let refused = b.fails(1, "refused", "merge", &[]);
    assert!(refused.contains("has moved on") && refused.contains("orange task sync"), "{refused}");
    b.ok("merge", &["--strategy", "auto"]);
    let synced = c.ok("sync", &[]);
    assert_eq!((&synced["strategy"], &synced["pushed"]), (&json!("merge"), &json!(false)));
    c.ok("merge", &[]);
    world.ok(&["project", "update", "--merge-sync", "rebase"]);
    assert_eq!(d.ok("sync", &["--dry-run"])["strategy"], "rebase");
    let synced = d.ok("sync", &[]);
    assert_eq!((&synced["strategy"], &synced["base"]), (&json!("rebase"), &json!("main")));
    let kept = world.git(&world.repo(), &["rev-parse", synced["backup"].as_str().unwrap()]);
    assert_eq!(json!(kept), synced["from"]);
    d.ok("merge", &[]);
    let before = world.git(&world.repo(), &["rev-parse", "e"]);
    for (verb, more) in [("merge", "--strategy=squash"), ("sync", "--with=merge"), ("sync", "--with=rebase")]
    {
        let refused = e.fails(1, "refused", verb, &[more]);
        assert!(refused.contains("`e` conflicts with `main` in a.txt"), "{refused}");
        assert!(refused.contains("--by-agent"), "{refused}");
        assert!(!refused.contains("worktree"), "it has none: {refused}");
    }
    assert_eq!(world.git(&world.repo(), &["rev-parse", "e"]), before);
    let offered = e.show()["need"]["actions"][0].clone();
    assert_eq!(offered["command"], json!(["task", "sync", e.id, "--by-agent"]));
    let planned = e.ok("sync", &["--by-agent", "--dry-run"]);
    assert_eq!((&planned["returned"]["to"], e.status().as_str()), (&json!("working"), "reviewing"));
    let given = e.ok("sync", &["--by-agent"]);
    assert_eq!((&given["from"], &given["conflict"]), (&json!(before), &planned["conflict"]));
    e.agent(1).begun();
    let feedback = e.show()["sections"]["## Feedback"].as_str().unwrap().to_owned();
    assert!(feedback.contains("`e` conflicts with `main` in a.txt"), "{feedback}");
    assert!(feedback.contains("`git merge main`"), "{feedback}");
    let files = world.git(&world.path("toy.git"), &["ls-tree", "--name-only", "main"]);
    assert!(["a.txt", "b.txt", "c.txt", "d.txt"].iter().all(|file| files.contains(file)), "{files}");
}

#[test]
fn a_worktree_is_synced_when_nobody_works_there() {
    let world = World::new();
    let task = stopped(&world);
    let base = main_goes_on(&world, "new.txt", "new\n");
    fs::write(task.worktree().join("loose.txt"), "not committed\n").unwrap();
    let refused = task.fails(1, "refused", "sync", &[]);
    assert!(refused.contains("loose.txt"), "{refused}");
    fs::remove_file(task.worktree().join("loose.txt")).unwrap();
    let dry = task.ok("sync", &["--dry-run"]);
    assert_eq!((&dry["dry_run"], task.events_of("sync.started").len()), (&json!(true), 0));
    let synced = task.ok("sync", &[]);
    assert_eq!((&synced["backup"], &synced["pushed"]), (&json!(null), &json!(false)));
    assert!(task.worktree().join("new.txt").exists() && task.worktree().join("TASK.md").exists());
    assert_eq!(world.git(&task.worktree(), &["status", "--porcelain"]), "");
    let event = &task.events_of("work.synced")[0];
    assert_eq!((&event["onto"], &event["commit"]), (&json!(base), &synced["commit"]));
    let again = task.ok("sync", &[]);
    assert_eq!((&again["from"], &again["commit"]), (&synced["commit"], &synced["commit"]));
    assert_eq!(task.events_of("sync.started").len(), 1);
    // A conflict names the worktree, where a person can resolve it.
    commit(&world, &task.worktree(), "new.txt", "mine\n");
    main_goes_on(&world, "new.txt", "theirs\n");
    let refused = task.fails(1, "refused", "sync", &[]);
    assert!(refused.contains("conflicts with `main` in new.txt"), "{refused}");
    assert!(refused.contains(&*task.worktree().to_string_lossy()), "{refused}");
    task.ok("cancel", &["--yes"]);
    let refused = task.fails(1, "refused", "sync", &[]);
    assert!(refused.contains("is cancelled"), "{refused}");
}

#[test]
fn a_pushed_branch_is_pushed_again_and_never_over_others() {
    let world = World::new();
    let task = stopped(&world);
    world.git(&task.worktree(), &["push", "--quiet", "origin", "fix"]);
    let tip = || world.git(&world.path("toy.git"), &["rev-parse", "fix"]);
    main_goes_on(&world, "new.txt", "new\n");
    assert_eq!(task.ok("sync", &["--with", "rebase", "--dry-run"])["pushed"], true);
    let synced = task.ok("sync", &["--with", "rebase"]);
    assert_eq!((&synced["pushed"], &synced["commit"]), (&json!(true), &json!(tip())));
    main_goes_on(&world, "newer.txt", "newer\n");
    let synced = task.ok("sync", &["--with", "merge"]);
    assert_eq!((&synced["pushed"], &synced["commit"]), (&json!(true), &json!(tip())));

    let other = world.path("other");
    world.git(&world.path(""), &["clone", "--quiet", "toy.git", "other", "--branch", "fix"]);
    let theirs = commit(&world, &other, "theirs.txt", "theirs\n");
    world.git(&other, &["push", "--quiet", "origin", "fix"]);
    main_goes_on(&world, "newest.txt", "newest\n");
    let refused = task.fails(1, "refused", "sync", &["--with", "rebase"]);
    assert!(refused.contains("has commits that `fix` here lacks"), "{refused}");
    assert_eq!(tip(), theirs);
}

/// Kills `orange task sync` after or before each call of git that it makes. Whatever was done, a repetition brings the branch up to
/// its base once, and no commit of it is lost.
fn is_finished_after_a_kill(strategy: &str) {
    let world = World::new();
    let task = stopped(&world);
    world.git(&task.worktree(), &["push", "--quiet", "origin", "fix"]);
    for call in 1.. {
        let base = main_goes_on(&world, "new.txt", &format!("{call}\n"));
        let args = ["task", "sync", "fix", "--with", strategy];
        let moment = if call % 2 == 0 { KillMoment::Before } else { KillMoment::After };
        let was_killed = killed_in(&world, "task sync", call, moment, &args);
        for program in ["git", "tmux"] {
            fs::remove_file(world.path("agents").join(program)).unwrap();
        }
        task.ok("sync", &["--with", strategy]);
        let synced = task.events_of("work.synced");
        assert_eq!(synced.len(), call, "call {call}: {synced:?}");
        let last = synced.last().unwrap();
        let tip = world.git(&task.worktree(), &["rev-parse", "HEAD"]);
        assert_eq!((&last["commit"], &last["onto"]), (&json!(tip), &json!(base)), "call {call}");
        assert!(task.events_of("sync.started").iter().any(|begun| begun["commit"] == last["commit"]));
        let own = world.git(&world.repo(), &["log", "--no-merges", "--format=%s", "main..fix"]);
        assert_eq!(own, "own.txt", "call {call}");
        assert_eq!(world.git(&world.path("toy.git"), &["rev-parse", "fix"]), tip, "call {call}");
        assert_eq!(world.git(&task.worktree(), &["status", "--porcelain", "--branch"]), "## fix");
        if strategy == "rebase" {
            let kept = world.git(&world.repo(), &["rev-parse", last["backup"].as_str().unwrap()]);
            assert_eq!(json!(kept), last["from"], "call {call}");
        }
        for file in ["killed", "calls", "stopped", "go"] {
            fs::remove_file(world.path(file)).unwrap_or_default();
        }
        if !was_killed {
            assert!(call > 10, "the sync makes {call} calls: are they those of the sync?");
            return;
        }
    }
}

#[test]
fn a_sync_by_merge_that_is_killed_at_any_call_is_finished() {
    is_finished_after_a_kill("merge");
}

#[test]
fn a_sync_by_rebase_that_is_killed_at_any_call_is_finished() {
    is_finished_after_a_kill("rebase");
}
