//! Worktrees and branches: a full pool, branches that are somewhere already, work that is never lost.

use std::fs;

use serde_json::json;

use crate::task::is_alive;
use crate::world::World;

#[test]
fn a_task_that_finds_no_worktree_waits_for_the_one_before() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "1"]);
    let first = world.create("one", "Mend it", &[]);
    let answer = world.ok(&["task", "create", "two", "Mend it too"]);
    let waiting = answer["waiting"].as_str().unwrap();
    assert!(waiting.contains("toy") && waiting.contains('1'), "{waiting}");
    let second = world.task(&answer);
    assert_eq!((second.status(), second.owned("workspace")), ("pending".to_owned(), json!(null)));
    assert_eq!(second.events_of("transition.started"), Vec::<serde_json::Value>::new());

    first.reaches("reviewing");
    second.fails(1, "refused", "spawn", &[]);
    first.ok("merge", &["--local"]);
    second.reaches("reviewing");
    // It begins where the first one ended, so it can be merged as it is.
    second.ok("merge", &["--local"]);
    let slots = world.ok(&["workspace", "list"]);
    assert_eq!((slots.as_array().unwrap().len(), &slots[0]["task"]), (1, &json!(null)));
}

#[test]
fn a_waiting_task_that_cannot_be_started_does_not_hold_up_the_next_one() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "1"]);
    let elsewhere = world.path("elsewhere");
    world.git(&world.repo(), &["worktree", "add", "--quiet", "-b", "two", &elsewhere.to_string_lossy()]);
    let [first, blocked, third] = ["one", "two", "three"].map(|branch| world.create(branch, "Mend it", &[]));
    first.reaches("reviewing");
    first.ok("merge", &["--local"]);
    third.reaches("reviewing");
    assert_eq!(blocked.status(), "pending");
    let attention = blocked.show()["attention"].as_str().unwrap().to_owned();
    assert!(attention.contains("elsewhere"), "{attention}");
}

#[test]
fn worktrees_can_be_made_ahead_of_time() {
    let world = World::new();
    let made = world.ok(&["workspace", "init"]);
    assert_eq!(made["workspaces"], json!(["toy--1", "toy--2"]));
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let slots = world.ok(&["workspace", "list"]);
    let holders: Vec<_> = slots.as_array().unwrap().iter().map(|slot| slot["task"].clone()).collect();
    assert_eq!(holders, [json!(task.id), json!(null)]);
    assert_eq!(world.ok(&["workspace", "init"])["workspaces"], made["workspaces"]);
    assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), "fix");
}

#[test]
fn a_local_branch_is_taken_over_with_its_commits() {
    let world = World::new();
    world.commit_on("fix", "local.txt");
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    assert!(task.worktree().join("local.txt").exists());
}

#[test]
fn a_branch_that_is_only_on_the_remote_is_taken_over_and_followed() {
    let world = World::new();
    world.commit_on("fix", "remote.txt");
    world.git(&world.repo(), &["push", "--quiet", "origin", "fix"]);
    world.git(&world.repo(), &["branch", "--quiet", "-D", "fix"]);
    world.git(&world.repo(), &["update-ref", "-d", "refs/remotes/origin/fix"]);
    let task = world.create("fix", "Mend it", &[]);
    task.reaches("reviewing");
    assert!(task.worktree().join("remote.txt").exists());
    task.ok("merge", &["--local"]);
    let left = world.git(&world.path("toy.git"), &["branch", "--format=%(refname:short)"]);
    assert_eq!(left, "main", "the branch on the remote is gone, its commits are in main");
    assert!(world.git(&world.repo(), &["ls-tree", "--name-only", "main"]).contains("remote.txt"));
}

#[test]
fn a_branch_that_somebody_has_checked_out_is_left_to_them() {
    let world = World::new();
    let elsewhere = world.path("elsewhere");
    world.git(&world.repo(), &["worktree", "add", "--quiet", "-b", "fix", &elsewhere.to_string_lossy()]);
    let answer = world.ok(&["task", "create", "fix", "Mend it"]);
    let waiting = answer["waiting"].as_str().unwrap();
    assert!(waiting.contains("elsewhere"), "{waiting}");
    let task = world.task(&answer);
    assert_eq!((task.status(), task.owned("workspace")), ("pending".to_owned(), json!(null)));
    assert_eq!(world.ok(&["workspace", "list"]), json!([]));

    let refused = task.fails(1, "refused", "spawn", &[]);
    assert!(refused.contains("elsewhere"), "{refused}");
    world.git(&elsewhere, &["switch", "--quiet", "--detach"]);
    task.ok("spawn", &[]);
    task.reaches("reviewing");
}

