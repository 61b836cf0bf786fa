//! `split`: an agent creates a task, its work is merged into the branch of the first, and an agent goes on there.

use orange_tests::model::{ModelAct, Plan};

use super::HarnessPair;
use crate::plans::{all_went_well, came_through, is_written, paint, reviewer, worker};
use crate::suite::LifeSuite;
use crate::task::Task;
use crate::world::World;

const WHOLE: &str = "Build the garden house";
const PART: &str = "Paint the garden door";

pub(super) fn split(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::new(suite);
    let splits = world.plan(Plan::new(
        &[&format!("# Task: {WHOLE}")],
        vec![
            ModelAct::read("TASK.md"),
            ModelAct::extend("TASK.md", "## Plan\n\nThe door is a task of its own."),
            ModelAct::orange(format!("task create door '{PART}' --context 'Paint it green.'")),
            ModelAct::orange("task update --status delegated"),
        ],
    ));
    let (part, judges) =
        (worker(&world, PART, "agent-review"), reviewer(&world, PART, 1, "PASS", "reviewing"));
    let goes_on = world.plan(Plan::new(
        &[&format!("# Integrating: {WHOLE}")],
        vec![
            ModelAct::read("TASK.md"),
            paint("window"),
            ModelAct::extend("TASK.md", "## Handoff\n\nDONE: the house is built"),
            ModelAct::orange("task update --status agent-review"),
        ],
    ));
    let judges_whole = reviewer(&world, WHOLE, 1, "PASS", "reviewing");
    let task = world.create(
        "house",
        WHOLE,
        &["--workflow", "split", "--harness", works, "--review-harness", reviews],
    );
    task.reaches("delegated");
    let children = world.ok(&["task", "show", &task.id])["children"].clone();
    let child = Task::new(&world, children[0]["id"].as_str().unwrap());
    child.reaches("reviewing");
    world.until("the part is merged and the whole goes on", || {
        world.ok(&["monitor", "--once"]);
        task.owned("status") != "delegated"
    });
    task.reaches("reviewing");
    assert_eq!(child.owned("status"), "done");
    all_went_well(&world, splits);
    came_through(&world, part, PART);
    came_through(&world, judges, PART);
    let read = all_went_well(&world, goes_on)[0].answer.clone().unwrap_or_default();
    assert!(read.contains("door: merged"), "{read}");
    came_through(&world, judges_whole, WHOLE);
    is_written(&task, &["The door is a task of its own.", "DONE: the house is built", "Verdict: PASS"]);
    let files = world.git(&world.repo(), &["ls-tree", "--name-only", "house"]);
    assert!(files.contains("door.txt") && files.contains("window.txt"), "{files}");
}
