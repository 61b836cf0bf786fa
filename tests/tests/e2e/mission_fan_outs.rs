//! Steps with an item for each element of a list, on real tmux and git.

use std::fs;

use serde_json::{Value, json};

use crate::every_step::{KillMoment, killed_in};
use crate::mission_readers::go;
use crate::missions::{ends, step};
use crate::task::{Task, kill};
use crate::world::World;

/// A panel of three readers, a judge for its complaints, and a step for its praise.
const PANEL: &str = r#"
[workflow]
name = "toy"
parallel = 3

[[steps]]
id = "panel"
for_each = ["security", "speed", "tests"]
read_only = true
prompt = "Review {{branch}} for {{item}}."
results = ["PASS", "FAIL"]

[[steps]]
id = "judge"
read_only = true
prompt = "Judge it. {{context}}"
depends_on = ["panel"]
condition = "any panel.result == 'FAIL'"

[[steps]]
id = "ship"
prompt = "Ship it. {{context}}"
depends_on = ["panel"]
condition = "all panel.result == 'PASS'"
"#;

/// A step whose report has a list, and one with an item for each element.
const LIST: &str = r#"
[workflow]
name = "toy"

[[steps]]
id = "plan"
prompt = "Plan it."
[steps.outputs]
parts = { type = "list", max_items = 4 }

[[steps]]
id = "look"
for_each = "plan.parts"
read_only = true
run = ["sh", "-c", "test \"$1\" != bad || exit 1; printf '{\"summary\": \"%s in %s\"}' \"$1\" \"$ORANGE_ATTEMPT\" > \"$ORANGE_OUTPUT\"", "sh", "{{item}}"]
enough = 2
depends_on = ["plan"]
"#;

/// Ends an agent of the panel as soon as all three of it have begun.
const TOGETHER: &str = r#"
touch "$ORANGE_HOME/here-$ORANGE_ATTEMPT"
for number in 1 2 3; do until [ -e "$ORANGE_HOME/here-$number" ]; do sleep 0.05; done; done
"#;

/// Ends an agent of the panel when the test says so.
const INSTRUCTIONS: &str = r#"
until [ -e "$ORANGE_HOME/go" ]; do sleep 0.05; done
complete PASS "attempt $ORANGE_ATTEMPT"
"#;

fn world(flow: &str) -> World {
    let world = World::new();
    world.workflow("toy.toml", flow);
    world
}

/// The items of a step, each as `security completed 1`: the last is the number of its attempt.
fn items(mission: &Task<'_>, id: &str) -> Vec<String> {
    let line = |it: &Value| {
        format!("{} {} {}", it["item"].as_str().unwrap(), it["status"].as_str().unwrap(), it["attempt"])
    };
    step(mission, id)["items"].as_array().unwrap().iter().map(line).collect()
}

/// A panel whose three agents wait for the test.
fn at_work(world: &World) -> Task<'_> {
    world.acts("panel", INSTRUCTIONS);
    let mission = world.start("toy", &[]);
    for number in 1..=3 {
        mission.agent(number).begun();
    }
    mission
}

#[test]
fn a_panel_reads_at_the_same_time_and_a_judge_hears_all() {
    let world = world(PANEL);
    world.acts("panel", &format!("{TOGETHER}complete PASS \"fine: $prompt\""));
    world.acts("panel.2", &format!("{TOGETHER}complete FAIL 'It is slow'"));
    world.acts("judge", "complete PASS judged");
    let mission = world.start("toy", &["--branch", "fast"]);
    ends(&mission, "completed");
    assert_eq!(items(&mission, "panel"), ["security completed 1", "speed completed 2", "tests completed 3"]);
    let heard = mission.agent(4).prompt();
    let expect = "Judge it. ## panel\n### security\nfine: Review fast for security.\n";
    assert!(heard.starts_with(expect), "{heard}");
    assert!(heard.contains("### speed\nIt is slow\n") && heard.contains("### tests\n"), "{heard}");
    assert_eq!(step(&mission, "ship")["status"], "skipped");
    let spawned = mission.events_of("agent.spawned");
    let windows: Vec<&Value> = spawned.iter().map(|it| &it["window"]).collect();
    assert_eq!(windows, ["panel-1", "panel-2", "panel-3", "judge-1"]);
    let shown = world.orange(&["mission", "show", &mission.id]).out;
    assert!(shown.contains("  speed") && shown.contains("It is slow"), "{shown}");
    assert_eq!(step(&mission, "panel")["attempts"][1]["item"], 2);
}

