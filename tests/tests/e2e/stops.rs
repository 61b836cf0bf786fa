//! `orange task restart` and `orange task stop`: a person ends agents, and nothing follows that was not asked for.

use std::fs;

use serde_json::{Value, json};

use crate::task::{Task, is_alive, kill};
use crate::world::World;

/// A task whose first agent hangs in `working`, and that agent's process.
fn hanging<'w>(world: &'w World, agents: &str) -> (Task<'w>, i32) {
    let task = world.create("fix", &format!("Mend it [agents: {agents}]"), &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");
    (task, agent)
}

/// Number of agents that were started, stopped, ended, and have crashed.
fn counted(task: &Task<'_>) -> [usize; 4] {
    let count = |kind| task.events_of(kind).len();
    [
        count("agent.spawned") + count("agent.respawned"),
        count("agent.stopped"),
        count("agent.exited"),
        count("agent.crashed"),
    ]
}

/// Puts what a command that was killed over it has journaled on record, and nothing else.
pub(crate) fn begin(task: &Task<'_>, events: &[Value]) {
    let journal = task.folder().join("history.jsonl");
    let mut text = fs::read_to_string(&journal).unwrap();
    for event in events {
        let seq = text.lines().count() + 1;
        let rest = event.to_string();
        text += &format!("{{\"seq\":{seq},\"timestamp\":\"2026-01-01T00:00:00.000Z\",{}\n", &rest[1..]);
    }
    fs::write(journal, text).unwrap();
}

#[test]
fn restart_ends_a_hung_agent_and_starts_it_again() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang hang");
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains(&format!("orange task restart {}", task.name())), "{refused}");
    assert!(is_alive(agent), "a refusal ends nobody");

    assert_eq!(task.ok("restart", &["--fresh"])["spawn"], 2);
    assert!(!is_alive(agent) && is_alive(task.agent(2).begun()));
    assert!(task.agent(2).prompt().starts_with("# Resuming Task: Mend it"), "not the prompt of `stuck`");
    let show = task.show();
    assert_eq!((&show["status"], &show["session"]), (&json!("working"), &json!("active")));
    assert_eq!((&show["counters"]["crash_count"], &show["attention"]), (&json!(0), &json!(null)));
    assert_eq!((&show["waiting_until"], &show["stopped_at"]), (&json!(null), &json!(null)));
    assert_eq!(counted(&task), [2, 1, 1, 0]);
    assert_eq!(task.events_of("agent.stopped")[0]["actor"], "human");
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]));
}

/// A workflow without a respawn prompt. An agent lives on from `working` to `stuck`.
const WITHOUT_PROMPT: &str = "\
name: flow
version: 1
states:
  pending: {terminal: false}
  working: {terminal: false}
  stuck: {terminal: false}
  done: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: work, harness: task, permissions: full}]
  - {from: working, to: stuck}
  - from: stuck
    to: working
    hooks: [{action: kill_session}, {action: spawn_agent, prompt: stuck_fix, harness: task, permissions: full}]
  - {from: [working, stuck], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  work: \"Do it\\n{summary}\"
  stuck_fix: \"Do it better\\n{summary}\"
";

/// The first line of an agent's prompt. The summary behind it says how the agent behaves.
fn task_of(task: &Task<'_>, spawn: u32) -> String {
    task.agent(spawn).prompt().lines().next().unwrap().to_owned()
}

#[test]
fn restart_needs_no_respawn_prompt() {
    let world = World::new();
    world.workflow("flow.yml", WITHOUT_PROMPT);
    let task =
        world.create("fix", "Mend it [agents: hang crash hang hang hang hang hang]", &["--workflow", "flow"]);
    let first = task.agent(1).begun();
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains(&format!("orange task restart {}", task.name())), "{refused}");
    task.ok("restart", &[]);
    assert!(!is_alive(first), "a living agent is ended");
    task.has_events(2, "agent.exited");
    task.ok("restart", &[]);
    let prompt = |agent: u32| {
        task.agent(agent).begun();
        task_of(&task, agent)
    };
    assert_eq!(prompt(3), "Do it", "one that has ended is started again");
    task.ok("update", &["--status", "stuck"]);
    task.ok("restart", &[]);
    assert_eq!(prompt(4), "Do it", "and one that lives on in another status");
    task.ok("update", &["--status", "working"]);
    assert_eq!(prompt(5), "Do it better");
    task.ok("restart", &[]);
    assert_eq!((prompt(6), task.status()), ("Do it".to_owned(), "working".to_owned()));
    task.ok("stop", &[]);
    task.ok("restart", &[]);
    assert_eq!(prompt(7), "Do it");
    assert_eq!(task.owned("crash_count"), json!(0));
    task.ok("update", &["--status", "done"]);
    task.fails(1, "not_respawnable", "restart", &[]);
}

