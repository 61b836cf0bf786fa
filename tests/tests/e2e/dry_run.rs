//! A dry run of `task update` writes nothing: no file, no lock, no folder.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::custom::{FLOW, followed};
use crate::task::Task;
use crate::world::World;

/// A path with its time of change and, where it is a file, its bytes.
pub(crate) type Entry = (String, SystemTime, Vec<u8>);

/// Everything below a folder.
pub(crate) fn tree(folder: &Path) -> Vec<Entry> {
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

/// Runs `task update … --dry-run`, which must leave the home as it is, and gives its answer.
#[track_caller]
fn dry(world: &World, task: &Task<'_>, words: &[&str]) -> Value {
    let before = tree(&world.home());
    let said = world.json(&[&["task", "update", &task.id], words, &["--dry-run"]].concat());
    assert!(before == tree(&world.home()), "something was written: {said:?}");
    said.json()
}

#[test]
fn nothing_is_written_whatever_the_answer() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let planned = dry(&world, &task, &["--status", "working"]);
    assert_eq!(
        (&planned["from"], &planned["to"], &planned["dry_run"]),
        (&json!("pending"), &json!("working"), &json!(true))
    );
    assert_eq!(dry(&world, &task, &["--status", "done"])["error"]["code"], "no_transition");
    assert_eq!(dry(&world, &task, &["--summary", "Another"])["updated"], json!(["summary"]));
    assert_eq!(dry(&world, &task, &["--branch", "main"])["error"]["code"], "refused");
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
    let planned = dry(&world, &task, &["--status", "closed"]);
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
    assert_eq!(dry(&world, &task, &["--status", "closed"])["success"], true);
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
    let planned = dry(&world, &task, &["--status", "closed"]);
    assert_eq!((&planned["from"], &planned["success"]), (&json!("doing"), &json!(true)));
    assert_eq!(dry(&world, &task, &["--status", "open"])["error"]["code"], "no_transition");
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
