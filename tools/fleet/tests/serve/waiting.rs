//! Crabs wait for work, on WebSockets and by long polls.

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::world::{SocketCrab, TokenClient, World, until};

struct PollColony {
    world: World,
    id: String,
    crabs: TokenClient,
}

fn colony() -> PollColony {
    let world = World::new();
    let id = world.colony("coffee");
    let crabs = world.crabs_of(&id);
    PollColony { world, id, crabs }
}

impl PollColony {
    fn status(&self, crab: &str) -> String {
        let crabs = self.world.admin.get("/v1/crabs").ok(200);
        let found = crabs["crabs"].as_array().unwrap().iter().find(|it| it["crab_id"] == crab).cloned();
        found.map_or_else(|| "gone".to_owned(), |it| it["status"].as_str().unwrap().to_owned())
    }

    #[track_caller]
    fn is_soon(&self, crab: &str, status: &str) {
        until(&format!("{crab} is {status}"), || self.status(crab) == status);
    }

    fn parked(&self, crab: &str, role: &str) -> SocketCrab {
        self.crabs.register(crab, &self.id, role);
        let mut socket = self.crabs.work(crab);
        socket.park();
        self.is_soon(crab, "idle");
        socket
    }
}

#[test]
fn a_parked_crab_gets_the_step_of_its_role() {
    let it = colony();
    let (mut any, mut planner) = (it.parked("extra", "any"), it.parked("sage", "planner"));
    let mission = it.world.mission(&it.id, "two");
    let assigned = planner.next();
    assert_eq!(
        (&assigned["type"], &assigned["run_id"]),
        (&json!("TaskAssigned"), &json!(format!("{mission}.plan.1")))
    );
    assert_eq!((it.status("sage"), it.status("extra")), ("busy".to_owned(), "idle".to_owned()));
    let run = assigned["run_id"].as_str().unwrap();
    planner.send(&json!({"type": "Heartbeat", "runs": [run]}));
    it.crabs.start("sage", run).ok(200);
    it.crabs.complete("sage", run, Some("GO")).ok(200);
    assert_eq!(any.next()["run_id"], format!("{mission}.do.1"), "nobody has the role `worker`");
}

#[test]
fn a_crab_whose_connection_is_gone_gets_nothing() {
    let it = colony();
    let socket = it.parked("atlas", "worker");
    drop(socket);
    it.is_soon("atlas", "away");
    let mission = it.world.mission(&it.id, "one");
    assert_eq!(it.world.admin.get("/v1/status").ok(200)["waiting"], 1);
    let mut socket = it.crabs.work("atlas");
    socket.park();
    assert_eq!(socket.next()["run_id"], format!("{mission}.do.1"));
}

#[test]
fn a_revoked_token_ends_what_it_has_opened() {
    let it = colony();
    let mut socket = it.parked("atlas", "worker");
    it.world.revoke(&it.crabs);
    it.world.mission(&it.id, "one");
    assert_eq!(socket.closed(), 4401, "the crab does not get the step");
    let others = it.world.crabs_of(&it.id);
    others.register("coral", &it.id, "planner");
    let mut socket = others.work("coral");
    it.world.revoke(&others);
    socket.park();
    assert_eq!(socket.closed(), 4401);
}

#[test]
fn a_revoked_token_ends_a_line_on_which_nothing_happens() {
    let world = World::with(|settings| settings.limits.ping = std::time::Duration::from_secs(3600));
    let id = world.colony("coffee");
    let it = PollColony { crabs: world.crabs_of(&id), world, id };
    let mut socket = it.parked("atlas", "worker");
    it.world.revoke(&it.crabs);
    assert_eq!(socket.closed(), 4401);
    it.is_soon("atlas", "away");
    it.world.mission(&it.id, "one");
    assert_eq!(it.world.admin.get("/v1/status").ok(200)["waiting"], 1, "the step waits for another crab");
}

#[test]
fn a_poll_whose_token_was_revoked_ends_at_once() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    let crabs = it.crabs.clone();
    let poll = std::thread::spawn(move || {
        crabs.post("/v1/crabs/atlas/poll", &json!({"wait_ms": 3_600_000})).refused(401, "unauthorized");
    });
    it.is_soon("atlas", "idle");
    it.world.revoke(&it.crabs);
    poll.join().unwrap();
}

