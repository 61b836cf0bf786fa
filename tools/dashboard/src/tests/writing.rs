//! Texts that a person writes: in the form, for an agent, about a line of the changes.

use crossterm::event::KeyCode;

use super::keys::desk;
use super::{DIFF, Desk, MISSIONS, TASKS};
use crate::model::ask::Mode;
use crate::model::effect::{Event, Order, Question, ShellEffect};
use orange_api::{Error, ErrorKind};

pub(super) const WORKFLOWS: &str = r#"[{"name": "default", "states": 8}, {"name": "dev-task", "steps": 3}]"#;
pub(super) const HARNESSES: &str = r#"[{"name": "claude", "installed": true, "path": "/bin/claude", "default": true},
    {"name": "pi", "installed": false, "path": null, "default": false}]"#;

/// An open form that knows every name.
pub(super) fn open_form(desk: &mut Desk) {
    desk.press("c");
    desk.answer(Question::Workflows, WORKFLOWS);
    desk.answer(Question::Harnesses, HARNESSES);
}

/// Goes to the field so many fields further.
pub(super) fn tab(desk: &mut Desk, count: usize) {
    (0..count).for_each(|_| desk.key(KeyCode::Tab));
}

fn paste(desk: &mut Desk, text: &str) {
    desk.event(Event::Paste(text.to_owned()));
}

/// The only order since the last call.
#[track_caller]
fn ordered(desk: &mut Desk) -> Order {
    let mut orders = desk.orders();
    assert_eq!(orders.len(), 1, "{orders:?}");
    orders.remove(0)
}

fn last_message(desk: &Desk) -> &str {
    desk.state.messages.last().map_or("", |message| &message.text)
}

#[test]
fn lines_of_the_form_reach_orange_as_they_are() {
    let mut desk = desk();
    open_form(&mut desk);
    desk.press("fix");
    tab(&mut desk, 1);
    desk.press("Mend it");
    desk.key(KeyCode::Enter);
    desk.press("now");
    tab(&mut desk, 1);
    paste(&mut desk, "first\r\n\tsecond\r  third ");
    desk.key(KeyCode::Up);
    desk.key(KeyCode::End);
    desk.press("!");
    desk.control('s');
    let order = ordered(&mut desk);
    assert_eq!(order.words[order.words.len() - 2..], ["fix", "Mend it\nnow"]);
    assert!(order.words.contains(&"--context=-".to_owned()), "{order:?}");
    assert_eq!(order.input.as_deref(), Some("first\n\tsecond!\n  third "));
}

#[test]
fn lines_for_an_agent_are_sent_as_they_are() {
    let mut desk = desk();
    desk.press("js");
    paste(&mut desk, "one\r\r  two");
    desk.key(KeyCode::Enter);
    desk.control('s');
    let order = ordered(&mut desk);
    assert_eq!(order.words.join(" "), "task send clarify0000000000000 -");
    assert_eq!(order.input.as_deref(), Some("one\n\n  two\n"));
}

#[test]
fn a_text_that_nobody_gets_is_refused_with_a_reason() {
    let mut desk = desk();
    let reasons = [
        ("perm", "perm: send is refused: its agent asks something, and a text would answer that"),
        ("crash", "crash: send is refused: no agent is alive to get a text"),
        ("faster", "faster: send is refused: agents of missions get no texts"),
    ];
    for (branch, reason) in reasons {
        super::frames::select(&mut desk, branch);
        desk.press("s");
        assert!(matches!(desk.state.mode, Mode::List));
        assert_eq!(last_message(&desk), reason);
    }
}

#[test]
fn a_text_that_could_not_be_sent_is_not_lost() {
    let mut desk = desk();
    desk.press("jsOne");
    desk.key(KeyCode::Enter);
    desk.press("two");
    desk.control('s');
    let order = ordered(&mut desk);
    desk.carried(order, Some("it asks something"));
    super::frames::select(&mut desk, "clarify");
    desk.press("s");
    let Mode::Text(question) = &desk.state.mode else { panic!("{:?}", desk.state.mode) };
    assert_eq!(question.field.text(), "One\ntwo");
    desk.control('s');
    let order = ordered(&mut desk);
    desk.carried(order, None);
    super::frames::select(&mut desk, "clarify");
    desk.press("s");
    let Mode::Text(question) = &desk.state.mode else { panic!("{:?}", desk.state.mode) };
    assert_eq!(question.field.text(), "");
}

