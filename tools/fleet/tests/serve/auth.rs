//! Tests of access: the callers that are let in, and the routes that are open to each.

use orange_fleet::serve::auth::Rights;
use orange_fleet::serve::{GatewaySettings, ROUTES, check};
use serde_json::json;

use crate::world::{TokenClient, World, exchange};

/// A path without the names of its ids.
fn filled(path: &str) -> String {
    path.split('/').map(|it| if it.starts_with('{') { "x" } else { it }).collect::<Vec<_>>().join("/")
}

fn call(client: &TokenClient, method: &str, path: &str) -> u16 {
    let body = (method == "POST").then_some("{}");
    client.call(method, &filled(path), body).status
}

#[test]
fn without_a_token_nothing_is_answered_but_healthz() {
    let world = World::new();
    let nobody = world.nobody();
    for route in ROUTES {
        let expect = if route.path == "/healthz" { 200 } else { 401 };
        assert_eq!(call(&nobody, route.method, route.path), expect, "{} {}", route.method, route.path);
    }
    for path in ["/", "/nothing", "/v1", "/v1/nothing", "/v1/missions/../status", "/metrics/", "/HEALTHZ"] {
        let answer = nobody.undescribed("GET", path, None);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"orange-fleet\""));
        answer.refused(401, "unauthorized");
    }
    assert_eq!(nobody.undescribed("PATCH", "/v1/missions", None).status, 401);
}

#[test]
fn wrong_tokens_open_nothing() {
    let world = World::new();
    let good = world.admin.token.clone().unwrap();
    let (rest, last) = good.split_at(good.len() - 1);
    let other = if last == "0" { "1" } else { "0" };
    let with = |value: &str| world.nobody().header("Authorization", value).get("/v1/status");
    for wrong in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        &good,
        &format!("Basic {good}"),
        &format!("Bearer {rest}{other}"),
    ] {
        with(wrong).refused(401, "unauthorized");
    }
    with(&format!("bearer {good}")).ok(200);
    let in_query = world.nobody().get(&format!("/v1/status?token={good}"));
    in_query.refused(401, "unauthorized");
}

#[test]
fn a_token_is_worthless_as_soon_as_it_is_revoked() {
    let world = World::new();
    let person = world.with_rights(Rights::Person);
    person.get("/v1/status").ok(200);
    world.revoke(&person);
    person.get("/v1/status").refused(401, "unauthorized");
}

#[test]
fn each_token_is_good_for_its_own_calls() {
    let world = World::new();
    let colony = world.colony("coffee");
    let (reader, crab) = (world.with_rights(Rights::Reader), world.crabs_of(&colony));
    let rights = Rights::Crab { colony };
    for route in ROUTES {
        let is_refused = |client: &TokenClient| call(client, route.method, route.path) == 403;
        assert_eq!(
            is_refused(&reader),
            !route.who.admits(&Rights::Reader),
            "{} {}",
            route.method,
            route.path
        );
        assert_eq!(is_refused(&crab), !route.who.admits(&rights), "{} {}", route.method, route.path);
    }
    let (message, _) = crab.post("/v1/missions", &json!({})).refused(403, "forbidden");
    assert_eq!(message, "this call needs the token of a person");
}