#[test]
fn a_poll_whose_token_was_revoked_gets_no_step() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    let crabs = it.crabs.clone();
    let body = json!({"wait_ms": 60_000});
    let poll = std::thread::spawn(move || {
        crabs.post("/v1/crabs/atlas/poll", &body).refused(401, "unauthorized");
    });
    it.is_soon("atlas", "idle");
    it.world.revoke(&it.crabs);
    it.world.mission(&it.id, "one");
    poll.join().unwrap();
}

#[test]
fn an_offer_that_was_not_accepted_is_made_again() {
    let it = colony();
    let mut socket = it.parked("atlas", "worker");
    let mission = it.world.mission(&it.id, "one");
    let first = socket.next();
    drop(socket);
    let mut socket = it.crabs.work("atlas");
    socket.park();
    assert_eq!(socket.next(), first);
    assert_eq!(it.crabs.run("atlas"), format!("{mission}.do.1"));
}

#[test]
fn a_newer_connection_takes_the_place_of_an_older_one() {
    let it = colony();
    let mut old = it.parked("atlas", "worker");
    let mut new = it.crabs.work("atlas");
    assert_eq!(old.closed(), 4409);
    new.park();
    it.is_soon("atlas", "idle");
    it.world.mission(&it.id, "one");
    assert_eq!(new.next()["type"], "TaskAssigned");
}

#[test]
fn a_crab_ends_the_agents_of_runs_that_it_has_no_more() {
    let it = colony();
    let mut socket = it.parked("atlas", "worker");
    let mission = it.world.mission(&it.id, "one");
    let run = socket.next()["run_id"].as_str().unwrap().to_owned();
    it.crabs.start("atlas", &run).ok(200);
    it.world.admin.post(&format!("/v1/missions/{mission}/cancel"), &json!({})).ok(200);
    let end = json!({"type": "EndAgent", "run_id": run, "mission_id": mission, "attempt": 1});
    assert_eq!(socket.next(), end);
    socket.send(&json!({"type": "Heartbeat", "runs": [run, "nothing"]}));
    assert_eq!(socket.next(), end);
    assert_eq!(socket.next()["run_id"], "nothing");
}

#[test]
fn heartbeats_keep_a_lease() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    it.world.mission(&it.id, "one");
    let run = it.crabs.run("atlas");
    let heartbeat = || it.crabs.post("/v1/crabs/atlas/heartbeat", &json!({"runs": [run]})).ok(200);
    for _ in 0..8 {
        assert_eq!(heartbeat(), json!({"ended": [], "is_registered": true}));
        it.world.admin.post("/v1/scheduler/tick", &json!({"colony_id": "coffee"})).ok(200);
    }
    for _ in 0..2 {
        it.world.admin.post("/v1/scheduler/tick", &json!({})).ok(200);
    }
    assert_eq!(it.status("atlas"), "gone", "three sweeps without a heartbeat");
    assert_eq!(heartbeat(), json!({"ended": [run], "is_registered": false}));
}

#[test]
fn a_crab_that_is_not_registered_any_more_hears_of_it() {
    let it = colony();
    let mut socket = it.parked("atlas", "worker");
    it.crabs.delete("/v1/crabs/atlas").ok(204);
    socket.park();
    assert_eq!(socket.closed(), 4404);
    let answer = crate::world::exchange(
        &mut it.crabs.raw(),
        it.crabs.head("GET", "/v1/crabs/atlas/work", UPGRADE).as_bytes(),
    );
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("unknown_crab"), "{answer}");
}

const UPGRADE: &str = "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
fn messages_that_are_none_are_refused_and_the_line_stays() {
    let it = colony();
    let mut socket = it.parked("atlas", "worker");
    for wrong in ["", "{", "{\"type\":\"Dance\"}", "{\"type\":\"Heartbeat\"}", "[]"] {
        socket.0.send(Message::text(wrong)).unwrap();
        let answer = socket.next();
        assert_eq!((&answer["type"], &answer["code"]), (&json!("Error"), &json!("bad_message")), "{wrong}");
    }
    socket.0.send(Message::binary(vec![1])).unwrap();
    assert_eq!(socket.next()["code"], "bad_message");
    it.world.mission(&it.id, "one");
    assert_eq!(socket.next()["type"], "TaskAssigned");
}

