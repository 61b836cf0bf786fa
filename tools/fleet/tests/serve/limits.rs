//! Tests of limits: requests that are too large, too slow or too many.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::json;

use crate::world::{World, exchange, rest, until};

#[test]
fn a_body_that_is_too_large_is_refused() {
    let world = World::new();
    let colony = world.colony("coffee");
    let body = json!({"colony_id": colony, "workflow": "one", "prompt": "x".repeat(2 << 20)});
    let (message, help) = world.admin.post("/v1/missions", &body).refused(413, "body_too_large");
    assert!(message.contains("1048576 bytes") && help.contains("commit long texts"), "{message} {help}");
    let largest = json!({"colony_id": colony, "workflow": "one", "prompt": "é".repeat((256 << 10) / 2)});
    world.admin.post("/v1/missions", &largest).ok(201);
    let more = json!({"colony_id": colony, "workflow": "one", "prompt": "x".repeat((256 << 10) + 1)});
    let (message, help) = world.admin.post("/v1/missions", &more).refused(413, "text_too_long");
    assert!(message.contains("`prompt`") && help.contains("say where they are"), "{message} {help}");
}

#[test]
fn a_huge_body_is_refused_unread() {
    let world = World::new();
    let head = world.admin.head(
        "POST",
        "/v1/missions",
        "Content-Type: application/json\r\nContent-Length: 99999999999\r\n",
    );
    let answer = exchange(&mut world.admin.raw(), head.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("body_too_large"), "{answer}");
    let endless = world.admin.head(
        "POST",
        "/v1/missions",
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
    );
    let mut stream = world.admin.raw();
    stream.write_all(endless.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    until("the connection is closed", || stream.write_all(chunk.as_bytes()).is_err());
}

#[test]
fn slow_heads_and_bodies_are_cut_off() {
    let world = World::with(|settings| {
        settings.limits.head = Duration::from_millis(300);
        settings.limits.body_within = Duration::from_millis(300);
    });
    let mut silent = world.admin.raw();
    let mut half = world.admin.raw();
    half.write_all(b"GET /v1/status HTTP/1.1\r\nHost: local").unwrap();
    assert_eq!(rest(&mut silent), "");
    let answer = rest(&mut half);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    let mut body = world.admin.raw();
    let head =
        world.admin.head("POST", "/v1/missions", "Content-Type: application/json\r\nContent-Length: 100\r\n");
    let answer = exchange(&mut body, format!("{head}{{\"prompt\"").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("too_slow"), "{answer}");
    world.admin.get("/v1/status").ok(200);
}

#[test]
fn a_reader_that_reads_nothing_is_cut_off() {
    let world = World::with(|settings| settings.limits.write_within = Duration::from_millis(300));
    let colony = world.colony("coffee");
    for _ in 0..30 {
        let body = json!({"colony_id": colony, "workflow": "one", "prompt": "x".repeat(250 << 10)});
        world.admin.post("/v1/missions", &body).ok(201);
    }
    let mission = &world.admin.get("/v1/missions").ok(200)["missions"][0]["mission_id"];
    let head = world.admin.head("GET", &format!("/v1/missions/{}", mission.as_str().unwrap()), "");
    let mut stream = world.admin.raw();
    // Many answers of 250 KiB, of which none is read.
    let mut is_open = true;
    until("the gateway has let go", || {
        is_open = is_open && stream.write_all(head.as_bytes()).is_ok();
        !is_open
    });
}

#[test]
fn heads_that_are_too_long_are_refused() {
    let world = World::new();
    let head = world.admin.head("GET", "/v1/status", &format!("X-Long: {}\r\n", "x".repeat(64 << 10)));
    let mut stream = world.admin.raw();
    stream.write_all(head.as_bytes()).unwrap_or_default();
    let answer = rest(&mut stream);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    world.admin.get("/v1/status").ok(200);
}

#[test]
fn more_connections_than_allowed_wait_for_their_turn() {
    let world = World::with(|settings| settings.limits.connections = 2);
    let mut held = [world.admin.raw(), world.admin.raw()];
    let head = world.admin.head("GET", "/healthz", "");
    for stream in &mut held {
        stream.write_all(head.as_bytes()).unwrap();
        let mut first = [0; 15];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
    }
    let mut third = world.admin.raw();
    third.write_all(head.as_bytes()).unwrap();
    third.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(third.read(&mut [0; 1]).is_err(), "nobody answers while two are connected");
    drop(held);
    third.set_read_timeout(Some(crate::world::PATIENCE)).unwrap();
    let mut first = [0; 15];
    third.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
}

#[test]
fn requests_that_are_none_are_refused() {
    let world = World::new();
    for wrong in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let answer = exchange(&mut world.admin.raw(), wrong);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    let both = "Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n";
    let head = world.admin.head("POST", "/v1/missions", both);
    let answer = exchange(
        &mut world.admin.raw(),
        format!("{head}0\r\n\r\nGET /v1/status HTTP/1.1\r\n\r\n").as_bytes(),
    );
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 0, "{answer}");
}
