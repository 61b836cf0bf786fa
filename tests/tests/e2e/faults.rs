//! A disk that is full, a home that cannot be written, a clock that jumps, a link that cannot be made: the error says so, and
//! nothing is left half-done.
//!
//! The promise here is what is said. That a disk may be full at any byte is the promise of `cargo xtask torture`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::task::Task;
use crate::world::{World, binary, write_program};

fn idle<'w>(world: &'w World) -> Task<'w> {
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

/// `orange --json` with files that can have so many blocks of 512 bytes and no more: further on, the disk is full.
fn on_a_full_disk(world: &World, blocks: u32, args: &[&str]) -> Command {
    let mut command = world.command("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" --json \"$@\"");
    command.args(["-c", &script]).arg(binary()).args(args).current_dir(world.repo());
    command
}

/// Every file of the home but the locks, the log, and what is left behind to be swept.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else if !name.ends_with("lock") && !name.ends_with(".log") && !name.ends_with(".old") {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_full_disk_is_reported_and_changes_nothing() {
    let world = World::new();
    let task = idle(&world);
    task.write("## Handoff\n\nDONE: all of it");
    // Its companion takes that in first.
    task.ok("update", &["--summary", "Mend it"]);
    let before = files(&world.home().join("tasks"));
    for args in [
        &["task", "update", &task.id, "--status", "stuck"] as &[&str],
        &["task", "update", &task.id, "--summary", "Mend it well"],
        &["task", "create", "other", "Mend more", "--no-spawn"],
    ] {
        let message = world.said(&mut on_a_full_disk(&world, 0, args)).fails(5, "environment");
        assert!(
            message.contains("File too large") && message.contains(world.home().to_str().unwrap()),
            "{message}"
        );
        assert_eq!(files(&world.home().join("tasks")), before);
    }
    let moved = task.ok("update", &["--status", "agent-review"]);
    assert_eq!((&moved["to"], &moved["hook_errors"]), (&json!("agent-review"), &json!([])));
}

#[test]
fn an_agent_that_cannot_be_noted_is_not_started() {
    let world = World::new();
    let has_begun = world.path("begun");
    let agent = world.path("agents/claude");
    // It may be a link to the agent of every world.
    fs::remove_file(&agent).unwrap();
    let script = format!("#!/bin/sh\ntrap '' TERM HUP\n: > '{}'\nexec sleep 1000\n", has_begun.display());
    write_program(&agent, &script);
    // What a server of tmux starts has its limits.
    let mut server = world.command("sh");
    let script = "trap '' XFSZ; ulimit -f 0; exec tmux -S \"$ORANGE_TMUX_SOCKET\" new-session -d -s other";
    assert!(server.args(["-c", script]).status().unwrap().success());
    let task = world.create("fix", "Mend it", &[]);
    world.until("its pane is gone", || {
        task.events_of("agent.spawned").len() == 1 && world.panes().iter().all(|pane| !pane.contains("fix"))
    });
    assert!(!has_begun.exists());
}

#[test]
fn what_a_full_disk_has_cut_short_is_finished_later() {
    let world = World::new();
    let task = idle(&world);
    let plan = format!("## Plan\n\n{}", "A long plan.\n".repeat(4000));
    task.write(&plan);
    task.ok("update", &["--summary", "Mend it"]);
    let body = |task: &Task<'_>| {
        fs::read_to_string(task.file()).unwrap().split_once("\n---\n").unwrap().1.to_owned()
    };
    let before = body(&task);
    // The journal fits, and TASK.md does not.
    let mut asking = on_a_full_disk(&world, 40, &["task", "update", &task.id, "--status", "clarification"]);
    let message = world.said(&mut asking).fails(5, "environment");
    assert!(message.contains("TASK.md") && message.contains("free space"), "{message}");
    assert!(message.contains("the journal has the change, and the next command"), "{message}");
    assert_eq!(body(&task), before);
    task.ok("update", &["--summary", "Mend it well"]);
    assert_eq!((task.status().as_str(), body(&task)), ("clarification", before));
    assert_eq!(task.arrows().last().unwrap(), "working → clarification");
}

