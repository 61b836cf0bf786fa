//! Tests of things that no browser shows: headers, sessions, forms of other sites, and sizes.

use std::time::Instant;

use libtest_mimic::Trial;
use orange_fleet::serve::auth::Rights;
use ureq::Agent;

use crate::colony::ConsoleColony;
use crate::driver;
use crate::gateway::ConsoleGateway;
use crate::people::enter;
use crate::pictures::{fill, pages};
use crate::suite::{self, plain};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        plain("nothing_is_shown_without_a_session", without_a_session),
        plain("a_session_ends_with_its_token", ends_with_its_token),
        plain("a_session_ends_with_a_sign_out", ends_with_a_sign_out),
        plain("a_session_outlives_its_gateway", outlives_its_gateway),
        plain("every_answer_has_its_headers", headers),
        plain("a_form_of_another_site_does_nothing", other_sites),
        plain("a_form_that_is_sent_twice_counts_once", twice),
        plain("every_page_is_small_and_links_to_pages", pages_and_links),
        plain("pages_of_the_list_follow_each_other", list_pages),
        plain("a_page_comes_at_once_among_ten_thousand_missions", ten_thousand),
    ]
}

/// Somebody with a session, and without a browser.
pub(crate) struct Visitor {
    agent: Agent,
    cookie: String,
    root: String,
}

impl Visitor {
    /// Somebody without a session.
    pub(crate) fn stranger(gateway: &ConsoleGateway) -> Visitor {
        let agent = Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        Visitor { agent, cookie: String::new(), root: gateway.at("") }
    }

    /// Somebody who has signed in.
    pub(crate) fn enter(gateway: &ConsoleGateway) -> Visitor {
        Visitor::with(gateway, &gateway.token())
    }

    /// Somebody who has signed in with this token.
    fn with(gateway: &ConsoleGateway, token: &str) -> Visitor {
        let mut visitor = Visitor::stranger(gateway);
        let answer = visitor.post("/console/login", &[("token", token), ("next", "/console")]);
        let cookie = answer.headers()["set-cookie"].to_str().unwrap();
        visitor.cookie = cookie.split(';').next().unwrap().to_owned();
        visitor
    }

    /// The status and the body of a page.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let mut answer = self.ask(path);
        let body = answer.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        (answer.status().as_u16(), body)
    }

    fn ask(&self, path: &str) -> ureq::http::Response<ureq::Body> {
        self.agent.get(format!("{}{path}", self.root)).header("cookie", &self.cookie).call().unwrap()
    }

    pub(crate) fn post(&self, path: &str, form: &[(&str, &str)]) -> ureq::http::Response<ureq::Body> {
        let request = self.agent.post(format!("{}{path}", self.root)).header("cookie", &self.cookie);
        request.send_form(form.iter().copied()).unwrap()
    }

    /// A hidden field of a page.
    pub(crate) fn hidden(&self, path: &str, name: &str) -> String {
        let (_, body) = self.get(path);
        let mark = format!("name=\"{name}\" value=\"");
        body.split(&mark).nth(1).unwrap().split('"').next().unwrap().to_owned()
    }
}

fn without_a_session() {
    let gateway = ConsoleGateway::start();
    let ids = fill(&gateway);
    let stranger = Visitor::stranger(&gateway);
    for (_, page) in pages(&ids) {
        let answer = stranger.ask(&page);
        assert_eq!(answer.status(), 303, "{page}");
        assert!(answer.headers()["location"].to_str().unwrap().starts_with("/console/login?next=%2Fconsole"));
    }
    assert_eq!(stranger.get("/console/events").0, 401);
    assert_eq!(stranger.post("/console/missions", &[("prompt", "x")]).status(), 303);
    assert_eq!(stranger.post("/console/logout", &[]).status(), 303);
    assert_eq!(stranger.post("/console/login", &[("token", "")]).status(), 403);
    for open in [
        "/console/login",
        "/console/style.css",
        "/console/script.js",
        "/console/news.js",
        "/console/icon.svg",
    ] {
        assert_eq!(stranger.get(open).0, 200, "{open}");
    }
    let from_elsewhere = stranger
        .agent
        .get(gateway.at("/console"))
        .header("sec-fetch-site", "cross-site")
        .header("sec-fetch-mode", "navigate")
        .call()
        .unwrap();
    assert_eq!(from_elsewhere.status(), 200);
    assert!(from_elsewhere.into_body().read_to_string().unwrap().contains("http-equiv=\"refresh\""));
}

