//! Agents that die, at every stage and in every way.
//!
//! The promise here is what the workflow says of a dead agent. Kills of `orange` itself are in `kills` and `every_step`.

use std::fs;

use serde_json::json;

use crate::task::{Task, is_alive, kill};
use crate::world::{World, text, write_program};

#[test]
fn a_worker_without_a_handoff_crashes_and_then_is_stuck() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash crash]", &[]);
    task.has_events(1, "agent.crashed");
    let show = task.show();
    let attention = show["attention"].as_str().unwrap();
    let doctor = world.ok(&["doctor"]);
    let findings = doctor["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["check"] == "agents").unwrap();
    assert_eq!(
        (&finding["level"], &finding["message"]),
        (&json!("warning"), &json!(format!("task {}: {attention}", task.id)))
    );
    assert_eq!((&show["status"], &show["session"]), (&json!("working"), &json!("crashed")));
    assert_eq!(show["counters"]["crash_count"], 1);
    let exited = &task.events_of("agent.exited")[0];
    assert_eq!((&exited["code"], &exited["signal"]), (&json!(3), &json!(null)));

    assert_eq!(task.ok("respawn", &[])["spawn"], 2);
    assert!(task.agent(2).prompt().starts_with("# Resuming Task: Mend it"));
    task.reaches("stuck");
    assert_eq!(task.owned("crash_count"), 2);
}

#[test]
fn work_that_is_done_goes_on_without_its_agent() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work-die fail-die work-die pass-die]", &[]);
    task.reaches("reviewing");
    assert_eq!(task.arrows().len(), 5);
    let causes: Vec<_> =
        task.events_of("status.changed").iter().map(|event| event["cause"].clone()).collect();
    assert_eq!(causes, ["request", "auto", "auto", "auto", "auto"]);
    assert_eq!(task.owned("crash_count"), 0);
    world.until("nobody is left", || world.panes().is_empty());
}

#[test]
fn a_second_failed_review_without_its_reviewer_is_stuck() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work fail work fail-die]", &[]);
    task.reaches("stuck");
    assert_eq!(task.arrows().last().unwrap(), "agent-review → stuck");
    assert_eq!(task.events_of("status.changed").pop().unwrap()["cause"], "auto");
}

#[test]
fn a_reviewer_without_a_verdict_is_respawned_in_the_same_round() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work crash pass]", &[]);
    task.has_events(1, "agent.crashed");
    assert!(task.show()["attention"].is_string());
    assert_eq!(task.status(), "agent-review");
    task.ok("respawn", &[]);
    task.reaches("reviewing");
    assert_eq!((task.owned("review_round"), task.owned("crash_count")), (json!(1), json!(0)));
}

#[test]
fn one_that_dies_while_it_asks_is_marked_dead_and_started_again() {
    let world = World::new();
    let task = world.create("vague", "", &[]);
    let agent = task.agent(1).begun();
    task.reaches("clarification");
    kill(agent);
    task.has_events(1, "agent.exited");
    assert!(task.show()["attention"].is_string());
    assert_eq!((task.status(), task.owned("crash_count")), ("clarification".to_owned(), json!(0)));
    task.ok("respawn", &[]);
    assert!(task.agent(2).prompt().contains("The task requirements are unclear."));
    assert_eq!((task.show()["attention"].clone(), task.status()), (json!(null), "clarification".to_owned()));
}

#[test]
fn nobody_is_started_where_a_person_decides() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work pass]", &[]);
    task.reaches("reviewing");
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("reviewing"), "{refused}");
}

#[test]
fn a_killed_agent_has_crashed() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    kill(task.agent(1).begun());
    task.has_events(1, "agent.crashed");
    let exited = &task.events_of("agent.exited")[0];
    assert_eq!((&exited["code"], &exited["signal"]), (&json!(null), &json!(9)));
    world.until("its session is gone", || world.panes().is_empty());
}

#[test]
fn the_monitor_notices_a_killed_wrapper() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    kill(world.wrapper("toy/fix"));
    world.until("agent and session are gone", || !is_alive(agent) && world.panes().is_empty());
    assert_eq!(task.events_of("agent.exited"), Vec::<serde_json::Value>::new());

    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!((&looked["watched"], &looked["errors"]), (&json!(1), &json!([])));
    assert_eq!(looked["events"][0]["id"], task.id.as_str());
    assert_eq!((task.events_of("agent.crashed").len(), task.owned("crash_count")), (1, json!(1)));
    let again = world.ok(&["monitor", "--once"]);
    assert_eq!(again["events"], json!([]), "what was noticed once is not noticed again");
}