/// `orange` as one whom the modes of files bind, even if the tests are run by root.
fn bound(world: &World) -> Command {
    let is_root = text_of(Command::new("id").arg("-u")) == "0";
    if !is_root {
        return world.command(binary());
    }
    let mut command = world.command("setpriv");
    command.args(["--inh-caps=-all", "--bounding-set=-all"]).arg(binary());
    command
}

fn text_of(command: &mut Command) -> String {
    crate::world::text(&command.output().unwrap().stdout).trim().to_owned()
}

fn chmod(world: &World, mode: &str) {
    let changed = Command::new("chmod").args(["-R", mode]).arg(world.home().join("tasks")).status().unwrap();
    assert!(changed.success());
}

#[test]
fn a_home_that_is_read_only_is_reported_and_can_be_read() {
    let world = World::new();
    let task = idle(&world);
    let before = files(&world.home().join("tasks"));
    chmod(&world, "a-w");
    let mut update = bound(&world);
    let refused = world.said(update.args(["--json", "task", "update", &task.id, "--status", "stuck"]));
    let mut show = bound(&world);
    let shown = world.said(show.args(["--json", "task", "show", &task.id]));
    let mut list = bound(&world);
    let listed = world.said(list.args(["--json", "task", "list"]));
    chmod(&world, "u+w");
    let message = refused.fails(5, "environment");
    assert!(message.contains("Permission denied") && message.contains("writable"), "{message}");
    assert_eq!((&shown.ok()["status"], &listed.ok()[0]["status"]), (&json!("working"), &json!("working")));
    assert_eq!(files(&world.home().join("tasks")), before);
}

#[test]
fn an_answer_that_cannot_be_written_is_said_elsewhere() {
    let world = World::new();
    for more in [&["task", "list"][..], &["--json", "task", "list"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = world.command(binary()).args(more).stdout(full).output().unwrap();
        let complaint = crate::world::text(&said.stderr);
        assert_eq!(said.status.code(), Some(5), "{complaint}");
        assert!(complaint.contains("what was asked for is done"), "{complaint}");
    }
}

#[test]
fn a_clock_that_jumps_changes_no_order() {
    let world = World::new();
    let task = idle(&world);
    let journal = task.folder().join("history.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    // All that has happened so far happened in the far future.
    let year = text.split_once("\"timestamp\":\"").unwrap().1[..4].to_owned();
    fs::write(&journal, text.replace(&format!("\"timestamp\":\"{year}"), "\"timestamp\":\"2999")).unwrap();
    task.ok("update", &["--status", "clarification"]);
    task.ok("update", &["--status", "cancelled"]);
    let events = task.events();
    assert!(events.iter().zip(1..).all(|(event, seq)| event["seq"] == seq));
    assert_eq!(task.arrows(), ["pending → working", "working → clarification", "clarification → cancelled"]);
    assert_eq!(task.show()["history"].as_array().unwrap().len(), events.len());
    assert_eq!(world.ok(&["task", "list", "--all"])[0]["status"], "cancelled");
}

#[test]
fn a_worktree_that_cannot_be_made_ready_keeps_no_branch() {
    let world = World::new();
    world.ok(&["workspace", "init"]);
    let worktree = world.home().join("workspaces/toy--1");
    fs::create_dir(worktree.join("TASK.md")).unwrap();
    let task = world.task(&world.ok(&["task", "create", "fix", "Mend it [agents: hang]"]));
    assert_eq!((task.owned("workspace"), task.events_of("agent.spawned")), (Value::Null, vec![]));
    assert_eq!(world.git(&worktree, &["branch", "--show-current"]), "", "no worktree stays on the branch");
    assert_eq!(task.events_of("work.set_aside").len(), 1, "what was in the way does not stay there");
    task.ok("spawn", &[]);
    task.agent(1).begun();
    assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), "fix");
}
