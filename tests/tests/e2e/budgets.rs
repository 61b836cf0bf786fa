//! Budgets: a limit that is reached ends the agent at its turn, refuses starts, and lets the task go on once there is more.

use std::fs;

use serde_json::{Value, json};

use crate::activity::{event, reports, tool};
use crate::stops::begin;
use crate::task::{Task, is_alive};
use crate::world::World;

/// Has the record of the first agent's conversation say that its model has written so many tokens. Returns its id.
fn writes(world: &World, task: &Task<'_>, tokens: u32) -> String {
    let spawned = &task.events_of("agent.spawned")[0];
    let (id, now) = (spawned["conversation"].as_str().unwrap(), &spawned["timestamp"]);
    let line = json!({
        "type": "assistant",
        "timestamp": now,
        "cwd": task.worktree(),
        "message": {"id": "m1", "model": "claude-opus-4-8", "usage": {"input_tokens": 0, "output_tokens": tokens}},
    });
    let folder = world.path("home/.claude/projects/toy");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
    id.to_owned()
}

pub(crate) fn reported(task: &Task<'_>, mut event: Value) {
    let id = task.events_of("agent.spawned")[0]["conversation"].clone();
    event["session_id"] = id;
    event["transcript_path"] = Value::Null;
    reports(task, &event);
}

fn need(task: &Task<'_>) -> Value {
    task.show()["need"].clone()
}

#[test]
fn a_used_up_budget_ends_the_turn_until_there_is_more() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &["--budget", "cost=1,starts=5"]);
    let agent = task.agent(1).begun();
    // 44 000 tokens at $25 per million.
    let conversation = writes(&world, &task, 44_000);
    reported(&task, event("UserPromptSubmit"));
    reported(&task, tool("PreToolUse", "sleep 100000"));
    world.ok(&["monitor", "--once"]);
    assert!(is_alive(agent), "it is in its turn");
    let reached = &task.events_of("budget.reached")[0];
    assert_eq!(
        (&reached["of"], &reached["kind"], &reached["limit"], &reached["spent"]),
        (&json!("task"), &json!("cost"), &json!(1_000_000), &json!(1_100_000))
    );
    let asked = need(&task);
    assert_eq!((&asked["kind"], &asked["person"]), (&json!("budget"), &json!(true)), "{asked}");
    assert_eq!(asked["why"], "the budget of the task is used up: $1.10 of $1.00");
    assert_eq!(asked["actions"][0]["command"], json!(["task", "budget", task.id, "--add"]));

    reported(&task, event("Stop"));
    world.ok(&["monitor", "--once"]);
    assert!(!is_alive(agent), "its turn is over");
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.events_of("budget.reached").len(), 1);
    assert_eq!(task.events_of("agent.stopped")[0]["actor"], "engine");
    assert!(task.events_of("agent.crashed").is_empty() && task.events_of("agent.respawned").is_empty());
    assert_eq!((task.status(), need(&task)["kind"].clone()), ("working".to_owned(), json!("budget")));

    let refused = task.fails(1, "refused", "respawn", &[]);
    assert!(refused.contains("$1.10 of $1.00") && refused.contains("orange task budget"), "{refused}");
    let little = task.fails(1, "refused", "budget", &["--add", "cost=0.05"]);
    assert!(little.contains("add more than $0.10"), "{little}");
    task.fails(2, "usage", "budget", &["--add", "time=1h"]);
    let shown = task.ok("budget", &[]);
    assert_eq!((&shown["limits"]["cost"], &shown["spent"]["starts"]), (&json!(1_000_000), &json!(1)));

    let raised = task.ok("budget", &["--add", "cost=5"]);
    assert_eq!(
        (&raised["limits"]["cost"], &raised["goes_on"]),
        (&json!(6_000_000), &json!("started agent 2"))
    );
    assert!(is_alive(task.agent(2).begun()));
    let again = &task.events_of("agent.respawned")[0];
    assert_eq!((&again["conversation"], &again["resumed"]), (&json!(conversation), &json!(true)));
    assert_ne!(need(&task)["kind"], "budget");
}

#[test]
fn an_end_for_a_budget_that_was_cut_short_goes_on() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &["--budget", "cost=1"]);
    let agent = task.agent(1).begun();
    task.is_recorded();
    // 120 % of the limit.
    writes(&world, &task, 48_000);
    let reached = json!({
        "type": "budget.reached", "of": "task", "kind": "cost", "limit": 1_000_000, "spent": 1_200_000, "set": {},
    });
    begin(&task, &[reached]);
    world.ok(&["monitor", "--once"]);
    assert!(!is_alive(agent));
    let counts = ["budget.reached", "agent.stopped", "agent.exited", "agent.crashed"];
    assert_eq!(counts.map(|kind| task.events_of(kind).len()), [1, 1, 1, 0]);
}

