//! Tests of the actions of people in the console.

use libtest_mimic::Trial;
use orange_fleet::serve::auth::Rights;

use crate::browser::Browser;
use crate::colony::ConsoleColony;
use crate::gateway::ConsoleGateway;
use crate::suite::{browser, with_browser};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_browser("a_person_signs_in_and_starts_a_mission", signs_in_and_starts),
        with_browser("every_form_works_without_scripts", without_scripts),
        with_browser("a_page_is_used_with_the_keyboard_alone", with_the_keyboard),
        with_browser("of_two_browsers_the_second_answers_too_late", two_browsers),
        with_browser("a_failed_mission_runs_again_and_is_cancelled", retries_and_cancels),
    ]
}

/// Signs in and goes to a page.
pub(crate) fn enter(browser: &Browser, gateway: &ConsoleGateway, path: &str) {
    browser.go(&gateway.at(path));
    browser.write("#token", &gateway.token());
    browser.click("form button");
    browser.wait_at(&gateway.at(path));
}

fn signs_in_and_starts() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let browser = browser();
    browser.go(&gateway.at("/console/start?workflow=dev-task"));
    assert!(
        browser.address().ends_with("/console/login?next=%2Fconsole%2Fstart%3Fworkflow%3Ddev-task"),
        "{}",
        browser.address()
    );
    let of_crab = gateway.new_token(Rights::Crab { colony: colony.id.clone() });
    browser.write("#token", &of_crab);
    browser.click("form button");
    browser.wait_for("#refused", "not the token of a person");
    browser.write("#token", &gateway.token());
    browser.click("form button");
    browser.write("#prompt", "Fix issue #6\n\nThe parser drops the last line.");
    browser.click("#policy summary");
    browser.write("#start-execution", "step");
    browser.click("form.panel button");
    browser.wait_for("#said", "started");
    assert_eq!(browser.text("#main h1"), "Fix issue #6");
    let id = browser.script("return document.querySelector('#facts code').textContent");
    let stored = colony.mission(id.as_str().unwrap());
    assert_eq!(stored.prompt, "Fix issue #6\n\nThe parser drops the last line.");
    assert_eq!(stored.mission.policy.execution.as_str(), "step");
    browser.click(".top form button");
    browser.wait_at(&gateway.at("/console/login"));
    browser.go(&gateway.at("/console"));
    assert!(browser.has("#token"));
    // A browser writes down the status of the refused login, and nothing else.
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|it| it.contains("403")), "{complaints:?}");
}

fn without_scripts() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let browser = browser();
    browser.without_scripts();
    enter(&browser, &gateway, "/console/start");
    browser.write("#prompt", "Without scripts");
    browser.click("form.panel button");
    browser.wait_for("#said", "started");
    let id = browser.text("#facts code");
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "there is nothing to plan");
    browser.go(&gateway.at("/console"));
    assert!(browser.text("#waiting").contains("there is nothing to plan"));
    browser.click("#waiting button[value=no]");
    browser.wait_for("#said", "tried again");
    assert_eq!(colony.mission(&id).mission.step(orange_core::plan::StepId(0)).attempt(), 2);
    colony.fail(&id, "plan", "once more");
    browser.go(&gateway.at(&format!("/console/missions/{id}")));
    browser.click("#ask button[value=yes]");
    browser.wait_for("#ask", "It has failed");
    browser.click("#ask form button");
    browser.wait_for("#said", "runs again");
    browser.click("#cancel summary");
    browser.click("#cancel button");
    browser.wait_for("#facts", "cancelled");
}

fn with_the_keyboard() {
    const TAB: char = '\u{e004}';
    const ENTER: char = '\u{e007}';
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("With the keyboard");
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "no");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    let focused =
        || browser.script("return document.activeElement.textContent.trim()").as_str().unwrap().to_owned();
    browser.press(TAB);
    assert_eq!(focused(), "Skip to the content");
    let is_seen = "return document.activeElement.getBoundingClientRect().top >= 0";
    browser.wait("the link is seen", || match browser.script(is_seen).as_bool() {
        Some(true) => Ok(()),
        Some(false) | None => Err("it is out of sight".to_owned()),
    });
    browser.press(ENTER);
    browser.wait("the content is focused", || match focused().starts_with("With the keyboard") {
        true => Ok(()),
        false => Err(focused()),
    });
    for _ in 0..12 {
        browser.press(TAB);
        if focused() == "Try plan again" {
            break;
        }
    }
    assert_eq!(focused(), "Try plan again");
    browser.press(ENTER);
    browser.wait_for("#said", "tried again");
}

fn two_browsers() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("Two people look at this");
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "the issue is closed");
    let (first, second) = (browser(), browser());
    // The second page does not change while its reader thinks.
    second.without_scripts();
    let page = format!("/console/missions/{id}");
    enter(&first, &gateway, &page);
    enter(&second, &gateway, &page);
    first.click("#ask button[value=no]");
    first.wait_for("#said", "tried again");
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "the issue is still closed");
    second.click("#ask button[value=yes]");
    second.wait_for("#main h1", "The answer does not count");
    assert!(second.text("#main").contains("another pause"), "{}", second.text("#main"));
    second.click("#main a.button");
    second.wait_for("#ask", "still closed");
    assert_eq!(colony.mission(&id).mission.pause().unwrap().number, 2);
}

fn retries_and_cancels() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("It fails");
    colony.begin(&id, "plan");
    colony.fail(&id, "plan", "no");
    let accept = orange_core::mission::Event::Continue {
        pause: None,
        accept_failure: true,
        execution: None,
        intervene: None,
    };
    colony.person(&id, accept);
    let browser = browser();
    enter(&browser, &gateway, "/console");
    assert!(browser.text("#failed").contains("plan failed: no"));
    browser.click("#failed form button");
    browser.wait_for("#said", "runs again");
    browser.click("#cancel summary");
    browser.click("#cancel button");
    browser.wait_for("#facts", "cancelled");
    assert!(!browser.has("#cancel"));
}
