//! An agent of a step that ends at once: the step is tried again by the rule of tasks, later each time.

use serde_json::json;

use crate::exits::{due_at, resumer};
use crate::missions::{TOY, ends};
use crate::task::{Task, kill};
use crate::world::World;

/// Before every test time.
const LONG_AGO: &str = "2001-01-01T00:00:00.000Z";

/// A world whose step `build` may end without a word so often.
fn world(stuck_after: u32) -> World {
    let world = World::new();
    let stuck = format!("timeout = 86400\nstuck_after = {stuck_after}");
    world.workflow("toy.toml", &TOY.replace("timeout = 86400", &stuck));
    world
}

/// A mission whose first two agents have ended at once.
fn restarted(world: &World) -> Task<'_> {
    world.acts("build", "exit 3");
    let mission = world.start("toy", &[]);
    mission.has_events(2, "agent.waiting");
    mission
}

/// A mission whose first two agents have ended at once, and whose waiting process is dead.
fn abandoned(world: &World) -> Task<'_> {
    let mission = restarted(world);
    world.until("a process waits for the step", || resumer(&mission).is_some());
    resumer(&mission).into_iter().for_each(kill);
    mission
}

fn started(mission: &Task<'_>) -> usize {
    mission.events_of("agent.spawned").len()
}

#[test]
fn a_step_that_ends_at_once_waits_before_it_is_tried_again() {
    let world = world(100);
    let mission = abandoned(&world);
    for (number, after) in [(3, 20), (4, 40)] {
        due_at(&mission, LONG_AGO);
        world.ok(&["monitor", "--once"]);
        mission.has_events(number, "agent.waiting");
        assert_eq!(mission.events_of("agent.waiting")[number - 1]["after"], after);
        assert_eq!(started(&mission), number);
    }
    let after: Vec<_> = mission.events_of("agent.waiting").iter().map(|it| it["after"].clone()).collect();
    assert_eq!(after, [0, 10, 20, 40].map(|it| json!(it)));
    world.acts("build", "complete PASS built");
    due_at(&mission, LONG_AGO);
    world.ok(&["monitor", "--once"]);
    ends(&mission, "completed");
    assert_eq!(mission.owned("waiting_until"), json!(null));
    let build = &mission.show()["steps"][0]["attempts"];
    let statuses: Vec<_> =
        build.as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["lost", "lost", "lost", "lost", "completed"]);
}

#[test]
fn whatever_shows_a_step_that_waits_says_until_when() {
    let world = world(100);
    let mission = abandoned(&world);
    let until = mission.owned("waiting_until");
    let words = format!("until {}: agent 2 has ended without a word: exited with 3", until.as_str().unwrap());
    let show = mission.show();
    assert_eq!((&show["status"], &show["waiting_until"]), (&json!("running"), &until));
    assert_eq!(show["need"]["until"], until, "{}", show["need"]);
    let shown = world.orange(&["mission", "show", &mission.id]).out;
    assert!(shown.contains(&format!("waiting    {words}")), "{shown}");
    assert_eq!(world.ok(&["mission", "list"])[0]["waiting_until"], until);
    let list = world.orange(&["mission", "list"]).out;
    assert!(list.contains(&words), "{list}");
    let doctor = world.orange(&["doctor"]).out;
    assert!(!doctor.contains("is gone, unnoticed"), "{doctor}");
    let attach = mission.fails(1, "refused", "attach", &[]);
    assert!(attach.contains("An agent starts again at"), "{attach}");
}

#[test]
fn of_many_who_come_to_try_a_step_again_one_does() {
    let world = world(100);
    let mission = abandoned(&world);
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]), "it is not due");
    world.orange(&["mission", "advance", &mission.id]);
    assert_eq!(started(&mission), 2);
    world.acts("build", "until [ -e \"$ORANGE_HOME/go\" ]; do sleep 0.05; done; complete PASS built");
    due_at(&mission, LONG_AGO);
    let resume = ["agent", "resume", "--task", &mission.id, "--spawn", "2"];
    let comers = [&resume[..], &["monitor", "--once"], &resume, &["monitor", "--once"]];
    let mut comers = comers.map(|args| world.command(world.program).args(args).spawn().unwrap());
    for comer in &mut comers {
        assert!(comer.wait().unwrap().success());
    }
    mission.agent(3).begun();
    assert_eq!((started(&mission), mission.events_of("step.started").len()), (3, 3));
    std::fs::write(world.home().join("go"), "").unwrap();
    ends(&mission, "completed");
}

#[test]
fn a_person_can_end_a_mission_whose_step_waits() {
    let world = world(100);
    let mission = abandoned(&world);
    assert_eq!(mission.ok("cancel", &["--yes"])["status"], "cancelled");
    assert_eq!((mission.owned("waiting_until"), mission.owned("workspace")), (json!(null), json!(null)));
    let came = world.orange(&["agent", "resume", "--task", &mission.id, "--spawn", "2"]);
    assert_eq!((came.status, started(&mission)), (0, 2), "{came:?}");
}

#[test]
fn a_second_try_by_a_person_does_not_wait() {
    let world = world(2);
    world.acts("build", "exit 3");
    let mission = world.start("toy", &[]);
    mission.has_events(1, "mission.paused");
    assert_eq!((mission.events_of("agent.waiting").len(), mission.owned("waiting_until")), (1, json!(null)));
    world.acts("build", "complete PASS built");
    mission.ok("continue", &[]);
    ends(&mission, "completed");
    assert_eq!(started(&mission), 5);
}
