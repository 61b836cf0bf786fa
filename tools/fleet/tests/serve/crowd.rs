//! A thousand crabs that wait.

use serde_json::json;

use crate::stops::ServeProcess;
use crate::world::until;

const CRABS: usize = 1000;

/// The most memory of the gateway with a thousand parked crabs.
const MOST: u64 = 100 << 20;

#[test]
fn a_thousand_parked_crabs_are_cheap() {
    let program = ServeProcess::new(&[]);
    let client = &program.client;
    let colony =
        client.post("/v1/colonies", &json!({"name": "coffee", "repository": "/x"})).ok(201)["colony_id"]
            .as_str()
            .unwrap()
            .to_owned();
    let colony = colony.as_str();
    let names: Vec<String> = (0..CRABS).map(|it| format!("crab-{it}")).collect();
    let parked = std::thread::scope(|scope| {
        let each = names.chunks(CRABS / 8).map(|names| {
            scope.spawn(move || {
                let mut sockets = Vec::new();
                for name in names {
                    client.register(name, colony, "any");
                    let mut socket = client.work(name);
                    socket.park();
                    sockets.push(socket);
                }
                sockets
            })
        });
        let each: Vec<_> = each.collect();
        each.into_iter().flat_map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    until("all wait", || client.get("/v1/status").ok(200)["crabs"]["idle"] == CRABS);
    let memory = resident(program.child.id());
    assert!(memory <= MOST, "{} MiB", memory >> 20);
    let mission = json!({"colony_id": colony, "workflow": "dev-task", "prompt": "x"});
    for _ in 0..5 {
        client.post("/v1/missions", &mission).ok(201);
    }
    until("five have work", || client.get("/v1/status").ok(200)["crabs"]["busy"] == 5);
    eprintln!("{CRABS} parked crabs: {} MiB", memory >> 20);
    drop(parked);
    until("nobody waits", || client.get("/v1/status").ok(200)["crabs"]["idle"] == 0);
}

/// The resident memory of a process, in bytes.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}
