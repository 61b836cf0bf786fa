//! Agents that are given `orange mcp` when they are started, and ask by its tools.

use orange_tests::model::{ModelAct, Plan};
use serde_json::json;

use super::HarnessPair;
use crate::plans::{all_went_well, is_written, paint};
use crate::suite::LifeSuite;
use crate::world::World;

const SUMMARY: &str = "Paint the stable door";

/// Worker and reviewer ask for their statuses by the tools of the server, the reviewer from inside its sandbox where it has one.
pub(super) fn tools(suite: &'static LifeSuite, HarnessPair(works, reviews): HarnessPair) {
    let world = World::with_server(suite);
    let handoff = "## Handoff\n\nDONE: the door is painted";
    let acts = [
        vec![ModelAct::read("TASK.md"), paint("door"), ModelAct::extend("TASK.md", handoff)],
        asks(works, "agent-review"),
    ]
    .concat();
    let worker = world.plan(Plan::new(&[&format!("# Task: {SUMMARY}")], acts));
    let review = "## Review\n\nVerdict: PASS\n\nLooked at it.";
    let acts =
        [vec![ModelAct::read("TASK.md"), ModelAct::extend("TASK.md", review)], asks(reviews, "reviewing")]
            .concat();
    let reviewer = world.plan(Plan::new(&[SUMMARY, "git diff ", "Review round: 1"], acts));
    let task = world.create("door", SUMMARY, &["--harness", works, "--review-harness", reviews]);
    task.reaches("reviewing");
    for (plan, next) in [(worker, "agent-review"), (reviewer, "reviewing")] {
        let exchanges = all_went_well(&world, plan);
        let answer = |tool: &str| {
            let asked = exchanges.iter().find(|exchange| exchange.tool.ends_with(tool));
            asked.and_then(|exchange| exchange.answer.clone()).unwrap_or_default()
        };
        assert!(answer("task_next").contains(next), "{exchanges:#?}");
        assert!(answer("task_show").contains(SUMMARY), "{exchanges:#?}");
        assert!(exchanges.last().is_some_and(|last| last.tool.ends_with("task_update")), "{exchanges:#?}");
    }
    let actors: Vec<_> =
        task.events_of("status.changed").iter().map(|event| event["actor"].clone()).collect();
    assert_eq!(actors, ["human", "worker", "reviewer"]);
    is_written(&task, &["DONE: the door is painted", "Verdict: PASS"]);
}

/// The last acts of one that asks for this status. Claude names the tools of servers only, until they are looked up.
fn asks(harness: &str, status: &str) -> Vec<ModelAct> {
    let names = ["task_show", "task_next", "task_update"];
    let is_claude = harness == "claude";
    let name = |name: &str| if is_claude { format!("mcp__orange__{name}") } else { name.to_owned() };
    let query = format!("select:{}", names.map(&name).join(","));
    let look_up =
        is_claude.then(|| ModelAct::tool("ToolSearch", json!({ "query": query, "max_results": 5 })));
    let inputs = [json!({}), json!({}), json!({ "status": status })];
    let calls = names.into_iter().zip(inputs).map(|(tool, input)| ModelAct::tool(&name(tool), input));
    look_up.into_iter().chain(calls).collect()
}