#[test]
fn the_monitor_finishes_a_restart_without_a_respawn_prompt() {
    let world = World::new();
    world.workflow("flow.yml", WITHOUT_PROMPT);
    let task = world.create("fix", "Mend it [agents: hang hang]", &["--workflow", "flow"]);
    let agent = task.agent(1).begun();
    begin(&task, &restarting());
    world.ok(&["monitor", "--once"]);
    assert!(!is_alive(agent) && is_alive(task.agent(2).begun()));
    assert_eq!(task_of(&task, 2), "Do it");
}

#[test]
fn restart_of_a_reviewer_stays_in_its_round() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang pass]", &[]);
    let reviewer = task.agent(2).begun();
    task.reaches("agent-review");
    task.ok("restart", &[]);
    assert!(!is_alive(reviewer));
    assert!(task.agent(3).prompt().starts_with("# Review"));
    task.reaches("reviewing");
    assert_eq!((task.owned("review_round"), task.owned("crash_count")), (json!(1), json!(0)));
}

#[test]
fn restart_of_a_dead_agent_is_a_respawn() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash hang]", &[]);
    task.has_events(1, "agent.crashed");
    assert_eq!(task.ok("restart", &[])["spawn"], 2);
    task.agent(2).begun();
    assert_eq!((counted(&task), task.show()["attention"].clone()), ([2, 0, 1, 1], json!(null)));
}

#[test]
fn what_cannot_be_started_again_is_not_ended() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang");
    fs::remove_file(world.path("agents/claude")).unwrap();
    let mut command = world.with_only(&["tmux", "git"]);
    let refused = world.said(command.args(["--json", "task", "restart", &task.id])).fails(5, "environment");
    assert!(refused.contains("`claude`"), "{refused}");
    assert!(is_alive(agent) && counted(&task) == [1, 0, 0, 0]);
}

#[test]
fn stop_ends_the_agents_and_leaves_the_status() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang hang");
    task.write("## Handoff\n\nDONE: all of it");
    assert_eq!(task.ok("stop", &[])["stopped"], json!([1]));
    assert!(!is_alive(agent) && world.panes().is_empty());
    // With a handoff, an end that nobody asked for would have gone on to the review.
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]));
    let show = task.show();
    assert_eq!((&show["status"], &show["session"]), (&json!("working"), &json!("stopped")));
    assert_eq!((&show["counters"]["crash_count"], &show["attention"]), (&json!(0), &json!(null)));
    assert!(show["stopped_at"].is_string());
    let list = world.orange(&["task", "list"]).out;
    assert!(list.contains(" stopped ") && !list.contains("crashed"), "{list}");

    assert_eq!(task.ok("stop", &[])["stopped"], json!([]), "twice is once");
    assert_eq!(counted(&task), [1, 1, 1, 0]);
    assert_eq!(task.ok("respawn", &[])["spawn"], 2);
    assert!(is_alive(task.agent(2).begun()));
    let show = task.show();
    assert_eq!((&show["session"], &show["stopped_at"]), (&json!("active"), &json!(null)));
}

#[test]
fn a_stopped_task_is_not_stopped_any_more_when_it_moves_on() {
    let world = World::new();
    let (task, _) = hanging(&world, "hang hang");
    task.ok("stop", &[]);
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "agent-review"]);
    task.agent(2).begun();
    assert_eq!((task.show()["session"].clone(), task.owned("stopped_at")), (json!("active"), json!(null)));
}

