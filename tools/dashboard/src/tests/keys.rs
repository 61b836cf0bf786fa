//! Keys in, orders out.

use crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};

use super::{DIFF, Desk, NEXT, PROJECTS, TASKS};
use crate::model::ask::Mode;
use crate::model::effect::{Event, Order, Question, ShellEffect, WatchedWorktree};
use crate::model::list;
use crate::model::row::{RowGroup, RowKind};
use crate::model::update::wakes_in;
use orange_api::{Error, ErrorKind};

pub(super) fn desk() -> Desk {
    let mut desk = Desk::new(120, 32);
    desk.effects.clear();
    desk
}

#[test]
fn an_answer_goes_on_to_the_next_need() {
    let mut desk = desk();
    assert_eq!(desk.selected(), "perm");
    desk.press("a");
    assert_eq!(desk.said(), ["task answer perm0000000000000000.1.9f2c allow"]);
    assert_eq!(desk.selected(), "clarify");
    desk.press("sUse the old one");
    desk.control('s');
    let order = desk.orders().remove(0);
    assert_eq!(order.words.join(" "), "task send clarify0000000000000 -");
    assert_eq!(order.input.as_deref(), Some("Use the old one"));
    assert_eq!(desk.selected(), "ok1");
    desk.press("my");
    assert_eq!(desk.selected(), "crash");
    desk.wait(5);
    assert_eq!(desk.said(), ["task merge ok100000000000000000 --yes"]);
    desk.press("r");
    assert_eq!(desk.said(), ["task respawn crash000000000000000"]);
}

#[test]
fn failures_stay_until_they_are_read() {
    let mut desk = desk();
    for number in 0..3 {
        desk.carried(Order { label: format!("merge {number}"), ..Order::default() }, Some("no"));
    }
    desk.press("jk");
    desk.answer(Question::Tasks, TASKS);
    assert_eq!(desk.state.messages.len(), 3);
    desk.key(KeyCode::Esc);
    assert_eq!(desk.state.messages.len(), 2);
}

#[test]
fn the_selection_stays_on_its_task() {
    let mut desk = desk();
    desk.press("jj");
    assert_eq!(desk.selected(), "ok1");
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    rows.reverse();
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    assert_eq!(desk.selected(), "ok1");
    let before = list::position(&desk.state).unwrap();
    rows.retain(|row| row["branch"] != "ok1");
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    assert_eq!(list::position(&desk.state), Some(before), "the row in its place is selected");
    assert_ne!(desk.selected(), "ok1");
}

#[test]
fn a_cancel_can_be_withdrawn_for_five_seconds() {
    let mut desk = desk();
    desk.press("x");
    assert!(matches!(desk.state.mode, Mode::Confirm(_)));
    desk.press("n");
    assert!(desk.state.held.is_empty());
    desk.press("xy");
    desk.wait(4);
    assert_eq!(desk.said(), [""; 0]);
    desk.press("u");
    desk.wait(10);
    assert_eq!(desk.said(), [""; 0]);
    desk.press("gxy");
    desk.wait(5);
    let order = desk.orders().remove(0);
    assert_eq!(order.words.join(" "), "task cancel perm0000000000000000 --yes");
    desk.carried(order, None);
    desk.press("u");
    assert_eq!(desk.said(), ["task undo perm0000000000000000"]);
}

#[test]
fn an_end_carries_out_what_was_agreed_to() {
    let mut desk = desk();
    let cancelled = "task cancel perm0000000000000000 --yes".to_owned();
    for key in ["q", "y"] {
        let mut desk = self::desk();
        desk.press("xyq");
        assert!(desk.screen().contains("carry out 1 order now and quit? (y / u withdraws it)"));
        assert!(!desk.effects.contains(&ShellEffect::Quit));
        desk.press(key);
        let ends = desk.effects.contains(&ShellEffect::Quit);
        assert_eq!((ends, desk.said()), (true, vec![cancelled.clone()]));
    }
    // Nobody is asked after a signal.
    desk.press("xy");
    desk.event(Event::End);
    let ends = desk.effects.contains(&ShellEffect::Quit);
    assert_eq!((ends, desk.said()), (true, vec![cancelled]));
}

