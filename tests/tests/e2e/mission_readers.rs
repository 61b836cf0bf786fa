//! Steps that read the worktree side by side, on real tmux and git.

use std::fs;

use serde_json::{Value, json};

use crate::every_step::{KillMoment, killed_in};
use crate::missions::{ends, step};
use crate::task::{Task, kill};
use crate::world::World;

/// Three readers, a judge for their complaints, and a step that writes and needs none of them.
const PANEL: &str = r#"
[workflow]
name = "toy"
parallel = 3

[[steps]]
id = "security"
read_only = true
prompt = "Review {{branch}} for security."
results = ["PASS", "FAIL"]

[[steps]]
id = "speed"
read_only = true
prompt = "Review {{branch}} for speed."
results = ["PASS", "FAIL"]

[[steps]]
id = "tests"
read_only = true
run = ["sh", "-c", "touch \"$ORANGE_HOME/here-tests\"; until [ -e \"$ORANGE_HOME/here-speed\" ]; do sleep 0.05; done; echo 3 of 3"]

[[steps]]
id = "write"
prompt = "Write it."

[[steps]]
id = "judge"
read_only = true
prompt = "Judge it. {{context}}"
depends_on = ["security", "speed", "tests"]
condition = "security.result == 'FAIL' || speed.result == 'FAIL'"
"#;

/// Goes on when all three of the panel are at work.
const TOGETHER: &str = r#"
touch "$ORANGE_HOME/here-$ORANGE_STEP"
for step in security speed tests; do until [ -e "$ORANGE_HOME/here-$step" ]; do sleep 0.05; done; done
"#;

/// Ends an agent when the test says so.
const INSTRUCTIONS: &str = "
until [ -e \"$ORANGE_HOME/go\" ]; do sleep 0.05; done
complete PASS \"attempt $ORANGE_ATTEMPT\"
";

fn world() -> World {
    let world = World::new();
    world.workflow("toy.toml", PANEL);
    world
}

/// The statuses of these steps.
fn statuses(mission: &Task<'_>, ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| step(mission, id)["status"].as_str().unwrap().to_owned()).collect()
}

/// A panel whose two agents wait for the test.
fn at_work(world: &World) -> Task<'_> {
    fs::write(world.home().join("here-speed"), "").unwrap();
    ["security", "speed"].iter().for_each(|it| world.acts(it, INSTRUCTIONS));
    let mission = world.start("toy", &[]);
    for number in 1..=2 {
        mission.agent(number).begun();
    }
    mission
}

/// Lets the agents end that wait for the test.
pub(crate) fn go(world: &World) {
    fs::write(world.home().join("go"), "").unwrap();
}

#[test]
fn a_panel_reads_at_the_same_time_and_a_judge_hears_all() {
    let world = world();
    world.acts("security", &format!("{TOGETHER}complete PASS fine"));
    world.acts("speed", &format!("{TOGETHER}complete FAIL 'It is slow'"));
    world.acts("judge", "complete PASS judged");
    let mission = world.start("toy", &["--branch", "fast"]);
    ends(&mission, "completed");
    let heard = mission.agent(4).prompt();
    let expect = "Judge it. ## security\nfine\n\n## speed\nIt is slow\n\n## tests\n3 of 3\n";
    assert_eq!(heard, expect);
    let spawned = mission.events_of("agent.spawned");
    let windows: Vec<&Value> = spawned.iter().map(|it| &it["window"]).collect();
    assert_eq!(windows, ["security-1", "speed-1", "write-1", "judge-1"]);
    assert_eq!(mission.events_of("worktree.changed").len(), 0, "a step that writes is not asked");
}

