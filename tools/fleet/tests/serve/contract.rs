//! The description of the API has every call of the router, and no other; and answers are as it says.

use std::collections::BTreeSet;

use orange_fleet::serve::ROUTES;
use orange_fleet::serve::auth::AllowedCallers;
use serde_json::{Value, json};

use crate::described::{API, template, validator, was_seen};
use crate::world::World;

fn described() -> impl Iterator<Item = (String, String, &'static Value)> {
    API["paths"].as_object().unwrap().iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
    })
}

#[test]
fn every_route_is_described_and_every_description_served() {
    let routes: BTreeSet<(String, String)> =
        ROUTES.iter().map(|it| (it.method.to_owned(), it.path.to_owned())).collect();
    let files: BTreeSet<(String, String)> = described().map(|(method, path, _)| (method, path)).collect();
    assert_eq!(routes, files);
    assert_eq!(routes.len(), ROUTES.len(), "a route stands twice in the table");
}

#[test]
fn the_description_says_who_may_call() {
    for route in ROUTES {
        let operation = &API["paths"][route.path][route.method.to_lowercase()];
        let who = match route.who {
            AllowedCallers::Everybody => "everybody",
            AllowedCallers::Readers => "readers",
            AllowedCallers::People => "people",
            AllowedCallers::Crabs => "crabs",
            AllowedCallers::Members => "members",
        };
        assert_eq!(operation["x-who"], who, "{} {}", route.method, route.path);
        assert!(operation["summary"].is_string() && operation["description"].is_string());
        assert_eq!(template(route.path).as_deref(), Some(route.path));
    }
}

#[test]
fn every_schema_is_one_and_is_used() {
    let text = API.to_string();
    for (name, schema) in API["components"]["schemas"].as_object().unwrap() {
        validator(schema);
        let uses = text.matches(&format!("#/components/schemas/{name}\"")).count();
        assert!(uses > 0 || name == "CrabMessage", "{name} is not used");
    }
}

/// The page about the API, and the cells of its tables whose first one begins like this.
fn rows(begin: &str) -> Vec<Vec<&'static str>> {
    const PAGE: &str = include_str!("../../../../docs/fleet-api.md");
    let lines = PAGE.lines().filter(|line| line.starts_with(begin));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn the_docs_list_every_call_and_who_may_make_it() {
    let listed: BTreeSet<(String, String)> = ["GET", "POST", "PUT", "DELETE"]
        .iter()
        .flat_map(|method| rows(&format!("| `{method} ")))
        .map(|cells| (cells[0].trim_matches('`').to_owned(), cells[1].to_owned()))
        .collect();
    let who = |path: &str, method: &str| API["paths"][path][method.to_lowercase()]["x-who"].as_str().unwrap();
    let served: BTreeSet<(String, String)> = ROUTES
        .iter()
        .map(|it| (format!("{} {}", it.method, it.path), who(it.path, it.method).to_owned()))
        .collect();
    assert_eq!(listed, served);
}

#[test]
fn the_docs_list_every_code() {
    let statuses = (4..6).flat_map(|it| rows(&format!("| {it}")));
    let codes =
        statuses.flat_map(|cells| cells[1].split(' ').map(|it| it.trim_matches('`')).collect::<Vec<_>>());
    let listed: BTreeSet<&str> = codes.collect();
    let described = API["components"]["schemas"]["Code"]["enum"].as_array().unwrap();
    assert_eq!(listed, described.iter().map(|it| it.as_str().unwrap()).collect());
}

/// Every call is made once with success; the client holds each answer against the description.
#[test]
fn every_call_answers_as_it_is_described() {
    let world = World::new();
    let admin = &world.admin;
    assert_eq!(admin.get("/healthz").text, "ok\n");
    let colony = world.colony("coffee");
    admin.get("/v1/colonies").ok(200);
    let crabs = world.crabs_of(&colony);
    crabs.register("atlas", &colony, "worker");
    let mission = world.mission(&colony, "one");
    let run = crabs.run("atlas");
    crabs.get(&format!("/v1/runs/{run}")).ok(200);
    crabs.start("atlas", &run).ok(200);
    crabs.post("/v1/crabs/atlas/heartbeat", &json!({"runs": [run]})).ok(200);
    admin.get("/v1/crabs").ok(200);
    crabs
        .post(
            "/v1/runs/complete",
            &json!({"run_id": run, "crab_id": "atlas", "status": "failed", "summary": "no"}),
        )
        .ok(200);
    for kind in ["transcript", "diff"] {
        crabs.put_text(&run, kind, "It reads.").ok(204);
        assert_eq!(admin.get(&format!("/v1/runs/{run}/{kind}")).text, "It reads.");
    }
    for path in ["", "/events"] {
        admin.get(&format!("/v1/missions/{mission}{path}")).ok(200);
    }
    admin.post(&format!("/v1/missions/{mission}/continue"), &json!({"accept_failure": true})).ok(200);
    admin.post(&format!("/v1/missions/{mission}/retry"), &json!({})).ok(200);
    let run = crabs.run("atlas");
    crabs
        .post("/v1/runs/give-back", &json!({"run_id": run, "crab_id": "atlas", "reason": "the disk is full"}))
        .ok(200);
    admin.get("/v1/crabs").ok(200);
    for list in ["missions", "events", "status", "workflows", "openapi.json"] {
        admin.get(&format!("/v1/{list}")).ok(200);
    }
    for list in ["tasks", "runs"] {
        admin.get(&format!("/v1/{list}?mission={mission}")).ok(200);
    }
    let asks = world.mission(&colony, "hurry");
    admin.post(&format!("/v1/missions/{asks}/answers"), &json!({"step": "go", "answer": "yes"})).ok(200);
    admin.post(&format!("/v1/missions/{asks}/cancel"), &json!({})).ok(200);
    crabs.work("atlas");
    admin.post("/v1/scheduler/tick", &json!({})).ok(200);
    admin.post(&format!("/v1/missions/{mission}/cancel"), &json!({})).ok(200);
    crabs.delete("/v1/crabs/atlas").ok(204);
    let metrics = admin.get("/metrics");
    assert!(metrics.text.contains("orange_fleet_missions{status=\"cancelled\"} 2"), "{}", metrics.text);
    for (method, path, operation) in described() {
        let ok = operation["responses"].as_object().unwrap().keys().find(|it| *it != "default").unwrap();
        assert!(was_seen(&method, &path, ok.parse().unwrap()), "{method} {path} was not answered with {ok}");
    }
}