#[test]
fn an_order_can_be_withdrawn_before_the_end() {
    let mut desk = desk();
    desk.press("xyqu");
    assert!(desk.state.held.is_empty() && matches!(desk.state.mode, Mode::List));
    assert_eq!(desk.state.messages[0].text, "withdrawn: cancel perm");
    desk.press("gxyqn");
    assert_eq!((desk.state.held.len(), desk.said()), (1, Vec::new()));
    desk.press("q");
    desk.wait(5);
    assert!(matches!(desk.state.mode, Mode::List), "nothing is left to ask about");
    assert!(!desk.effects.contains(&ShellEffect::Quit));
    assert_eq!(desk.said(), ["task cancel perm0000000000000000 --yes"]);
    desk.press("q");
    assert!(desk.effects.contains(&ShellEffect::Quit));
}

#[test]
fn marks_make_one_action_of_many() {
    let mut desk = desk();
    desk.press("vvvv");
    desk.press("xy");
    desk.wait(6);
    assert_eq!(desk.said().len(), 4);
    assert!(desk.state.list.marked.is_empty());
}

#[test]
fn next_goes_round_among_those_that_need_a_person() {
    let mut desk = desk();
    desk.press("G");
    let mut seen = Vec::new();
    for _ in 0..6 {
        desk.press("n");
        seen.push(desk.selected().to_owned());
    }
    assert_eq!(seen, ["perm", "clarify", "ok1", "crash", "torn0000000000000000", "faster"]);
    desk.press("n");
    assert_eq!(desk.selected(), "perm");
}

#[test]
fn a_burst_of_changes_asks_one_at_a_time() {
    let mut desk = desk();
    for _ in 0..1000 {
        desk.event(Event::Changed);
    }
    let asked = desk.effects.iter().filter(|it| **it == ShellEffect::Ask(Question::Tasks)).count();
    assert_eq!(asked, 1);
    desk.effects.clear();
    desk.answer(Question::Tasks, TASKS);
    assert!(desk.effects.contains(&ShellEffect::Ask(Question::Tasks)), "and once more after the answer");
    desk.effects.clear();
    desk.answer(Question::Tasks, TASKS);
    assert!(!desk.effects.contains(&ShellEffect::Ask(Question::Tasks)));
}

#[test]
fn what_was_about_to_change_is_asked_about_again() {
    let mut desk = desk();
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    rows[3]["session"] = serde_json::json!("unknown");
    let asks = |desk: &Desk| desk.effects.contains(&ShellEffect::Ask(Question::Tasks));
    for (answer, is_asked) in [(serde_json::json!(rows).to_string(), true), (TASKS.to_owned(), false)] {
        desk.answer(Question::Tasks, &answer);
        desk.effects.clear();
        desk.wait(1);
        assert_eq!(asks(&desk), is_asked);
        assert_eq!(wakes_in(&desk.state) <= 1000, is_asked);
    }
}

#[test]
fn rows_that_one_passes_by_are_not_asked_about() {
    let mut desk = desk();
    desk.answer(Question::Next("perm0000000000000000".to_owned()), NEXT);
    desk.effects.clear();
    desk.press("jjjj");
    let asked: Vec<_> =
        desk.effects.iter().filter(|it| matches!(it, ShellEffect::Ask(Question::Next(_)))).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
}

#[test]
fn a_click_selects_and_the_wheel_moves() {
    let mut desk = desk();
    let at = |kind, column, row| {
        Event::Mouse(MouseEvent { kind, column, row, modifiers: crossterm::event::KeyModifiers::NONE })
    };
    // The names of the columns, and two lines for each row.
    desk.event(at(MouseEventKind::Down(MouseButton::Left), 5, 5));
    assert_eq!(desk.selected(), "clarify");
    desk.event(at(MouseEventKind::Down(MouseButton::Left), 5, 8));
    assert_eq!(desk.selected(), "ok1");
    desk.event(at(MouseEventKind::ScrollDown, 5, 4));
    assert_eq!(desk.selected(), "crash");
    desk.event(at(MouseEventKind::Down(MouseButton::Left), 66, 2));
    assert_eq!(desk.state.details.tab.name(crate::model::row::RowKind::Task), "diff");
}

