//! Bad input of callers, and the answers to it.

use serde_json::{Value, json};

use crate::world::{TokenClient, World};

const LONG: usize = (256 << 10) + 1;

/// A body, with one field changed or taken away.
fn with(body: &Value, field: &str, value: Option<Value>) -> Value {
    let mut body = body.clone();
    match value {
        Some(value) => body[field] = value,
        None => drop(body.as_object_mut().unwrap().remove(field)),
    }
    body
}

#[track_caller]
fn check(client: &TokenClient, path: &str, body: &Value, expect: (u16, &str), says: &str) {
    let (message, help) = client.post(path, body).refused(expect.0, expect.1);
    assert!(format!("{message}\n{help}").contains(says), "{message}\n{help}");
}

#[test]
fn a_mission_is_refused_for_every_wrong_field() {
    let world = World::new();
    let colony = world.colony("coffee");
    let good = json!({"colony_id": colony, "prompt": "Fix issue #6", "workflow": "dev-task"});
    let refused = |field: &str, value: Option<Value>, expect: (u16, &str), says: &str| {
        check(&world.admin, "/v1/missions", &with(&good, field, value), expect, says);
    };
    for field in ["colony_id", "prompt", "workflow"] {
        refused(field, None, (400, "bad_field"), &format!("missing field `{field}`"));
        refused(
            field,
            Some(json!(6)),
            (400, "bad_field"),
            &format!("the field `{field}` is wrong: invalid type: integer `6`"),
        );
        refused(field, Some(json!(null)), (400, "bad_field"), &format!("the field `{field}`"));
    }
    refused("colony_id", Some(json!("nowhere")), (404, "unknown_colony"), "coffee");
    refused("colony_id", Some(json!("cofee")), (404, "unknown_colony"), "did you mean `coffee`?");
    refused(
        "colony_id",
        Some(json!("'; drop table missions; --")),
        (404, "unknown_colony"),
        "there is no colony `\\'; drop table",
    );
    refused("prompt", Some(json!("")), (400, "no_prompt"), "say what is to be done");
    refused("prompt", Some(json!(" \n")), (400, "no_prompt"), "say what is to be done");
    refused("prompt", Some(json!("a\0b")), (400, "bad_text"), "NUL");
    refused(
        "prompt",
        Some(json!("x".repeat(LONG))),
        (413, "text_too_long"),
        "262145 bytes, and at most 262144",
    );
    refused("workflow", Some(json!("dev-tsak")), (404, "unknown_workflow"), "did you mean `dev-task`?");
    refused("workflow", Some(json!("")), (404, "unknown_workflow"), "the workflows are");
    refused("workflow", Some(json!("../../etc/passwd")), (404, "unknown_workflow"), "../../etc/passwd");
    refused("workflow", Some(json!("cycle")), (404, "unknown_workflow"), "cycle.toml does not compile");
    refused("workflow", Some(json!("leaves")), (404, "unknown_workflow"), "leaves.toml does not compile");
    refused("branch", Some(json!("--upload-pack=x")), (400, "bad_branch"), "fix/login-form");
    refused("branch", Some(json!("")), (400, "bad_branch"), "`branch`");
    refused("branch", Some(json!("main")), (400, "bad_branch"), "the work of this colony starts from `main`");
    refused("execution", Some(json!("steps")), (400, "unknown_execution"), "did you mean `step`?");
    refused("intervene", Some(json!("on-eror")), (400, "unknown_intervene"), "did you mean `on-error`?");
    refused("promt", Some(json!("x")), (400, "bad_field"), "unknown field `promt`, expected one of");
    assert_eq!(
        world.admin.get("/v1/missions").ok(200)["missions"],
        json!([]),
        "a refused call makes nothing"
    );
    world.admin.post("/v1/missions", &good).ok(201);
    let named = with(&good, "branch", Some(json!("fix/login")));
    let made = world.admin.post("/v1/missions", &named).ok(201)["mission_id"].clone();
    check(&world.admin, "/v1/missions", &named, (409, "branch_taken"), made.as_str().unwrap());
}

