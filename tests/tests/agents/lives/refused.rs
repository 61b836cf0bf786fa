//! An act that an agent may not do until a person has allowed it: a start on a fresh home.

use super::HarnessPair;
use crate::plans::{came_through, is_written, worker};
use crate::suite::LifeSuite;
use crate::task::Task;
use crate::world::World;

const SUMMARY: &str = "Paint the kitchen door";

/// Nobody has answered any dialog: an agent that would ask is not started, with the command that answers it.
pub(super) fn fresh_home(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::fresh(suite);
    let plan = worker(&world, SUMMARY, "reviewing");
    if works == "claude" {
        // Its welcome, and whether it may use the key of the environment.
        std::fs::remove_file(world.path("home/.claude.json")).unwrap();
    }
    let options = ["--workflow", "minimal", "--harness", works];
    let create = [&["task", "create"], &options[..], &["--", "door", SUMMARY]].concat();
    let (code, error) = world.refused(&create);
    assert_eq!((code, &error["code"]), (5, &"environment".into()), "{error}");
    let help = error["help"].as_str().unwrap_or_default();
    let mut commands = help.split('`').skip(1).step_by(2).filter(|it| *it != "orange setup");
    let setup = commands.next().unwrap_or_default();
    assert_eq!(setup, format!("orange setup --harness {works} --yes"), "{error}");
    assert!(world.tasks().is_empty(), "a task whose agent cannot start is not created");
    world.ok(&setup.split(' ').skip(1).collect::<Vec<_>>());
    world.ok(&create);
    let task = Task::new(&world, world.tasks()[0]["id"].as_str().unwrap());
    task.reaches("reviewing");
    came_through(&world, plan, SUMMARY);
    is_written(&task, &["DONE: the door is painted"]);
}
