//! Texts that a person writes: in the form, for an agent, about a line of the changes.

use crossterm::event::KeyCode;

use super::keys::desk;
use super::{DIFF, TASKS};
use crate::model::effect::{Event, Question};

#[test]
fn a_new_task_is_selected() {
    let mut desk = desk();
    desk.press("c");
    desk.answer(Question::Workflows, r#"[{"name": "default", "states": 8}]"#);
    desk.answer(Question::Harnesses, r#"[{"name": "claude", "installed": true, "default": true}]"#);
    desk.event(Event::Paste("add login!\n".to_owned()));
    desk.key(KeyCode::Tab);
    desk.event(Event::Paste("-v is\nignored".to_owned()));
    desk.key(KeyCode::Enter);
    let order = desk.orders().remove(0);
    let words = "task create --project=toy --workflow=default --harness=claude --review-harness=claude -- addlogin -v is ignored";
    assert_eq!(order.words.join(" "), words);
    desk.event(Event::Carried(
        order,
        Ok(serde_json::json!({"id": "new", "branch": "addlogin", "waiting": null})),
    ));
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    rows.push(
        serde_json::json!({"id": "new", "branch": "addlogin", "need": {"kind": "working", "person": false}}),
    );
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    assert_eq!(desk.selected(), "addlogin");
}

#[test]
fn comments_go_back_as_one_text() {
    let mut desk = desk();
    desk.press("jj2");
    let id = "ok100000000000000000";
    desk.answer(Question::Diff(id.to_owned()), DIFF);
    desk.key(KeyCode::Right);
    desk.press("}jcWhich user?");
    desk.key(KeyCode::Enter);
    desk.press("jjcAnd who tests it?");
    desk.key(KeyCode::Enter);
    // Comments are kept while another row is selected.
    desk.key(KeyCode::Left);
    desk.press("jk");
    desk.answer(Question::Diff(id.to_owned()), DIFF);
    desk.press("F");
    let order = desk.orders().remove(0);
    let text = order.input.clone().unwrap();
    assert!(text.contains("`src/login.rs:1`: Which user?") && text.contains("who tests"), "{text}");
    assert_eq!(order.words.join(" "), "task update ok100000000000000000 --status working --feedback=-");
    desk.carried(order, Some("locked"));
    assert!(!desk.state.drafts.is_empty(), "a refusal loses no comment");
}
