//! Keys that a row takes while an order runs on it, and while the lists of before are still shown.

use super::{Desk, TASKS};
use crate::model::effect::{Event, Order, Question, ShellEffect};

/// The order that this key gives about the third task, which can be merged.
fn ordered(desk: &mut Desk, key: &str) -> Order {
    desk.effects.clear();
    desk.press("gjj");
    assert_eq!(desk.selected(), "ok1");
    desk.press(key);
    desk.press("y");
    desk.wait(5);
    desk.orders().remove(0)
}

#[test]
fn a_busy_row_takes_no_second_order() {
    let mut desk = Desk::new(120, 32);
    desk.effects.clear();
    desk.press("a");
    let order = desk.orders().remove(0);
    desk.press("g");
    desk.press("d");
    assert_eq!(desk.said(), [""; 0]);
    assert!(desk.state.messages[0].text.contains("under way"), "{:?}", desk.state.messages);
    desk.press("ja");
    assert_eq!(desk.state.running.len(), 1, "another row is free, and has nothing to allow");
    desk.ends(order, Some("somebody was faster"));
    assert!(desk.state.running.is_empty());
    let last = desk.state.messages.last().unwrap();
    assert!(last.is_failure && last.text.contains("somebody was faster: try again"), "{last:?}");
}

#[test]
fn a_row_is_busy_until_its_list_is_read_again() {
    let mut desk = Desk::new(120, 32);
    let order = ordered(&mut desk, "m");
    desk.press("gjj");
    assert!(!desk.screen().contains("back to working"), "{}", desk.screen());
    desk.ends(order, None);
    assert!(!desk.screen().contains("back to working"), "{}", desk.screen());
    desk.press("r");
    assert!(desk.state.messages.last().unwrap().text.contains("under way"), "{:?}", desk.state.messages);
    desk.answer(Question::Tasks, TASKS);
    assert!(desk.screen().contains("back to working"), "{}", desk.screen());
}

#[test]
fn a_list_that_was_asked_for_before_frees_no_row() {
    let mut desk = Desk::new(120, 32);
    let order = ordered(&mut desk, "m");
    desk.event(Event::Changed);
    desk.ends(order, None);
    desk.answer(Question::Tasks, TASKS);
    assert!(desk.state.order_on("ok100000000000000000").is_some());
    desk.answer(Question::Tasks, TASKS);
    assert_eq!(desk.state.order_on("ok100000000000000000"), None);
}

#[test]
fn a_list_that_cannot_be_read_frees_the_row_too() {
    let mut desk = Desk::new(120, 32);
    let order = ordered(&mut desk, "m");
    desk.ends(order, None);
    desk.fails(Question::Tasks, "the disk is full");
    assert_eq!(desk.state.order_on("ok100000000000000000"), None);
}

#[test]
fn an_answer_of_git_brings_no_older_row_back() {
    let mut desk = Desk::new(120, 32);
    let rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    let newer: Vec<_> = rows.into_iter().filter(|row| row["branch"] != "ok1").collect();
    desk.answer(Question::Tasks, &serde_json::to_string(&newer).unwrap());
    desk.answer(Question::Changes, TASKS);
    assert!(desk.state.row("ok100000000000000000").is_none());
}

#[test]
fn the_list_without_git_comes_first_and_never_late() {
    let mut desk = Desk::silent(120, 32);
    let asked = |desk: &mut Desk, question: &Question| {
        let effects = std::mem::take(&mut desk.effects);
        effects.iter().any(|effect| matches!(effect, ShellEffect::Ask(it) if it == question))
    };
    assert!(asked(&mut desk, &Question::First));
    desk.answer(Question::First, TASKS);
    assert_eq!(desk.selected(), "perm");
    assert!(asked(&mut desk, &Question::Tasks));
    desk.answer(Question::Tasks, TASKS);
    assert!(asked(&mut desk, &Question::Changes));
    desk.answer(Question::Changes, TASKS);
    desk.answer(Question::Tasks, TASKS);
    assert!(!asked(&mut desk, &Question::Changes), "nothing is new");
    desk.answer(Question::First, "[]");
    assert_eq!(desk.selected(), "perm");
}
