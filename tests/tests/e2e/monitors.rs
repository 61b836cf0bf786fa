//! One monitor at a time: others stand by, and one of them works after its end.

use serde_json::{Value, json};

use crate::answers;
use crate::following::{begin, lines};
use crate::task::{is_alive, kill, try_kill};
use crate::world::World;

#[test]
fn a_second_monitor_works_after_the_end_of_the_first() {
    let world = World::new();
    let args = ["monitor", "--interval", "1", "--json"];
    let mut first = begin(&world, &args);
    let first_pid = i32::try_from(first.id()).unwrap();
    world.until("the first one works", || {
        let signed = std::fs::read_to_string(world.home().join(".monitor.lock")).unwrap_or_default();
        signed.lines().next() == Some(&first_pid.to_string())
    });
    let mut second = begin(&world, &args);
    let said = lines(&mut second);
    let waits: Value = serde_json::from_str(&said.recv().unwrap()).unwrap();
    answers::check(&["monitor"], &waits);
    assert_eq!(waits["stands_by_for"], json!(first_pid));
    assert!(waits["since"].as_str().unwrap().ends_with('Z'), "{waits}");
    // A single look works whatever else runs.
    assert!(world.ok(&["monitor", "--once"])["watched"].is_number());
    let doctor = world.ok(&["doctor"]).to_string();
    assert!(doctor.contains(&format!("process {first_pid} ")), "{doctor}");

    kill(first_pid);
    first.wait().unwrap();
    let takes: Value = serde_json::from_str(&said.recv().unwrap()).unwrap();
    answers::check(&["monitor"], &takes);
    assert_eq!(takes, json!({"took_over": true}));

    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    kill(world.wrapper("toy/fix"));
    try_kill(agent);
    world.until("the second one notices the end of the agent", || {
        !is_alive(agent) && !task.events_of("agent.exited").is_empty()
    });
    let seen = said.iter().any(|line| line.contains(&task.id));
    assert!(seen);
    second.kill().unwrap();
    second.wait().unwrap();
}
