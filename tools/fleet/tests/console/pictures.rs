//! A gateway with something of everything, and pictures of its pages for people to look at.

use std::path::PathBuf;

use libtest_mimic::Trial;
use orange_core::mission::{Event, Report};
use orange_fleet::host::TextKind;

use crate::browser::{DESKTOP, PHONE};
use crate::colony::ConsoleColony;
use crate::gateway::ConsoleGateway;
use crate::people::enter;
use crate::suite::{browser, with_browser};
use crate::texts::{hostile, hostile_diff};

/// Diff of an attempt.
const DIFF: &str = " src/parser.rs | 3 +--\n 1 file changed, 1 insertion(+), 2 deletions(-)\n\n\
    diff --git a/src/parser.rs b/src/parser.rs\nindex 1d2c3b4..5e6f7a8 100644\n--- a/src/parser.rs\n+++ b/src/parser.rs\n\
    @@ -10,4 +10,3 @@ fn lines(text: &str) -> Vec<&str> {\n     let mut lines: Vec<&str> = text.split('\\n').collect();\n\
    -    // The last line is empty.\n-    lines.pop();\n+    lines.pop_if(|it| it.is_empty());\n     lines\n";

pub(crate) fn trials() -> Vec<Trial> {
    match std::env::var_os("ORANGE_CONSOLE_PICTURES") {
        Some(_) => vec![with_browser("pictures_are_written", write)],
        None => Vec::new(),
    }
}

/// Missions in every state; their ids.
pub(crate) fn fill(gateway: &ConsoleGateway) -> Vec<String> {
    let colony = ConsoleColony::new(gateway);
    let to_review = |id: &str| {
        let keep = |step: &str, kind, text: &str| colony.text(id, step, 1, kind, text);
        colony.begin(id, "plan");
        colony.complete(
            id,
            "plan",
            None,
            "1. Read the parser.\n2. Keep the last line.\n3. Write a test for a file without a line end.",
        );
        colony.begin(id, "implement");
        let warning = Some("The public function has another signature.".to_owned());
        colony.report(
            id,
            "implement",
            Report {
                result: None,
                summary: "The parser keeps the last line.".to_owned(),
                warning,
                ..Report::default()
            },
        );
        keep("implement", TextKind::Diff, DIFF);
        keep(
            "implement",
            TextKind::Transcript,
            "agent 1 (worker, claude)\n\nI read the parser.\nThe tests pass.",
        );
        colony.begin(id, "review");
    };
    let accept = Event::Continue { pause: None, accept_failure: true, execution: None, intervene: None };
    let done = colony.start("Rename the flag `--fast` to `--quick`");
    to_review(&done);
    colony.complete(&done, "review", Some("PASS"), "Good.");
    colony.begin(&done, "pr");
    colony.complete(&done, "pr", None, "Pull request 41.");
    let hostile_one = colony.start(&hostile());
    colony.begin(&hostile_one, "plan");
    colony.text(&hostile_one, "plan", 1, TextKind::Diff, &hostile_diff());
    colony.text(&hostile_one, "plan", 1, TextKind::Transcript, &hostile());
    colony.fail(&hostile_one, "plan", &hostile());
    let failed = colony.start("Move the cache to the folder of the user");
    colony.begin(&failed, "plan");
    colony.fail(&failed, "plan", "there is no cache in this repository");
    colony.person(&failed, accept);
    let exhausted = colony.start("Make the start twice as fast");
    to_review(&exhausted);
    for round in 1..=4 {
        colony.complete(&exhausted, "review", Some("FAIL"), &format!("Round {round}: it is not faster."));
        if round < 4 {
            colony.begin(&exhausted, "fix");
            colony.complete(&exhausted, "fix", None, "Tried another order.");
            colony.begin(&exhausted, "review");
        }
    }
    let paused =
        colony.start("Fix issue #6\n\nThe parser drops the last line of a file that has no line end.");
    to_review(&paused);
    colony.fail(&paused, "review", "the tests cannot be run: `cargo` is not installed on this machine");
    let running = colony.start("Write a page about backups, with an example for each command that it names");
    to_review(&running);
    colony.start("Wait for a crab");
    vec![paused, running, done, failed, exhausted, hostile_one]
}

/// Every kind of page, by name.
pub(crate) fn pages(ids: &[String]) -> Vec<(String, String)> {
    let fixed = [
        ("inbox", "/console"),
        ("missions", "/console/missions"),
        ("nothing-found", "/console/missions?q=nothing+like+this"),
        ("start", "/console/start"),
        ("colonies", "/console/colonies"),
        ("workflows", "/console/workflows"),
        ("workflow", "/console/workflows/dev-task"),
        ("machine", "/console/machine"),
        ("missing", "/console/missions/none"),
    ];
    let names = ["paused", "running", "done", "failed", "exhausted", "hostile"];
    let missions = names
        .iter()
        .zip(ids)
        .map(|(name, id)| (format!("mission-{name}"), format!("/console/missions/{id}")));
    let first = &ids[0];
    let more = [
        ("step".to_owned(), format!("/console/missions/{first}/steps/review")),
        ("history".to_owned(), format!("/console/missions/{first}/history")),
        ("attempt".to_owned(), format!("/console/missions/{first}/steps/implement/1")),
        ("attempt-running".to_owned(), format!("/console/missions/{}/steps/review/1", ids[1])),
        ("attempt-hostile".to_owned(), format!("/console/missions/{}/steps/plan/1", ids[5])),
    ];
    fixed
        .map(|(name, page)| (name.to_owned(), page.to_owned()))
        .into_iter()
        .chain(missions)
        .chain(more)
        .collect()
}

fn write() {
    let folder = PathBuf::from(std::env::var_os("ORANGE_CONSOLE_PICTURES").unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    let gateway = ConsoleGateway::start();
    let ids = fill(&gateway);
    let browser = browser();
    enter(&browser, &gateway, "/console");
    for (name, page) in pages(&ids) {
        browser.go(&gateway.at(&page));
        for (device, size) in [("phone", PHONE), ("desktop", DESKTOP)] {
            browser.resize(size);
            for colours in ["light", "dark"] {
                browser.colours(colours);
                browser.picture(&folder.join(format!("{name}-{device}-{colours}.png")));
            }
        }
    }
}
