//! Needs of tasks and missions: every state of the shipped workflows reached for real, its need, and that nothing is offered which
//! the engine then refuses.

use std::fs;

use serde_json::{Value, json};

use crate::activity::{asks, event, reports, reports_of, tool};
use crate::missions;
use crate::task::{Task, end, kill};
use crate::world::World;

/// The need of a task, which the list has, too, as soon as the copy in the worktree is merged.
#[track_caller]
fn need(world: &World, task: &Task<'_>) -> Value {
    let listed = || {
        let listed = world.ok(&["task", "list", "--all"]);
        listed.as_array().unwrap().iter().find(|row| row["id"] == task.id.as_str()).unwrap()["need"].clone()
    };
    let has_all = |shown: &Value, listed: &Value| {
        let (shown, listed) = (shown["actions"].as_array().unwrap(), listed["actions"].as_array().unwrap());
        listed.iter().all(|action| shown.contains(action))
    };
    world.until("the list has the need of the task", || {
        let (shown, listed) = (task.show()["need"].clone(), listed());
        ["kind", "person", "why", "since"].iter().all(|key| listed[*key] == shown[*key])
            && has_all(&shown, &listed)
    });
    task.show()["need"].clone()
}

/// Checks the kind of the need, whether a person is needed, and the names of what is offered with a key. Every action is tried
/// without doing anything: the engine accepts what is offered, and refuses what has a refusal.
#[track_caller]
fn check(world: &World, task: &Task<'_>, kind: &str, offered: &str) -> Value {
    world.until(&format!("it needs {kind}"), || task.show()["need"]["kind"] == kind);
    let need = need(world, task);
    assert_eq!(need["kind"], kind, "{need}");
    assert_eq!(need["person"], !["limit", "queued", "working", "over"].contains(&kind), "{need}");
    assert!(need["why"].as_str().is_some_and(|why| !why.is_empty()), "{need}");
    let name = |action: &Value| match action["to"].as_str() {
        Some(to) => format!("{}:{to}", action["name"].as_str().unwrap()),
        None => action["name"].as_str().unwrap().to_owned(),
    };
    let actions = need["actions"].as_array().unwrap();
    assert!(actions.iter().all(|action| action["label"].is_string()), "{need}");
    // Whether there is a transcript depends on what the agent has shown.
    let has_key = |action: &&Value| action["refusal"].is_null() && action["keys"].is_array();
    let names: Vec<String> = actions.iter().filter(has_key).map(name).filter(|name| name != "logs").collect();
    assert_eq!(names.join(" "), offered, "{need}");
    actions.iter().for_each(|action| tried(world, action));
    need
}

/// Tries an action as far as that does nothing.
#[track_caller]
fn tried(world: &World, action: &Value) {
    let mut words = words_of(action);
    match action["name"].as_str().unwrap() {
        "logs" => {}
        // They show something at a terminal, or do it at once.
        "attach" | "open" | "refresh" | "allow" | "deny" => return,
        // Of the commands for missions, one has a dry run.
        name if words[0] == "mission" && name != "delete" => return,
        _ => words.push("--dry-run"),
    }
    if action["text"] == true {
        words.push("Go on, please");
    }
    let said = world.json(&words);
    // GitHub is asked when it is done.
    if action["name"] == "create-pr" && said.status == 5 {
        return;
    }
    assert_eq!(said.status == 0, action["refusal"].is_null(), "{action}: {said:?}");
}

/// Checks that nothing but what follows an end is offered, and tries that.
#[track_caller]
fn is_over(world: &World, task: &Task<'_>) {
    let need = need(world, task);
    assert_eq!((&need["kind"], &need["person"]), (&json!("over"), &json!(false)), "{need}");
    need["actions"].as_array().unwrap().iter().for_each(|action| tried(world, action));
}

