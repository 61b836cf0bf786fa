//! A task's life in the store: created, changed, disturbed, repaired.

use std::fs;

use crate::Kind;
use crate::store::event::{Event, Set};
use crate::store::scalar::Value;
use crate::store::tests::{home, task};
use crate::store::{Open, Task, journal};

#[test]
fn a_new_task_is_whole() {
    let (_folder, home) = home();
    let open = task(&home, "fix");
    let text = fs::read_to_string(open.dir().task_md()).unwrap();
    let keys: Vec<&str> = text.lines().filter_map(|line| line.split_once(": ").map(|(key, _)| key)).collect();
    assert_eq!(
        keys.join(" "),
        "id project branch summary status harness review_harness workflow review_round crash_count workspace \
         tmux_session created_at updated_at"
    );
    assert!(text.ends_with("---\n\n## Context\n\nToo sour.\n"));
    assert!(open.repairs().is_empty());
    assert_eq!(open.task().status(), "pending");
    assert_eq!(open.task().summary, "Grind finer");

    let dir = open.dir().clone();
    drop(open);
    let (read, journal) = Task::read(&home, &dir).unwrap();
    assert_eq!(read.owned.definition, "d1");
    assert_eq!(journal.records.len(), 1);
}

#[test]
fn values_go_to_the_journal_and_the_frontmatter() {
    let (_folder, home) = home();
    let mut open = task(&home, "fix");
    let set = Set::new().status("working").counter("review_round", 1).workspace(Some("coffee--1"));
    open.append(
        Event::AutoAdvanced { from: "pending".into(), to: "working".into(), reason: "test".into() },
        set,
    )
    .unwrap();
    open.edit(&[("summary", Value::Text("Grind\ncoarser")), ("attention", Value::Text("look"))]).unwrap();
    let text = fs::read_to_string(open.dir().task_md()).unwrap();
    for line in ["status: working", "review_round: 1", "workspace: coffee--1", "summary: \"Grind\\ncoarser\""]
    {
        assert!(text.contains(&format!("\n{line}\n")), "{line} is missing in {text}");
    }
    assert_eq!(open.task().summary, "Grind\ncoarser");
    assert_eq!(open.edit(&[("status", Value::Text("done"))]).unwrap_err().kind, Kind::Refused);

    let dir = open.dir().clone();
    drop(open);
    let history = fs::read_to_string(dir.history()).unwrap();
    let line: String =
        history.lines().nth(1).unwrap().chars().filter(|letter| !letter.is_ascii_digit()).collect();
    assert_eq!(
        line,
        r#"{"seq":,"timestamp":"--T::.Z","type":"auto.advanced","from":"pending","to":"working","reason":"test","set":{"review_round":,"status":"working","workspace":"coffee--"}}"#
    );
    let again = Open::lock(&home, &dir).unwrap();
    assert!(again.repairs().is_empty());
    assert_eq!(again.task().counter("review_round"), 1);
    assert_eq!(journal::read(&dir.history()).unwrap().records.len(), 2);
}
