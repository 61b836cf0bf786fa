//! People beside the agents: who answers, who has not agreed yet, who works with an agent of their own.

use std::fs;

use orange_tests::model::{ModelAct, Plan};

use super::HarnessPair;
use crate::plans::{all_went_well, came_through, is_written, paint, reviewer, worker};
use crate::suite::LifeSuite;
use crate::world::World;

/// An agent asks, a person attaches and types the answer, the agent goes on with it.
pub(super) fn clarification(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::new(suite);
    let answer = "Please paint the gate blue";
    let asks = vec![
        ModelAct::read("TASK.md"),
        ModelAct::extend("TASK.md", "## Questions\n\n1. Which colour?"),
        ModelAct::say("Which colour is it to have?"),
    ];
    let asked = world.plan(Plan::new(&["requirements are unclear"], asks));
    let goes_on = vec![
        ModelAct::orange(format!("task update --summary '{answer}'")),
        ModelAct::orange("task update --status working"),
        paint("gate"),
        ModelAct::read("TASK.md"),
        ModelAct::extend("TASK.md", "## Handoff\n\nDONE: the gate is blue"),
        ModelAct::orange("task update --status agent-review"),
    ];
    let answered = world.plan(Plan::new(&[answer], goes_on).within(&["requirements are unclear"]));
    let reviewed = reviewer(&world, answer, 1, "PASS", "reviewing");
    let task = world.create("gate", "", &["--harness", works, "--review-harness", reviews]);
    world.until("the question is on the screen", || {
        world.screen("tmux", &task.pane()).contains("Which colour is it to have?")
    });
    assert_eq!(task.path(), ["clarification"]);
    // The agent waits, and no command merges its file: the engine does so by itself when the file is saved.
    world.until("the question is in the task", || task.text().contains("1. Which colour?"));
    assert!(all_went_well(&world, asked).len() == 2);
    world.types("tmux", &task.pane(), answer, || world.report(answered).requests > 0);
    task.reaches("reviewing");
    assert_eq!(all_went_well(&world, answered).len(), 6);
    came_through(&world, reviewed, answer);
    is_written(&task, &["summary: Please paint the gate blue", "DONE: the gate is blue"]);
}

/// A person has the same agent open in a terminal of their own; tasks come and go, and it lives.
pub(super) fn own_sessions(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::new(suite);
    let summary = "Paint the attic door";
    let plan = worker(&world, summary, "agent-review");
    let mine =
        world.plan(Plan::new(&["How many doors are there?"], vec![ModelAct::say("There are seven doors.")]));
    if works == "codex" {
        let config = "home/.codex/config.toml";
        let text = fs::read_to_string(world.path(config)).unwrap();
        let trust = format!("\n[projects.{:?}]\ntrust_level = \"trusted\"\n", world.repo());
        world.write(config, &(text + &trust));
        let server = world.command("codex").args(["app-server", "daemon", "start"]).output().unwrap();
        assert!(server.status.success(), "{server:?}");
    }
    world.opens_own(works);
    let before = world.own_processes();
    assert!(before.len() >= if works == "codex" { 2 } else { 1 }, "{before:?}");
    let held = Plan::new(
        &[summary, "git diff ", "Review round: 1"],
        vec![ModelAct::read("TASK.md"), ModelAct::hold("review")],
    );
    world.plan(held);
    let task = world.create("attic", summary, &["--harness", works, "--review-harness", reviews]);
    world.until_held("review");
    came_through(&world, plan, summary);
    task.ok("cancel", &["--yes"]);
    task.reaches("cancelled");
    world.types("own", "own", "How many doors are there?", || world.report(mine).requests > 0);
    world.until("one's own agent answers", || world.screen("own", "own").contains("There are seven doors."));
    let after = world.processes();
    let lost: Vec<_> = before.iter().filter(|pid| !after.contains(pid)).collect();
    assert!(lost.is_empty(), "processes {lost:?} of one's own session were ended");
}