fn words_of(action: &Value) -> Vec<&str> {
    action["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// Does what is offered under this name; the engine must not refuse it.
#[track_caller]
fn take(world: &World, need: &Value, name: &str) -> Value {
    let action = need["actions"].as_array().unwrap().iter().find(|action| action["name"] == name).unwrap();
    let mut words = words_of(action);
    if action["text"] == true {
        words.push("Go on, please");
    }
    world.ok(&words)
}

#[test]
fn what_an_agent_does_decides_what_its_task_needs() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    reports(&task, &event("SessionStart"));
    reports(&task, &event("UserPromptSubmit"));
    let busy = check(&world, &task, "working", "attach restart cancel send create-pr");
    assert_eq!(busy["why"], "agent 1 thinks");

    let (hook, request) = asks(&world, &task, "rm -rf node_modules");
    let asked = check(&world, &task, "permission", "allow deny attach cancel create-pr restart");
    assert_eq!(asked["why"], "agent 1 asks whether it may use Bash: rm -rf node_modules");
    assert_eq!(
        (&asked["agent"], &asked["tool"], &asked["argument"], &asked["request"]),
        (&json!(1), &json!("Bash"), &json!("rm -rf node_modules"), &json!(request))
    );
    take(&world, &asked, "allow");
    assert!(hook.wait_with_output().unwrap().status.success());
    assert_eq!(need(&world, &task)["kind"], "working");

    reports(&task, &event("Stop"));
    let idle = check(&world, &task, "idle-without-artifact", "send attach restart cancel create-pr");
    assert_eq!(idle["why"], "agent 1 is at its prompt, and `## Handoff` is missing from TASK.md");
    assert_eq!(idle["since"], need(&world, &task)["since"], "it began once");
    let waited = world.ok(&["task", "wait", "--needs-me", "--timeout", "60"]);
    assert_eq!((&waited["id"], &waited["need"]["kind"]), (&json!(task.id), &idle["kind"]));
    let listed = world.ok(&["task", "list", "--needs-me"]);
    assert_eq!(listed[0]["id"], json!(task.id));

    task.write("## Questions\n\n1. Which one?\n");
    assert_eq!(need(&world, &task)["kind"], "question");
    reports(&task, &tool("PreToolUse", "sleep 1"));
    let late = world.orange(&["task", "wait", &task.id, "--needs-me", "--timeout", "0"]);
    assert_eq!(late.status, 1, "{}", late.err);
    assert_eq!(world.ok(&["task", "list", "--needs-me"]), json!([]));

    let mut limit = event("StopFailure");
    limit["error"] = "rate_limit".into();
    limit["last_assistant_message"] = "Limit reached, try again in 15 minutes.".into();
    reports(&task, &limit);
    task.has_events(1, "agent.waiting");
    let limited = check(&world, &task, "limit", "attach restart cancel send create-pr");
    assert_eq!(limited["until"], task.owned("waiting_until"));

    task.ok("stop", &[]);
    let stopped = check(&world, &task, "paused", "respawn cancel create-pr");
    assert_eq!(stopped["why"], "a person has stopped the agent in working");
    take(&world, &stopped, "respawn");
    task.agent(2).begun();
    take(&world, &need(&world, &task), "cancel");
    is_over(&world, &task);
}

#[test]
fn a_dead_agent_is_needed_again_and_twice_dead_is_stuck() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash hang hang]", &[]);
    task.has_events(1, "agent.crashed");
    let crashed = check(&world, &task, "crashed", "respawn cancel create-pr seen");
    assert!(crashed["why"].as_str().unwrap().contains("crash"), "{crashed}");
    take(&world, &crashed, "respawn");
    kill(task.agent(2).begun());
    task.reaches("stuck");
    let stuck = check(&world, &task, "stuck", "status:working respawn cancel create-pr seen");
    take(&world, &stuck, "status");
    task.agent(3).begun();
    assert_eq!(need(&world, &task)["kind"], "working");
}

#[test]
fn an_end_that_nobody_has_noticed_needs_somebody() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");
    kill(world.wrapper("toy/fix"));
    end(agent);
    world.until("it is gone", || task.show()["session"] == "crashed");
    let gone = check(&world, &task, "crashed", "respawn cancel create-pr");
    assert!(gone["why"].as_str().unwrap().contains("unnoticed"), "{gone}");
    take(&world, &gone, "respawn");
    task.agent(2).begun();
}

