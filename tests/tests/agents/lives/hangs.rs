//! Agents that go no further by themselves.

use orange_tests::model::{Act, Plan};
use serde_json::Value;

use super::Pair;
use crate::suite::Suite;
use crate::task::Task;
use crate::world::{World, text};

/// One ends its turn without what its status asks for, another one waits for its model: the list of tasks says so of each,
/// instead of that its session is active.
pub(super) fn says_why(suite: &'static Suite, Pair(works, _): Pair) {
    let world = World::new(suite);
    let summaries = ["Paint the silent door", "Paint the endless door"];
    let last = [Act::say("All is painted."), Act::hold("the end")];
    let options = ["--workflow", "minimal", "--harness", works];
    let begins = |(summary, last): (&str, Act)| {
        let plan = Plan::new(&[&format!("# Task: {summary}")], vec![Act::read("TASK.md"), last]);
        world.plan(plan)
    };
    let [stops, _] = [0, 1].map(|place| begins((summaries[place], last[place].clone())));
    let silent = world.create("silent", summaries[0], &options);
    world.until("it has said its word", || world.report(stops).requests >= 2);
    let endless = world.create("endless", summaries[1], &options);
    world.until_held("the end");
    if ["claude", "codex"].contains(&works) {
        world.until("the list says what the silent one lacks", || {
            let (state, reason) = state_of(&world, &silent);
            state == "waiting" && reason.contains("## Handoff")
        });
        assert_eq!(state_of(&world, &endless).0, "busy");
    }
    for task in [&silent, &endless] {
        // The agent may come to another state between the two looks.
        world.until("both lists say how it is with the agent", || {
            let (state, reason) = state_of(&world, task);
            let listed = world.command("orange").args(["task", "list"]).output().unwrap();
            let listed = text(&listed.stdout);
            let row = listed.lines().find(|row| row.contains(&task.id)).unwrap_or_default();
            assert!(!row.contains(" active "), "{listed}");
            !state.is_empty() && !reason.is_empty() && row.contains(&state)
        });
    }
}

/// What is listed of a task's agent: its state, and the reason.
fn state_of(world: &World, task: &Task<'_>) -> (String, String) {
    let listed = world.ok(&["task", "list"]);
    let row = listed.as_array().unwrap().iter().find(|row| row["id"] == task.id.as_str());
    let agent = row.map_or(&Value::Null, |row| &row["agents"][0]);
    let word = |key: &str| agent[key].as_str().unwrap_or_default().to_owned();
    (word("state"), word("reason"))
}