#[test]
fn bodies_are_json_objects() {
    let world = World::new();
    let admin = &world.admin;
    let post = |client: &TokenClient, body: &str| client.call("POST", "/v1/missions", Some(body));
    post(admin, "{").refused(400, "bad_json");
    admin.call("POST", "/v1/scheduler/tick", Some("{} {}")).refused(400, "bad_json");
    post(admin, "\u{feff}{}").refused(400, "bad_json");
    for other in ["[]", "\"x\"", "[\"coffee\", \"Fix it\", \"one\", null, null, null]"] {
        assert_eq!(post(admin, other).refused(400, "bad_field").0, "the body is not a JSON object");
    }
    post(admin, "").refused(400, "bad_field");
    post(&admin.header("Content-Type", "text/plain"), "{}").refused(415, "not_json");
    post(&admin.header("Content-Type", "application/x-www-form-urlencoded"), "prompt=x")
        .refused(415, "not_json");
    let nested = format!("{{\"prompt\":{}", "[".repeat(100_000));
    post(admin, &nested).refused(400, "bad_field");
    let twice = "{\"prompt\":\"a\",\"prompt\":\"b\",\"workflow\":\"one\",\"colony_id\":\"c\"}";
    assert!(post(admin, twice).refused(400, "bad_field").0.contains("duplicate field `prompt`"));
}

#[test]
fn a_colony_is_refused_for_every_wrong_field() {
    let world = World::new();
    let good = json!({"name": "coffee", "repository": "git@example.org:coffee.git"});
    let refused = |field: &str, value: Option<Value>, expect: (u16, &str), says: &str| {
        check(&world.admin, "/v1/colonies", &with(&good, field, value), expect, says);
    };
    refused("name", None, (400, "bad_field"), "missing field `name`");
    refused("name", Some(json!("")), (400, "bad_name"), "`name`");
    refused("name", Some(json!("a\nb")), (400, "bad_name"), "`name`");
    refused("name", Some(json!("x".repeat(65))), (400, "bad_name"), "64 bytes");
    refused("repository", None, (400, "bad_field"), "missing field `repository`");
    refused("repository", Some(json!("ext::sh -c id")), (400, "bad_repository"), "https://example.org/x.git");
    refused("repository", Some(json!("--upload-pack=x")), (400, "bad_repository"), "`repository`");
    refused("base", Some(json!("-b")), (400, "bad_branch"), "`base`");
    refused("bas", Some(json!("main")), (400, "bad_field"), "unknown field `bas`");
    let first = world.admin.post("/v1/colonies", &good).ok(201);
    assert_eq!(
        world.admin.post("/v1/colonies", &good).ok(201),
        first,
        "the same colony again changes nothing"
    );
    refused("repository", Some(json!("/other")), (409, "colony_exists"), "another name");
}

#[test]
fn a_crab_is_refused_for_every_wrong_field() {
    let world = World::new();
    let colony = world.colony("coffee");
    let crabs = world.crabs_of(&colony);
    let good = json!({"crab_id": "atlas-id", "colony_id": colony, "name": "Atlas", "role": "worker"});
    let refused = |field: &str, value: Option<Value>, expect: (u16, &str), says: &str| {
        check(&crabs, "/v1/crabs/register", &with(&good, field, value), expect, says);
    };
    refused("crab_id", Some(json!("")), (400, "bad_id"), "`crab_id`");
    refused("crab_id", Some(json!("../atlas")), (400, "bad_id"), "../atlas");
    refused("crab_id", Some(json!("a/b")), (400, "bad_id"), "letters, digits");
    refused("crab_id", Some(json!(7)), (400, "bad_field"), "`crab_id`");
    refused("colony_id", None, (400, "bad_field"), "missing field `colony_id`");
    refused("colony_id", Some(json!("nowhere")), (403, "forbidden"), "another colony");
    refused("name", None, (400, "bad_field"), "missing field `name`");
    refused("name", Some(json!("\u{1b}[31m")), (400, "bad_name"), "`name`");
    refused("role", None, (400, "no_role"), "name a `role`");
    refused("role", Some(json!("")), (400, "bad_role"), "this is not a role");
    refused("role", Some(json!("planner,worker")), (400, "bad_role"), "`roles`");
    refused("roles", Some(json!("worker")), (400, "bad_field"), "`roles`");
}

