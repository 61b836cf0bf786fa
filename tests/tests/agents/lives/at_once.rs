//! Several tasks of one harness at the same time.

use orange_tests::model::{ModelAct, Plan};

use super::HarnessPair;
use crate::plans::{came_through, is_written, paint, reviewer, worker};
use crate::suite::LifeSuite;
use crate::world::{PROJECT, World};

/// Three workers at once, each reviewed.
pub(super) fn three(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::for_several(suite);
    let summaries = ["Paint the first door", "Paint the second door", "Paint the third door"];
    let plans = summaries.map(|summary| {
        [worker(&world, summary, "agent-review"), reviewer(&world, summary, 1, "PASS", "reviewing")]
    });
    let options = ["--harness", works, "--review-harness", reviews];
    let branches = ["first", "second", "third"];
    let begin = |place: usize| world.create(branches[place], summaries[place], &options);
    for ((task, summary), plans) in [0, 1, 2].map(begin).iter().zip(summaries).zip(plans) {
        task.reaches("reviewing");
        plans.into_iter().for_each(|plan| came_through(&world, plan, summary));
        is_written(task, &[summary, "DONE: the door is painted", "Verdict: PASS"]);
    }
}

/// In one fresh home: two tasks at once with the one harness, then with the other, then with one that works and one that
/// reviews.
pub(super) fn two_for_each(suite: &'static LifeSuite, HarnessPair(one, other): HarnessPair) {
    let world = World::for_several(suite);
    world.ok(&["project", "update", PROJECT, "--pool-size", "6"]);
    for (works, reviews) in [(one, one), (other, other), (one, other)] {
        let summaries =
            ["left", "right"].map(|side| format!("Paint the {side} door of {works} and {reviews}"));
        let plans = summaries.each_ref().map(|summary| {
            [worker(&world, summary, "agent-review"), reviewer(&world, summary, 1, "PASS", "reviewing")]
        });
        let tasks = ["left", "right"].map(|side| format!("{side}-{works}-{reviews}"));
        let options = ["--harness", works, "--review-harness", reviews];
        let create = |place: usize| world.create(&tasks[place], &summaries[place], &options);
        for ((task, summary), plans) in [create(0), create(1)].iter().zip(&summaries).zip(plans) {
            task.reaches("reviewing");
            assert_eq!(task.path(), ["working", "agent-review", "reviewing"]);
            plans.into_iter().for_each(|plan| came_through(&world, plan, summary));
            is_written(task, &[summary, "DONE: the door is painted", "Verdict: PASS"]);
        }
    }
}

/// Two workers are in the middle of it when one of the tasks is cancelled: the other one's goes on.
pub(super) fn cancel_one(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::for_several(suite);
    let work = |summary: &str, gate: &str| {
        let acts = vec![
            ModelAct::read("TASK.md"),
            ModelAct::hold(gate),
            paint("door"),
            ModelAct::extend("TASK.md", "## Handoff\n\nDONE: all"),
            ModelAct::orange("task update --status reviewing"),
        ];
        world.plan(Plan::new(&[&format!("# Task: {summary}")], acts))
    };
    let (doomed, lucky) = (work("Paint the old door", "old"), work("Paint the new door", "new"));
    let options = ["--workflow", "minimal", "--harness", works];
    let first = world.create("old", "Paint the old door", &options);
    world.until_held("old");
    let second = world.create("new", "Paint the new door", &options);
    world.until_held("new");
    first.ok("cancel", &["--yes"]);
    first.reaches("cancelled");
    world.model.open("new");
    second.reaches("reviewing");
    came_through(&world, lucky, "Paint the new door");
    assert_eq!(world.report(doomed).exchanges.len(), 1, "the cancelled one did nothing more");
    assert!(second.events_of("agent.crashed").is_empty());
}