#[test]
fn starts_that_a_budget_refuses_wait_for_more() {
    let world = World::new();
    let first = world.create("one", "Mend it [agents: hang]", &[]);
    first.agent(1).begun();
    world.ok(&["project", "update", "toy", "--budget-day", "starts=1", "--queue", "auto"]);
    let second = world.create("two", "Mend that", &[]);
    let why = "the day's budget of toy is used up: 1 start of 1 start";
    let asked = need(&second);
    assert_eq!(asked["kind"], "queued", "{asked}");
    assert!(asked["why"].as_str().unwrap().contains(why), "{asked}");
    assert!(second.fails(1, "refused", "spawn", &[]).contains(why));
    world.ok(&["monitor", "--once"]);
    assert_eq!((second.status(), second.show()["attention"].clone()), ("pending".to_owned(), Value::Null));
    world.ok(&["project", "update", "toy", "--budget-day", "starts=3"]);
    second.ok("spawn", &[]);
    second.agent(1).begun();

    // A start by a hook waits with the hooks behind it, and runs as it was asked for.
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work pass]", &["--budget", "starts=1"]);
    task.has_events(1, "hooks.waiting");
    assert_eq!((task.status(), need(&task)["kind"].clone()), ("agent-review".to_owned(), json!("budget")));
    world.ok(&["monitor", "--once"]);
    let counts = ["budget.reached", "hooks.waiting", "agent.spawned", "agent.crashed"];
    assert_eq!(counts.map(|kind| task.events_of(kind).len()), [1, 1, 1, 0]);
    assert!(task.fails(1, "refused", "update", &["--retry-hooks"]).contains("1 start of 1 start"));
    task.ok("budget", &["--add", "starts=4"]);
    task.reaches("reviewing");
}

/// `default`, with these keys of `working`.
fn budgeted(world: &World, keys: &str) {
    let source =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../workflows/default.yml")).unwrap();
    let named = source.replacen("name: default", "name: budgeted", 1);
    let text = named.replacen("  working:\n", &format!("  working:\n{keys}"), 1);
    assert_ne!(text, named);
    fs::create_dir_all(world.path("orange/workflows")).unwrap();
    fs::write(world.path("orange/workflows/budgeted.yml"), text).unwrap();
}

#[test]
fn a_state_whose_budget_is_used_up_is_left_at_the_turns_end() {
    let world = World::new();
    budgeted(&world, "    budget: {cost: 1.00}\n    on_budget: stuck\n");
    let task = world.create("fix", "Mend it [agents: hang]", &["--workflow", "budgeted"]);
    let agent = task.agent(1).begun();
    writes(&world, &task, 44_000);
    reported(&task, event("UserPromptSubmit"));
    reported(&task, tool("PreToolUse", "sleep 100000"));
    world.ok(&["monitor", "--once"]);
    assert!(is_alive(agent), "it is in its turn");
    let reached = &task.events_of("budget.reached")[0];
    assert_eq!((&reached["of"], &reached["spent"]), (&json!("state"), &json!(1_100_000)));
    assert_eq!(need(&task)["why"], "the budget of `working` is used up: $1.10 of $1.00");

    reported(&task, event("Stop"));
    world.ok(&["monitor", "--once"]);
    assert!(!is_alive(agent), "its turn is over");
    assert_eq!(task.status(), "stuck");
    let reason = task.events_of("auto.advanced")[0]["reason"].clone();
    assert!(reason.as_str().unwrap().contains("with the budget of the state used up"), "{reason}");
    let counts = ["budget.reached", "agent.stopped", "auto.advanced", "agent.crashed"];
    assert_eq!(counts.map(|kind| task.events_of(kind).len()), [1, 1, 1, 0]);
    assert_ne!(need(&task)["kind"], "budget", "the next stay begins at zero");
}

#[test]
fn a_stay_goes_on_once_a_person_has_given_it_more() {
    let world = World::new();
    budgeted(&world, "    budget: {cost: 1.00}\n");
    let more = ["--workflow", "budgeted", "--budget", "cost=9"];
    let task = world.create("fix", "Mend it [agents: hang hang]", &more);
    let agent = task.agent(1).begun();
    // 120 % of the limit.
    writes(&world, &task, 48_000);
    world.ok(&["monitor", "--once"]);
    assert!(!is_alive(agent));
    assert_eq!((task.status(), need(&task)["kind"].clone()), ("working".to_owned(), json!("budget")));
    assert!(task.fails(1, "refused", "respawn", &[]).contains("the budget of `working` is used up"));
    let raised = task.ok("budget", &["--add", "cost=1"]);
    assert_eq!(
        (&raised["limits"]["cost"], &raised["state"]["limits"]["cost"], &raised["goes_on"]),
        (&json!(9_000_000), &json!(2_000_000), &json!("started agent 2"))
    );
    assert!(is_alive(task.agent(2).begun()));
}