#[test]
fn a_filter_and_a_search_narrow_the_list() {
    let mut desk = desk();
    desk.press("ff");
    assert_eq!(desk.selected(), "old");
    assert!(list::visible(&desk.state).iter().all(|row| row.group() == RowGroup::Over));
    desk.press("f/LOGIN");
    desk.key(KeyCode::Enter);
    let found: Vec<_> = list::visible(&desk.state).into_iter().map(|row| row.branch.as_str()).collect();
    assert_eq!(found, ["login"]);
    desk.key(KeyCode::Esc);
    assert!(list::visible(&desk.state).len() > 5);
}

#[test]
fn the_pane_follows_the_selected_row() {
    let mut desk = Desk::new(120, 32);
    let followed = |desk: &mut Desk| {
        let effects = std::mem::take(&mut desk.effects);
        effects
            .into_iter()
            .rev()
            .find_map(|effect| if let ShellEffect::Follow(it) = effect { Some(it) } else { None })
    };
    assert_eq!(followed(&mut desk).unwrap().unwrap().id, "perm0000000000000000");
    desk.press("j");
    assert_eq!(followed(&mut desk).unwrap().unwrap().id, "clarify0000000000000");
    let before = desk.state.details.followed.clone().unwrap();
    desk.event(Event::Resize(200, 48));
    let after = followed(&mut desk).unwrap().unwrap();
    assert!(after.columns > before.columns && after.lines > before.lines);
    desk.press("j");
    assert_eq!(followed(&mut desk), Some(None), "no agent is alive");
}

#[test]
fn the_changes_are_asked_again_when_files_are_written() {
    let mut desk = desk();
    let id = "ok100000000000000000".to_owned();
    desk.answer(Question::Next("perm0000000000000000".to_owned()), NEXT);
    desk.press("/ok1");
    desk.key(KeyCode::Enter);
    desk.press("2");
    let watched =
        |is_whole| ShellEffect::Watch(Some(WatchedWorktree { worktree: "toy--3".to_owned(), is_whole }));
    assert!(desk.effects.contains(&watched(true)), "{:?}", desk.effects);
    desk.answer(Question::Next(id.clone()), NEXT);
    desk.answer(Question::Diff(id.clone()), DIFF);
    for is_edited in [true, false] {
        desk.effects.clear();
        if is_edited {
            desk.event(Event::Edited);
        } else {
            desk.press("1");
        }
        desk.press("2");
        assert!(desk.effects.contains(&ShellEffect::Ask(Question::Diff(id.clone()))), "{:?}", desk.effects);
        desk.answer(Question::Next(id.clone()), NEXT);
        desk.answer(Question::Diff(id.clone()), DIFF);
    }
    desk.effects.clear();
    desk.press("1");
    assert!(desk.effects.contains(&watched(false)), "{:?}", desk.effects);
}

#[test]
fn a_mission_has_its_pane_and_its_changes() {
    let mut desk = desk();
    let id = "miss0000000000000000".to_owned();
    desk.answer(Question::Next("perm0000000000000000".to_owned()), NEXT);
    desk.press("/faster");
    desk.key(KeyCode::Enter);
    desk.answer(Question::Next("clarify0000000000000".to_owned()), NEXT);
    let mission = r#"{"workflow_id": "dev-task", "session": "active", "status": "running", "policy": {"execution": "auto", "intervene": "never"}, "worktree": "/w/toy--9", "steps": []}"#;
    desk.answer(Question::Mission(id.clone()), mission);
    let followed = desk.state.details.followed.clone().unwrap();
    assert_eq!((followed.kind, &followed.id), (RowKind::Mission, &id));
    desk.press("2");
    desk.answer(Question::Mission(id.clone()), mission);
    assert!(desk.effects.contains(&ShellEffect::Ask(Question::Diff(id.clone()))), "{:?}", desk.effects);
    desk.answer(Question::Diff(id), DIFF);
    assert!(desk.screen().contains("check(key)"), "{}", desk.screen());
}

