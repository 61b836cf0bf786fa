//! `--dry-run` of every command that changes a task: the home, the worktrees, the branches and tmux stay as they are.
//!
//! The promise here is that nothing is written, and that the answer is that of the real call. What the real calls do is
//! tested where each command is.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::custom::{FLOW, followed};
use crate::dashboard::processes;
use crate::task::{Task, is_alive};
use crate::world::World;

/// A path with its time of change and, where it is a file, its bytes.
pub(crate) type TimedFile = (String, SystemTime, Vec<u8>);

/// Everything below a folder.
pub(crate) fn tree(folder: &Path) -> Vec<TimedFile> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.push((path.display().to_string(), metadata.modified().unwrap(), bytes));
        if metadata.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

/// Runs a command, whatever its answer, which must leave everything as it is.
#[track_caller]
fn dry(world: &World, words: &[&str]) -> Value {
    let state = || {
        let refs = world.git(&world.repo(), &["for-each-ref"]);
        (tree(&world.home()), refs, world.panes())
    };
    let (before, refs, panes) = state();
    let said = world.json(&[words, &["--dry-run"]].concat());
    let (after, refs_after, panes_after) = state();
    let (is_new, is_gone) = (|it: &&TimedFile| !before.contains(it), |it: &&TimedFile| !after.contains(it));
    let changed = after.iter().filter(is_new).chain(before.iter().filter(is_gone));
    let changed: Vec<&str> = changed.map(|(path, ..)| path.as_str()).collect();
    assert_eq!(changed, [""; 0], "changed by {words:?}: {said:?}");
    assert_eq!((refs_after, panes_after), (refs, panes), "changed by {words:?}: {said:?}");
    said.json()
}

/// Runs `task update … --dry-run`.
#[track_caller]
fn update(world: &World, task: &Task<'_>, words: &[&str]) -> Value {
    dry(world, &[&["task", "update", &task.id], words].concat())
}

