//! Tests of the questions of steps in the console.

use libtest_mimic::Trial;
use orange_core::mission::{AttemptEnd, StepStatus};
use orange_core::plan::StepId;
use orange_fleet::host::TextKind;
use orange_fleet::simulate::measure::ASKED;

use crate::colony::ConsoleColony;
use crate::gateway::ConsoleGateway;
use crate::people::enter;
use crate::suite::{browser, with_browser};

const OK: StepId = StepId(1);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_browser("a_person_answers_a_question_with_a_comment", answers),
        with_browser("of_two_answers_the_first_counts", two_answers),
    ]
}

/// A mission whose first step has pushed its changes, so that it asks.
fn asking(colony: &ConsoleColony<'_>) -> String {
    let id = colony.start_with(&ASKED, "Is the kettle on?");
    colony.begin(&id, "a");
    colony.text(&id, "a", 1, TextKind::Diff, "diff --git a/kettle b/kettle\n@@ -0,0 +1 @@\n+on\n");
    colony.complete(&id, "a", None, "The kettle is on.");
    id
}

fn answers() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = asking(&colony);
    let browser = browser();
    enter(&browser, &gateway, "/console");
    browser.wait_for("#waiting", "ok asks a person");
    browser.click("#waiting article a.button");
    browser.wait_for("#ask", "Is the kettle on?");
    let asked = browser.text("#ask");
    assert!(asked.contains("The kettle is on.") && asked.contains("4f1c2d9e8b7a"), "{asked}");
    browser.click("#ask .changes a");
    browser.wait_for("#diff", "kettle");
    // A link to a question answers nothing, however often it is opened.
    assert_eq!(colony.mission(&id).mission.step(OK).status, StepStatus::Asked);
    let page = gateway.at(&format!("/console/missions/{id}"));
    browser.go(&page);
    browser.write("#comment-ok-1", "It is cold.");
    browser.click("#ask button[value=reject]");
    browser.wait_for("#said", "answered");
    let said = browser.text("#answers");
    assert!(said.contains("ok: reject, by admin") && said.contains("It is cold."), "{said}");
    let stored = colony.mission(&id);
    let Some(AttemptEnd::Rejected { answer, .. }) = &stored.mission.step(OK).attempts[0].end else {
        panic!("{:?}", stored.mission.step(OK))
    };
    assert_eq!(answer.commit.as_deref(), Some("4f1c2d9e8b7a60513f2e1d0c9b8a7f6e5d4c3b2a"));
    browser.go(&page);
    assert!(browser.text("#answers").contains("by admin") && !browser.has("#ask form.answers textarea"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn two_answers() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = asking(&colony);
    let (first, second) = (browser(), browser());
    // The second page does not change while its reader thinks.
    second.without_scripts();
    let page = format!("/console/missions/{id}");
    enter(&first, &gateway, &page);
    enter(&second, &gateway, &page);
    first.click("#ask button[value=approve]");
    first.wait_for("#said", "answered");
    second.click("#ask button[value=reject]");
    second.wait_for("#main h1", "The answer does not count");
    assert!(second.text("#main").contains("approve, by admin"), "{}", second.text("#main"));
    second.click("#main a.button");
    second.wait_for("#answers", "approve, by admin");
    assert_eq!(colony.mission(&id).mission.step(OK).status, StepStatus::Completed);
}
