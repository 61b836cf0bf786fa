//! HTTP/2 under TLS: many requests on one connection, and callers that keep it busy for nothing.

mod wire;

use std::io::{Read, Write};
use std::time::Duration;

use orange_fleet::crab::socket::GatewaySocket;
use serde_json::{Value, json};

use self::wire::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GO_AWAY, HEADERS, Http2Frame, OK, PREFACE, RESET, SETTINGS,
    Secure, Wire, frame,
};
use crate::world::until;

/// The reasons of a reset, and of an end.
const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];
const CANCEL: [u8; 4] = [0, 0, 0, 8];
const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 11];

/// A limit that a test sees reached.
const SHORT: Duration = Duration::from_millis(300);

/// Numbers of streams, as callers give them.
fn streams(count: usize) -> impl Iterator<Item = u32> + Clone {
    (1..).step_by(2).take(count)
}

/// A mission, so that there is an event; the stream after the two that this takes.
fn happen(wire: &mut Wire, first: u32) -> u32 {
    wire.post(first, "/v1/colonies", &json!({"name": "coffee", "repository": "/srv/x.git"}));
    let colony = wire.answer(first).1;
    let colony: Value = serde_json::from_str(&colony).unwrap();
    let body = json!({"colony_id": colony["colony_id"], "workflow": "one", "prompt": "make tea"});
    wire.post(first + 2, "/v1/missions", &body);
    first + 4
}

#[test]
fn tls_agrees_on_a_version_of_http() {
    let secure = Secure::new();
    let mut wire = secure.wire();
    wire.get(1, "/v1/status");
    let status: Value = serde_json::from_str(&wire.ok(1)).unwrap();
    assert_eq!(status["crabs"]["idle"], 0);
    wire.get(3, "/nothing");
    assert!(wire.answer(3).1.contains("no_such_path"));
    for (offered, agreed) in [
        (&["h2", "http/1.1"][..], Some(&b"h2"[..])),
        (&["http/1.1"], Some(b"http/1.1")),
        (&["http/1.1", "h2"], Some(b"h2")),
        (&[], None),
    ] {
        let mut tls = secure.tls(offered);
        tls.conn.complete_io(&mut tls.sock).unwrap();
        assert_eq!(tls.conn.alpn_protocol(), agreed);
        if agreed != Some(b"h2") {
            let head = secure.world.admin.head("GET", "/v1/status", "Connection: close\r\n");
            tls.write_all(head.as_bytes()).unwrap();
            let mut answer = [0; 15];
            tls.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200 OK");
        }
    }
}

#[test]
fn a_crab_waits_on_a_websocket_under_tls() {
    let secure = Secure::new();
    let mut wire = secure.wire();
    wire.post(1, "/v1/colonies", &json!({"name": "coffee", "repository": "/srv/x.git"}));
    wire.answer(1);
    let crab = json!({"crab_id": "atlas", "colony_id": "coffee", "name": "atlas", "role": "any"});
    wire.post(3, "/v1/crabs/register", &crab);
    wire.ok(3);
    let address = format!("https://localhost:{}", secure.world.address.port());
    let token = secure.world.admin.token.clone().unwrap();
    let mut socket =
        GatewaySocket::connect(&address, "/v1/crabs/atlas/work", &token, &secure.trusting()).unwrap();
    socket.park().unwrap();
    let mut numbers = (5..).step_by(2);
    until("the crab waits", || {
        let stream = numbers.next().unwrap();
        wire.get(stream, "/v1/status");
        serde_json::from_str::<Value>(&wire.ok(stream)).unwrap()["crabs"]["idle"] == 1
    });
    wire.get(999, "/v1/crabs/atlas/work");
    assert!(wire.answer(999).1.contains("upgrade_required"), "a WebSocket needs HTTP/1.1");
}

#[test]
fn thirty_streams_and_a_request_share_a_connection() {
    let secure = Secure::with(|settings| settings.limits.connections = 1);
    let mut wire = secure.wire();
    for stream in streams(30) {
        wire.follow(stream);
        assert_eq!(wire.wait(HEADERS, stream).payload.first(), Some(&OK));
    }
    wire.get(61, "/v1/status");
    wire.ok(61);
    happen(&mut wire, 63);
    let mut waiting: Vec<u32> = streams(30).collect();
    while !waiting.is_empty() {
        let frame = wire.next().unwrap();
        let is_event = frame.kind == DATA && String::from_utf8_lossy(&frame.payload).contains("make tea");
        waiting.retain(|it| !(is_event && *it == frame.stream));
    }
    drop(wire);
    // The only place is free again, and nobody follows any more.
    let mut numbers = (1..).step_by(2);
    let mut wire = secure.wire();
    until("the streams have ended with their connection", || {
        let stream = numbers.next().unwrap();
        wire.get(stream, "/metrics");
        wire.ok(stream).contains("\norange_fleet_followers 0\n")
    });
}

