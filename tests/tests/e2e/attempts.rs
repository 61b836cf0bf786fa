//! Attempts that another program runs with `orange attempt run`.

use serde_json::{Value, json};

use crate::missions;
use crate::task::Task;
use crate::world::World;

fn request(more: &Value) -> String {
    let mut request = json!({"key": "run-1", "project": "toy", "branch": "fix", "step": "build", "role": "worker",
        "attempt": 3, "prompt": "Build it", "permissions": "full", "stuck_after": 2});
    for (key, value) in more.as_object().unwrap() {
        request[key] = value.clone();
    }
    request.to_string()
}

fn run<'w>(world: &'w World, more: &Value) -> Task<'w> {
    let answer = world.ok(&["attempt", "run", &request(more)]);
    Task::mission(world, answer["mission"].as_str().unwrap())
}

fn state(world: &World, mission: &Task<'_>) -> Value {
    world.ok(&["attempt", "show", &mission.id])["state"].clone()
}

#[test]
fn an_attempt_is_started_once_and_keeps_its_worktree() {
    let world = World::new();
    world.acts(
        "build",
        "echo work >work.txt; orange step complete --result DONE --summary \"at $ORANGE_ATTEMPT\"",
    );
    let mission = run(&world, &json!({"needs_result": true}));
    let again = world.ok(&["attempt", "run", &request(&json!({}))]);
    assert_eq!((&again["mission"], &again["key"]), (&json!(mission.id), &json!("run-1")));
    world.until("it is completed", || state(&world, &mission)["state"] == "completed");
    let expect = json!({"state": "completed", "result": "DONE", "summary": "at 3", "warning": null});
    assert_eq!(state(&world, &mission), expect);
    assert!(mission.worktree().join("work.txt").exists(), "its files stay until it is cancelled");
    world.ok(&["mission", "cancel", &mission.id, "--yes"]);
    world.until("it is over", || state(&world, &mission)["state"] == "over");
    assert_eq!(world.ok(&["mission", "list", "--all"]).as_array().unwrap().len(), 1);
    let late = world.ok(&["attempt", "run", &request(&json!({}))]);
    assert_eq!(late["state"]["state"], "over", "the key starts nothing again: {late}");
}

#[test]
fn an_attempt_needs_the_result_that_it_asks_for() {
    let world = World::new();
    let reports = "orange step complete --summary done; orange step complete --result NO --summary done; ";
    let script =
        format!("({reports}orange step complete --result YES --summary done) >>\"$notes.answers\" 2>&1");
    world.acts("build", &script);
    let mission = run(&world, &json!({"needs_result": true, "results": ["YES"]}));
    world.until("it is completed", || state(&world, &mission)["state"] == "completed");
    assert_eq!(state(&world, &mission)["result"], "YES");
}

#[test]
fn a_failed_attempt_says_why() {
    let world = World::new();
    world.acts("build", "orange step fail --reason 'no network'");
    let mission = run(&world, &json!({}));
    world.until("it has failed", || state(&world, &mission)["state"] == "failed");
    assert_eq!(state(&world, &mission), json!({"state": "failed", "reason": "no network"}));
}

#[test]
fn an_attempt_that_makes_no_sense_is_refused() {
    let world = World::new();
    for (more, why) in [
        (json!({"key": "Run 1"}), "is not a valid key"),
        (json!({"attempt": 0}), "begin at 1"),
        (json!({"role": "a b"}), "one word each"),
        (json!({"colour": "red"}), "colour"),
        (json!({"permissions": "some"}), "`full` or `reduced`"),
    ] {
        let said = world.orange(&["attempt", "run", &request(&more)]);
        assert_eq!(said.status, 2, "{said:?}");
        assert!(said.err.contains(why), "{said:?}");
    }
    let unknown = world.orange(&["attempt", "run", &request(&json!({"project": "tea"}))]);
    assert_eq!(unknown.status, 3, "{unknown:?}");
    let none = world.orange(&["attempt", "show", "none"]);
    assert_eq!(none.status, 3, "{none:?}");
    assert_eq!(world.ok(&["mission", "list", "--all"]), json!([]));
}

#[test]
fn a_mission_of_a_workflow_can_be_shown_as_an_attempt() {
    let world = missions::world();
    let mission = world.start("toy", &[]);
    world.ok(&["mission", "cancel", &mission.id, "--yes"]);
    world.until("it is over", || state(&world, &mission)["state"] == "over");
}
