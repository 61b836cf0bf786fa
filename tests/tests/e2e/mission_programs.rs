//! Programs that do the work of steps, on real processes and git.

use serde_json::{Value, json};

use crate::missions::{ends, pauses};
use crate::world::World;

/// Tests fail until `fix` has run; no agent works here.
const FLOW: &str = r#"
[workflow]
name = "toy"

[[steps]]
id = "test"
run = ["sh", "-c", "test -f fixed || { echo 'no fix'; exit 1; }"]
results = ["PASS", "FAIL"]

[[steps]]
id = "fix"
run = ["touch", "fixed"]
depends_on = ["test"]
condition = "test.result == 'FAIL'"
max_retries = 2
on_fail = "tell"

[[steps]]
id = "ship"
run = ["sh", "-c", "printf '{\"summary\": \"%s of %s\"}' \"$1\" \"$ORANGE_STEP\" > \"$ORANGE_OUTPUT\"", "sh", "{{branch}} $(exit 1)"]
depends_on = ["test"]
condition = "test.result == 'PASS'"

[[steps]]
id = "tell"
run = ["false"]
"#;

/// The program kills the process that runs it, the first time, and would then never end.
const KILLED: &str = r#"
[workflow]
name = "toy"

[[steps]]
id = "test"
run = ["sh", "-c", "test -f begun && exit 0; touch begun; kill -9 $PPID; exec sleep 86400"]
"#;

fn world(flow: &str) -> World {
    let world = World::new();
    world.workflow("toy.toml", flow);
    world
}

/// Case D1 of the design, with programs alone.
#[test]
fn programs_say_no_are_fixed_and_run_again() {
    let world = world(FLOW);
    let mission = world.start("toy", &["--branch", "fast"]);
    ends(&mission, "completed");
    let shown = mission.show();
    let of = |id: &str| -> Value {
        let steps = shown["steps"].as_array().unwrap();
        steps.iter().find(|it| it["id"] == id).unwrap().clone()
    };
    let attempts = ["test", "fix", "ship", "tell"].map(|id| of(id)["attempts"].as_array().unwrap().len());
    assert_eq!(attempts, [2, 1, 1, 0]);
    let first = &of("test")["attempts"][0];
    assert_eq!((&first["result"], &first["summary"]), (&json!("FAIL"), &json!("no fix")));
    assert_eq!(of("ship")["summary"], "fast $(exit 1) of ship");
    let commit = &mission.events_of("step.ended")[0]["commit"];
    assert_eq!(commit, &json!(world.git(&world.repo(), &["rev-parse", "main"]).trim()));
    assert_eq!(mission.events_of("agent.spawned").len(), 0);
}

/// D5: what is left of the program is ended, and it runs again.
#[test]
fn a_program_whose_process_is_killed_runs_again() {
    let world = world(KILLED);
    let mission = world.start("toy", &[]);
    world.until("the program has run again", || {
        world.ok(&["monitor", "--once"]);
        mission.status() == "completed"
    });
    let ends: Vec<Value> = mission.events_of("step.ended").iter().map(|it| it["end"].clone()).collect();
    assert_eq!(ends, [json!("lost"), json!("completed")]);
    assert_eq!(mission.show()["steps"][0]["attempts"].as_array().unwrap().len(), 2);
}

/// F4: the mission pauses at the cap, and goes on with as many attempts again.
#[test]
fn a_mission_pauses_at_its_cap() {
    let world =
        world(&FLOW.replace("[[steps]]\nid = \"test\"", "max_attempts = 2\n\n[[steps]]\nid = \"test\""));
    let mission = world.start("toy", &[]);
    let pause = pauses(&world, &mission, 1);
    assert_eq!((&pause["reason"], &pause["step"]), (&json!("cap"), &json!("test")));
    world.ok(&["mission", "continue", &mission.id, "--pause", "1"]);
    ends(&mission, "completed");
}
