//! The stream of news that all pages of a browser share.

use libtest_mimic::Trial;

use crate::browser::BrowserTab;
use crate::colony::ConsoleColony;
use crate::gateway::ConsoleGateway;
use crate::people::enter;
use crate::suite::{browser, with_browser};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_browser("thirty_clicks_and_ten_tabs_get_their_pages", clicks_and_tabs),
        with_browser("a_page_that_is_gone_back_to_shows_the_present", gone_back_to),
        with_browser("news_come_after_their_worker_was_ended", outlive_their_worker),
        with_browser("news_come_where_there_are_no_shared_workers", without_workers),
        with_browser("ten_streams_and_a_page_share_http2_under_tls", under_tls),
    ]
}

fn clicks_and_tabs() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("Look at everything");
    let browser = browser();
    enter(&browser, &gateway, "/console");
    for page in ["/console/missions", "/console/colonies", "/console"].iter().cycle().take(30) {
        browser.click(&format!(".top nav a[href='{page}']"));
        browser.wait_at(&gateway.at(page));
    }
    let tabs: Vec<BrowserTab> = (0..10)
        .map(|_| {
            let tab = browser.new_tab();
            browser.go(&gateway.at(&format!("/console/missions/{id}")));
            browser.wait_for("#main h1", "Look at everything");
            tab
        })
        .collect();
    colony.begin(&id, "plan");
    for tab in &tabs {
        browser.turn_to(tab);
        browser.wait_for("#step-plan .badge", "running");
    }
}

fn gone_back_to() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("Come back later");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    browser.click(".top nav a[href='/console/missions']");
    browser.wait_at(&gateway.at("/console/missions"));
    colony.begin(&id, "plan");
    browser.back();
    browser.wait_for("#step-plan .badge", "running");
    colony.complete(&id, "plan", None, "Planned.");
    browser.wait_for("#step-plan .badge", "completed");
}

fn outlive_their_worker() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("The worker ends");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    assert_eq!(browser.end_shared_workers(), 1);
    colony.begin(&id, "plan");
    browser.wait_for("#step-plan .badge", "running");
    colony.complete(&id, "plan", None, "Planned.");
    browser.wait_for("#step-plan .badge", "completed");
}

fn without_workers() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("An old browser");
    let browser = browser();
    browser.before_scripts("delete globalThis.SharedWorker");
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    assert_eq!(browser.end_shared_workers(), 0);
    colony.begin(&id, "plan");
    browser.wait_for("#step-plan .badge", "running");
}

fn under_tls() {
    let gateway = ConsoleGateway::start_secure();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("Ten at once");
    let browser = browser();
    enter(&browser, &gateway, &format!("/console/missions/{id}"));
    let version = "performance.getEntriesByType('navigation')[0].nextHopProtocol";
    assert_eq!(browser.script(&format!("return {version}")), "h2");
    // A browser opens six of them with HTTP/1.1, and then nothing else.
    let opened = browser.script_later(
        "const done = arguments[0];
        let left = 10;
        globalThis.streams = Array.from({ length: left }, () => {
            const stream = new EventSource('/console/events');
            stream.onopen = () => { left -= 1; if (left === 0) done('all'); };
            stream.onerror = () => done('one is refused');
            return stream;
        });",
    );
    assert_eq!(opened, "all");
    let page = browser.script_later(
        "const done = arguments[0]; fetch('/console/missions').then((it) => done(it.status), (error) => done(`${error}`))",
    );
    assert_eq!(page, 200);
    colony.begin(&id, "plan");
    browser.wait_for("#step-plan .badge", "running");
}
