//! Every schema in `docs/json` is compared with an answer that its command really gives.

use std::fs;
use std::process::Stdio;

use orange_tests::schemas;
use serde_json::{Value, json};

use crate::activity::asks;
use crate::answers;
use crate::attach::AttachedTerminal;
use crate::custom::FLOW;
use crate::following::{begin, lines, stir};
use crate::world::{World, target_program, write_program};

#[test]
fn every_schema_describes_a_real_answer() {
    let world = World::new().with_github();
    look_around(&world);
    keep_house(&world);
    work(&world);
    change_workflows(&world);
    watch_an_agent(&world);
    run_a_mission(&world);
    write_workflows(&world);
    assert_eq!(schemas::compared(), schemas::names(), "compared, and in docs/json");
}

fn look_around(world: &World) {
    for args in [
        &["help"][..],
        &["completions", "bash"],
        &["complete", "--", "task", ""],
        &["setup"],
        &["install", "--harness", "claude"],
        &["log"],
        &["doctor"],
        &["demo"],
        &["uninstall"],
        &["gc"],
        &["usage", "--by", "task"],
        &["intake"],
        &["schedule"],
        &["monitor", "--once"],
        &["ls"],
        &["workflow", "list"],
        &["workflow", "show", "default"],
        &["workflow", "contract", "default"],
    ] {
        world.ok(args);
    }
    let channel = "[log]\nvia = 'command'\nargv = ['true', '{title}']\n";
    std::fs::write(world.home().join("notify.toml"), channel).unwrap();
    world.ok(&["notify", "list"]);
    world.ok(&["notify", "test"]);
    world.ok(&["notify", "revoke", "log"]);
    std::fs::remove_file(world.home().join("notify.toml")).unwrap();
    assert_eq!(world.ok(&["--version"])["json_version"], 1);
    world.fails(2, "usage", &["tusk"]);
}

fn keep_house(world: &World) {
    let (origin, other) = (world.path("toy.git"), world.path("other"));
    world.git(&world.path(""), &["clone", "--quiet", &origin.to_string_lossy(), &other.to_string_lossy()]);
    world.ok(&["project", "add", &other.to_string_lossy(), "--name", "other", "--pool-size", "1"]);
    world.ok(&["project", "update", "other", "--pool-size", "2"]);
    world.ok(&["project", "list"]);
    world.ok(&["project", "show"]);
    fs::write(world.repo().join("orange.toml"), "reclaim_when_waiting = false\n").unwrap();
    world.ok(&["project", "trust", "--yes"]);
    world.ok(&["harness", "list"]);
    world.workflow(
        "declaring.yml",
        &format!("actors: [ci]\n{}", FLOW.replace("name: flow", "name: declaring")),
    );
    world.ok(&["project", "token", "ci"]);
    world.ok(&["project", "tokens"]);
    world.ok(&["project", "revoke", "ci"]);
    world.ok(&["workspace", "init"]);
    world.ok(&["workspace", "list"]);
    world.ok(&["workspace", "gc"]);
    world.ok(&["project", "remove", "other"]);
}

/// A reviewer judges by request.
fn judge(world: &World) {
    let task = world.create("judged", "Judge it [agents: work hang]", &[]);
    world.ok(&["task", "wait", &task.id, "--status", "agent-review", "--timeout", "180"]);
    task.agent(2).begun();
    let mut command = task.as_agent("reviewer", "2");
    command.current_dir(task.worktree()).args(["task", "verdict", "FAIL", "It breaks."]);
    world.said(&mut command).ok();
    task.ok("cancel", &["--yes"]);
}

