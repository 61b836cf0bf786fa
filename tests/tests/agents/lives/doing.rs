//! Acts of agents, as their harnesses report them, and the answers to their requests.

use std::fs;

use orange_tests::model::{ModelAct, Plan};
use serde_json::Value;

use super::HarnessPair;
use crate::suite::LifeSuite;
use crate::task::Task;
use crate::world::World;

const SUMMARY: &str = "Paint the shed door";
const OPTIONS: [&str; 3] = ["--workflow", "minimal", "--harness"];

/// The agent of this spawn as `orange task show` has it; null where it is not alive.
fn agent(task: &Task<'_>, spawn: u64) -> Value {
    let shown = task.ok("show", &[]);
    let agents = shown["agents"].as_array().cloned().unwrap_or_default();
    agents.into_iter().find(|agent| agent["spawn"] == spawn).unwrap_or_default()
}

/// Waits until the agent does this, for a reason with this in it.
#[track_caller]
fn does(world: &World, task: &Task<'_>, spawn: u64, state: &str, reason: &str) -> Value {
    let now = || agent(task, spawn);
    let is_so = |agent: &Value| {
        agent["state"] == state && agent["reason"].as_str().is_some_and(|it| it.contains(reason))
    };
    world.until(&format!("agent {spawn} is {state}: {reason}"), || is_so(&now()));
    now()
}

/// An agent is busy with a tool, thinks, and stands at its prompt without what its status asks for. What it did can be read while it
/// lives and after its end.
pub(super) fn reported(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let gate = world.path("gate");
    let wait = format!("until test -e {}; do sleep 0.1; done", gate.display());
    let acts = vec![
        ModelAct::read("TASK.md"),
        ModelAct::run(wait),
        ModelAct::hold("thought"),
        ModelAct::say("I do not go on."),
    ];
    world.plan(Plan::new(&[&format!("# Task: {SUMMARY}")], acts));
    let task = world.create("paint", SUMMARY, &[OPTIONS.as_slice(), &[works]].concat());
    does(&world, &task, 1, "busy", "until test -e");
    fs::write(gate, "").unwrap();
    world.until_held("thought");
    does(&world, &task, 1, "busy", "it thinks");
    world.model.open("thought");
    does(&world, &task, 1, "waiting", "it is at its prompt, and ");
    let tokens = |shown: &Value| shown["spent"]["tokens"].as_u64().unwrap_or_default();
    let living = task.ok("show", &[]);
    // The model charges a quarter of each request's length: four requests of more than 4 KiB each.
    assert!(tokens(&living) > 4 * 1024, "{}", living["spent"]);
    let is_kept = |alive: bool| {
        let logs = task.ok("logs", &[]);
        let text = logs.to_string();
        logs["alive"] == alive && text.contains(SUMMARY) && text.contains("until test -e")
    };
    world.until("what it does can be read", || is_kept(true));
    task.ok("stop", &[]);
    task.has_events(1, "agent.exited");
    assert!(is_kept(false), "{}", task.ok("logs", &[]));
    assert_eq!(task.ok("logs", &[])["form"], if works == "opencode" { "pane" } else { "jsonl" });
    let ended = task.ok("show", &[]);
    assert!(tokens(&ended) >= tokens(&living), "{} after {}", ended["spent"], living["spent"]);
    assert_eq!(ended["spent"]["agents"][0]["spawn"], 1);
}