#[test]
fn a_branch_that_git_cannot_have_beside_another_takes_nothing() {
    let world = World::new();
    world.git(&world.repo(), &["branch", "fix/login"]);
    for branch in ["fix", "fix/login/form"] {
        let task = world.create(branch, "Mend it", &["--no-spawn"]);
        let message = task.fails(1, "refused", "spawn", &[]);
        assert!(message.contains("beside the branch `fix/login`"), "{message}");
        assert_eq!(task.status(), "pending");
    }
    assert_eq!(world.ok(&["workspace", "list"]), json!([]));
}

#[test]
fn a_project_with_a_task_file_of_its_own_is_told_before_anything_is_taken() {
    let world = World::new();
    fs::write(world.repo().join("TASK.md"), "mine\n").unwrap();
    world.git(&world.repo(), &["add", "."]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Mine"]);
    world.git(&world.repo(), &["push", "--quiet"]);
    let answer = world.ok(&["task", "create", "fix", "Mend it"]);
    let task = world.task(&answer);
    assert!(answer["waiting"].as_str().unwrap().contains("TASK.md"), "{answer}");
    assert_eq!((task.status(), world.ok(&["workspace", "list"])), ("pending".to_owned(), json!([])));
    let refused = task.fails(1, "refused", "spawn", &[]);
    assert!(refused.contains("rename that file"), "{refused}");
}

#[test]
fn tasks_whose_names_begin_alike_stay_apart() {
    let world = World::new();
    let [short, long] = ["fix", "fix-2"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    let [short_agent, long_agent] = [&short, &long].map(|task| task.agent(1).begun());
    let cancelled = short.ok("cancel", &["--yes"]);
    assert_eq!(cancelled["hooks_executed"], json!(["kill_session", "release_workspace"]));
    assert_eq!(world.panes(), ["toy/fix-2 worker"]);
    assert_eq!((is_alive(short_agent), is_alive(long_agent)), (false, true));
    let shown = world.ok(&["task", "show", "fix-2"]);
    assert_eq!((&shown["status"], &shown["session"]), (&json!("working"), &json!("active")));
}

#[test]
fn branches_that_tmux_cannot_tell_apart_have_sessions_of_their_own() {
    let world = World::new();
    let [dot, dash] = ["fix.2", "fix-2"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    let [dot_agent, dash_agent] = [&dot, &dash].map(|task| task.agent(1).begun());
    dot.reaches("working");
    dash.reaches("working");
    let sessions = [&dot, &dash].map(|task| task.show()["tmux_session"].as_str().unwrap().to_owned());
    assert_eq!(sessions, ["toy/fix-2".to_owned(), format!("toy/fix-2-{}", &dash.id[..6])]);
    dot.ok("cancel", &["--yes"]);
    assert_eq!((is_alive(dot_agent), is_alive(dash_agent), world.panes().len()), (false, true, 1));
    dash.ok("cancel", &["--yes"]);
    assert_eq!((is_alive(dash_agent), world.panes().len()), (false, 0));
}

#[test]
fn cancelling_keeps_what_was_not_committed() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    fs::write(task.worktree().join("new.txt"), "not committed\n").unwrap();
    fs::write(task.worktree().join("README.md"), "changed\n").unwrap();
    let worktree = task.worktree();
    task.ok("cancel", &["--yes"]);
    assert_eq!(world.git(&worktree, &["status", "--porcelain"]), "");
    assert!(!worktree.join("TASK.md").exists());

    let kept = format!("refs/orange/backup/{}/1", task.id);
    assert_eq!(task.events_of("work.backed_up")[0]["reference"], kept.as_str());
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:new.txt")]), "not committed");
    assert_eq!(world.git(&world.repo(), &["show", &format!("{kept}:README.md")]), "changed");
    let files = world.git(&world.repo(), &["ls-tree", "--name-only", &kept]);
    assert_eq!(files, "README.md\nnew.txt", "the task's own file is no work");
}

#[test]
fn cancelling_keeps_the_branch_and_its_commits() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    task.agent(2).begun();
    task.reaches("agent-review");
    task.ok("cancel", &["--yes"]);
    let subject = world.git(&world.repo(), &["log", "-1", "--format=%s", "fix"]);
    assert_eq!(subject, "Agent 1 did its part");
    assert_eq!(world.panes(), Vec::<String>::new());
}
