//! Steps that ask a person, on real processes and git.

use std::fs;

use serde_json::{Value, json};

use crate::clocks::{JOURNAL, set_clock};
use crate::missions::{ends, pauses, step};
use crate::task::Task;
use crate::world::{World, write_program};

/// `ship` waits for an approval; a rejection is handled by a program.
const FLOW: &str = r#"
[workflow]
name = "toy"

[[steps]]
id = "build"
run = ["touch", "built"]

[[steps]]
id = "approve"
ask = "Ship {{branch}} of {{mission_prompt}}?"
who = ["Toy Maker"]
depends_on = ["build"]
on_fail = "tell"

[[steps]]
id = "ship"
run = ["touch", "shipped"]
depends_on = ["approve"]

[[steps]]
id = "tell"
run = ["sh", "-c", "printf '{\"result\": \"approve\", \"summary\": \"%s\"}' \"$1\" > \"$ORANGE_OUTPUT\"", "sh", "{{context}}"]
"#;

/// A question with answers of its own, which shows no changes, beside a step that works.
const WORDS: &str = r#"
[workflow]
name = "toy"

[[steps]]
id = "when"
ask = "When?"
answers = ["now", "later"]
show = ["context"]

[[steps]]
id = "test"
run = ["true"]

[[steps]]
id = "ship"
run = ["true"]
depends_on = ["when"]
condition = "when.result == 'now'"

[[steps]]
id = "plan"
run = ["true"]
depends_on = ["when"]
condition = "when.result == 'later'"
"#;

fn world(flow: &str) -> World {
    let world = World::new();
    world.workflow("toy.toml", flow);
    world
}

/// Waits until a step asks, and returns its question.
#[track_caller]
fn asks(mission: &Task<'_>, times: usize) -> Value {
    mission.has_events(times, "step.asked");
    let shown = mission.show();
    assert_eq!(shown["status"], "running", "{shown}");
    shown["asks"][0].clone()
}

/// Ends the mission, so that nothing of it is left.
fn cancel(world: &World, mission: &Task<'_>) {
    world.ok(&["mission", "cancel", &mission.id, "--yes"]);
    mission.is_left();
}

