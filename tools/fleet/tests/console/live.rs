//! Pages that change while they are open.

use libtest_mimic::Trial;
use orange_core::mission::Event;
use orange_core::plan::Execution;

use crate::colony::ConsoleColony;
use crate::gateway::ConsoleGateway;
use crate::people::enter;
use crate::suite::{browser, with_browser};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_browser("steps_turn_on_an_open_page", steps_turn),
        with_browser("a_pause_appears_and_is_continued", continues_a_pause),
        with_browser("an_open_page_outlives_its_gateway", outlives_its_gateway),
        with_browser("what_a_person_has_opened_stays_open", stays_open),
        with_browser("the_inbox_and_the_lists_change_too", lists_change),
    ]
}

const UNTOUCHED: &str = "window.loaded = 'once'; return null";

fn steps_turn() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("Watch this");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    browser.script(UNTOUCHED);
    colony.begin(&id, "plan");
    browser.wait_for("#step-plan .badge", "running");
    browser.wait_for(".plan .running .name", "plan");
    browser.wait_for("#says", "plan is running");
    colony.complete(&id, "plan", None, "Three things to do.");
    browser.wait_for("#step-plan .badge", "completed");
    browser.wait_for("#a-plan-1", "Three things to do.");
    colony.begin(&id, "implement");
    colony.complete(&id, "implement", None, "Done.");
    colony.begin(&id, "review");
    colony.complete(&id, "review", Some("FAIL"), "A test is missing.");
    browser.wait_for("#step-fix .badge", "queued");
    colony.begin(&id, "fix");
    colony.complete(&id, "fix", None, "The test is there.");
    colony.begin(&id, "review");
    colony.complete(&id, "review", Some("PASS"), "Good.");
    browser.wait_for("#step-review td", "PASS");
    colony.begin(&id, "pr");
    colony.complete(&id, "pr", None, "Pull request 7.");
    browser.wait_for("#facts .badge", "completed");
    browser.wait_for("#says", "The mission has completed.");
    assert_eq!(browser.script("return window.loaded").as_str(), Some("once"), "this page was loaded again");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn continues_a_pause() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("It asks");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "which of the two?");
    browser.wait_for("#ask-title", "Pause 1: A step has failed");
    browser.wait_for("#says", "Pause 1: the mission waits for you.");
    assert!(browser.title().starts_with("(1) It asks"), "{}", browser.title());
    browser.wait("the question can be answered", || {
        let is_inert = browser.script("return document.querySelector('#ask').inert");
        if is_inert.as_bool() == Some(true) { Err("not yet".to_owned()) } else { Ok(()) }
    });
    browser.click("#ask button[value=no]");
    browser.wait_for("#step-plan .badge", "queued");
    assert!(!browser.has("#ask-title"));
    assert!(!browser.address().contains("said"), "{}", browser.address());
}

fn outlives_its_gateway() {
    let mut gateway = ConsoleGateway::start();
    let id = ConsoleColony::new(&gateway).start("The gateway stops");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    browser.script(UNTOUCHED);
    gateway.stop();
    browser.wait_for("#connection", "The gateway does not answer.");
    gateway.go_on();
    let colony = ConsoleColony::new(&gateway);
    colony.begin(&id, "plan");
    browser.wait_for("#step-plan .badge", "running");
    browser.wait("the banner is gone", || {
        let text = browser.script("return document.querySelector('#connection').textContent");
        if text.as_str() == Some("") { Ok(()) } else { Err(text.to_string()) }
    });
    assert_eq!(browser.script("return window.loaded").as_str(), Some("once"), "this page was loaded again");
}

fn stays_open() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("Somebody is in the middle of something");
    let stepwise = Event::Continue {
        pause: None,
        accept_failure: false,
        execution: Some(Execution::Step),
        intervene: None,
    };
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "no");
    colony.person(&id, stepwise);
    colony.begin(&id, "plan");
    colony.complete(&id, "plan", None, "Planned.");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    browser.click("#policy summary");
    browser.write("#answer-intervene", "always");
    browser.click("#cancel summary");
    browser.script("document.querySelector('#answer-intervene').focus()");
    // An agent of an attempt that nobody has started reports late: the mission changes, and its question stays.
    colony.complete(&id, "implement", None, "Implemented already.");
    browser.wait_for("#attempts", "Implemented already.");
    let kept = "return [document.querySelector('#policy').open, document.querySelector('#cancel').open, \
                document.querySelector('#answer-intervene').value, document.activeElement.id]";
    assert_eq!(browser.script(kept), serde_json::json!([true, true, "always", "answer-intervene"]));
    browser.click("#ask button[value=no]");
    browser.wait_for("#facts", "intervene always");
}

fn lists_change() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let (inbox, list, crabs) = (browser(), browser(), browser());
    enter(&inbox, &gateway, "/console");
    enter(&list, &gateway, "/console/missions");
    enter(&crabs, &gateway, "/console/colonies");
    let id = colony.start("News");
    list.wait_for("#missions", "News");
    crabs.wait_for("#crab-sage-id", "plan #1");
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "no");
    inbox.wait_for("#waiting", "News");
    list.wait_for("#missions .badge", "paused");
    crabs.wait_for("#crab-sage-id .badge", "not ready");
    colony.park("sage-id");
    crabs.wait_for("#crab-sage-id .badge", "free");
}