#[test]
fn a_failure_is_not_hidden_by_a_later_success() {
    let mut desk = desk();
    let long = "the push was refused because ".to_owned() + &"of a long reason ".repeat(12) + "at the end";
    desk.carried(Order { label: "merge one".to_owned(), ..Order::default() }, Some(&long));
    let words = ["task", "merge"].map(str::to_owned).to_vec();
    desk.carried(Order { label: "merge two".to_owned(), words, ..Order::default() }, None);
    let screen = desk.screen();
    assert!(screen.contains("✗ cannot merge one") && screen.contains("1 ✗ 1 ✓: e reads all"), "{screen}");
    assert!(!screen.contains("at the end"));
    desk.press("e");
    let screen = desk.screen();
    assert!(screen.contains("at the end: try again") && screen.contains("✓ merge two"), "{screen}");
    desk.key(KeyCode::Esc);
    assert!(desk.state.messages.is_empty(), "what was shown in full is read");
}

#[test]
fn changed_settings_are_read_again() {
    let mut desk = desk();
    desk.event(Event::Settings);
    for question in [Question::Projects, Question::Workflows, Question::Workflow("default".to_owned())] {
        assert!(desk.effects.contains(&ShellEffect::Ask(question)), "{:?}", desk.effects);
    }
    assert!(desk.screen().contains("slots 7/8"));
    desk.answer(Question::Projects, &PROJECTS.replace("8", "12"));
    assert!(desk.screen().contains("slots 7/12"));
}

#[test]
fn every_tab_has_room_at_80_columns() {
    for number in "12345".chars() {
        let mut desk = Desk::new(80, 24);
        desk.press(&number.to_string());
        let screen = desk.screen();
        let line = screen.lines().nth(2).unwrap();
        let is_whole =
            ["1 agent", "2 diff", "3 task", "4 why", "5 history"].iter().all(|it| line.contains(it));
        assert!(is_whole && line.contains(&format!("[{number} ")), "{line}");
        assert_eq!(line.matches(['[', ']']).count(), 2, "{line}");
    }
}

#[test]
fn a_failure_of_one_tab_is_not_shown_on_another() {
    let mut desk = desk();
    let id = desk.state.selected().unwrap().id.clone();
    let failure = Error::new(ErrorKind::Refused, "no agent has a pane");
    desk.event(Event::NoPane(id.clone(), failure.clone()));
    assert!(desk.screen().contains("no agent has a pane"), "{}", desk.screen());
    // Its work is ready now, so that the row opens on its changes.
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    let ready = rows.iter().find(|row| row["branch"] == "ok1").unwrap()["need"].clone();
    rows.iter_mut().find(|row| row["id"] == *id).unwrap()["need"] = ready;
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    desk.event(Event::NoPane(id.clone(), failure));
    let screen = desk.screen();
    assert!(screen.contains("[2 diff]") && !screen.contains("no agent has a pane"), "{screen}");
    desk.fails(Question::Diff(id.clone()), "git is missing");
    assert!(desk.screen().contains("git is missing"), "{}", desk.screen());
    desk.answer(Question::Diff(id), DIFF);
    assert!(!desk.screen().contains("git is missing"), "{}", desk.screen());
}

#[test]
fn events_follow_the_journal_and_a_failure_is_tried_again() {
    let mut desk = desk();
    let id = "perm0000000000000000".to_owned();
    let asks = |desk: &Desk| desk.effects.contains(&ShellEffect::Ask(Question::Task(id.clone())));
    desk.press("5");
    desk.answer(Question::Next(id.clone()), NEXT);
    // It was asked before the tab was chosen, and then again.
    desk.answer(Question::Task(id.clone()), "{}");
    desk.answer(Question::Task(id.clone()), "{}");
    desk.effects.clear();
    desk.event(Event::Changed);
    assert!(asks(&desk), "{:?}", desk.effects);
    desk.press("3");
    desk.fails(Question::Task(id.clone()), "a line is torn");
    desk.answer(Question::Task(id.clone()), "{}");
    desk.fails(Question::Next(id.clone()), "a line is torn");
    desk.effects.clear();
    desk.event(Event::Changed);
    assert!(asks(&desk), "{:?}", desk.effects);
}