#[test]
fn what_is_not_there_is_named() {
    let world = World::new();
    let colony = world.colony("coffee");
    let (admin, crabs) = (&world.admin, world.crabs_of(&colony));
    for path in ["/v1/missions/m9", "/v1/missions/m9/events", "/v1/tasks?mission=m9", "/v1/runs?mission=m9"] {
        assert!(admin.get(path).refused(404, "unknown_mission").0.contains("`m9`"));
    }
    for what in ["continue", "retry", "cancel"] {
        admin.post(&format!("/v1/missions/m9/{what}"), &json!({})).refused(404, "unknown_mission");
    }
    for run in ["m9.do.1", "m9", "m9.do.x", "..%2F..%2Fetc%2Fpasswd", "m9.do.99999999999999999999"] {
        crabs.get(&format!("/v1/runs/{run}")).refused(404, "unknown_run");
    }
    let mission = world.mission(&colony, "one");
    for run in ["do.2", "do.0", "other.1"] {
        crabs.get(&format!("/v1/runs/{mission}.{run}")).refused(404, "unknown_run");
    }
    crabs.start("atlas", &format!("{mission}.do.2")).refused(404, "no_such_attempt");
    crabs.start("atlas", "m9.do.1").refused(404, "unknown_run");
    crabs.complete("atlas", &format!("{mission}.dance.1"), None).refused(404, "unknown_run");
    let reason = json!({"run_id": "m9.do.1", "crab_id": "atlas", "reason": "no"});
    crabs.post("/v1/runs/give-back", &reason).refused(404, "unknown_run");
    for client in [admin, &crabs] {
        client.post("/v1/crabs/nobody/poll", &json!({"wait_ms": 0})).refused(404, "unknown_crab");
        client.delete("/v1/crabs/nobody").refused(404, "unknown_crab");
        let heartbeat = client.post("/v1/crabs/nobody/heartbeat", &json!({"runs": ["m9.do.1"]})).ok(200);
        assert_eq!(heartbeat, json!({"ended": ["m9.do.1"], "is_registered": false}));
    }
    admin.get("/v1/crabs?colony=nowhere").refused(404, "unknown_colony");
    admin.post("/v1/scheduler/tick", &json!({"colony_id": "nowhere"})).refused(404, "unknown_colony");
    crabs.get("/v1/crabs/atlas/work").refused(426, "upgrade_required");
    for path in ["/v1/nothing", "/", "/v1", "/v1/missions/", "//v1/status", "/v1/missions/a/b/c"] {
        let answer = admin.undescribed("GET", path, None);
        assert!(answer.refused(404, "no_such_path").1.contains("openapi.json"));
    }
}

#[test]
fn other_methods_are_refused_with_the_known_ones() {
    let world = World::new();
    for (method, path, allow) in [
        ("DELETE", "/v1/missions", "GET,HEAD,POST"),
        ("PUT", "/v1/missions/m1", "GET,HEAD"),
        ("GET", "/v1/runs/start/", ""),
        ("GET", "/v1/scheduler/tick", "POST"),
        ("OPTIONS", "/v1/missions", "GET,HEAD,POST"),
    ] {
        let answer = world.admin.undescribed(method, path, None);
        if allow.is_empty() {
            answer.refused(404, "no_such_path");
            continue;
        }
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        answer.refused(405, "method_not_allowed");
    }
}

