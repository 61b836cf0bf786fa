//! `orange task send`: a message of a person to a living agent.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::activity::asks;
use crate::said::ProgramOutput;
use crate::task::Task;
use crate::world::World;

/// A task whose worker writes every byte that it is sent into a file.
pub(crate) fn listening(world: &World) -> (Task<'_>, PathBuf) {
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    let (heard, ready) = (world.path("bytes"), world.path("ready"));
    task.agent(1).begun();
    let script = "kill $! 2>/dev/null; exec 0<&3; stty raw -echo";
    task.agent(1).tell(&format!("{script}; touch {}; cat >{}", ready.display(), heard.display()));
    world.until("it listens", || ready.exists());
    (task, heard)
}

/// Runs a command with this text on its standard input.
fn given(world: &World, text: &[u8], args: &[&str]) -> ProgramOutput {
    let file = world.path("given");
    fs::write(&file, text).unwrap();
    let mut command = world.command(world.program);
    command.args(args).current_dir(world.repo()).stdin(fs::File::open(file).unwrap());
    world.said(&mut command)
}

#[track_caller]
pub(crate) fn hears(world: &World, heard: &PathBuf, text: &[u8]) {
    let expect = [text, b"\r"].concat();
    world.until("it has everything", || fs::metadata(heard).is_ok_and(|it| it.len() >= expect.len() as u64));
    assert!(fs::read(heard).unwrap() == expect, "not byte for byte");
}

#[test]
fn a_message_arrives_byte_for_byte_and_is_journaled() {
    let world = World::new();
    let (task, heard) = listening(&world);
    let text = "Use $(this); `not that`\n\tå 漢字 \u{1b}[31m\u{3}\u{4} ~ ;\n# and \\n so on";
    let said = given(&world, text.as_bytes(), &["--json", "task", "send", "fix", "-"]).ok();
    let expect = json!({"success": true, "id": task.id, "spawn": 1, "actor": "worker", "bytes": text.len()});
    assert_eq!(said, expect);
    hears(&world, &heard, text.as_bytes());
    let sent = &task.events_of("agent.sent")[0];
    let kept = [&sent["spawn"], &sent["actor"], &sent["text"], &sent["bytes"]];
    assert_eq!(kept, [&json!(1), &json!("human"), &json!("Use $(this); `not that`"), &json!(text.len())]);
    assert_eq!(sent["undelivered"], json!(null));
    assert_eq!(task.status(), "working");
}

#[test]
fn a_megabyte_arrives_whole() {
    let world = World::new();
    let (task, heard) = listening(&world);
    let line = "0123456789 abcdefghijklmnopqrstuvwxyz äöü\n";
    let text = line.repeat(1_048_576 / line.len());
    given(&world, text.as_bytes(), &["--json", "task", "send", &task.id, "-"]).ok();
    hears(&world, &heard, text.trim_end().as_bytes());
}

#[test]
fn a_message_may_look_like_an_option() {
    let world = World::new();
    let (task, heard) = listening(&world);
    task.ok("send", &["- one more test"]);
    hears(&world, &heard, b"- one more test");
}

#[test]
fn nothing_is_sent_while_the_agent_asks() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    task.agent(1).begun();
    let (mut hook, request) = asks(&world, &task, "rm -rf node_modules");
    let refused = task.fails(1, "refused", "send", &["Go on"]);
    assert!(
        refused.contains(&format!("orange task answer {} allow", request.replace(&task.id, "fix"))),
        "{refused}"
    );
    assert!(task.events_of("agent.sent").is_empty());
    world.ok(&["task", "answer", &request, "allow"]);
    assert!(hook.wait().unwrap().success());
    task.ok("send", &["Go on"]);
    assert_eq!(task.events_of("agent.sent").len(), 1);
}

#[test]
fn a_message_needs_a_person_a_text_and_a_living_agent() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work scripted]", &[]);
    task.agent(2).begun();
    task.reaches("agent-review");
    let nobody = task.fails(1, "refused", "send", &["Go on"]);
    assert!(nobody.contains("no worker is alive") && nobody.contains("--spawn 2"), "{nobody}");
    let unnamed = task.fails(1, "refused", "send", &["Go on", "--reviewer", "security"]);
    assert!(unnamed.contains("no reviewer security"), "{unnamed}");
    task.fails(2, "usage", "send", &["  \n"]);
    let mut agent = task.as_agent("reviewer", "2");
    let agent = agent.args(["task", "send", &task.id, "Pass it", "--spawn", "2"]);
    world.said(agent.current_dir(task.worktree())).fails(1, "not_allowed");

    let journal = task.events();
    let dry = task.ok("send", &["Go on", "--spawn", "2", "--dry-run"]);
    assert_eq!(
        (&dry["dry_run"], &dry["spawn"], &dry["actor"]),
        (&json!(true), &json!(2), &json!("reviewer"))
    );
    assert_eq!(task.events(), journal, "a dry run changes nothing");
    task.ok("send", &["Go on", "--spawn", "2"]);
    task.ok("stop", &[]);
    let stopped = task.fails(1, "refused", "send", &["Go on", "--spawn", "2"]);
    assert!(stopped.contains("no agent of the task is alive: `orange task respawn fix`"), "{stopped}");
    // Nobody starts an agent where none works.
    world.git(&world.repo(), &["branch", "ready"]);
    let ready = world.create("ready", "Look at it", &["--status", "reviewing"]);
    let refused = ready.fails(1, "refused", "send", &["Go on"]);
    assert!(refused.contains("`orange task next ready`") && !refused.contains("respawn"), "{refused}");
    assert_eq!(task.events_of("agent.sent").len(), 1);
}

#[test]
fn a_message_without_a_reader_is_an_error_and_journaled() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let refused = task.fails(1, "refused", "send", &["Go on"]);
    assert!(refused.contains("does not read its message"), "{refused}");
    let sent = &task.events_of("agent.sent")[0];
    assert!(sent["undelivered"].as_str().unwrap().contains("does not read"), "{sent}");
}