/// An agent that may not do everything asks: a person says no and yes from outside, and then yes on its screen.
pub(super) fn answered(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    let world = World::new(suite);
    let config = world.path("home/.config/opencode/opencode.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replacen('{', r#"{"permission":{"bash":{"*":"ask"}},"#, 1)).unwrap();
    let full = match works {
        "claude" => r#"["--permission-mode=manual", "--", "{prompt}"]"#,
        _ => r#"["--prompt={prompt}"]"#,
    };
    world.write("orange/harnesses.toml", &format!("[{works}]\nfull = {full}\n"));
    let commands = ["echo 1 > no.txt", "echo 2 > yes.txt", "env > screen.txt"];
    let goes_on = ModelAct::say("I go on.");
    let acts = commands.map(ModelAct::run).into_iter().chain([goes_on]).collect();
    world.plan(Plan::new(&[&format!("# Task: {SUMMARY}")], acts));
    let task = world.create("paint", SUMMARY, &[OPTIONS.as_slice(), &[works]].concat());
    let mut requests = Vec::new();
    for (command, word) in commands.into_iter().zip(["deny", "allow", "on the screen"]) {
        let asks = does(&world, &task, 1, "waiting", command);
        let request = asks["request"].as_str().unwrap().to_owned();
        match word {
            "deny" => drop(world.ok(&["task", "answer", &request, "deny", "--message", "Write 2 instead"])),
            "allow" => drop(world.ok(&["task", "answer", &request, "allow"])),
            _ => {
                let pane = task.pane();
                let dialog =
                    if works == "claude" { "Do you want to proceed?" } else { "Permission required" };
                let is_asked = || world.screen("tmux", &pane).contains(dialog);
                world.until("the dialog is on the screen", is_asked);
                world.tmux(&["send-keys", "-t", &pane, "Enter"]);
            }
        }
        requests.push(request);
    }
    each_has_its_answer(&world, &task, &requests);
    let environment = fs::read_to_string(task.worktree().join("screen.txt")).unwrap();
    assert!(
        environment.contains("ORANGE_TASK=") && !environment.contains("npm_config_fetch"),
        "{environment}"
    );
}

/// Codex asks on its screen alone: where the project allows it, the answer is typed there.
pub(super) fn typed(suite: &'static LifeSuite, HarnessPair(works, _): HarnessPair) {
    const REDUCED: &str = "[codex]\nfull = [\"--sandbox=workspace-write\", \"--ask-for-approval=on-request\", \
         \"--config=allow_login_shell=false\", \"--config=check_for_update_on_startup=false\", \"--\", \"{prompt}\"]\n";
    let world = World::new(suite);
    fs::write(world.home().join("harnesses.toml"), REDUCED).unwrap();
    let commands = ["echo 1 > no.txt", "echo 2 > yes.txt", "echo 3 > screen.txt"];
    let acts = commands.map(ModelAct::asking).into_iter().chain([ModelAct::say("I go on.")]).collect();
    world.plan(Plan::new(&[&format!("# Task: {SUMMARY}")], acts));
    let task = world.create("paint", SUMMARY, &[OPTIONS.as_slice(), &[works]].concat());
    let asks = does(&world, &task, 1, "waiting", commands[0]);
    assert_eq!(asks["request"], Value::Null, "the project has not allowed it");
    world.ok(&["project", "update", "toy", "--type-answers", "true"]);
    let mut requests = Vec::new();
    for (command, word) in commands.into_iter().zip(["deny", "allow", "on the screen"]) {
        let request = does(&world, &task, 1, "waiting", command)["request"].as_str().unwrap().to_owned();
        let pane = task.pane();
        world.until("the dialog is on the screen", || {
            let screen = world.screen("tmux", &pane);
            screen.contains(&format!("$ {command}")) && screen.contains("Yes, proceed (y)")
        });
        match word {
            "deny" => drop(world.ok(&["task", "answer", &request, "deny", "--message", "Write 2 instead"])),
            "allow" => drop(world.ok(&["task", "answer", &request, "allow"])),
            _ => drop(world.tmux(&["send-keys", "-t", &pane, "y"])),
        }
        requests.push(request);
    }
    each_has_its_answer(&world, &task, &requests);
}

/// The first request was denied, the second allowed, the third answered on the screen; none can be answered again.
#[track_caller]
fn each_has_its_answer(world: &World, task: &Task<'_>, requests: &[String]) {
    does(world, task, 1, "waiting", "it is at its prompt, and ");
    for (request, why) in requests.iter().zip(["was answered", "was answered", "is not open"]) {
        let (_, error) = world.refused(&["task", "answer", request, "allow"]);
        assert!(error["message"].as_str().is_some_and(|message| message.contains(why)), "{error}");
    }
    let made = ["no.txt", "yes.txt", "screen.txt"].map(|file| task.worktree().join(file).exists());
    assert_eq!(made, [false, true, true]);
}
