//! Conversations that go on in another process.

use std::fs;

use orange_tests::model::{ModelAct, Plan};
use serde_json::Value;

use super::HarnessPair;
use crate::plans::{all_went_well, is_written, paint};
use crate::suite::LifeSuite;
use crate::world::World;

const SUMMARY: &str = "Paint the barn door";

/// The agent is killed and continues its conversation; begins a new one where a person says so; and where the file of its
/// conversation is gone, begins a new one and says so.
pub(super) fn continued(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let begin = [format!("# Task: {SUMMARY}")];
    let prompt = [begin[0].as_str()];
    let acts = vec![ModelAct::read("TASK.md"), paint("door"), ModelAct::hold("first")];
    let first = world.plan(Plan::new(&prompt, acts));
    let task = world.create("door", SUMMARY, &["--workflow", "minimal", "--harness", works]);
    world.until_held("first");

    let second = world.plan(Plan::new(&prompt, vec![ModelAct::read("TASK.md"), ModelAct::hold("second")]));
    world.kills_agent(&task.id, 1);
    task.has_events(1, "agent.crashed");
    let answer = task.ok("respawn", &[]);
    assert_eq!((&answer["resumed"], &answer["not_resumed"]), (&true.into(), &Value::Null), "{answer}");
    world.until_held("second");
    let earlier = world.report(second).earlier;
    assert!(
        earlier.iter().any(|said| said.contains(&begin[0])),
        "nothing of what was said is there: {earlier:?}"
    );

    let third = world.plan(Plan::new(&prompt, vec![ModelAct::read("TASK.md"), ModelAct::hold("third")]));
    task.ok("stop", &[]);
    let answer = task.ok("respawn", &["--fresh"]);
    assert_eq!(answer["resumed"], false, "{answer}");
    world.until_held("third");
    let earlier = world.report(third).earlier;
    assert!(!earlier.iter().any(|said| said.contains(SUMMARY)), "it is the old conversation: {earlier:?}");

    task.ok("stop", &[]);
    let files = world.conversations();
    assert!(files.len() >= 2, "{files:?}");
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
    let acts = vec![
        ModelAct::read("TASK.md"),
        ModelAct::extend("TASK.md", "## Handoff\n\nDONE: all"),
        ModelAct::orange("task update --status reviewing"),
    ];
    let fourth = world.plan(Plan::new(&prompt, acts));
    let answer = task.ok("respawn", &[]);
    let why = answer["not_resumed"].as_str().unwrap_or_default();
    assert!(why.ends_with("is gone") && answer["resumed"] == false, "{answer}");
    task.reaches("reviewing");
    assert_eq!(all_went_well(&world, first).len(), 2);
    assert_eq!(all_went_well(&world, fourth).len(), 3);
    is_written(&task, &["DONE: all"]);
}
