//! Frames at 80, 120 and 200 columns, from scripted answers.

use crossterm::event::KeyCode;
use insta::assert_snapshot;

use super::writing::{open_form, open_mission, tab};
use super::{DIFF, Desk, NEXT, PANE};
use crate::model::effect::{Event, Question};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 32), (200, 48)];

/// Makes a snapshot at each size.
fn check(name: &str, prepare: impl Fn(&mut Desk)) {
    for (columns, lines) in SIZES {
        let mut desk = Desk::new(columns, lines);
        prepare(&mut desk);
        assert_snapshot!(format!("{name}_{columns}"), desk.screen());
    }
}

pub(super) fn select(desk: &mut Desk, branch: &str) {
    desk.press("g");
    for _ in 0..20 {
        if desk.selected() == branch {
            return;
        }
        desk.press("j");
    }
    panic!("no row {branch}");
}

#[test]
fn the_list_beside_an_agent() {
    check("agent", |desk| {
        let id = "perm0000000000000000";
        desk.answer(Question::Next(id.to_owned()), NEXT);
        desk.event(Event::Pane(id.to_owned(), Box::new(serde_json::from_str(PANE).unwrap())));
    });
}

#[test]
fn the_list_alone_has_every_column() {
    check("list", |desk| desk.press("wf"));
}

#[test]
fn changes_with_a_comment() {
    check("diff", |desk| {
        select(desk, "ok1");
        desk.press("2");
        desk.answer(Question::Next("ok100000000000000000".to_owned()), NEXT);
        desk.answer(Question::Diff("ok100000000000000000".to_owned()), DIFF);
        desk.key(KeyCode::Right);
        desk.press("jjjcUse the library");
        desk.control('s');
    });
}

#[test]
fn why_a_task_is_where_it_is() {
    check("why", |desk| {
        desk.press("4");
        desk.answer(Question::Next("perm0000000000000000".to_owned()), NEXT);
    });
}

#[test]
fn a_mission_with_its_plan() {
    let mission = r#"{"workflow_id": "dev-task", "prompt": "Make it faster", "path": "/m", "history": [], "session": "inactive", "status": "paused", "policy": {"execution": "auto", "intervene": "never"},
        "pauses": [{"number": 1, "reason": "error", "step": "implement", "what": "implement has failed: the build is red",
            "offers": ["orange mission continue faster", "orange mission continue faster --accept-failure"]}],
        "steps": [{"id": "plan", "role": "planner", "status": "completed", "summary": "Three parts", "attempts": [{"attempt": 1}]},
            {"id": "implement", "role": "worker", "status": "failed", "failure": "the build is red", "attempts": [{"attempt": 1}, {"attempt": 2}]},
            {"id": "review", "role": "reviewer", "status": "blocked", "attempts": []}]}"#;
    let workflow = r#"{"name": "dev-task", "execution": "auto", "intervene": "never", "step_list": [{"id": "plan", "depends_on": []}, {"id": "implement", "depends_on": ["plan"]},
        {"id": "review", "depends_on": ["plan", "implement"]}]}"#;
    check("mission", |desk| {
        select(desk, "faster");
        desk.press("3");
        desk.answer(Question::Workflow("dev-task".to_owned()), workflow);
        desk.answer(Question::Mission("miss0000000000000000".to_owned()), mission);
    });
    check("mission_why", |desk| {
        select(desk, "faster");
        desk.press("4");
        desk.answer(Question::Mission("miss0000000000000000".to_owned()), mission);
    });
}