#[test]
fn a_person_approves_and_the_mission_goes_on() {
    let world = world(FLOW);
    let mission = world.start("toy", &["--branch", "fast"]);
    let ask = asks(&mission, 1);
    let tip = world.git(&world.repo(), &["rev-parse", "fast"]);
    assert_eq!((&ask["step"], &ask["who"]), (&json!("approve"), &json!(["Toy Maker"])));
    assert!(ask["question"].as_str().unwrap().starts_with("Ship fast of "), "{ask}");
    assert_eq!((&ask["commit"], &ask["until"]), (&json!(tip.trim()), &Value::Null));
    assert_eq!(ask["answers"], json!(["approve", "reject"]));
    assert_eq!(step(&mission, "approve")["status"], "asked");
    assert_eq!(step(&mission, "ship")["status"], "blocked");
    let need = &mission.show()["need"];
    assert_eq!((&need["kind"], &need["person"]), (&json!("question"), &json!(true)), "{need}");
    let actions = need["actions"].as_array().unwrap();
    let answer = actions.iter().find(|it| it["label"] == "approve").unwrap();
    assert_eq!(answer["name"], "answer");
    let command: Vec<&str> = answer["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let answered = world.ok(&command);
    assert_eq!(answered["done"], "step approve is answered: approve, by Toy Maker");
    ends(&mission, "completed");
    let attempt = &step(&mission, "approve")["attempts"][0];
    assert_eq!((&attempt["by"], &attempt["commit"]), (&json!("Toy Maker"), &json!(tip.trim())));
    assert_eq!(step(&mission, "tell")["status"], "skipped");
    let again = world.fails(1, "refused", &["mission", "answer", &mission.id, "approve", "reject"]);
    assert!(again.contains("has been answered: approve, by Toy Maker"), "{again}");
}

/// Case C4 of the design: the handler stands for the approval, and nobody is asked once more.
#[test]
fn a_rejection_goes_to_the_handler() {
    let world = world(FLOW);
    let mission = world.start("toy", &[]);
    asks(&mission, 1);
    world.ok(&["mission", "answer", &mission.id, "reject", "--comment", "no tests"]);
    ends(&mission, "completed");
    let approve = step(&mission, "approve");
    assert_eq!(approve["attempts"][0]["status"], "rejected", "{approve}");
    assert_eq!(approve["reason"], "Toy Maker rejected it: no tests");
    assert!(step(&mission, "tell")["summary"].as_str().unwrap().contains("no tests"));
    assert_eq!(mission.events_of("mission.paused").len(), 0);
}

#[test]
fn only_a_person_whom_the_step_asks_may_answer() {
    let world = world(&FLOW.replace("Toy Maker", "ada"));
    let mission = world.start("toy", &[]);
    asks(&mission, 1);
    let refused = world.fails(1, "not_allowed", &["mission", "answer", &mission.id, "approve"]);
    assert!(refused.contains("not-yours: step approve asks ada"), "{refused}");
    let settings = "[user]\n\tname = ada\n\temail = ada@example.org\n";
    fs::write(world.path("home/.gitconfig"), settings).unwrap();
    let mut agent = mission.as_agent("worker", "1");
    agent.args(["mission", "answer", &mission.id, "approve"]).current_dir(world.repo());
    assert!(world.said(&mut agent).fails(1, "not_allowed").contains("only a person may answer"));
    let words = world.fails(2, "usage", &["mission", "answer", &mission.id, "yes"]);
    assert!(words.contains("the answers of step approve are approve, reject"), "{words}");
    world.ok(&["mission", "answer", &mission.id, "approve"]);
    ends(&mission, "completed");
}

#[test]
fn other_steps_go_on_while_nothing_is_shown() {
    let world = world(WORDS);
    let mission = world.start("toy", &[]);
    let ask = asks(&mission, 1);
    assert_eq!(ask["answers"], json!(["now", "later"]));
    world.until("`test` has completed meanwhile", || step(&mission, "test")["status"] == "completed");
    assert_eq!(mission.show()["status"], "running");
    world.ok(&["mission", "answer", &mission.id, "when", "later", "--comment", "after the fair"]);
    ends(&mission, "completed");
    assert_eq!(step(&mission, "when")["summary"], "after the fair");
    let ran = ["ship", "plan"].map(|id| step(&mission, id)["status"].clone());
    assert_eq!(ran, [json!("skipped"), json!("completed")]);
}

/// Case C6 of the design.
#[test]
fn a_question_without_an_answer_fails_and_pauses() {
    let world = world(&FLOW.replace("on_fail = \"tell\"", "timeout = 1"));
    let mission = world.start("toy", &[]);
    asks(&mission, 1);
    world.until("the monitor finds that the time is over", || {
        world.ok(&["monitor", "--once"]);
        mission.status() == "paused"
    });
    let pause = pauses(&world, &mission, 1);
    assert!(pause["what"].as_str().unwrap().contains("nobody answered in time"), "{pause}");
    let late = world.fails(1, "refused", &["mission", "answer", &mission.id, "approve", "approve"]);
    assert!(late.contains("has ended"), "{late}");
    world.ok(&["mission", "continue", &mission.id, "--pause", "1"]);
    assert_eq!(asks(&mission, 2)["attempt"], 2);
    cancel(&world, &mission);
}

#[test]
fn silence_is_the_answer_that_the_plan_names() {
    let world = world(&FLOW.replace("on_fail = \"tell\"", "timeout = 1\non_timeout = \"approve\""));
    let mission = world.start("toy", &[]);
    asks(&mission, 1);
    world.until("the monitor finds that the time is over", || {
        world.ok(&["monitor", "--once"]);
        mission.status() == "completed"
    });
    assert_eq!(step(&mission, "approve")["attempts"][0]["by"], "timeout");
    mission.is_left();
}

/// The branch may have moved since the person looked.
#[test]
fn an_answer_about_another_commit_is_refused() {
    let world = world(FLOW);
    let mission = world.start("toy", &[]);
    let seen = asks(&mission, 1)["commit"].as_str().unwrap().to_owned();
    world.git(&mission.worktree(), &["commit", "--quiet", "--allow-empty", "-m", "later"]);
    let tip = world.git(&mission.worktree(), &["rev-parse", "HEAD"]).trim().to_owned();
    let moved = world.fails(1, "refused", &["mission", "answer", &mission.id, "approve", "--commit", &seen]);
    assert!(moved.contains(&format!("moved: the branch is at {tip}")), "{moved}");
    assert_eq!(asks(&mission, 2)["commit"], json!(tip));
    let old = world.fails(1, "refused", &["mission", "answer", &mission.id, "approve", "--commit", &seen]);
    assert!(old.contains("moved"), "{old}");
    world.ok(&["mission", "answer", &mission.id, "approve", "--commit", &tip[..10]]);
    ends(&mission, "completed");
    assert_eq!(step(&mission, "approve")["attempts"][0]["commit"], json!(tip));
}

/// A message when it is asked, one at half of the time, and one an hour before its end, each once.
#[test]
fn people_are_reminded_of_an_open_question() {
    let world = world(&FLOW.replace("on_fail = \"tell\"", "timeout = 14400"));
    let log = world.path("log");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$1\" >>'{}'\n", log.display());
    write_program(&world.path("agents").join("log"), &script);
    let settings = "[log]\nvia = 'command'\nargv = ['log', '{need}']\nneeds = ['question']\n";
    fs::write(world.home().join("notify.toml"), settings).unwrap();
    let mission = world.start("toy", &[]);
    asks(&mission, 1);
    mission.is_left();
    for (hours, messages) in [(0, 1), (1, 1), (1, 2), (1, 3)] {
        set_clock(&mission, JOURNAL, hours * 3600);
        for _ in 0..2 {
            world.ok(&["monitor", "--once"]);
            assert_eq!(fs::read_to_string(&log).unwrap_or_default().lines().count(), messages, "{hours}");
        }
    }
    cancel(&world, &mission);
}

/// The process that put the question has been killed before it sent a message about it: the monitor says it all the same.
#[test]
fn the_monitor_tells_people_of_an_open_question() {
    let world = world(FLOW);
    let log = world.path("log");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$1\" >>'{}'\n", log.display());
    write_program(&world.path("agents").join("log"), &script);
    let settings = "[log]\nvia = 'command'\nargv = ['log', '{need}: {why}']\n";
    fs::write(world.home().join("notify.toml"), settings).unwrap();
    let mission = world.start("toy", &[]);
    asks(&mission, 1);
    world.until("the message is sent", || {
        world.ok(&["monitor", "--once"]);
        fs::read_to_string(&log).is_ok_and(|it| it.contains("question: step approve asks Toy Maker"))
    });
    cancel(&world, &mission);
}