#[test]
fn a_connection_without_a_request_is_cut_off() {
    let secure = Secure::with(|settings| settings.limits.head = SHORT);
    assert_eq!(secure.unopened().rest(), [], "it has agreed on HTTP/2, and is silent");
    let mut half = secure.unopened();
    drop(half.tls.write_all(&PREFACE[..10]));
    assert_eq!(half.rest(), [], "its preface has no end");
    assert_eq!(secure.wire().rest(), [], "it has sent its settings, and is silent");
    let mut half = secure.wire();
    let head = half.head("GET", "/v1/status", &[]);
    drop(half.try_send(HEADERS, END_STREAM, 1, &head));
    while let Some(frame) = half.frame() {
        assert!(frame.kind != HEADERS && frame.kind != GO_AWAY, "its head has no end: {frame:?}");
    }
}

#[test]
fn an_idle_connection_gets_go_away_and_ends() {
    let secure = Secure::with(|settings| settings.limits.head = SHORT);
    let mut following = secure.begun("/v1/events");
    let is_announced = |rest: &[Http2Frame]| rest.iter().any(|it| it.kind == GO_AWAY);
    let rest = secure.begun("/v1/status").rest();
    assert!(is_announced(&rest), "{rest:?}");
    let mut rude = secure.begun("/v1/status");
    let rest: Vec<Http2Frame> = std::iter::from_fn(|| rude.frame()).collect();
    assert!(is_announced(&rest), "one that answers nothing ends, too: {rest:?}");
    // The other connection is as old, and has a request that is open.
    following.get(3, "/v1/status");
    following.ok(3);
}

#[test]
fn a_caller_that_answers_no_ping_is_cut_off() {
    let secure = Secure::with(|settings| settings.limits.ping = Duration::from_millis(100));
    let mut wire = secure.begun("/v1/events");
    while wire.frame().is_some() {}
}

#[test]
fn an_answer_that_nobody_takes_is_reset() {
    let secure = Secure::with(|settings| settings.limits.write_within = SHORT);
    let mut closed = secure.wire_with_window(0);
    closed.get(1, "/v1/status");
    closed.follow(3);
    let mut waiting = vec![1, 3];
    while !waiting.is_empty() {
        let frame = closed.next().unwrap();
        assert_ne!(frame.kind, DATA);
        if frame.kind == RESET {
            assert_eq!(frame.payload, CANCEL);
            waiting.retain(|it| *it != frame.stream);
        }
    }
    let mut narrow = secure.wire_with_window(20_000);
    narrow.get(1, "/v1/openapi.json");
    assert_eq!(narrow.wait(RESET, 1).payload, CANCEL);
    // A stream on which nothing happens is taken.
    let mut wire = secure.wire();
    wire.follow(1);
    wire.wait(DATA, 1);
    let next = happen(&mut wire, 3);
    wire.wait(DATA, 1);
    for connection in [&mut closed, &mut narrow] {
        connection.send(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]);
        connection.get(5, "/v1/status");
        connection.ok(5);
    }
    wire.get(next, "/v1/status");
    wire.ok(next);
}

#[test]
fn a_caller_that_reads_nothing_is_cut_off() {
    let secure = Secure::with(|settings| settings.limits.write_within = SHORT);
    let mut wire = secure.wire();
    let head = wire.head("GET", "/v1/openapi.json", &[]);
    let mut numbers = (1..).step_by(2);
    until("the gateway has let go", || {
        let stream = numbers.next().unwrap();
        wire.try_send(HEADERS, END_STREAM | END_HEADERS, stream, &head).is_err()
    });
}

#[test]
fn a_slow_body_is_refused() {
    let secure = Secure::with(|settings| settings.limits.body_within = SHORT);
    let mut wire = secure.wire();
    let head = wire.head("POST", "/v1/missions", &[("content-type", "application/json")]);
    wire.send(HEADERS, END_HEADERS, 1, &head);
    wire.send(DATA, 0, 1, b"{\"prompt\"");
    assert!(wire.answer(1).1.contains("too_slow"));
    wire.get(3, "/v1/status");
    wire.ok(3);
}

#[test]
fn bodies_that_nobody_reads_take_no_room() {
    let secure = Secure::new();
    let mut wire = secure.wire();
    for stream in streams(20) {
        let head = wire.head("POST", "/nothing", &[]);
        wire.send(HEADERS, END_HEADERS, stream, &head);
        for _ in 0..4 {
            wire.send(DATA, 0, stream, &[b'x'; 16_000]);
        }
        assert!(wire.answer(stream).1.contains("no_such_path"));
    }
    happen(&mut wire, 41);
    assert!(wire.answer(43).1.contains("mission_id"));
}