#[test]
fn stop_ends_worker_and_reviewer() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &["--workflow", "persistent"]);
    let reviewer = task.agent(2).begun();
    task.reaches("agent-review");
    let worker = task.agent(1).begun();
    task.ok("stop", &[]);
    assert!(!is_alive(worker) && !is_alive(reviewer) && world.panes().is_empty());
    assert_eq!((task.status(), counted(&task)[3]), ("agent-review".to_owned(), 0));
}

#[test]
fn stop_leaves_what_a_person_opened_in_the_session() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang hang");
    world.tmux(&["new-window", "-d", "-t", "=toy/fix:", "-n", "mine", "sleep", "1000000"]);
    task.ok("stop", &[]);
    assert!(!is_alive(agent));
    assert_eq!(world.panes(), ["toy/fix mine"]);
    task.ok("respawn", &[]);
    task.agent(2).begun();
    assert_eq!(world.panes(), ["toy/fix mine", "toy/fix worker"]);
}

#[test]
fn with_nobody_to_stop_it_says_so() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash]", &[]);
    task.has_events(1, "agent.crashed");
    let refused = task.fails(1, "refused", "stop", &[]);
    assert!(refused.contains("orange task restart"), "{refused}");
    let other = world.create("other", "Mend it, too", &["--no-spawn"]);
    let refused = other.fails(1, "refused", "stop", &[]);
    assert!(refused.contains("orange task next") && !refused.contains("restart"), "{refused}");
    let refused = other.fails(1, "not_respawnable", "restart", &[]);
    assert!(refused.contains("no agent works in pending"), "{refused}");
}

#[test]
fn an_agent_may_neither_stop_nor_restart() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang");
    for verb in ["stop", "restart"] {
        let mut command = task.as_agent("worker", "1");
        command.current_dir(task.worktree());
        world.said(command.args(["task", verb])).fails(1, "not_allowed");
    }
    assert!(is_alive(agent) && counted(&task) == [1, 0, 0, 0]);
}

#[test]
fn a_stop_that_was_killed_is_finished_by_the_monitor() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang");
    let stopped = json!({
        "type": "agent.stopped", "spawns": [1], "actor": "human", "set": {"stopped_at": "2026-01-01T00:00:00.000Z"},
    });
    begin(&task, &[stopped]);
    assert_eq!(task.show()["session"], "active", "it is not over");
    let looked = world.ok(&["monitor", "--once"]);
    assert!(looked["events"][0]["outcome"].as_str().unwrap().contains("a person has stopped"), "{looked}");
    assert!(!is_alive(agent));
    assert_eq!((task.show()["session"].clone(), counted(&task)), (json!("stopped"), [1, 1, 1, 0]));
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]));
}

/// Events that a restart journals before it ends the agent.
fn restarting() -> [Value; 2] {
    let until = "2026-01-01T00:00:00.000Z";
    [
        json!({"type": "agent.stopped", "spawns": [1], "actor": "human"}),
        json!({
            "type": "agent.waiting", "spawn": 1, "until": until, "after": 0, "reason": "restarted",
            "set": {"waiting_until": until},
        }),
    ]
}

#[test]
fn a_restart_that_was_killed_is_finished_by_the_monitor() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang hang");
    begin(&task, &restarting());
    world.ok(&["monitor", "--once"]);
    assert!(!is_alive(agent) && is_alive(task.agent(2).begun()));
    assert_eq!((task.owned("crash_count"), counted(&task)), (json!(0), [2, 1, 1, 0]));
}

#[test]
fn a_restart_that_was_killed_goes_on_when_its_agent_ends() {
    let world = World::new();
    let (task, agent) = hanging(&world, "hang hang");
    begin(&task, &restarting());
    kill(agent);
    assert!(is_alive(task.agent(2).begun()));
    assert_eq!((task.owned("crash_count"), counted(&task)), (json!(0), [2, 1, 1, 0]));
}