#[test]
fn a_message_that_is_too_long_ends_the_line() {
    let it = colony();
    let mut socket = it.parked("atlas", "worker");
    let runs = json!({"type": "Heartbeat", "runs": ["x".repeat(100_000)]});
    // The gateway may close before everything was sent.
    drop(socket.0.send(Message::text(runs.to_string())));
    until("the line ends", || socket.0.read().is_err());
    it.is_soon("atlas", "away");
}

#[test]
fn a_long_poll_waits_for_work() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    assert_eq!(it.crabs.poll("atlas", 1), Vec::<Value>::new());
    let crabs = it.crabs.clone();
    let poll = std::thread::spawn(move || crabs.run("atlas"));
    it.is_soon("atlas", "idle");
    let mission = it.world.mission(&it.id, "one");
    assert_eq!(poll.join().unwrap(), format!("{mission}.do.1"));
    it.crabs.start("atlas", &format!("{mission}.do.1")).ok(200);
    let crabs = it.crabs.clone();
    let poll = std::thread::spawn(move || crabs.poll("atlas", 60_000));
    until("the poll has begun", || it.world.gateway.is_connected(&it.id, "atlas"));
    it.world.admin.post(&format!("/v1/missions/{mission}/cancel"), &json!({})).ok(200);
    assert_eq!(poll.join().unwrap()[0]["type"], "EndAgent");
}

#[test]
fn a_crab_waits_between_two_polls_and_not_for_ever() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    it.crabs.poll("atlas", 1);
    assert_eq!(it.status("atlas"), "idle");
    it.is_soon("atlas", "away");
}

#[test]
fn a_poll_whose_caller_is_gone_ends() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    let mut stream = it.crabs.raw();
    let body = "{\"wait_ms\": 60000}";
    let head = it.crabs.head(
        "POST",
        "/v1/crabs/atlas/poll",
        &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
    );
    std::io::Write::write_all(&mut stream, format!("{head}{body}").as_bytes()).unwrap();
    it.is_soon("atlas", "idle");
    drop(stream);
    it.is_soon("atlas", "away");
}

#[test]
fn a_crab_that_waits_is_parked_again_when_the_store_forgets() {
    let world = World::with(|settings| settings.lease = std::time::Duration::from_millis(500));
    let id = world.colony("coffee");
    let it = PollColony { crabs: world.crabs_of(&id), world, id };
    let mut socket = it.parked("atlas", "worker");
    it.world.unpark(&it.id, "atlas");
    it.is_soon("atlas", "idle");
    it.world.mission(&it.id, "one");
    assert_eq!(socket.next()["type"], "TaskAssigned");
}

#[test]
fn a_step_of_a_silent_crab_goes_to_another_one() {
    let world = World::with(|settings| settings.lease = std::time::Duration::from_millis(200));
    let id = world.colony("coffee");
    let it = PollColony { crabs: world.crabs_of(&id), world, id };
    it.crabs.register("atlas", &it.id, "any");
    let mission = it.world.mission(&it.id, "one");
    let run = it.crabs.run("atlas");
    it.crabs.start("atlas", &run).ok(200);
    it.crabs.register("coral", &it.id, "any");
    assert_eq!(it.crabs.run("coral"), format!("{mission}.do.2"));
    assert_eq!(it.status("atlas"), "gone");
}

#[test]
fn a_crab_that_waits_hears_that_it_was_taken_out() {
    let world = World::with(|settings| settings.lease = std::time::Duration::from_millis(500));
    let id = world.colony("coffee");
    let it = PollColony { crabs: world.crabs_of(&id), world, id };
    let mut socket = it.parked("atlas", "worker");
    it.world.admin.delete("/v1/crabs/atlas").ok(204);
    assert_eq!(socket.closed(), 4404);
}