#[test]
fn a_task_with_its_sections() {
    let task = r###"{"summary": "Make it 漢字 ready", "harness": "claude", "review_harness": "codex", "counters": {"review_round": 1, "crash_count": 0},
        "path": "/t", "sections": {"## Questions": "Which library?\n\n- one\n- another", "## Context": "The login form."},
        "history": [{"seq": 1, "timestamp": "2026-11-25T19:00:00Z", "type": "task.created", "branch": "clarify", "actor": "human"},
            {"seq": 2, "timestamp": "2026-11-25T19:54:00Z", "type": "status.changed", "from": "pending", "to": "clarification"}]}"###;
    check("task", |desk| {
        select(desk, "clarify");
        desk.press("3");
        desk.answer(Question::Task("clarify0000000000000".to_owned()), task);
    });
    check("history", |desk| {
        select(desk, "clarify");
        desk.press("5");
        desk.answer(Question::Task("clarify0000000000000".to_owned()), task);
    });
}

#[test]
fn the_form_the_menu_and_the_keys() {
    check("form", |desk| {
        open_form(desk);
        desk.press("add-login");
        desk.key(KeyCode::Tab);
        desk.press("Implement the login form");
    });
    check("menu", |desk| {
        desk.answer(Question::Next("perm0000000000000000".to_owned()), NEXT);
        desk.press("t");
    });
    check("keys", |desk| desk.press("?"));
}

const LONG: &str = "Users log in with a passkey.\n\n\t- 漢字 in names\n\t- a line that is longer than any field has room for, and so goes on in the next line\n\nEnd";

#[test]
fn texts_of_several_lines_are_shown_as_they_are() {
    check("form_lines", |desk| {
        open_form(desk);
        tab(desk, 2);
        desk.event(Event::Paste(format!("{LONG}\n{LONG}")));
        desk.key(KeyCode::Up);
    });
    check("form_mission", |desk| {
        open_mission(desk);
        desk.event(Event::Paste(LONG.to_owned()));
        desk.control('s');
        let order = desk.orders().pop().unwrap();
        desk.carried(order, Some("claude is not installed, and no other harness was named"));
    });
    check("send", |desk| {
        desk.press("js");
        desk.event(Event::Paste(LONG.to_owned()));
        (0..3).for_each(|_| desk.key(KeyCode::Up));
    });
}

#[test]
fn questions_and_messages_have_a_line() {
    check("confirm", |desk| desk.press("x"));
    check("held", |desk| desk.press("xy"));
    check("search", |desk| desk.press("/fi"));
}

#[test]
fn an_empty_screen_says_how_to_begin() {
    let mut desk = Desk::silent(80, 24);
    assert_snapshot!("silent", desk.screen());
    desk.answer(Question::Tasks, "[]");
    desk.answer(Question::Projects, "[]");
    assert_snapshot!("no_project", desk.screen());
    desk.fails(Question::Tasks, "projects.json: line 1 is not JSON");
    assert_snapshot!("failure", desk.screen());
}

#[test]
fn every_size_has_a_frame() {
    for columns in [1, 2, 5, 20, 40, 59, 60, 81, 300] {
        for lines in [1, 2, 3, 5, 9, 24, 100] {
            for keys in ["", "w", "ww", "?", "c", "t", "2", "3", "4", "5", "x", "/a", "jsa"] {
                let mut desk = Desk::new(columns, lines);
                desk.press(keys);
                desk.screen();
            }
        }
    }
}

#[test]
fn a_wider_screen_shows_no_less_of_a_name() {
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(super::TASKS).unwrap();
    rows[2]["branch"] = serde_json::json!("feature/log-in-with-a-passkey");
    rows[3]["branch"] =
        serde_json::json!("feature/a-name-that-is-longer-than-any-list-has-room-for-it-up-to-here");
    let mut last = 0;
    for columns in 60..260 {
        let mut desk = Desk::new(columns, 32);
        desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
        let screen = desk.screen();
        let line = screen.lines().find(|line| line.contains("feature/l") || line.contains("featur")).unwrap();
        let shown = &line[line.find("featu").unwrap()..];
        let length = shown.split([' ', '…']).next().unwrap().len();
        assert!(length >= last, "{length} after {last} at {columns}: {line}");
        last = length;
    }
    assert!(last > 25, "{last}");
}
