//! Traces, as a collector on the loopback interface gets them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use crate::world::World;

/// A collector, and the spans that it has got.
struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let spans = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&spans);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let (head, mut length) = (read_head(&mut reader), 0);
                assert!(head[0].starts_with("POST /v1/traces "), "{head:?}");
                for line in &head {
                    if let Some((_, value)) =
                        line.split_once(':').filter(|it| it.0.eq_ignore_ascii_case("content-length"))
                    {
                        length = value.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let request = ExportTraceServiceRequest::decode(&body[..]).unwrap();
                let found =
                    request.resource_spans.into_iter().flat_map(|it| it.scope_spans).flat_map(|it| it.spans);
                taken.lock().unwrap().extend(found);
                reader
                    .get_mut()
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    .unwrap();
            }
        });
        Collector { address, spans }
    }

    fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().clone()
    }

    fn named(&self, name: &str) -> Vec<Span> {
        self.spans().into_iter().filter(|it| it.name == name).collect()
    }
}

fn read_head(reader: &mut impl BufRead) -> Vec<String> {
    reader.lines().map(Result::unwrap).take_while(|it| !it.is_empty()).collect()
}

#[test]
fn a_mission_its_attempts_and_the_requests_are_spans() {
    let collector = Collector::start();
    let mut world = World::with(|settings| settings.traces = Some(collector.address.clone()));
    let colony = world.colony("coffee");
    let crabs = world.crabs_of(&colony);
    crabs.register("sage", &colony, "any");
    let traced = world.admin.header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    traced.get("/v1/status").ok(200);
    let mission = world.mission(&colony, "two");
    for result in [Some("GO"), None] {
        let run = crabs.run("sage");
        crabs.start("sage", &run).ok(200);
        crabs.complete("sage", &run, result).ok(200);
        // An answer that was lost is asked for again, and is not a second attempt.
        crabs.complete("sage", &run, result);
    }
    // A stop sends what is left.
    world.begin_stop()();

    let [whole] = &collector.named("mission two")[..] else { panic!("{:?}", collector.spans()) };
    let attribute = |span: &Span, key: &str| {
        let found = span.attributes.iter().find(|it| it.key == key).unwrap();
        format!("{:?}", found.value)
    };
    assert!(attribute(whole, "orange.mission").contains(&mission));
    assert!(attribute(whole, "orange.status").contains("completed"));
    for step in ["plan", "do"] {
        let [span] = &collector.named(&format!("step {step}"))[..] else { panic!("{:?}", collector.spans()) };
        assert_eq!((&span.trace_id, &span.parent_span_id), (&whole.trace_id, &whole.span_id));
        assert!(attribute(span, "orange.crab").contains("sage"));
        assert!(whole.start_time_unix_nano <= span.start_time_unix_nano);
        assert!(span.end_time_unix_nano <= whole.end_time_unix_nano);
    }
    let [status] = &collector.named("GET /v1/status")[..] else { panic!("{:?}", collector.spans()) };
    assert_eq!(status.parent_span_id, [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]);
    assert!(attribute(status, "http.response.status_code").contains("200"));
    assert_eq!(collector.named("POST /v1/runs/complete").len(), 4);
}

#[test]
fn a_collector_that_is_away_delays_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let away = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut world = World::with(|settings| settings.traces = Some(away));
    world.colony("coffee");
    world.admin.get("/v1/status").ok(200);
    world.begin_stop()();
}