#[test]
fn a_dry_run_changes_nothing_and_answers_like_the_real_call() {
    let world = World::new().with_github();
    let task = world.create("fix", "Mend it [agents: hang work pass]", &["--no-spawn"]);
    let id = task.id.as_str();
    let code = |answer: &Value| answer["error"]["code"].as_str().unwrap_or_default().to_owned();
    let arrow = |answer: &Value| format!("{} {} {}", answer["from"], answer["to"], answer["dry_run"]);

    let created = dry(&world, &["task", "create", "new", "Mend that"]);
    assert_eq!(
        (&created["id"], &created["branch"], &created["dry_run"]),
        (&json!(null), &json!("new"), &json!(true))
    );
    assert_eq!(code(&dry(&world, &["task", "create", "fix", "Mend that"])), "refused");
    assert_eq!(arrow(&dry(&world, &["task", "spawn", id])), r#""pending" "working" true"#);
    assert_eq!(code(&dry(&world, &["task", "stop", id])), "refused");
    assert!(dry(&world, &["task", "delete", id])["path"].as_str().unwrap().contains("trash"));
    task.ok("spawn", &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");

    assert_eq!(dry(&world, &["task", "stop", id])["stopped"], json!([1]));
    assert_eq!(code(&dry(&world, &["task", "respawn", id])), "not_respawnable");
    assert_eq!(dry(&world, &["task", "restart", id])["spawn"], 2);
    assert_eq!(dry(&world, &["task", "send", id, "Go on"])["spawn"], 1);
    assert_eq!(code(&dry(&world, &["task", "delete", id])), "refused");
    assert_eq!(code(&dry(&world, &["task", "merge", id, "--local"])), "no_transition");
    let migrated = dry(&world, &["task", "migrate", id, "--to", "reviewing"]);
    assert_eq!(arrow(&migrated), r#""working" "reviewing" true"#);
    fs::write(task.worktree().join("idea.txt"), "half an idea\n").unwrap();
    assert_eq!(arrow(&dry(&world, &["task", "cancel", id])), r#""working" "cancelled" true"#);
    assert_eq!(code(&dry(&world, &["task", "create-pr", id])), "refused");
    assert!(is_alive(agent));
    fs::remove_file(task.worktree().join("idea.txt")).unwrap();

    // What is around an agent, or is started by a command, writes a little longer.
    let all_have_ended = || world.until("no process is left", || processes(&world, "").is_empty());
    task.ok("stop", &[]);
    all_have_ended();
    assert_eq!(dry(&world, &["task", "respawn", id])["spawn"], 2);
    task.ok("respawn", &[]);
    task.reaches("reviewing");
    all_have_ended();
    let merged = dry(&world, &["task", "merge", id, "--local"]);
    assert_eq!(arrow(&merged), r#""reviewing" "done" true"#);
    assert_eq!((&merged["strategy"], &merged["pushed"]), (&json!("ff"), &json!(true)));
    let pr = dry(&world, &["task", "create-pr", id]);
    assert_eq!((&pr["pr_url"], &pr["created"]), (&json!(null), &json!(true)));
    task.ok("merge", &["--local"]);
    task.ok("delete", &["--yes"]);
    all_have_ended();
    assert_eq!(dry(&world, &["task", "restore", id])["status"], "done");
    assert!(!task.folder().exists());
}

#[test]
fn nothing_is_written_whatever_the_answer() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let planned = update(&world, &task, &["--status", "working"]);
    assert_eq!(
        (&planned["from"], &planned["to"], &planned["dry_run"]),
        (&json!("pending"), &json!("working"), &json!(true))
    );
    assert_eq!(update(&world, &task, &["--status", "done"])["error"]["code"], "no_transition");
    assert_eq!(update(&world, &task, &["--summary", "Another"])["updated"], json!(["summary"]));
    assert_eq!(update(&world, &task, &["--branch", "main"])["error"]["code"], "refused");
}

#[test]
fn a_workflow_that_was_edited_is_foreseen() {
    let world = World::new();
    let task = followed(&world);
    world.workflow(
        "flow.yml",
        &FLOW
            .replace("tries: 3", "tries: 3, walks: 5")
            .replace("from: checking, to: closed", "from: doing, to: closed"),
    );
    let planned = update(&world, &task, &["--status", "closed"]);
    let moved = task.ok("update", &["--status", "closed"]);
    assert_eq!(planned["workflow_changed"], moved["workflow_changed"]);
    assert!(!moved["workflow_changed"].is_null());
}

#[test]
fn a_counter_that_an_edited_workflow_adds_has_its_first_value() {
    let world = World::new();
    let task = followed(&world);
    let guarded = "  - {from: doing, to: closed, when: walks == 5}\n";
    world.workflow("flow.yml", &(FLOW.replace("tries: 3", "tries: 3, walks: 5") + guarded));
    assert_eq!(update(&world, &task, &["--status", "closed"])["success"], true);
    task.ok("update", &["--status", "closed"]);
}

#[test]
fn a_transition_that_was_cut_short_is_left_so() {
    let world = World::new();
    let task = followed(&world);
    let counted = "from: doing, to: closed, when: tries == 4";
    world.workflow("flow.yml", &FLOW.replace("from: checking, to: closed", counted));
    task.write("## Handoff\n\nDONE: all of it");
    for status in ["checking", "doing"] {
        task.ok("update", &["--status", status]);
    }
    cut_short(&task);
    let planned = update(&world, &task, &["--status", "closed"]);
    assert_eq!((&planned["from"], &planned["success"]), (&json!("doing"), &json!(true)));
    assert_eq!(update(&world, &task, &["--status", "open"])["error"]["code"], "no_transition");
    task.ok("update", &["--status", "closed"]);
    assert_eq!(task.arrows(), ["open → doing", "doing → checking", "checking → doing", "doing → closed"]);
}

/// Takes back what the journal says of the last transition's only hook and of its end, as if it had been killed there.
fn cut_short(task: &Task<'_>) {
    let journal = task.folder().join("history.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    fs::write(&journal, lines[..lines.len() - 2].concat()).unwrap();
}
