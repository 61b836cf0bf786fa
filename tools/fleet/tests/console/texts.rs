//! Texts that are meant to do harm.

use libtest_mimic::Trial;
use orange_core::mission::Report;
use orange_fleet::host::TextKind;

use crate::colony::ConsoleColony;
use crate::gateway::ConsoleGateway;
use crate::http::Visitor;
use crate::people::enter;
use crate::pictures::fill;
use crate::suite::{browser, plain, with_browser};

/// Greatest size of a page, in bytes.
const PAGE: usize = 100 << 10;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_browser("a_hostile_prompt_is_text", is_text),
        with_browser("an_attempt_shows_its_diff_and_transcript", changes),
        plain("long_texts_do_not_make_long_pages", long_texts),
    ]
}

/// Markup of every kind, characters that turn the text around, and control characters.
pub(crate) fn hostile() -> String {
    let markup = "</textarea></pre></title><script>document.title='owned';window.owned=1</script><img src=x onerror=\"window.owned=1\">\
                  <svg onload=window.owned=1><a href=\"javascript:window.owned=1\">x</a>'\"`{{mission_prompt}} $(touch x) <!--";
    format!(
        "\u{202e}Right to left\u{2066} {markup}\u{0}\u{1b}[31m\u{7f}\nשורה שנייה\n{}",
        "😀x".repeat(50_000)
    )
}

/// A diff of an attempt that has added the hostile text, in a file of such a name.
pub(crate) fn hostile_diff() -> String {
    let text = hostile();
    let name = text.lines().next().unwrap();
    format!(
        "diff --git a/{name} b/{name}\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,2 @@\n+{}",
        text.replace('\n', "\n+")
    )
}

fn is_text() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let text = hostile();
    let browser = browser();
    enter(&browser, &gateway, "/console/start");
    let first = text.lines().next().unwrap().replace(['\u{0}', '\u{1b}'], "");
    browser.write("#prompt", &first.replace(['\u{7f}', '\u{202e}'], ""));
    browser.click("form.panel button");
    browser.wait_for("#prompt pre", "<script>document.title='owned'");
    let id = colony.start(&text);
    colony.begin(&id, "plan");
    colony.report(
        &id,
        "plan",
        Report {
            result: Some(text.clone()),
            summary: text.clone(),
            warning: Some(text.clone()),
            ..Report::default()
        },
    );
    colony.begin(&id, "implement");
    colony.text(&id, "implement", 1, TextKind::Transcript, &text);
    colony.text(&id, "implement", 1, TextKind::Diff, &hostile_diff());
    colony.fail(&id, "implement", &text);
    let mission = format!("/console/missions/{id}");
    for page in [
        "/console",
        "/console/missions",
        &mission,
        &format!("{mission}/steps/implement"),
        &format!("{mission}/steps/implement/1"),
        &format!("{mission}/history"),
    ] {
        browser.go(&gateway.at(page));
        assert_eq!(browser.script("return window.owned ?? 'not'").as_str(), Some("not"), "{page}");
        assert!(browser.title().contains("Orange"), "{page}: {}", browser.title());
        let width = browser.script("return document.documentElement.scrollWidth - window.innerWidth");
        assert!(width.as_i64().unwrap() <= 0, "{page} is {width} pixels too wide");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{page}");
    }
    for text in ["prompt", "steps/implement/1/diff", "steps/implement/1/transcript"] {
        browser.go(&gateway.at(&format!("{mission}/{text}")));
        assert_eq!(browser.script("return document.contentType").as_str(), Some("text/plain"));
        assert_eq!(browser.script("return window.owned ?? 'not'").as_str(), Some("not"));
    }
}

fn changes() {
    let gateway = ConsoleGateway::start();
    let id = fill(&gateway).remove(0);
    let browser = browser();
    browser.without_scripts();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    browser.click("#a-implement-1 summary");
    browser.click("#a-implement-1 .texts a[href$='#diff']");
    browser.wait_for("h1", "implement #1");
    assert_eq!(browser.text("h3.file"), "src/parser.rs");
    assert_eq!(browser.text(".diff .added"), "+    lines.pop_if(|it| it.is_empty());");
    assert_eq!(browser.text(".diff .removed"), "-    // The last line is empty.");
    browser.wait_for("#transcript pre", "The tests pass.");
    browser.click("#diff p a");
    browser.wait_for("pre", "diff --git a/src/parser.rs b/src/parser.rs");
}

fn long_texts() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let (text, shorter) = (hostile(), hostile().chars().take(5_000).collect::<String>());
    let mut last = String::new();
    for number in 0..25 {
        let text = if number == 24 { &text } else { &shorter };
        let id = colony.start(text);
        colony.begin(&id, "plan");
        colony.report(
            &id,
            "plan",
            Report {
                result: Some(text.clone()),
                summary: text.clone(),
                warning: Some(text.clone()),
                ..Report::default()
            },
        );
        for _ in 0..3 {
            colony.begin(&id, "implement");
            colony.fail(&id, "implement", text);
            colony.person(
                &id,
                orange_core::mission::Event::Continue {
                    pause: None,
                    accept_failure: false,
                    execution: None,
                    intervene: None,
                },
            );
        }
        colony.begin(&id, "implement");
        colony.text(&id, "implement", 1, TextKind::Diff, &hostile_diff());
        colony.text(&id, "implement", 1, TextKind::Transcript, &"<\"&\u{1b}>\n".repeat(30_000));
        colony.text(&id, "implement", 2, TextKind::Diff, &("diff --git a/<< b/<<\n".repeat(6_000)));
        colony.fail(&id, "implement", text);
        last = id;
    }
    let visitor = Visitor::enter(&gateway);
    let mission = format!("/console/missions/{last}");
    for page in [
        "/console",
        "/console/missions",
        &mission,
        &format!("{mission}/steps/implement"),
        &format!("{mission}/steps/implement/1"),
        &format!("{mission}/steps/implement/2"),
        &format!("{mission}/history"),
    ] {
        let (status, body) = visitor.get(page);
        assert_eq!(status, 200, "{page}");
        assert!(body.len() <= PAGE, "{page} has {} bytes", body.len());
        assert!(!body.contains("<script>"), "{page}");
        assert!(!body.contains('\u{1b}') && !body.contains('\u{0}'), "{page}");
    }
    let wholes = ["prompt", "steps/plan/1/summary", "steps/plan/1/warning", "steps/implement/1/reason"];
    for page in wholes {
        let (status, body) = visitor.get(&format!("{mission}/{page}"));
        let beginning: String = body.chars().take(200).collect();
        assert!(status == 200 && body == text, "{page}: {status} {} {beginning}", body.len());
    }
    let (status, body) = visitor.get(&format!("{mission}/steps/implement/1/diff"));
    assert!(status == 200 && body == hostile_diff(), "{status} {}", body.len());
    for missing in ["steps/implement/3/diff", "steps/implement/9", "steps/nothing/1", "steps/implement/0"] {
        assert_eq!(visitor.get(&format!("{mission}/{missing}")).0, 404, "{missing}");
    }
    let (_, context) = visitor.get(&format!("{mission}/steps/implement/context"));
    assert!(context.trim() == format!("## plan\n{text}").trim(), "{} bytes", context.len());
}