#[test]
fn requests_that_are_taken_back_end_the_connection() {
    let secure = Secure::new();
    let mut wire = secure.wire();
    let head = wire.head("GET", "/v1/status", &[]);
    let mut numbers = (1..).step_by(2);
    until("the gateway has had enough", || {
        let burst: Vec<u8> = (0..200)
            .flat_map(|_| {
                let stream = numbers.next().unwrap();
                let begun = frame(HEADERS, END_STREAM | END_HEADERS, stream, &head);
                [begun, frame(RESET, 0, stream, &CANCEL)].concat()
            })
            .collect();
        wire.tls.write_all(&burst).and_then(|()| wire.tls.flush()).is_err()
    });
    let ends: Vec<_> = wire.rest().into_iter().filter(|it| it.kind == GO_AWAY).collect();
    // The last frames can be lost with the connection.
    assert!(ends.iter().all(|it| it.payload[4..8] == ENHANCE_YOUR_CALM), "{ends:?}");
    let mut other = secure.wire();
    other.get(1, "/v1/status");
    other.ok(1);
}

#[test]
fn more_requests_than_allowed_are_refused() {
    let secure = Secure::with(|settings| settings.limits.streams = 3);
    let mut wire = secure.wire();
    let settings = wire.frame().unwrap();
    assert_eq!(settings.kind, SETTINGS);
    assert!(settings.payload.chunks(6).any(|it| it == [0, 3, 0, 0, 0, 3]), "{settings:?}");
    for stream in streams(3) {
        wire.follow(stream);
        wire.wait(HEADERS, stream);
    }
    wire.get(7, "/v1/status");
    assert_eq!(wire.wait(RESET, 7).payload, REFUSED_STREAM);
    wire.send(RESET, 0, 1, &CANCEL);
    wire.get(9, "/v1/status");
    wire.ok(9);
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let secure = Secure::new();
    let mut wire = secure.wire();
    let head = wire.head("GET", "/v1/status", &[("x-long", &"x".repeat(40 << 10))]);
    let (first, rest) = head.split_at(16 << 10);
    wire.send(HEADERS, END_STREAM, 1, first);
    let mut rest = rest.chunks(16 << 10).peekable();
    while let Some(part) = rest.next() {
        let flags = if rest.peek().is_none() { END_HEADERS } else { 0 };
        wire.send(CONTINUATION, flags, 1, part);
    }
    let answer = wire.wait(HEADERS, 1);
    assert_ne!(answer.payload.first(), Some(&OK));
    wire.get(3, "/v1/status");
    wire.ok(3);
    let mut endless = secure.wire();
    endless.send(HEADERS, END_STREAM, 1, first);
    until("a head without an end is cut off", || {
        endless.try_send(CONTINUATION, 0, 1, &[0; 16 << 10]).is_err()
    });
}

#[test]
fn the_name_of_the_host_is_checked() {
    let secure = Secure::new();
    let mut wire = secure.wire();
    let head = wire.head_at("evil.example", "GET", "/v1/status", &[]);
    wire.send(HEADERS, END_STREAM | END_HEADERS, 1, &head);
    assert!(wire.answer(1).1.contains("wrong_host"));
    for (stream, host) in [(3, "evil.example"), (5, "localhost")] {
        let head = wire.head_at("127.0.0.1", "GET", "/v1/status", &[("host", host)]);
        wire.send(HEADERS, END_STREAM | END_HEADERS, stream, &head);
        assert!(wire.answer(stream).1.contains("no_host"));
    }
    let head = wire.head_at("localhost", "GET", "/v1/status", &[("host", "localhost")]);
    wire.send(HEADERS, END_STREAM | END_HEADERS, 7, &head);
    wire.ok(7);
}

#[test]
fn a_stop_ends_open_streams() {
    let mut secure = Secure::new();
    let mut wire = secure.wire();
    for stream in streams(3) {
        wire.follow(stream);
        wire.wait(HEADERS, stream);
    }
    let stopped = secure.world.begin_stop();
    let rest = wire.rest();
    for stream in streams(3) {
        let is_end = |it: &&Http2Frame| it.stream == stream && it.flags & END_STREAM != 0;
        assert_eq!(rest.iter().filter(is_end).count(), 1, "{rest:?}");
    }
    assert!(rest.iter().any(|it| it.kind == GO_AWAY), "{rest:?}");
    stopped();
}