#[test]
fn reviewed_work_is_ready_for_a_person() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work pass hang]", &[]);
    task.reaches("reviewing");
    let ready = check(&world, &task, "review-ready", "merge create-pr status:working cancel");
    assert_eq!((&ready["verdict"], &ready["round"]), (&json!("PASS"), &json!(1)));
    assert_eq!(ready["change"], json!({ "commits": 1, "files": 1, "added": 1, "removed": 0 }));
    assert_eq!(ready["why"], "reviewing waits for a person, PASS in round 1");

    fs::write(task.worktree().join("new.txt"), "one\ntwo\n").unwrap();
    let row = &world.ok(&["task", "list", "--changes"])[0];
    assert_eq!(row["changes"], json!({ "commits": 1, "files": 2, "added": 3, "removed": 0 }));
    assert_eq!((&row["pr"], &row["other_branch"]), (&json!(null), &json!(null)));
    let dirty = check(&world, &task, "review-ready", "create-pr status:working cancel");
    assert!(world.orange(&["task", "merge", &task.id, "--local"]).err.contains("uncommitted"), "{dirty}");
    fs::remove_file(task.worktree().join("new.txt")).unwrap();

    world.git(&task.worktree(), &["switch", "--quiet", "--create", "elsewhere"]);
    assert_eq!(world.ok(&["task", "list", "--changes"])[0]["other_branch"], "elsewhere");
    world.git(&task.worktree(), &["switch", "--quiet", "fix"]);

    let own = format!("work-{}.txt", task.id);
    fs::write(world.repo().join(&own), "something else\n").unwrap();
    world.git(&world.repo(), &["add", &own]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "In the way"]);
    world.git(&world.repo(), &["push", "--quiet", "origin", "main"]);
    let conflict = check(&world, &task, "conflict", "resolve status:working create-pr cancel");
    assert!(conflict["why"].as_str().unwrap().contains("conflicts"), "{conflict}");
    take(&world, &conflict, "status");
    task.agent(3).begun();
}

#[test]
fn a_task_in_the_queue_needs_nobody() {
    let world = World::new();
    let first = world.create("one", "Mend it [agents: hang]", &[]);
    let second = world.create("two", "Mend it [agents: hang]", &[]);
    let third = world.create("three", "Mend it [agents: hang]", &[]);
    first.agent(1).begun();
    second.agent(1).begun();
    let queued = check(&world, &third, "queued", "cancel");
    assert!(queued["why"].as_str().unwrap().contains("worktrees of toy"), "{queued}");
    take(&world, &need(&world, &first), "cancel");
    let free = need(&world, &third);
    if free["kind"] == "queued" {
        take(&world, &free, "spawn");
    }
    third.agent(1).begun();
}

#[test]
fn an_agent_that_asks_what_to_do_has_a_question() {
    let world = World::new();
    let task = world.create("fix", "", &[]);
    task.reaches("clarification");
    world.until("it has asked", || fs::read_to_string(task.file()).unwrap().contains("## Questions"));
    reports(&task, &event("SessionStart"));
    reports(&task, &event("UserPromptSubmit"));
    reports(&task, &event("Stop"));
    let asked = check(&world, &task, "question", "send attach restart cancel create-pr");
    assert!(asked["why"].as_str().unwrap().contains("## Questions"), "{asked}");
    take(&world, &asked, "send");
    task.reaches("working");
}

#[test]
fn the_questions_of_an_earlier_agent_are_not_those_of_the_next() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    let ends_its_turn = |spawn| {
        for name in ["SessionStart", "UserPromptSubmit", "Stop"] {
            reports_of(&task, spawn, &event(name));
        }
    };
    task.write("## Questions\n\nWhich one?\n");
    ends_its_turn(1);
    check(&world, &task, "question", "send attach restart cancel create-pr");
    task.ok("restart", &["--fresh"]);
    task.agent(2).begun();
    ends_its_turn(2);
    check(&world, &task, "idle-without-artifact", "send attach restart cancel create-pr");
    task.write("## Questions\n\nWhich one? And when?\n");
    check(&world, &task, "question", "send attach restart cancel create-pr");
}

