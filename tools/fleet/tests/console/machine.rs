//! The work of the gateway's own machine. The lists are those that `orange` answers in the tests of the dashboard.

use std::fs;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::gateway::ConsoleGateway;
use crate::http::Visitor;
use crate::people::enter;
use crate::suite::{browser, plain, with_browser};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_browser("a_permission_is_given_in_the_browser", permission),
        with_browser("an_agent_is_answered_in_the_browser", answer),
        plain("what_is_not_offered_is_not_done", not_offered),
        plain("an_answer_that_is_sent_twice_is_given_once", sent_twice),
        plain("the_reason_of_an_orange_that_fails_is_shown", fails),
    ]
}

/// Calls of `orange` beside those for its lists.
fn asked(gateway: &ConsoleGateway) -> String {
    fs::read_to_string(gateway.in_home("asked")).unwrap_or_default()
}

fn permission() {
    let gateway = ConsoleGateway::start();
    let browser = browser();
    enter(&browser, &gateway, "/console/machine");
    let card = "#work-perm0000000000000000";
    assert!(browser.text(card).contains("rm -rf node_modules"), "{}", browser.text(card));
    browser.click(&format!("{card} .answers button"));
    browser.wait_for("#said", "It is done.");
    assert_eq!(asked(&gateway), "--json task answer perm0000000000000000.1.9f2c allow\n\n");
}

fn answer() {
    let gateway = ConsoleGateway::start();
    let browser = browser();
    browser.without_scripts();
    enter(&browser, &gateway, "/console/machine");
    let card = "#work-clarify0000000000000";
    browser.write(&format!("{card} details[open] textarea"), "-rf, with <b>both</b>");
    browser.click(&format!("{card} details[open] button"));
    browser.wait_for("#said", "It is done.");
    let asked = asked(&gateway);
    let [words, text] = asked.lines().collect::<Vec<_>>()[..] else { panic!("{asked}") };
    assert!(words.starts_with("--json task send clarify0000000000000") && words.ends_with(" -"), "{words}");
    assert_eq!(text, "-rf, with <b>both</b>");
}

/// The status of a form with these words.
fn send(visitor: &Visitor, key: &str, words: &[&str]) -> u16 {
    let csrf = visitor.hidden("/console/machine", "csrf");
    let command = words.join("\r\n");
    let form = [("csrf", csrf.as_str()), ("key", key), ("id", "perm0000000000000000"), ("command", &command)];
    visitor.post("/console/machine", &form).status().as_u16()
}

fn not_offered() {
    let gateway = ConsoleGateway::start();
    let visitor = Visitor::enter(&gateway);
    let refused = [
        &["task", "delete", "--yes", "perm0000000000000000"][..],
        &["task", "answer", "perm0000000000000000.1.older", "allow"],
        &["task", "attach", "perm0000000000000000"],
        &[],
    ];
    for (number, words) in refused.into_iter().enumerate() {
        assert_eq!(send(&visitor, &number.to_string(), words), 409, "{words:?}");
    }
    // A form without the mark of the session is one of another site.
    let form = [("csrf", ""), ("key", "k"), ("id", "perm0000000000000000"), ("command", "task")];
    assert_eq!(visitor.post("/console/machine", &form).status(), 403);
    assert_eq!(asked(&gateway), "");
}

fn sent_twice() {
    let gateway = ConsoleGateway::start();
    let visitor = Visitor::enter(&gateway);
    let words = ["task", "answer", "perm0000000000000000.1.9f2c", "deny"];
    assert_eq!([send(&visitor, "one", &words), send(&visitor, "one", &words)], [303, 303]);
    assert_eq!(asked(&gateway).matches("deny").count(), 1);
    assert_eq!(send(&visitor, "two", &words), 303);
    assert_eq!(asked(&gateway).matches("deny").count(), 2);
}

fn fails() {
    let gateway = ConsoleGateway::start();
    let visitor = Visitor::enter(&gateway);
    let refusal: Value = json!({ "error": { "code": "corrupt", "message": "tasks/x cannot be read", "help": "run orange doctor" } });
    let script = format!("#!/bin/sh\ncat <<'END'\n{refusal}\nEND\nexit 4\n");
    let fresh = gateway.in_home("orange.new");
    fs::write(&fresh, script).unwrap();
    fs::set_permissions(&fresh, fs::metadata(gateway.in_home("orange")).unwrap().permissions()).unwrap();
    fs::rename(&fresh, gateway.in_home("orange")).unwrap();
    let (status, page) = visitor.get("/console/machine");
    assert_eq!(status, 503);
    assert!(page.contains("tasks/x cannot be read") && page.contains("run orange doctor"), "{page}");
}