#[test]
fn a_reader_that_is_killed_is_started_again_alone() {
    let world = world();
    let mission = at_work(&world);
    kill(mission.agent(2).begun());
    mission.agent(3).begun();
    assert_eq!(statuses(&mission, &["security", "speed", "write"]), ["running", "running", "queued"]);
    go(&world);
    ends(&mission, "completed");
    let ends = mission.events_of("step.ended");
    let lost: Vec<&Value> = ends.iter().filter(|it| it["end"] == "lost").map(|it| &it["step"]).collect();
    assert_eq!(
        (lost, step(&mission, "speed")["summary"].clone()),
        (vec![&json!("speed")], json!("attempt 2"))
    );
    assert_eq!(step(&mission, "security")["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn a_step_that_writes_waits_until_nobody_reads() {
    let world = world();
    world.acts("write", "[ -e \"$ORANGE_HOME/go\" ] && complete PASS late; complete PASS early");
    let mission = at_work(&world);
    mission.has_events(1, "step.ended");
    assert_eq!(statuses(&mission, &["tests", "speed", "write"]), ["completed", "running", "queued"]);
    go(&world);
    ends(&mission, "completed");
    assert_eq!(step(&mission, "write")["summary"], "late");
}

/// Case A11: what changed stays, the report counts, and a person looks under any policy.
#[test]
fn a_reader_that_writes_pauses_the_mission_once() {
    let world = world();
    let act = "echo more >>README.md; echo new >notes\n";
    world.acts("security", &format!("{TOGETHER}{act}touch \"$ORANGE_HOME/changed\"; complete PASS fine"));
    let after = "until [ -e \"$ORANGE_HOME/changed\" ]; do sleep 0.05; done\n";
    world.acts("speed", &format!("{TOGETHER}{after}complete PASS fine"));
    let mission = world.start("toy", &["--intervene", "never"]);
    mission.has_events(3, "step.ended");
    mission.is_left();
    let shown = mission.show();
    let pause = &shown["pause"];
    assert_eq!((&shown["status"], &pause["reason"]), (&json!("paused"), &json!("changed")), "{shown}");
    assert_eq!(pause["what"], "the worktree changed while only readers ran: README.md");
    assert_eq!(statuses(&mission, &["security", "speed", "write"]), ["completed", "completed", "queued"]);
    assert_eq!(mission.events_of("worktree.changed").len(), 1, "a person was shown that once");
    let worktree = shown["worktree"].as_str().unwrap();
    assert_eq!(fs::read_to_string(format!("{worktree}/README.md")).unwrap(), "A toy.\nmore\n");
    mission.ok("continue", &[]);
    ends(&mission, "completed");
    assert_eq!(step(&mission, "write")["status"], "completed");
}

#[test]
fn a_timeout_ends_one_reader_and_no_other() {
    let world = World::new();
    let timed = PANEL.replace("id = \"speed\"", "id = \"speed\"\ntimeout = 1");
    world.workflow("toy.toml", &timed);
    let mission = at_work(&world);
    world.until("its time is over", || {
        world.ok(&["monitor", "--once"]);
        mission.status() == "paused"
    });
    assert_eq!(statuses(&mission, &["security", "speed"]), ["running", "failed"]);
    go(&world);
    mission.has_events(3, "step.ended");
    assert_eq!(statuses(&mission, &["security"]), ["completed"], "its report counts");
    assert_eq!(mission.ok("cancel", &["--yes"])["status"], "cancelled");
}

#[test]
fn the_end_of_a_mission_ends_everybody_who_reads() {
    let world = world();
    ["security", "speed"].iter().for_each(|it| world.acts(it, INSTRUCTIONS));
    let mission = world.start("toy", &[]);
    for number in 1..=2 {
        mission.agent(number).begun();
    }
    mission.has_events(3, "step.started");
    assert_eq!(mission.ok("cancel", &["--yes"])["status"], "cancelled");
    mission.is_left();
    assert_eq!(world.panes(), Vec::<String>::new());
    let left = fs::read_dir(mission.folder()).unwrap().map(|it| it.unwrap().file_name());
    let locks: Vec<_> = left.filter(|it| it.to_string_lossy().starts_with(".program")).collect();
    assert_eq!(locks, Vec::<std::ffi::OsString>::new(), "the program has ended, and what runs it");
}

/// The start of a panel is killed at its calls of git and tmux; one look of the monitor goes on.
#[test]
fn a_panel_whose_start_is_killed_has_each_reader_once() {
    for call in (2..).step_by(7) {
        let world = world();
        fs::write(world.home().join("here-speed"), "").unwrap();
        ["security", "speed"].iter().for_each(|it| world.acts(it, INSTRUCTIONS));
        let start = ["mission", "start", "toy", "Make it faster"];
        let was_killed = killed_in(&world, "mission advance", call, KillMoment::After, &start);
        // What comes after the start is not killed.
        fs::write(world.path("killed"), "").unwrap();
        let list = world.ok(&["mission", "list"]);
        let mission = Task::mission(&world, list[0]["id"].as_str().unwrap());
        world.ok(&["monitor", "--once"]);
        for number in 1..=2 {
            mission.agent(number).begun();
        }
        go(&world);
        ends(&mission, "completed");
        let started: Vec<Value> =
            mission.events_of("step.started").iter().map(|it| it["step"].clone()).collect();
        assert_eq!(started.len(), 4, "call {call}: {started:?}");
        if !was_killed {
            break;
        }
    }
}