/// The text that an editor is asked to open.
#[track_caller]
fn opened(desk: &mut Desk) -> String {
    desk.effects.clear();
    desk.control('e');
    match &desk.effects[..] {
        [ShellEffect::Write(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn saved(desk: &mut Desk, text: &str) {
    desk.event(Event::Written(Ok(text.to_owned())));
}

#[test]
fn an_editor_changes_the_text_of_every_field() {
    let mut desk = desk();
    open_form(&mut desk);
    desk.press("fix");
    assert_eq!(opened(&mut desk), "fix");
    saved(&mut desk, "fix login\n");
    tab(&mut desk, 1);
    paste(&mut desk, "Mend\nit");
    assert_eq!(opened(&mut desk), "Mend\nit");
    saved(&mut desk, "Mend\n\tit\nwell");
    desk.press("!");
    desk.control('s');
    let words = ordered(&mut desk).words;
    assert_eq!(words[words.len() - 2..], ["fixlogin", "Mend\n\tit\nwell!"]);

    let mut desk = self::desk();
    desk.press("/log");
    assert_eq!(opened(&mut desk), "log");
    saved(&mut desk, "login\n");
    assert_eq!(desk.state.list.search, "login");

    let mut desk = self::desk();
    desk.press("js");
    saved(&mut desk, "one\ntwo");
    assert_eq!(opened(&mut desk), "one\ntwo");
}

#[test]
fn an_editor_that_fails_loses_no_text() {
    let mut desk = desk();
    desk.press("jsone");
    let failure = Error::new(ErrorKind::Environment, "cannot start `nothing`").help("set VISUAL or EDITOR");
    desk.event(Event::Written(Err(failure)));
    assert_eq!(last_message(&desk), "cannot start `nothing`: set VISUAL or EDITOR");
    let screen = desk.screen();
    assert!(screen.contains("✗ cannot start `nothing`") && screen.contains("one"), "{screen}");
    assert_eq!(opened(&mut desk), "one");
    // Without a field that is written in, what comes late has no place.
    desk.key(KeyCode::Esc);
    saved(&mut desk, "late");
    assert!(matches!(desk.state.mode, Mode::List));
}

#[test]
fn a_form_that_is_left_keeps_its_texts() {
    let mut desk = desk();
    open_form(&mut desk);
    desk.press("fix");
    tab(&mut desk, 1);
    desk.press("Mend it");
    let file = format!("/tmp/{}/orange-text.md", "folder/".repeat(12));
    let failure =
        Error::new(ErrorKind::Environment, "cannot start `nothing`").help(format!("it is in {file}"));
    desk.event(Event::Written(Err(failure)));
    let screen = desk.screen();
    assert!(screen.contains("✗ cannot start `nothing`") && screen.contains("/orange-text.md"), "{screen}");
    assert!(!screen.contains("e reads it"), "e is typed: {screen}");
    assert!(screen.contains("Esc back, keeps it"), "{screen}");
    desk.key(KeyCode::Esc);
    assert_eq!(last_message(&desk), "the form is kept: c opens it again");
    desk.press("c");
    desk.control('s');
    let words = ordered(&mut desk).words;
    assert_eq!(words[words.len() - 2..], ["fix", "Mend it"]);
}

#[test]
fn ctrl_x_drops_the_form() {
    let mut desk = desk();
    open_form(&mut desk);
    desk.press("fix");
    desk.control('x');
    assert!(matches!(desk.state.mode, Mode::List));
    desk.press("c");
    desk.control('s');
    assert!(desk.orders().is_empty(), "an empty form is open");
}

#[test]
fn a_form_shows_no_key_of_a_message_behind_it() {
    let mut desk = desk();
    desk.event(Event::Said(true, "the disk is full ".repeat(20)));
    assert!(desk.screen().contains("e reads it, Esc"));
    open_form(&mut desk);
    let screen = desk.screen();
    assert!(screen.contains("✗ the disk is full") && !screen.contains("e reads it"), "{screen}");
}

#[test]
fn a_refused_form_stays_with_its_text() {
    let mut desk = desk();
    open_form(&mut desk);
    desk.press("main");
    tab(&mut desk, 2);
    paste(&mut desk, "one\ntwo");
    desk.control('s');
    let order = ordered(&mut desk);
    desk.press("x");
    desk.control('s');
    assert!(desk.orders().is_empty(), "it runs already");
    desk.carried(order, Some("main is the default branch"));
    let screen = desk.screen();
    assert!(screen.contains("✗ cannot create main: main is the default branch: try again"), "{screen}");
    desk.control('s');
    let order = ordered(&mut desk);
    assert_eq!(order.input.as_deref(), Some("one\ntwo"));
    desk.carried(order, None);
    assert!(matches!(desk.state.mode, Mode::List));
}

#[test]
fn a_form_that_was_left_is_opened_again_after_a_refusal() {
    let mut desk = desk();
    open_form(&mut desk);
    desk.press("main");
    desk.key(KeyCode::Enter);
    let order = ordered(&mut desk);
    desk.key(KeyCode::Esc);
    assert!(matches!(desk.state.mode, Mode::List));
    desk.carried(order, Some("main is the default branch"));
    assert!(matches!(desk.state.mode, Mode::List), "nobody is disturbed");
    assert!(last_message(&desk).ends_with("(c opens the form again)"), "{}", last_message(&desk));
    desk.press("c");
    desk.key(KeyCode::Enter);
    let order = ordered(&mut desk);
    assert_eq!(order.label, "create main");
    desk.key(KeyCode::Esc);
    desk.carried(order, None);
    desk.press("c");
    desk.key(KeyCode::Enter);
    assert!(desk.orders().is_empty(), "an empty form is open");
}

/// An open form whose workflow has steps, in the field for the prompt.
pub(super) fn open_mission(desk: &mut Desk) {
    open_form(desk);
    tab(desk, 3);
    desk.key(KeyCode::Right);
    desk.key(KeyCode::BackTab);
}

#[test]
fn a_workflow_with_steps_starts_a_mission() {
    let mut desk = desk();
    open_mission(&mut desk);
    let screen = desk.screen();
    let names = ["A new mission", "prompt", "execution", "intervene", "Ctrl-S start"];
    assert!(names.iter().all(|name| screen.contains(name)) && !screen.contains("context"), "{screen}");
    desk.press("Add a form");
    desk.key(KeyCode::Enter);
    desk.press("and its tests");
    tab(&mut desk, 2);
    desk.key(KeyCode::Right);
    tab(&mut desk, 1);
    desk.key(KeyCode::Left);
    desk.control('s');
    let order = ordered(&mut desk);
    let words = "mission start --project=toy --execution=step --intervene=always --harness=claude \
        --review-harness=claude -- dev-task -";
    assert_eq!(order.words.join(" "), words);
    assert_eq!(order.input.as_deref(), Some("Add a form\nand its tests"));
    desk.succeeds(order, r#"{"success": true, "id": "miss0000000000000000"}"#);
    desk.answer(Question::Missions, MISSIONS);
    assert_eq!(desk.selected(), "faster");
}

#[test]
fn a_form_waits_for_the_projects() {
    let mut desk = Desk::silent(120, 32);
    open_form(&mut desk);
    desk.press("fix");
    let two = r#"[{"name": "other", "workflow": "other"}, {"name": "toy", "workflow": "default"}]"#;
    desk.answer(Question::Tasks, TASKS);
    desk.answer(Question::Projects, two);
    desk.control('s');
    let words =
        "task create --project=toy --workflow=default --harness=claude --review-harness=claude -- fix";
    assert_eq!(ordered(&mut desk).words.join(" "), words);
    let mut desk = Desk::silent(120, 32);
    open_form(&mut desk);
    desk.answer(Question::Projects, "[]");
    assert!(matches!(desk.state.mode, Mode::List));
    assert!(last_message(&desk).contains("orange project add PATH"), "{}", last_message(&desk));
}

#[test]
fn projects_that_come_late_change_no_chosen_workflow() {
    let mut desk = Desk::silent(120, 32);
    open_form(&mut desk);
    tab(&mut desk, 3);
    desk.key(KeyCode::Right);
    tab(&mut desk, 1);
    desk.answer(Question::Projects, r#"[{"name": "toy", "workflow": "default"}]"#);
    let screen = desk.screen();
    assert!(screen.contains("A new mission") && !screen.contains("workflow   ‹"), "{screen}");
}

#[test]
fn names_that_come_late_change_no_choice() {
    let mut desk = desk();
    open_mission(&mut desk);
    desk.press("Make it faster");
    desk.event(Event::Settings);
    desk.answer(Question::Workflows, WORKFLOWS);
    desk.answer(Question::Harnesses, HARNESSES);
    desk.control('s');
    let order = ordered(&mut desk);
    assert!(order.words.ends_with(&["dev-task".to_owned(), "-".to_owned()]), "{order:?}");
}

#[test]
fn a_comment_of_several_lines_is_one_item() {
    let mut desk = desk();
    desk.press("jj2");
    desk.answer(Question::Diff("ok100000000000000000".to_owned()), DIFF);
    desk.key(KeyCode::Right);
    desk.press("}jcWhich user?");
    desk.key(KeyCode::Enter);
    desk.press("- mine");
    desk.control('s');
    assert!(desk.screen().contains("▌ - mine"), "{}", desk.screen());
    desk.press("F");
    let text = ordered(&mut desk).input.unwrap();
    assert!(text.contains("- `src/login.rs:1`: Which user?\n  - mine\n"), "{text}");
}

#[test]
fn a_new_task_is_selected() {
    let mut desk = desk();
    desk.press("c");
    desk.answer(Question::Workflows, r#"[{"name": "default", "states": 8}]"#);
    desk.answer(Question::Harnesses, r#"[{"name": "claude", "installed": true, "default": true}]"#);
    desk.event(Event::Paste("add login!\n".to_owned()));
    desk.key(KeyCode::Tab);
    desk.event(Event::Paste("-v is\nnot ignored".to_owned()));
    desk.control('s');
    let order = desk.orders().remove(0);
    let words = "task create --project=toy --workflow=default --harness=claude --review-harness=claude -- addlogin -v is\nnot ignored";
    assert_eq!(order.words.join(" "), words);
    desk.succeeds(order, r#"{"success": true, "id": "new", "branch": "addlogin", "waiting": null}"#);
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
    desk.control('s');
    desk.press("jjcAnd who tests it?");
    desk.control('s');
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

/// The question of a step of a mission, with two answers.
#[test]
fn an_answer_to_a_question_has_a_comment() {
    let mut rows: serde_json::Value = serde_json::from_str(MISSIONS).unwrap();
    let action = |word: &str, key: &str| {
        let command = ["mission", "answer", "miss0000000000000000", "approve", word];
        serde_json::json!({"name": "answer", "command": command, "label": word, "keys": [key]})
    };
    rows[0]["need"]["kind"] = "question".into();
    rows[0]["need"]["actions"] = serde_json::json!([action("approve", "a"), action("reject", "d")]);
    let open = || {
        let mut desk = desk();
        desk.answer(Question::Missions, &rows.to_string());
        desk.press("/faster");
        desk.key(KeyCode::Enter);
        assert_eq!(desk.selected(), "faster");
        desk
    };
    let mut desk = open();
    desk.press("d");
    paste(&mut desk, "no tests");
    desk.control('s');
    let order = ordered(&mut desk);
    assert_eq!(order.words.join(" "), "mission answer miss0000000000000000 approve reject --comment=-");
    assert_eq!(order.input.as_deref(), Some("no tests"));
    let mut desk = open();
    desk.press("a");
    desk.control('s');
    let order = ordered(&mut desk);
    assert_eq!(order.words.join(" "), "mission answer miss0000000000000000 approve approve");
    assert_eq!(order.input, None);
}