#[test]
fn the_states_of_the_persistent_workflow_have_their_needs() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &["--workflow", "persistent"]);
    task.agent(2).begun();
    task.reaches("agent-review");
    assert_eq!(need(&world, &task)["kind"], "working");
    task.write("## Review\n\nVerdict: PASS");
    task.ok("update", &["--status", "reviewing"]);
    reports(&task, &event("SessionStart"));
    reports(&task, &event("Stop"));
    let ready =
        check(&world, &task, "review-ready", "merge create-pr status:working cancel attach send restart");
    assert_eq!(ready["verdict"], "PASS");
    take(&world, &ready, "status");
    task.has_events(5, "status.changed");
}

#[test]
fn the_states_of_the_minimal_workflow_have_their_needs() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash crash work]", &["--workflow", "minimal"]);
    task.has_events(1, "agent.crashed");
    take(&world, &check(&world, &task, "crashed", "respawn cancel create-pr seen"), "respawn");
    task.reaches("stuck");
    take(&world, &check(&world, &task, "stuck", "status:working cancel create-pr seen"), "status");
    task.reaches("reviewing");
    let ready = check(&world, &task, "review-ready", "merge create-pr status:working cancel");
    assert_eq!((&ready["verdict"], &ready["round"]), (&json!(null), &json!(null)));
    take(&world, &ready, "merge");
    is_over(&world, &task);
}

#[test]
fn a_mission_needs_an_answer_to_its_pause() {
    let world = missions::world();
    world.acts(
        "build",
        "commit; orange step fail --reason 'no network' >>\"$notes.answers\" 2>&1; exec sleep 1000000",
    );
    let mission = world.start("toy", &["--intervene", "on-error"]);
    mission.has_events(1, "mission.paused");
    mission.is_left();
    let shown = mission.show()["need"].clone();
    assert_eq!((&shown["kind"], &shown["person"]), (&json!("paused"), &json!(true)));
    let names: Vec<_> = shown["actions"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    let names: Vec<_> = names.into_iter().filter(|name| name != "logs").collect();
    assert_eq!(names, ["continue", "accept", "cancel", "send"]);
    let sends = shown["actions"].as_array().unwrap().iter().find(|it| it["name"] == "send").unwrap();
    assert_eq!(sends["refusal"], "agents of missions get no texts");
    shown["actions"].as_array().unwrap().iter().for_each(|action| tried(&world, action));
    assert_eq!(world.ok(&["mission", "list"])[0]["need"]["kind"], "paused");
    assert_eq!(world.ok(&["task", "wait", "--needs-me", "--timeout", "180"])["id"], json!(mission.id));
    take(&world, &shown, "accept");
    missions::ends(&mission, "failed");
    let failed = mission.show()["need"].clone();
    assert_eq!(failed["kind"], "stuck", "{failed}");
    take(&world, &failed, "retry");
}

#[test]
fn the_list_shows_what_needs_a_person_first() {
    let world = World::new();
    let busy = world.create("busy", "Work on [agents: hang]", &[]);
    busy.agent(1).begun();
    let idle = world.create("idle", "Wait for me [agents: hang]", &[]);
    idle.agent(1).begun();
    reports(&idle, &event("SessionStart"));
    reports(&idle, &event("Stop"));
    let ids: Vec<_> =
        world.ok(&["task", "list"]).as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, [json!(idle.id), json!(busy.id)]);
    let text = world.orange(&["task", "list"]).out;
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].starts_with("NEED") && rows[1].starts_with("idle-without-artifact"), "{text}");
    assert!(rows[1].contains("idle") && rows[1].contains("Wait for me") && rows[1].contains("at its prompt"));
    assert!(!text.contains(&idle.id), "ids are for programs: {text}");
    let show = world.orange(&["task", "show", "idle"]).out;
    assert!(show.contains("needs      idle-without-artifact"), "{show}");
    assert!(show.contains(&format!("orange task send {} --spawn 1 TEXT", idle.name())), "{show}");
}