/// From the first agent to a merged pull request.
fn work(world: &World) {
    let task = world.create("fix", "Mend it [agents: work pass]", &[]);
    world.ok(&["task", "wait", &task.id, "--status", "reviewing", "--timeout", "180"]);
    world.ok(&["task", "list"]);
    for verb in ["next", "show", "diff", "create-pr"] {
        task.ok(verb, &[]);
    }
    write_program(&world.path("agents/xdg-open"), "#!/bin/sh\n");
    task.ok("open", &[]);
    task.ok("refresh", &[]);
    fs::create_dir(task.folder().join("feedback")).unwrap();
    let thread = json!({ "id": "PRRT_1", "path": null, "line": null, "comments": [] });
    let feedback = json!({
        "number": 1, "cause": "pr.threads", "pull_request": null, "commit": "c0ffee", "time": "t", "threads": [thread],
    });
    fs::write(task.folder().join("feedback/1.json"), feedback.to_string()).unwrap();
    task.ok("feedback", &[]);
    world.ok(&["task", "reply", "PRRT_1", "--task", &task.id, "--text", "Done."]);
    judge(world);
    task.ok("edit", &["--review-harness", "codex"]);
    task.ok("budget", &["--set", "cost=5"]);
    task.ok("sync", &[]);
    task.ok("merge", &["--local"]);
    task.ok("delete", &["--yes"]);
    task.ok("restore", &[]);
}

fn change_workflows(world: &World) {
    world.workflow("flow.yml", FLOW);
    let task = world.create("flow", "Mend that", &["--workflow", "flow", "--no-spawn"]);
    task.ok("complete", &[]);
    task.ok("update", &["--summary", "Mend that, please"]);
    task.ok("migrate", &["--to", "pending", "--workflow", "minimal"]);
    task.ok("cancel", &["--yes"]);
    task.ok("undo", &[]);
    task.ok("cancel", &["--yes"]);
}

fn watch_an_agent(world: &World) {
    let task = world.create("watched", "Watch it", &["--no-spawn"]);
    let mut watch = begin(world, &["task", "watch", &task.id, "--json"]);
    let watched = lines(&mut watch);
    world.until("the watch has begun", || {
        stir(&task);
        watched.try_recv().is_ok()
    });
    task.ok("update", &["--summary", "Watch it [agents: scripted hang hang]"]);
    task.ok("spawn", &[]);
    let agent = task.agent(1);
    agent.begun();
    agent.tell("echo Hello; exec sleep 1000000");
    world.until("it says hello", || world.orange(&["task", "logs", &task.id]).out.contains("Hello"));
    task.ok("logs", &[]);
    task.ok("send", &["Hello", "--dry-run"]);
    task.ok("pane", &[]);
    let (mut hook, request) = asks(world, &task, "curl example.org");
    world.ok(&["task", "answer", &request, "allow"]);
    assert!(hook.wait().unwrap().success());

    let terminal = AttachedTerminal::plain(world, &format!("orange --json task attach {}", task.id));
    terminal.shows("C-b d: detach");
    terminal.press(&["C-b", "d"]);
    let screen = terminal.shows("LEFT 0");
    let answer = screen.lines().find(|line| line.starts_with('{')).unwrap();
    answers::check(&["task", "attach"], &serde_json::from_str(answer).unwrap());

    task.ok("restart", &[]);
    task.agent(2).begun();
    task.ok("stop", &[]);
    task.ok("respawn", &[]);
    task.agent(3).begun();
    task.ok("cancel", &["--yes"]);
    let lines: Vec<Value> = watched.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
    lines.iter().for_each(|line| answers::check(&["task", "watch"], line));
    for kind in ["agent.doing", "agent.spawned", "status.changed"] {
        assert!(lines.iter().any(|line| line["type"] == kind), "no {kind}: {lines:?}");
    }
    assert!(watch.wait().unwrap().success());
}