fn ends_with_its_token() {
    let gateway = ConsoleGateway::start();
    let token = gateway.new_token(Rights::Person);
    let visitor = Visitor::with(&gateway, &token);
    assert_eq!(visitor.get("/console").0, 200);
    let news = visitor.agent.get(gateway.at("/console/events")).header("Cookie", &visitor.cookie);
    let mut news = news.call().unwrap();
    gateway.revoke(&token);
    assert_eq!(visitor.get("/console").0, 303);
    let heard = news.body_mut().read_to_string().unwrap();
    assert!(!heard.contains("data:"), "an open page hears nothing any more: {heard}");
    for rights in [Rights::Reader, Rights::Crab { colony: "c".to_owned() }] {
        let token = gateway.new_token(rights);
        assert_eq!(Visitor::stranger(&gateway).post("/console/login", &[("token", &token)]).status(), 403);
    }
}

fn ends_with_a_sign_out() {
    let gateway = ConsoleGateway::start();
    let (visitor, other) = (Visitor::enter(&gateway), Visitor::enter(&gateway));
    let csrf = visitor.hidden("/console/start", "csrf");
    assert_eq!(visitor.post("/console/logout", &[("csrf", &csrf)]).status(), 303);
    assert_eq!(visitor.get("/console").0, 303, "a copy of the cookie is good for nothing");
    assert_eq!(other.get("/console").0, 200);
}

fn outlives_its_gateway() {
    let mut gateway = ConsoleGateway::start();
    let mut visitor = Visitor::enter(&gateway);
    let csrf = visitor.hidden("/console/start", "csrf");
    gateway.stop();
    gateway.go_on();
    visitor.root = gateway.at("");
    assert_eq!(visitor.hidden("/console/start", "csrf"), csrf);
}

fn headers() {
    let gateway = ConsoleGateway::start();
    let ids = fill(&gateway);
    let visitor = Visitor::enter(&gateway);
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
                  frame-ancestors 'none'; base-uri 'none'";
    let others = [
        "/console/login",
        "/console/style.css?v=1",
        "/console/script.js",
        "/console/news.js",
        "/console/icon.svg",
    ];
    for page in pages(&ids).into_iter().map(|it| it.1).chain(others.map(str::to_owned)) {
        let answer = visitor.ask(&page);
        let header =
            |name: &str| answer.headers().get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
        assert_eq!(header("content-security-policy"), policy, "{page}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{page}");
        assert_eq!(header("referrer-policy"), "same-origin", "{page}");
        let is_asset = [".css", ".js", ".svg"].iter().any(|it| page.contains(it));
        assert_eq!(header("cache-control").contains("no-store"), !is_asset, "{page}");
    }
    let (_, page) = visitor.get(&format!("/console/missions/{}", ids[0]));
    assert!(!page.contains(" style=") && !page.contains("<style") && !page.contains(" onclick"), "{page}");
    assert_eq!(page.matches("<script").count(), 2);
}

fn other_sites() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let id = colony.start("Keep this");
    let visitor = Visitor::enter(&gateway);
    let own = visitor.hidden(&format!("/console/missions/{id}"), "csrf");
    let other = Visitor::enter(&gateway).hidden("/console/start", "csrf");
    assert_ne!(own, other);
    for csrf in ["", "0", &other] {
        for form in ["cancel", "retry", "continue"] {
            let answer =
                visitor.post(&format!("/console/missions/{id}/{form}"), &[("csrf", csrf), ("key", "k")]);
            assert_eq!(answer.status(), 403, "{form}");
        }
        let form = [("csrf", csrf), ("colony", &colony.id), ("workflow", "dev-task"), ("prompt", "x")];
        assert_eq!(visitor.post("/console/missions", &form).status(), 403);
        assert_eq!(visitor.post("/console/logout", &[("csrf", csrf)]).status(), 403);
    }
    assert_eq!(colony.mission(&id).mission.status.as_str(), "running");
}

fn twice() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let visitor = Visitor::enter(&gateway);
    let (csrf, key) = (visitor.hidden("/console/start", "csrf"), "the-same-key");
    let form = [
        ("csrf", csrf.as_str()),
        ("key", key),
        ("colony", &colony.id),
        ("workflow", "dev-task"),
        ("prompt", "Once\r\nonly"),
    ];
    let [first, second] = [0, 1].map(|_| {
        let answer = visitor.post("/console/missions", &form);
        assert_eq!(answer.status(), 303);
        answer.headers()["location"].to_str().unwrap().to_owned()
    });
    assert_eq!(first, second);
    let id = first.trim_start_matches("/console/missions/").split('?').next().unwrap();
    assert_eq!(colony.mission(id).prompt, "Once\nonly");
    colony.begin(id, "plan");
    colony.fail(id, "plan", "no");
    let page = format!("/console/missions/{id}");
    let (key, pause) = (visitor.hidden(&page, "key"), visitor.hidden(&page, "pause"));
    let answer = |accept: &str| {
        let form = [("csrf", csrf.as_str()), ("key", &key), ("pause", &pause), ("accept", accept)];
        visitor.post(&format!("{page}/continue"), &form).status().as_u16()
    };
    assert_eq!([answer("no"), answer("no"), answer("yes")], [303, 303, 409]);
    assert_eq!(colony.mission(id).mission.step(orange_core::plan::StepId(0)).attempt(), 2);
    let wrong = [("csrf", csrf.as_str()), ("key", "k2"), ("pause", &pause), ("execution", "sometimes")];
    assert_eq!(visitor.post(&format!("{page}/continue"), &wrong).status(), 400);
    let without_pause = [("csrf", csrf.as_str()), ("key", "k3")];
    assert_eq!(visitor.post(&format!("{page}/continue"), &without_pause).status(), 409);
    let no_workflow = [
        ("csrf", csrf.as_str()),
        ("key", "k4"),
        ("colony", &colony.id),
        ("workflow", "none"),
        ("prompt", "Kept text"),
    ];
    let mut refused = visitor.post("/console/missions", &no_workflow);
    let body = refused.body_mut().read_to_string().unwrap();
    assert!(body.contains("Kept text") && body.contains("role=\"alert\""), "{body}");
}

