//! Tests of the events, as pages and as streams.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use orange_fleet::serve::auth::Rights;
use serde_json::{Value, json};

use crate::world::{TokenClient, World};

/// A reader of a stream of events.
struct EventReader(BufReader<TcpStream>);

impl EventReader {
    fn new(client: &TokenClient, path: &str, more: &str) -> EventReader {
        let mut stream = client.raw();
        let head = client.head("GET", path, &format!("Accept: text/event-stream\r\n{more}"));
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = EventReader(BufReader::new(stream));
        let first = reader.line();
        assert_eq!(first, "HTTP/1.1 200 OK");
        while !reader.line().is_empty() {}
        reader
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream has ended");
        line.trim_end().to_owned()
    }

    /// The next event: its number, its kind and its data. Lines of chunks and comments are passed over.
    fn next(&mut self) -> (u64, String, Value) {
        let (mut id, mut kind) = (0, String::new());
        loop {
            let line = self.line();
            match line.split_once(": ") {
                Some(("id", value)) => id = value.parse().unwrap(),
                Some(("event", value)) => kind = value.to_owned(),
                Some(("data", value)) => return (id, kind, serde_json::from_str(value).unwrap()),
                Some(_) | None => {}
            }
        }
    }

    /// True if the stream ends, and is not cut off.
    fn ends(self) -> bool {
        self.rest().ends_with("0\r\n\r\n")
    }

    /// True if the stream ends before it has this word.
    fn ends_without(self, word: &str) -> bool {
        let rest = self.rest();
        rest.ends_with("0\r\n\r\n") && !rest.contains(word)
    }

    fn rest(mut self) -> String {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.0, &mut rest).unwrap();
        rest
    }
}

fn kinds(page: &Value) -> Vec<String> {
    page["events"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_stream_goes_on_where_its_reader_was() {
    let world = World::new();
    let colony = world.colony("coffee");
    let mut reader = EventReader::new(&world.admin, "/v1/events", "");
    let mission = world.mission(&colony, "one");
    let (seq, kind, data) = reader.next();
    assert_eq!(
        (kind.as_str(), &data["mission_id"], &data["seq"]),
        ("mission.created", &json!(mission), &json!(seq))
    );
    let second = reader.next();
    drop(reader);
    let mut reader = EventReader::new(&world.admin, "/v1/events", &format!("Last-Event-ID: {seq}\r\n"));
    assert_eq!(reader.next(), second);
    let mut all = EventReader::new(&world.admin, "/v1/events?after=0", "");
    assert!(all.next().0 <= seq);
    world
        .admin
        .header("Accept", "text/event-stream")
        .header("Last-Event-ID", "x")
        .get("/v1/events")
        .refused(400, "bad_last_event_id");
}

#[test]
fn a_stream_of_one_mission_has_no_other() {
    let world = World::new();
    let colony = world.colony("coffee");
    let (one, other) = (world.mission(&colony, "one"), world.mission(&colony, "two"));
    let mut reader = EventReader::new(&world.admin, &format!("/v1/missions/{other}/events?after=0"), "");
    let created = reader.next();
    assert_eq!((created.1.as_str(), &created.2["mission_id"]), ("mission.created", &json!(other)));
    world.admin.post(&format!("/v1/missions/{one}/cancel"), &json!({})).ok(200);
    world.admin.post(&format!("/v1/missions/{other}/cancel"), &json!({})).ok(200);
    loop {
        let (_, kind, data) = reader.next();
        assert_eq!(data["mission_id"], json!(other));
        if kind == "mission.cancelled" {
            break;
        }
    }
}

#[test]
fn a_stream_ends_with_its_token() {
    let world = World::new();
    let colony = world.colony("coffee");
    let people = world.with_rights(Rights::Reader);
    let reader = EventReader::new(&people, "/v1/events", "");
    world.revoke(&people);
    world.mission(&colony, "one");
    assert!(reader.ends_without("mission.created"));
}

#[test]
fn events_have_pages() {
    let world = World::new();
    let colony = world.colony("coffee");
    let mission = world.mission(&colony, "one");
    world.admin.post(&format!("/v1/missions/{mission}/cancel"), &json!({})).ok(200);
    let all = world.admin.get("/v1/events").ok(200);
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = world.admin.get(&format!("/v1/events?limit=2&after={after}")).ok(200);
        if kinds(&page).is_empty() {
            assert_eq!(page["next"], after);
            break;
        }
        found.extend(kinds(&page));
        after = page["next"].as_u64().unwrap();
    }
    assert_eq!(found, kinds(&all));
    let of_one = world.admin.get(&format!("/v1/missions/{mission}/events")).ok(200);
    assert!(kinds(&of_one).contains(&"mission.cancelled".to_owned()));
}

#[test]
fn streams_end_when_the_gateway_stops() {
    let mut world = World::new();
    let mut reader = EventReader::new(&world.admin, "/v1/events?after=0", "");
    world.colony("coffee");
    assert!(reader.next().0 > 0);
    let stopped = world.begin_stop();
    assert!(reader.ends());
    stopped();
}
