//! Journals of real runs of every kind (`journals/*.jsonl`) stay readable: each of their lines is written again as it is, and they fold
//! to the same state, line by line (`journals/*.fold`).
//!
//! `ORANGE_REWRITE=1 cargo test -p orange-journal` writes the states again; read the diff, since running tasks depend on them.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use orange_journal::{Event, Record, WorkItemHistory};
use serde_json::{Map, Value};

fn journals() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut journals: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    journals.sort();
    journals
}

fn records(path: &Path) -> Vec<(String, Record)> {
    let text = fs::read_to_string(path).unwrap();
    let read = |line: &str| (line.to_owned(), serde_json::from_str(line).unwrap());
    text.lines().map(read).collect()
}

/// Changes of the state by each record.
fn states(path: &Path) -> String {
    let mut history = WorkItemHistory::default();
    let mut before = Map::new();
    let mut lines = String::new();
    for (_, record) in records(path) {
        history.apply(&record);
        let Value::Object(after) = serde_json::to_value(&history).unwrap() else { panic!("{history:?}") };
        let is_new = |(name, value): &(&String, &Value)| before.get(*name) != Some(*value);
        let changed: Map<_, _> =
            after.iter().filter(is_new).map(|(name, value)| (name.clone(), value.clone())).collect();
        lines += &format!("{}\n", Value::Object(changed));
        before = after;
    }
    lines
}

#[test]
fn old_journals_add_up_to_what_they_did() {
    for path in journals() {
        let (states, golden) = (states(&path), path.with_extension("fold"));
        if std::env::var_os("ORANGE_REWRITE").is_some() {
            fs::write(&golden, &states).unwrap();
        }
        assert_eq!(fs::read_to_string(&golden).unwrap(), states, "{}", path.display());
    }
}

#[test]
fn old_lines_are_written_as_they_were() {
    for path in journals() {
        for (line, record) in records(&path) {
            assert_eq!(serde_json::to_string(&record).unwrap(), line, "{}", path.display());
        }
    }
}

#[test]
fn old_journals_have_every_type_of_their_time() {
    let records = journals().into_iter().flat_map(|path| records(&path));
    let types: BTreeSet<_> = records
        .map(|(_, record)| {
            assert_ne!(record.event, Event::Unknown, "{record:?}");
            record.to_json()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(types.len() >= 30, "{types:?}");
}