#[test]
fn queries_are_read_whole() {
    let world = World::new();
    let admin = &world.admin;
    for (path, says) in [
        ("/v1/missions?limit=0", "1 to 500"),
        ("/v1/missions?limit=501", "1 to 500"),
        ("/v1/missions?limit=-1", "limit"),
        ("/v1/missions?limit=many", "limit"),
        ("/v1/missions?colour=red", "unknown field `colour`"),
        ("/v1/events?after=-1", "after"),
        ("/v1/events?after=x", "after"),
        ("/v1/tasks", "missing field `mission`"),
        ("/v1/crabs?limit=1&limit=2", "duplicate field `limit`"),
    ] {
        let (message, _) = admin.get(path).refused(400, "bad_query");
        assert!(message.contains(says), "{path}: {message}");
    }
    let (_, help) = admin.get("/v1/missions?status=pausd").refused(400, "unknown_status");
    assert_eq!(help, "did you mean `paused`?");
    admin.get(&format!("/v1/missions?q={}", "x".repeat(201))).refused(413, "text_too_long");
    admin.get("/v1/missions?status=paused,failed&q=%25'%22_&after=zzz").ok(200);
    admin.get("/v1/missions/%ff").refused(400, "bad_path");
}

#[test]
fn reports_are_refused_for_every_wrong_field() {
    let world = World::new();
    let colony = world.colony("coffee");
    let crabs = world.crabs_of(&colony);
    crabs.register("atlas", &colony, "planner");
    world.mission(&colony, "two");
    let run = crabs.run("atlas");
    crabs.start("atlas", &run).ok(200);
    let good =
        json!({"run_id": run, "crab_id": "atlas", "status": "completed", "summary": "done", "result": "GO"});
    let refused = |field: &str, value: Option<Value>, expect: (u16, &str), says: &str| {
        check(&crabs, "/v1/runs/complete", &with(&good, field, value), expect, says);
    };
    refused("run_id", None, (400, "bad_field"), "missing field `run_id`");
    refused("run_id", Some(json!("x")), (404, "unknown_run"), "<mission>.<step>.<attempt>");
    refused("status", None, (400, "bad_field"), "missing field `status`");
    refused(
        "status",
        Some(json!("done")),
        (400, "bad_field"),
        "unknown variant `done`, expected `completed` or `failed`",
    );
    refused("summary", None, (400, "bad_field"), "missing field `summary`");
    refused("summary", Some(json!("x".repeat(LONG))), (413, "text_too_long"), "`summary`");
    refused("result", None, (400, "result_needed"), "`result`: GO, STOP");
    refused("result", Some(json!("MAYBE")), (400, "result_undeclared"), "`result`: GO, STOP");
    refused("result", Some(json!("x".repeat(201))), (413, "text_too_long"), "`result`");
    refused("crab_id", Some(json!("other")), (409, "no_lease"), "another crab");
    refused("crab_id", Some(json!("a b")), (400, "bad_id"), "`crab_id`");
    refused("commit", Some(json!("HEAD")), (400, "bad_field"), "`commit`");
    crabs.post("/v1/runs/complete", &good).ok(200);
    let start = json!({"run_id": run});
    check(&crabs, "/v1/runs/start", &start, (400, "bad_field"), "missing field `crab_id`");
    let heartbeat = json!({"runs": vec![run; 65]});
    check(&crabs, "/v1/crabs/atlas/heartbeat", &heartbeat, (400, "bad_field"), "`runs`");
    check(&crabs, "/v1/crabs/atlas/poll", &json!({"wait_ms": -1}), (400, "bad_field"), "`wait_ms`");
}

#[test]
fn keys_are_refused_when_they_are_none() {
    let world = World::new();
    let keyed = |key: &str| world.admin.header("Idempotency-Key", key).post("/v1/scheduler/tick", &json!({}));
    for wrong in ["", "a b", &"x".repeat(201)] {
        keyed(wrong).refused(400, "bad_key");
    }
    keyed("0b7c-1").ok(200);
}
