//! Actions on a row, and the orders that they give.

use crossterm::event::KeyCode;

use super::keys::desk;
use super::{DIFF, Desk, TASKS};
use crate::model::effect::{Order, Question};
use crate::model::offers;

/// A row of `ok1` in a status of a workflow of the person's own, with these transitions: status, and whether it returns work.
fn judged(desk: &mut Desk, transitions: &[(&str, bool)]) {
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    let action = |(to, returns): &(&str, bool)| {
        let command = ["task", "update", "ok100000000000000000", "--status", to];
        let (label, key) = if *returns { (format!("back to {to}"), "r") } else { (format!("to {to}"), ">") };
        serde_json::json!({
            "name": "status", "to": to, "returns": returns, "command": command, "label": label, "keys": [key],
        })
    };
    rows[2]["need"]["actions"] = transitions.iter().map(action).collect();
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    desk.press("gjj");
    desk.effects.clear();
}

fn offered(desk: &Desk) -> Vec<String> {
    let row = desk.state.selected().unwrap();
    let shown = |it: offers::Offered| {
        let why = it.refusal.map(|why| format!(" ({why})")).unwrap_or_default();
        format!("{} {}{why}", it.key, it.label)
    };
    offers::of(&desk.state, row).into_iter().filter(|it| "r>".contains(&it.key)).map(shown).collect()
}

#[test]
fn work_is_sent_back_with_what_is_to_change() {
    let mut desk = desk();
    desk.press("jjr");
    desk.press("Use the library");
    desk.control('s');
    let order = desk.orders().remove(0);
    assert_eq!(order.words.join(" "), "task update ok100000000000000000 --status working --feedback=-");
    assert_eq!(order.input.as_deref(), Some("Use the library"));
    desk.carried(order, None);
    desk.press("gjjr");
    desk.control('s');
    assert_eq!(desk.said(), ["task update ok100000000000000000 --status working"]);
}

#[test]
fn work_never_goes_on_where_it_is_sent_back() {
    let mut desk = desk();
    judged(&mut desk, &[("approved", false), ("hacking", true)]);
    assert_eq!(offered(&desk), ["r back to hacking", "> to approved"]);
    desk.press(">");
    assert_eq!(desk.said(), [""; 0], "it is asked first");
    desk.press("y");
    assert_eq!(desk.said(), ["task update ok100000000000000000 --status approved"]);
    // Where no transition returns work, nothing does.
    let mut desk = self::desk();
    judged(&mut desk, &[("shipped", false)]);
    assert_eq!(offered(&desk), ["> to shipped"]);
    desk.press("2");
    desk.answer(Question::Diff("ok100000000000000000".to_owned()), DIFF);
    desk.key(KeyCode::Right);
    desk.press("}jcBad code");
    desk.control('s');
    desk.press("rF");
    assert_eq!(desk.said(), [""; 0]);
    assert!(
        desk.state.messages[0].text.contains("no transition sends ok1 back"),
        "{:?}",
        desk.state.messages
    );
}

#[test]
fn of_several_transitions_one_is_chosen() {
    let mut desk = desk();
    judged(&mut desk, &[("planning", true), ("hacking", true), ("approved", false), ("rejected", false)]);
    assert_eq!(offered(&desk), ["r back to planning or hacking", "> to approved or rejected"]);
    desk.press("rj");
    desk.key(KeyCode::Enter);
    desk.press("Use the library");
    desk.control('s');
    assert_eq!(desk.said(), ["task update ok100000000000000000 --status hacking --feedback=-"]);
}

