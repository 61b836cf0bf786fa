//! Odd places and rough hands: hostile paths, folders and links that somebody removed, an environment of someone else's.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::task::{is_alive, kill};
use crate::world::World;

#[test]
fn a_task_lives_in_a_place_with_a_hostile_name() {
    let world = World::at("o'r $(touch x) #(touch x); ü{branch}-");
    world.ok(&["project", "add", "--name", "toy"]);
    let task = world.create("fix", "Mend it", &["--workflow", "persistent"]);
    task.reaches("reviewing");
    task.ok("merge", &["--local"]);
    let planted = world.command("find").args([".", "-name", "x"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&planted.stdout), "");
    assert_eq!(world.panes(), [] as [&str; 0]);
}

#[test]
fn the_environment_of_git_hooks_and_another_tmux_is_ignored() {
    let world = World::new();
    let mut command = world.command(crate::world::binary());
    command.envs([
        ("GIT_DIR", "/nowhere"),
        ("GIT_INDEX_FILE", "/nowhere"),
        ("TMUX", "/nowhere,1,0"),
        ("TMUX_PANE", "%7"),
    ]);
    command.current_dir(world.repo()).args(["--json", "task", "create", "fix", "Mend it"]);
    let task = world.task(&world.said(&mut command).ok());
    task.reaches("reviewing");
    assert_eq!(task.arrows().len(), 5);
}

#[test]
fn a_relative_home_and_socket_are_the_same_from_elsewhere() {
    let world = World::empty();
    let said = |args: &[&str]| {
        let mut command = world.command(crate::world::binary());
        command.env("ORANGE_HOME", "../orange").env("ORANGE_TMUX_SOCKET", "../tmux");
        world.said(command.current_dir(world.repo()).arg("--json").args(args)).ok()
    };
    said(&["project", "add", "--name", "toy"]);
    let task = world.task(&said(&["task", "create", "fix", "Mend it"]));
    task.reaches("reviewing");
}

#[test]
fn the_named_command_continues_a_start_that_was_cut_short() {
    let world = World::new();
    let lock = world.home().join("workspaces/.pool.lock");
    fs::create_dir_all(&lock).unwrap();
    let message = world.fails(6, "corrupt", &["task", "create", "fix", "Mend it"]);
    assert!(message.contains("move it away; then `orange task spawn "), "{message}");
    let task = world.task(&world.ok(&["task", "list"])[0]);
    fs::remove_dir(lock).unwrap();
    let started = task.ok("spawn", &[]);
    assert_eq!((&started["from"], &started["to"]), (&json!("pending"), &json!("working")));
    assert_eq!(started["hooks_executed"], json!(["acquire_workspace", "spawn_agent"]));
    task.fails(1, "refused", "spawn", &[]);
    task.reaches("reviewing");
}

#[test]
fn in_a_folder_that_was_removed_it_says_so() {
    let world = World::new();
    let mut shell = world.command("sh");
    shell.args(["-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" task list --json"]);
    let message = world.said(shell.arg(crate::world::binary())).fails(5, "environment");
    assert!(message.contains("current folder") && message.contains("in a folder that is there"), "{message}");
}

#[test]
fn a_worktree_that_was_removed_by_hand_is_made_again() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang work]", &[]);
    kill(task.agent(1).begun());
    task.has_events(1, "agent.crashed");
    task.is_left();
    fs::remove_dir_all(task.worktree()).unwrap();
    task.ok("respawn", &[]);
    task.reaches("reviewing");
    task.ok("cancel", &["--yes"]);
    assert_eq!(world.ok(&["workspace", "list"])[0]["task"], json!(null));
}

#[test]
fn a_copy_that_was_removed_comes_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    fs::remove_file(task.copy()).unwrap();
    task.here(&["update", "--summary", "Mend it well"]).ok();
    task.gets_its_copy();
}

#[test]
fn a_repository_that_has_moved_is_an_error_and_no_work_is_lost() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");
    fs::write(task.worktree().join("new.txt"), "not committed\n").unwrap();
    fs::rename(world.repo(), world.path("moved")).unwrap();
    let said = world.orange_in(&world.path("home"), &["--json", "task", "cancel", &task.id, "--yes"]);
    let moved = said.ok();
    assert!(moved["hook_errors"][0].as_str().unwrap().contains("release_workspace"), "{moved}");
    assert_eq!((task.status(), is_alive(agent)), ("cancelled".to_owned(), false));
    assert!(task.worktree().join("new.txt").exists());
}

#[test]
fn a_project_with_unfinished_tasks_stays() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let refused = world.fails(1, "refused", &["project", "remove", "toy"]);
    assert!(refused.contains("fix"), "{refused}");
    task.ok("cancel", &["--yes"]);
    world.ok(&["project", "remove", "toy"]);
    world.fails(3, "not_found", &["task", "create", "x", "y", "--project", "toy"]);
    assert_eq!(task.show()["status"], "cancelled");
}

#[test]
fn attaching_says_what_is_missing() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &["--no-spawn"]);
    task.fails(1, "refused", "attach", &[]);
    task.ok("spawn", &[]);
    let message = task.fails(5, "environment", "attach", &[]);
    assert!(message.contains("terminal"), "{message}");
}

#[test]
fn the_monitor_watches_until_it_is_ended() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let mut monitor = world.command(crate::world::binary());
    let mut monitor = monitor.args(["monitor", "--interval", "1"]).stdout(Stdio::null()).spawn().unwrap();
    kill(world.wrapper("toy/fix"));
    task.has_events(1, "agent.crashed");
    monitor.kill().unwrap();
    monitor.wait().unwrap();
}

#[test]
fn a_server_that_dies_under_both_agents_is_mended_at_one_look() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang pass]", &["--workflow", "persistent"]);
    task.agent(2).begun();
    task.reaches("agent-review");
    let server = world.tmux(&["display-message", "-p", "-t", "=toy/fix:", "#{pid}"]);
    kill(crate::world::text(&server.stdout).trim().parse().unwrap());
    task.is_left();
    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["errors"], json!([]));
    // The reviewer is started again by its rule, in the session that it now has for itself.
    task.reaches("reviewing");
    let attention = task.show()["attention"].to_string();
    assert_eq!(
        (task.owned("review_round"), task.events_of("agent.exited").len()),
        (json!(1), 3),
        "{attention}"
    );
}

#[test]
fn a_pipe_in_the_place_of_a_task_keeps_nobody_waiting() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let other = world.create("other", "Mend that", &["--no-spawn"]);
    std::fs::remove_file(task.file()).unwrap();
    assert!(world.command("mkfifo").arg(task.file()).status().unwrap().success());
    let listed = world.ok(&["task", "list"]);
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&*other.id, &*task.id]);
    task.fails(6, "corrupt", "show", &[]);
}