fn pages_and_links() {
    let gateway = ConsoleGateway::start();
    let ids = fill(&gateway);
    let visitor = Visitor::enter(&gateway);
    let mut seen = std::collections::BTreeSet::new();
    let mut open: Vec<String> =
        pages(&ids).into_iter().map(|it| it.1).filter(|it| !it.ends_with("/none")).collect();
    while let Some(page) = open.pop() {
        if !seen.insert(page.clone()) {
            continue;
        }
        let (status, body) = visitor.get(&page);
        assert_eq!(status, 200, "{page}");
        if !body.starts_with("<!DOCTYPE html>") {
            continue;
        }
        assert!(body.len() <= 100 << 10, "{page} has {} bytes", body.len());
        let links =
            body.split("href=\"").skip(1).map(|it| it.split('"').next().unwrap().replace("&amp;", "&"));
        open.extend(
            links.map(|it| it.split('#').next().unwrap().to_owned()).filter(|it| it.starts_with("/console")),
        );
    }
    assert!(seen.len() > 40, "{seen:?}");
}

fn list_pages() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    for number in 0..120 {
        colony.start(&format!("Mission number {number:03} & more"));
    }
    let visitor = Visitor::enter(&gateway);
    let mut page = format!("/console/missions?status=running&colony={}&q=number", colony.id);
    let mut found = Vec::new();
    let mut count = 0;
    loop {
        let (status, body) = visitor.get(&page);
        assert_eq!(status, 200);
        let names = body.split("Mission number ").skip(1).map(|it| it[..3].to_owned());
        found.extend(names);
        count += 1;
        let Some(next) =
            body.split("<a class=\"button plain\" href=\"").skip(1).find(|it| it.contains("rel=\"next\""))
        else {
            break;
        };
        page = next.split('"').next().unwrap().replace("&amp;", "&");
    }
    found.dedup();
    let expect: Vec<String> = (0..120).rev().map(|it| format!("{it:03}")).collect();
    assert_eq!((found, count), (expect, 3));
    let (_, body) = visitor.get("/console/missions?q=number+117");
    assert!(body.contains("number 117") && !body.contains("number 118"));
}

/// The times are printed, and judged by people: a machine that is busy is not a failure of the console.
fn ten_thousand() {
    let gateway = ConsoleGateway::start();
    let colony = ConsoleColony::new(&gateway);
    let made: Vec<_> = (0..10_000).map(|number| colony.make(&format!("Mission {number} of many"))).collect();
    let last = gateway.runtime.block_on(async {
        let mut last = String::new();
        for one in made {
            last = one.await.unwrap();
        }
        last
    });
    let pages = ["/console", "/console/missions", "/console/missions?q=many", "/console/colonies"];
    let pages: Vec<String> =
        pages.iter().map(|it| (*it).to_owned()).chain([format!("/console/missions/{last}")]).collect();
    let visitor = Visitor::enter(&gateway);
    for page in &pages {
        let start = Instant::now();
        let (status, body) = visitor.get(page);
        println!("{page}: {} ms, {} bytes", start.elapsed().as_millis(), body.len());
        assert_eq!(status, 200);
        assert!(body.len() <= 100 << 10, "{page} has {} bytes", body.len());
    }
    if driver::get().is_ok() {
        let browser = suite::browser();
        enter(&browser, &gateway, "/console");
        for page in &pages {
            browser.go(&gateway.at(page));
            let painted =
                "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";
            browser.wait("this page is painted", || {
                browser.script(painted).as_f64().map(drop).ok_or("not yet".to_owned())
            });
            println!("{page}: painted after {} ms", browser.script(painted).as_f64().unwrap().round());
        }
    }
}
