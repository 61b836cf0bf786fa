//! Agents that go no further by themselves.

use orange_tests::model::{ModelAct, Plan};
use serde_json::Value;

use super::HarnessPair;
use crate::suite::LifeSuite;
use crate::task::Task;
use crate::world::{World, text};

/// One ends its turn without what its status asks for, another one waits for its model: the list of tasks says so of each,
/// instead of that its session is active.
pub(super) fn says_why(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let summaries = ["Paint the silent door", "Paint the endless door"];
    let last = [ModelAct::say("All is painted."), ModelAct::hold("the end")];
    let options = ["--workflow", "minimal", "--harness", works];
    let begins = |(summary, last): (&str, ModelAct)| {
        let plan = Plan::new(&[&format!("# Task: {summary}")], vec![ModelAct::read("TASK.md"), last]);
        world.plan(plan)
    };
    let [stops, _] = [0, 1].map(|place| begins((summaries[place], last[place].clone())));
    let silent = world.create("silent", summaries[0], &options);
    world.until("it has said its word", || world.report(stops).requests >= 2);
    let endless = world.create("endless", summaries[1], &options);
    world.until_held("the end");
    if ["claude", "codex"].contains(&works) {
        world.until("the list says what the silent one lacks", || {
            let ListedNeed { need, why, state, reason } = listed(&world, &silent);
            (need, state) == ("idle-without-artifact".to_owned(), "waiting".to_owned())
                && [why, reason].iter().all(|it| it.contains("## Handoff"))
        });
        let ListedNeed { need, state, .. } = listed(&world, &endless);
        assert_eq!((need.as_str(), state.as_str()), ("working", "busy"));
    }
    for (branch, task) in [("silent", &silent), ("endless", &endless)] {
        // The agent may come to another state between the two looks.
        world.until("both lists say how it is with the agent", || {
            let ListedNeed { need, why, state, reason } = listed(&world, task);
            let table = world.command("orange").args(["task", "list"]).output().unwrap();
            let table = text(&table.stdout);
            let row = table.lines().find(|row| cells(row).get(2) == Some(&branch)).unwrap_or_default();
            assert!(!row.contains(" active "), "{table}");
            let is_said = [&need, &why, &state, &reason].iter().all(|it| !it.is_empty());
            is_said && cells(row).first() == Some(&need.as_str()) && row.contains(&why)
        });
    }
}

/// A task in the list: its need with the reason, and the state of its agent with the reason.
struct ListedNeed {
    need: String,
    why: String,
    state: String,
    reason: String,
}

fn listed(world: &World, task: &Task<'_>) -> ListedNeed {
    let listed = world.ok(&["task", "list"]);
    let row = listed.as_array().unwrap().iter().find(|row| row["id"] == task.id.as_str());
    let word = |place: &str| {
        let value = row.and_then(|row| row.pointer(place)).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    ListedNeed {
        need: word("/need/kind"),
        why: word("/need/why"),
        state: word("/agents/0/state"),
        reason: word("/agents/0/reason"),
    }
}

/// The cells of a row of the table, which two spaces set apart.
fn cells(row: &str) -> Vec<&str> {
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}