#[test]
fn after_the_death_of_the_tmux_server_the_monitor_carries_on() {
    let world = World::new();
    let tasks = [("done", true), ("lost", false)].map(|(branch, has_handoff)| {
        let task = world.create(branch, "Mend it [agents: hang hang]", &[]);
        task.agent(1).begun();
        if has_handoff {
            task.write("## Handoff\n\nDONE: all of it");
        }
        task
    });
    let server = world.tmux(&["display-message", "-p", "-t", "=toy/done:", "#{pid}"]);
    kill(text(&server.stdout).trim().parse().unwrap());
    tasks.iter().for_each(Task::is_left);

    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["errors"], json!([]));
    assert_eq!((tasks[0].status(), tasks[1].status()), ("agent-review".to_owned(), "working".to_owned()));
    assert_eq!(tasks[1].owned("crash_count"), 1);
    // A review without a reviewer would stand still for ever.
    tasks[0].agent(2).begun();
    assert_eq!(world.panes(), ["toy/done review-1"]);
}

#[test]
fn a_broken_task_does_not_keep_the_monitor_from_the_others() {
    let world = World::new();
    let tasks = ["one", "two"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    for (task, session) in tasks.iter().zip(["toy/one", "toy/two"]) {
        task.agent(1).begun();
        kill(world.wrapper(session));
    }
    tasks.iter().for_each(Task::is_left);
    fs::remove_file(tasks[0].file()).unwrap();
    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["errors"][0]["id"], tasks[0].id.as_str());
    assert_eq!(looked["events"][0]["id"], tasks[1].id.as_str());
    assert_eq!(tasks[1].owned("crash_count"), 1);
}

#[test]
fn nobody_is_started_beside_a_living_agent() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("alive"), "{refused}");
    task.fails(1, "refused", "spawn", &[]);
    assert_eq!((world.panes().len(), is_alive(agent)), (1, true));
    assert_eq!(task.events_of("agent.respawned").len(), 0);
}

#[test]
fn the_worktree_of_an_agent_that_did_not_end_stays_bound() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    let note = task.folder().join("agents/1.json");
    let whole = fs::read(&note).unwrap();
    fs::write(&note, "{").unwrap();
    let moved = task.ok("cancel", &["--yes"]);
    assert_eq!(moved["hook_errors"].as_array().unwrap().len(), 2, "{moved}");
    assert!(is_alive(agent));
    assert_eq!(world.ok(&["workspace", "list"])[0]["task"], json!(task.id));

    fs::write(&note, whole).unwrap();
    task.ok("cancel", &["--yes"]);
    assert!(!is_alive(agent));
    assert_eq!(world.ok(&["workspace", "list"])[0]["task"], json!(null));
}

/// Has tmux clients that are to make a session do this, in words of the shell, in the place of that.
fn tmux_that(world: &World, instead: &str) {
    let tmux = world.find("tmux");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*new-session*) {instead} ;;\n*) exec '{tmux}' \"$@\" ;;\nesac\n",
        tmux = tmux.display(),
        instead = instead.replace("TMUX", &tmux.display().to_string()),
    );
    write_program(&world.path("agents/tmux"), &script);
}

#[test]
fn an_agent_survives_its_tmux_client_killed_after_its_work() {
    let world = World::new();
    tmux_that(&world, "'TMUX' \"$@\" >/dev/null 2>&1; kill -9 $$");
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    assert!(is_alive(agent));
    assert!(task.events_of("agent.exited").is_empty());
    assert_eq!(task.events_of("hook.ended")[1]["error"], json!(null));
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("agent 1 is alive"), "{refused}");
}

#[test]
fn a_respawn_killed_before_its_agent_keeps_the_attention_mark() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash hang hang]", &[]);
    task.has_events(1, "agent.crashed");
    let attention = task.show()["attention"].clone();
    assert!(attention.as_str().unwrap().contains("crash 1"), "{attention}");

    tmux_that(&world, "kill -9 $PPID; exit 1");
    let killed = world.json(&["task", "respawn", &task.id]);
    assert_eq!(killed.status, -1, "{killed:?}");
    fs::remove_file(world.path("agents/tmux")).unwrap();
    assert_eq!(task.show()["attention"], attention);
    task.ok("update", &["--summary", "Mend it all [agents: crash hang hang]"]);
    assert_eq!(task.show()["attention"], attention, "no agent is there");

    world.ok(&["monitor", "--once"]);
    task.agent(3).begun();
    assert_eq!(task.show()["attention"], json!(null), "its agent was started after all");
}
