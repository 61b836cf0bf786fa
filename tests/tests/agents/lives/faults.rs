//! Faults of agents and of the models behind them.

use std::process::Command;

use orange_tests::model::{ModelAct, Plan, RequestFault};

use super::HarnessPair;
use crate::plans::{all_went_well, came_through, is_written, paint, worker};
use crate::suite::LifeSuite;
use crate::world::World;

const SUMMARY: &str = "Paint the cellar door";
const HANDOFF: &str = "## Handoff\n\nDONE: all";
const OPTIONS: [&str; 3] = ["--workflow", "minimal", "--harness"];

/// An agent is killed in the middle of its work; another one goes on where it was.
pub(super) fn killed(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let acts = vec![ModelAct::read("TASK.md"), paint("door"), ModelAct::hold("the end")];
    let first = world.plan(Plan::new(&[&format!("# Task: {SUMMARY}")], acts));
    let task = world.create("paint", SUMMARY, &[OPTIONS.as_slice(), &[works]].concat());
    world.until_held("the end");
    for pid in world.agents_of(&task.id, 1) {
        drop(Command::new("kill").args(["-9", &pid.to_string()]).output());
    }
    task.has_events(1, "agent.crashed");
    assert_eq!(all_went_well(&world, first).len(), 2);
    // The prompt comes again, so the newer plan for it is the one that is followed.
    let second = worker(&world, SUMMARY, "reviewing");
    task.ok("respawn", &[]);
    task.reaches("reviewing");
    came_through(&world, second, SUMMARY);
    is_written(&task, &["DONE: the door is painted"]);
}

/// The model is limited, overloaded, and drops a stream; the harness tries again, and nothing of it reaches the task.
pub(super) fn troubled(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let acts = vec![
        ModelAct::Fail(RequestFault::RateLimit(1), 1),
        ModelAct::read("TASK.md"),
        ModelAct::Fail(RequestFault::Overloaded, 1),
        paint("door"),
        ModelAct::Fail(RequestFault::Dropped, 1),
        ModelAct::extend("TASK.md", HANDOFF),
        ModelAct::orange("task update --status reviewing"),
    ];
    let plan = world.plan(Plan::new(&[&format!("# Task: {SUMMARY}")], acts));
    let task = world.create("paint", SUMMARY, &[OPTIONS.as_slice(), &[works]].concat());
    task.reaches("reviewing");
    came_through(&world, plan, SUMMARY);
    assert!(world.report(plan).requests >= 7, "three requests were to fail");
    assert!(task.events_of("agent.crashed").is_empty());
}

/// The account has used up what it may, which ends the turn; the engine waits for the known time and tells the agent to go on.
pub(super) fn used_up(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    const SECONDS: u32 = 6;
    let world = World::new(suite);
    let begun = vec![
        ModelAct::read("TASK.md"),
        paint("door"),
        ModelAct::Fail(RequestFault::UsedUp(SECONDS), u32::MAX),
    ];
    let first = world.plan(Plan::new(&[&prompt()], begun));
    let message = "The limit that stopped you should be over";
    let second = world.plan(Plan::new(&[message], rest()).within(&[SUMMARY]));
    let task = world.create("paint", SUMMARY, &[OPTIONS.as_slice(), &[works]].concat());
    let mut row = task.row();
    world.until("the list has the limit, and when it is over", || {
        row = task.row();
        row["agents"][0]["state"] == "limit" && !row["waiting_until"].is_null()
    });
    assert!(row["agents"][0]["until"].is_string(), "{row}");
    task.reaches("reviewing");
    assert_eq!(all_went_well(&world, first).len(), 2);
    came_through(&world, second, SUMMARY);
    is_written(&task, &["DONE: all"]);
    assert_eq!(task.events_of("agent.waiting").len(), 1);
    assert_eq!(task.events_of("agent.continued")[0]["reason"], "it got the message that the limit is over");
    assert!(task.events_of("agent.crashed").is_empty());
    assert_eq!(task.row()["crash_count"], 0);
}

/// The conversation has become longer than the model's context. Some harnesses make it shorter and go on. Codex stops, which
/// is reported, and a person has it begin again.
pub(super) fn out_of_context(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let begun = vec![ModelAct::read("TASK.md"), paint("door"), ModelAct::Fail(RequestFault::TooLong, 1)];
    world.plan(Plan::new(&[&prompt()], [begun, rest()].concat()));
    world.plan(Plan::new(&["continued from a previous conversation"], rest()));
    let goes_on = [vec![ModelAct::hold("made shorter")], rest()].concat();
    world.plan(Plan::new(&["The conversation was compacted"], goes_on));
    let task = world.create("paint", SUMMARY, &[OPTIONS.as_slice(), &[works]].concat());
    if works == "opencode" {
        world.until_held("made shorter");
        world.until("it thinks again", || task.agent()["state"] == "busy");
        world.model.open("made shorter");
    }
    if works == "codex" {
        world.until("it waits for a person", || task.agent()["state"] == "waiting");
        let reason = task.agent()["reason"].as_str().unwrap_or_default().to_owned();
        assert!(reason.contains("ran out of room in the model's context window"), "{reason}");
        world.plan(Plan::new(&[&prompt()], rest()));
        task.ok("stop", &[]);
        task.ok("respawn", &["--fresh"]);
    }
    task.reaches("reviewing");
    is_written(&task, &["DONE: all"]);
    assert!(task.events_of("agent.crashed").is_empty());
}

fn prompt() -> String {
    format!("# Task: {SUMMARY}")
}

/// Acts that are left to do when the door is painted.
fn rest() -> Vec<ModelAct> {
    vec![
        ModelAct::read("TASK.md"),
        ModelAct::run("git status --short"),
        ModelAct::extend("TASK.md", HANDOFF),
        ModelAct::orange("task update --status reviewing"),
    ]
}
