//! The part that a row opens on, and the text about an agent that has ended.

use super::{DIFF, Desk, NEXT, PANE, TASKS};
use crate::model::effect::{Event, Question, ShellEffect};

#[test]
fn the_screen_of_an_agent_that_has_ended_is_marked() {
    let mut desk = Desk::new(120, 32);
    let shows = |desk: &Desk, text: &str| desk.screen().contains(text);
    let pane =
        || Event::Pane("perm0000000000000000".to_owned(), Box::new(serde_json::from_str(PANE).unwrap()));
    desk.event(pane());
    assert!(!shows(&desk, "has ended"), "{}", desk.screen());
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    rows[0]["agents"][0]["spawn"] = serde_json::json!(2);
    desk.effects.clear();
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    assert!(
        shows(&desk, "Agent 1 has ended (perm is working). Its last"),
        "another agent is alive: {}",
        desk.screen()
    );
    let follows =
        |it: &ShellEffect| matches!(it, ShellEffect::Follow(Some(followed)) if followed.agents == [2]);
    assert!(desk.effects.iter().any(follows), "the next agent is followed: {:?}", desk.effects);
    rows[0]["agents"] = serde_json::json!([]);
    rows[0]["session"] = serde_json::json!("crashed");
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    assert!(shows(&desk, "Agent 1 has ended"), "{}", desk.screen());
}

#[test]
fn work_that_is_ready_opens_on_its_review() {
    let mut desk = Desk::new(120, 32);
    desk.press("gj");
    assert!(desk.screen().contains("[1 agent]"));
    desk.press("j");
    let id = "ok100000000000000000".to_owned();
    desk.answer(Question::Next("perm0000000000000000".to_owned()), NEXT);
    desk.answer(Question::Next("clarify0000000000000".to_owned()), NEXT);
    desk.answer(Question::Diff(id.clone()), DIFF);
    let review =
        r###"{"sections": {"## Context": "The form.", "## Review": "Verdict: PASS\n\nIt has tests."}}"###;
    desk.answer(Question::Task(id), review);
    let screen = desk.screen();
    let texts = ["[2 diff]", "review 1: PASS, 1 file, +2 −1", "It has tests.", "+check(key);"];
    assert!(texts.iter().all(|text| screen.contains(text)) && !screen.contains("The form."), "{screen}");
    desk.press("1");
    assert!(desk.screen().contains("No agent of it is alive."), "{}", desk.screen());
    desk.press("j");
    assert!(desk.screen().contains("[1 agent]"));
    desk.press("k");
    assert!(desk.screen().contains("[2 diff]"), "{}", desk.screen());
}