#[test]
fn a_transition_that_is_refused_is_shown_with_the_reason() {
    let mut desk = desk();
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    let command = ["task", "update", "ok100000000000000000", "--status", "approved"];
    let refused = serde_json::json!({
        "name": "status", "to": "approved", "label": "to approved", "keys": [">"], "command": command,
        "refusal": "no ## Judgement yet",
    });
    rows[2]["need"]["actions"].as_array_mut().unwrap().push(refused);
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    desk.press("gjj");
    assert_eq!(offered(&desk), ["r back to working", "> to approved (no ## Judgement yet)"]);
    desk.press(">");
    assert_eq!(desk.said(), [""; 0]);
    assert!(desk.state.messages[0].text.contains("to approved is refused: no ## Judgement yet"));
}

/// The row `perm` with further actions.
fn with_actions(desk: &mut Desk, question: Question, more: &serde_json::Value) {
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    rows[0]["need"]["actions"].as_array_mut().unwrap().extend(more.as_array().unwrap().iter().cloned());
    let answer = if question == Question::Tasks { serde_json::json!(rows) } else { rows[0].clone() };
    desk.answer(question, &answer.to_string());
}

#[test]
fn a_key_that_the_machine_refuses_says_why() {
    let mut desk = desk();
    let merge = serde_json::json!({
        "name": "merge", "label": "merge", "keys": ["m"], "command": ["task", "merge", "perm0000000000000000"],
        "refusal": "only when review_round > 0",
    });
    with_actions(&mut desk, Question::Tasks, &serde_json::json!([merge]));
    let row = desk.state.selected().unwrap();
    let merge = offers::of(&desk.state, row).into_iter().find(|it| it.key == "m").unwrap();
    assert_eq!(merge.refusal.as_deref(), Some("only when review_round > 0"));
    desk.press("m");
    assert_eq!(desk.said(), [""; 0]);
    assert!(desk.state.messages[0].text.contains("review_round > 0"));
    desk.press("G");
    let row = desk.state.selected().unwrap();
    assert!(offers::of(&desk.state, row).iter().all(|it| it.key != "m"), "no transition, no key");
}

#[test]
fn a_merge_by_force_is_offered_where_the_task_has_it() {
    let mut desk = desk();
    let id = "perm0000000000000000";
    let keys = |desk: &Desk| {
        let offered = offers::of(&desk.state, desk.state.selected().unwrap()).into_iter();
        offered.filter(|it| it.key == "m").map(|it| it.label).collect::<Vec<_>>()
    };
    assert_eq!(keys(&desk), [""; 0]);
    let force = serde_json::json!({
        "name": "merge", "label": "force merge", "keys": ["m"], "command": ["task", "merge", id, "--force", "--yes"],
        "warning": "The workflow has no merge from working.",
    });
    with_actions(&mut desk, Question::Task(id.to_owned()), &serde_json::json!([force]));
    assert_eq!(keys(&desk), ["force merge"]);
    desk.press("m");
    assert_eq!(desk.said(), [""; 0], "it is asked first");
    let asked = "force merge perm? The workflow has no merge from working. (y/N)";
    assert!(desk.screen().contains(asked), "{}", desk.screen());
    desk.press("y");
    desk.wait(5);
    assert_eq!(desk.said(), ["task merge perm0000000000000000 --force --yes"]);
}

#[test]
fn an_older_cancel_is_undone() {
    let mut desk = desk();
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    let last = rows.last_mut().unwrap();
    last["status"] = serde_json::json!("cancelled");
    let id = "old00000000000000000";
    let action = |name: &str, label: &str, key: &str| serde_json::json!({"name": name, "label": label, "keys": [key], "command": ["task", name, id]});
    let actions = [action("undo", "undo the cancel", "u"), action("delete", "delete", "d")];
    last["need"] =
        serde_json::json!({"kind": "over", "person": false, "why": "it is over", "actions": actions});
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    desk.press("ff");
    assert!(desk.screen().contains("u undo the cancel"), "{}", desk.screen());
    desk.press("t");
    assert!(desk.screen().contains("delete"), "{}", desk.screen());
    desk.press("tu");
    assert_eq!(desk.said(), ["task undo old00000000000000000"]);
}