#[test]
fn a_stolen_crab_token_reaches_no_other_colony() {
    let world = World::new();
    let (coffee, tea) = (world.colony("coffee"), world.colony("tea"));
    let (own, thief) = (world.crabs_of(&tea), world.crabs_of(&coffee));
    own.register("atlas", &tea, "worker");
    let mission = world.mission(&tea, "one");
    let run = own.run("atlas");
    thief.get(&format!("/v1/runs/{run}")).refused(404, "unknown_run");
    thief.start("atlas", &run).refused(404, "unknown_run");
    thief.complete("atlas", &run, None).refused(404, "unknown_run");
    thief
        .post("/v1/runs/complete", &json!({"run_id": run, "status": "completed", "summary": "x"}))
        .refused(404, "unknown_run");
    thief
        .post("/v1/runs/give-back", &json!({"run_id": run, "crab_id": "atlas", "reason": "x"}))
        .refused(404, "unknown_run");
    thief.delete("/v1/crabs/atlas").refused(404, "unknown_crab");
    thief.delete(&format!("/v1/crabs/atlas?colony={tea}")).refused(403, "forbidden");
    thief.delete("/v1/crabs/atlas?colony=tea").refused(403, "forbidden");
    thief.post("/v1/crabs/atlas/poll", &json!({"wait_ms": 0})).refused(404, "unknown_crab");
    thief.post("/v1/crabs/atlas/poll?colony=tea", &json!({"wait_ms": 0})).refused(403, "forbidden");
    let ended = thief.post("/v1/crabs/atlas/heartbeat", &json!({"runs": [run]})).ok(200);
    assert_eq!(ended["ended"], json!([run]));
    let other = json!({"crab_id": "atlas", "colony_id": tea, "name": "x", "role": "worker"});
    thief.post("/v1/crabs/register", &other).refused(403, "forbidden");
    for path in [
        format!("/v1/missions/{mission}"),
        "/v1/missions".to_owned(),
        "/v1/events".to_owned(),
        "/v1/crabs".to_owned(),
    ] {
        thief.get(&path).refused(403, "forbidden");
    }
    own.start("atlas", &run).ok(200);
}

#[test]
fn keys_of_one_token_say_nothing_about_those_of_another() {
    let world = World::new();
    let colony = world.colony("coffee");
    let other = world.with_rights(Rights::Person);
    let start = |client: &TokenClient, prompt: &str| {
        let body = json!({"colony_id": colony, "workflow": "one", "prompt": prompt});
        client.header("Idempotency-Key", "k1").post("/v1/missions", &body)
    };
    let first = start(&world.admin, "a").ok(201);
    assert_ne!(start(&other, "b").ok(201)["mission_id"], first["mission_id"]);
    start(&other, "a").refused(409, "idempotency_conflict");
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let world = World::with(|settings| settings.host_names = vec!["fleet.example.org".to_owned()]);
    let admin = &world.admin;
    for ours in ["localhost", "fleet.example.org:443", "127.0.0.1"] {
        admin.header("Host", ours).get("/v1/status").ok(200);
    }
    let (message, help) = admin.header("Host", "evil.example").get("/v1/status").refused(421, "wrong_host");
    assert!(message.contains("evil.example") && help.contains("--host-name"));
    assert_eq!(world.nobody().header("Host", "10.0.0.3").get("/healthz").status, 200);
    let own = format!("http://{}", world.address);
    admin.header("Origin", &own).get("/v1/status").ok(200);
    for foreign in ["http://evil.example", "null", "http://localhost:1"] {
        admin.header("Origin", foreign).get("/v1/status").refused(403, "wrong_origin");
        admin.header("Origin", foreign).post("/v1/missions", &json!({})).refused(403, "wrong_origin");
    }
    admin
        .header("Sec-Fetch-Site", "cross-site")
        .post("/v1/missions", &json!({}))
        .refused(403, "wrong_origin");
}

#[test]
fn a_request_without_a_host_is_refused() {
    let world = World::new();
    let answer = exchange(&mut world.admin.raw(), b"GET /v1/status HTTP/1.0\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.0 400") && answer.contains("no_host"), "{answer}");
    let twice =
        b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let answer = exchange(&mut world.admin.raw(), twice);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[test]
fn other_machines_are_served_over_tls_or_on_request() {
    let mut settings = GatewaySettings::new("/nowhere");
    assert!(check(&settings).is_ok());
    settings.listen = "0.0.0.0:8800".parse().unwrap();
    let error = check(&settings).map(drop).unwrap_err();
    assert!(
        error.message.contains("in the clear") && error.help.contains("--insecure-plain-http"),
        "{error}"
    );
    settings.is_plain_allowed = true;
    assert!(check(&settings).is_ok());
}