/// A mission that fails, is tried again, and is cancelled.
fn run_a_mission(world: &World) {
    world.acts("plan", "echo Hello; orange step fail --reason 'no network'; exec sleep 1000000");
    let mission = world.start("dev-task", &[]);
    mission.has_events(1, "mission.paused");
    world.ok(&["mission", "list"]);
    world.ok(&["attempt", "show", &mission.id]);
    let attempt = r#"{"key": "run-1", "project": "toy", "branch": "attempt", "step": "never", "role": "worker",
        "attempt": 1, "prompt": "Wait", "permissions": "full", "stuck_after": 2}"#;
    world.acts("never", "exec sleep 1000000");
    let attempt = world.ok(&["attempt", "run", attempt]);
    world.ok(&["mission", "cancel", attempt["mission"].as_str().unwrap(), "--yes"]);
    let mut watch = begin(world, &["mission", "watch", &mission.id, "--json"]);
    let watched = lines(&mut watch);
    let mut pauses = 1;
    world.until("the watch has begun", || {
        mission.ok("continue", &[]);
        pauses += 1;
        mission.has_events(pauses, "mission.paused");
        watched.try_recv().is_ok()
    });
    world
        .until("it has said hello", || world.orange(&["mission", "logs", &mission.id]).out.contains("Hello"));
    mission.ok("logs", &[]);
    mission.ok("continue", &["--accept-failure"]);
    mission.has_events(1, "mission.ended");

    world.acts("plan", "exec sleep 1000000");
    world.acts("implement", "exec sleep 1000000");
    mission.ok("retry", &[]);
    let spawn = u32::try_from(mission.events_of("agent.spawned").len()).unwrap();
    mission.agent(spawn).begun();
    let terminal = AttachedTerminal::plain(world, &format!("orange --json mission attach {}", mission.id));
    terminal.shows("C-b d: detach");
    terminal.press(&["C-b", "d"]);
    let screen = terminal.shows("LEFT 0");
    let answer = screen.lines().find(|line| line.starts_with('{')).unwrap();
    answers::check(&["mission", "attach"], &serde_json::from_str(answer).unwrap());

    mission.ok("pane", &[]);
    let asks = |spawn: u32, words: &[&str]| {
        let mut command = mission.as_agent("worker", &spawn.to_string());
        world.said(command.arg("step").args(words).current_dir(mission.worktree()))
    };
    // A report may end its own process before the answer, and so may the same report while processes of its agent are still ended.
    let reports = |spawn: u32, words: &[&str]| {
        let said = (0..100).map(|_| asks(spawn, words)).find(|said| said.status >= 0);
        said.unwrap_or_else(|| panic!("{words:?} is never answered")).ok()
    };
    asks(spawn, &["show"]).ok();
    reports(spawn, &["complete", "--summary", "It is planned"]);
    mission.has_events(pauses + 2, "step.started");
    mission.agent(spawn + 1).begun();
    reports(spawn + 1, &["fail", "--reason", "no network"]);
    mission.show();
    mission.ok("cancel", &["--yes"]);
    mission.ok("delete", &["--yes"]);
    mission.ok("restore", &[]);
    let lines: Vec<Value> = watched.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
    lines.iter().for_each(|line| answers::check(&["mission", "watch"], line));
    assert!(lines.iter().any(|line| line["type"] == "mission.paused"), "{lines:?}");
    watch.kill().unwrap_or_default();
    watch.wait().unwrap();

    world.workflow("asks.toml", "[workflow]\nname = \"asks\"\n[[steps]]\nid = \"q\"\nask = \"Good?\"\n");
    let mission = world.start("asks", &[]);
    mission.has_events(1, "step.asked");
    mission.ok("answer", &["approve"]);
}

/// The authors' command.
fn write_workflows(world: &World) {
    world.workflow("old.yml", FLOW);
    let new = FLOW.replace("name: flow", "name: new").replace("tries: 3", "tries: 3, walks: 5");
    world.workflow("new.yml", &new);
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../workflows/minimal.test.yml");
    for (command, files) in [
        ("check", &["new.yml"][..]),
        ("prove", &["new.yml"]),
        ("diff", &["old.yml", "new.yml"]),
        ("test", &[scenarios]),
    ] {
        let mut program = world.command(target_program("orange-workflow"));
        program.arg(command).args(files).args(["--format", "json"]);
        let output =
            program.current_dir(world.home().join("workflows")).stderr(Stdio::inherit()).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["version"], 1);
        schemas::check(&format!("orange-workflow-{command}"), &answer);
    }
}