#[test]
fn a_merge_has_the_strategy_of_its_action() {
    let mut desk = desk();
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    rows[2]["need"]["actions"][0]["label"] = serde_json::json!("merge (--strategy merge)");
    rows[2]["need"]["actions"][0]["command"] =
        serde_json::json!(["task", "merge", "ok100000000000000000", "--strategy", "merge"]);
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    desk.press("gjj");
    assert!(desk.screen().contains("m merge (--strategy merge)"), "{}", desk.screen());
    desk.press("my");
    desk.wait(5);
    assert_eq!(desk.said(), ["task merge ok100000000000000000 --strategy merge --yes"]);
}

#[test]
fn what_a_task_calls_for_is_seen_with_a_key() {
    let mut desk = desk();
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(TASKS).unwrap();
    let command = ["task", "edit", "ok100000000000000000", "--seen"];
    let seen = serde_json::json!({"name": "seen", "label": "seen", "keys": ["a"], "command": command});
    rows[2]["need"]["actions"] = serde_json::json!([seen]);
    desk.answer(Question::Tasks, &serde_json::to_string(&rows).unwrap());
    desk.press("gjja");
    assert_eq!(desk.said(), ["task edit ok100000000000000000 --seen"]);
}

#[test]
fn enter_starts_the_agent_of_a_crashed_row_again() {
    let mut desk = desk();
    super::frames::select(&mut desk, "crash");
    desk.effects.clear();
    desk.key(KeyCode::Enter);
    assert_eq!(desk.said(), ["task respawn crash000000000000000"]);
}

#[test]
fn a_mission_is_continued_and_its_failure_accepted() {
    let mut desk = desk();
    desk.press("gnnnnn");
    assert_eq!(desk.selected(), "faster");
    desk.press("a");
    let order = desk.orders().remove(0);
    assert_eq!(order.words.join(" "), "mission continue miss0000000000000000 --pause 1");
    desk.carried(order, None);
    desk.press("gnnnnnA");
    assert_eq!(desk.said(), ["mission continue miss0000000000000000 --pause 1 --accept-failure"]);
}

#[test]
fn a_pull_request_is_named_and_its_news_are_said() {
    let mut desk = desk();
    desk.press("gjj");
    let url = "https://example.org/1";
    let cases = [
        ("open", serde_json::json!({"url": url, "browser": "firefox"}), "https://example.org/1"),
        ("open", serde_json::json!({"url": url, "browser": null}), "no browser was found"),
        ("create-pr", serde_json::json!({"pr_url": url, "created": false}), "was open already"),
        ("refresh", serde_json::json!({"news": "none", "pr_url": null}), "the forge has none"),
        ("refresh", serde_json::json!({"news": "linked", "pr_url": url}), "is linked now"),
        (
            "refresh",
            serde_json::json!({"news": "checked", "done": "its checks are red"}),
            "its checks are red",
        ),
        (
            "refresh",
            serde_json::json!({"news": "merged", "done": "ok1 is done"}),
            "it is merged, ok1 is done",
        ),
    ];
    for (verb, answer, expect) in cases {
        let words = ["task", verb, "ok100000000000000000"].map(str::to_owned).to_vec();
        let order = Order { label: verb.to_owned(), words, ..Order::default() };
        desk.succeeds(order, &answer.to_string());
        let last = desk.state.messages.last().unwrap();
        assert!(last.text.contains(expect), "{last:?}");
    }
}

#[test]
fn a_look_at_a_pull_request_keeps_the_selection() {
    let mut desk = desk();
    desk.press("gjj");
    for (key, words) in [("p", "task open ok100000000000000000"), ("R", "task refresh ok100000000000000000")]
    {
        desk.press(key);
        let order = desk.orders().remove(0);
        assert_eq!((order.words.join(" ").as_str(), desk.selected()), (words, "ok1"));
        desk.carried(order, None);
    }
}