#[test]
fn a_reader_that_is_killed_is_started_again_alone() {
    let world = world(PANEL);
    let mission = at_work(&world);
    kill(mission.agent(2).begun());
    mission.agent(4).begun();
    let expect = ["security running 1", "speed running 4", "tests running 3"];
    assert_eq!(items(&mission, "panel"), expect);
    go(&world);
    ends(&mission, "completed");
    let ends = mission.events_of("step.ended");
    let lost = ends.iter().filter(|it| it["end"] == "lost").count();
    assert_eq!((lost, mission.events_of("agent.spawned").len()), (1, 5), "{ends:?}");
    assert_eq!(step(&mission, "ship")["status"], "completed");
}

#[test]
fn a_fan_out_has_an_item_for_each_element_of_a_report() {
    let world = world(LIST);
    world.acts(
        "plan",
        "orange step complete --summary planned --output parts=web --output parts=bad --output parts='the api' \
         >>\"$notes.answers\" 2>&1\nexec sleep 1000000",
    );
    let mission = world.start("toy", &[]);
    ends(&mission, "completed");
    let expect = ["web completed 1", "bad failed 2", "the api completed 3"];
    assert_eq!(items(&mission, "look"), expect);
    let looked = step(&mission, "look");
    assert_eq!(looked["items"][2]["summary"], "the api in 3");
    assert!(looked["items"][1]["reason"].as_str().unwrap().contains("exit status: 1"), "{looked}");
}

#[test]
fn an_empty_list_skips_the_step() {
    let world = world(LIST);
    world.acts(
        "plan",
        "orange step complete --summary planned --outputs '{\"parts\": []}'\nexec sleep 1000000",
    );
    let mission = world.start("toy", &[]);
    ends(&mission, "completed");
    assert_eq!(step(&mission, "look")["status"], "skipped");
}

#[test]
fn what_fails_of_a_panel_is_asked_once_and_tried_again() {
    let world = world(PANEL);
    let once = "[ \"$ORANGE_ATTEMPT\" -gt 3 ] && complete PASS late\n";
    let fails = "orange step fail --reason 'no time' >>\"$notes.answers\" 2>&1; exec sleep 1000000";
    world.acts("panel", &format!("{once}{TOGETHER}complete PASS fine"));
    world.acts("panel.1", &format!("{TOGETHER}{fails}"));
    let mission = world.start("toy", &[]);
    mission.has_events(1, "mission.paused");
    mission.is_left();
    let shown = mission.show();
    assert_eq!((&shown["pause"]["reason"], &shown["pause"]["step"]), (&json!("error"), &json!("panel")));
    assert_eq!(items(&mission, "panel"), ["security failed 1", "speed completed 2", "tests completed 3"]);
    mission.ok("continue", &[]);
    ends(&mission, "completed");
    assert_eq!(items(&mission, "panel")[0], "security completed 4");
    assert_eq!(mission.events_of("agent.spawned").len(), 5);
}

#[test]
fn the_end_of_a_mission_ends_everybody_who_reads() {
    let world = world(PANEL);
    let mission = at_work(&world);
    assert_eq!(mission.ok("cancel", &["--yes"])["status"], "cancelled");
    assert_eq!(world.panes(), Vec::<String>::new());
    assert!(items(&mission, "panel").iter().all(|it| it.contains("cancelled")));
}

/// The start of a panel is killed at each call of git and tmux that it makes; one look of the monitor goes on.
#[test]
fn a_panel_whose_start_is_killed_has_each_reader_once() {
    for call in (1..).step_by(3) {
        let world = world(PANEL);
        world.acts("panel", INSTRUCTIONS);
        let start = ["mission", "start", "toy"];
        let was_killed = killed_in(&world, "mission advance", call, KillMoment::After, &start);
        // What comes after the start is not killed.
        fs::write(world.path("killed"), "").unwrap();
        let list = world.ok(&["mission", "list"]);
        let mission = Task::mission(&world, list[0]["id"].as_str().unwrap());
        world.ok(&["monitor", "--once"]);
        for number in 1..=3 {
            mission.agent(number).begun();
        }
        go(&world);
        ends(&mission, "completed");
        let spawned = mission.events_of("agent.spawned").len();
        assert_eq!((spawned, items(&mission, "panel").len()), (4, 3), "call {call}");
        if !was_killed {
            break;
        }
    }
}
