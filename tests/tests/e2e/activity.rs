//! Reports of harnesses about their agents, and their effects: the shown state, answers to permissions, limits.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::exits::due_at;
use crate::task::{Task, is_alive, kill};
use crate::world::World;

/// Has the harness of an agent report this, as its hooks do; gives the process that does so.
fn report(task: &Task<'_>, spawn: u32, hold: bool, event: &Value) -> Child {
    let mut command = task.as_agent("worker", &spawn.to_string());
    command.args(["agent", "event"]).args(hold.then_some("--hold"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    child
}

/// The harness of the first agent reports this.
#[track_caller]
pub(crate) fn reports(task: &Task<'_>, event: &Value) {
    reports_of(task, 1, event);
}

/// The harness of the agent of this number reports this.
#[track_caller]
pub(crate) fn reports_of(task: &Task<'_>, spawn: u32, event: &Value) {
    let output = report(task, spawn, false, event).wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

pub(crate) fn event(name: &str) -> Value {
    json!({ "hook_event_name": name, "session_id": "s1", "transcript_path": "/nowhere/s1.jsonl" })
}

pub(crate) fn tool(name: &str, command: &str) -> Value {
    let mut event = event(name);
    event["tool_name"] = "Bash".into();
    event["tool_input"] = json!({ "command": command });
    event
}

/// State of the only agent of a task, and the reason for it.
pub(crate) fn doing(task: &Task<'_>) -> (String, String) {
    let show = task.show();
    let [agent] = &show["agents"].as_array().unwrap()[..] else { panic!("one agent: {show}") };
    (agent["state"].as_str().unwrap().to_owned(), agent["reason"].as_str().unwrap().to_owned())
}

fn request(task: &Task<'_>) -> Option<String> {
    task.show()["agents"][0]["request"].as_str().map(str::to_owned)
}

/// A request for a permission that waits to be answered, with its name.
pub(crate) fn asks(world: &World, task: &Task<'_>, command: &str) -> (Child, String) {
    let before = request(task);
    let hook = report(task, 1, true, &tool("PermissionRequest", command));
    world.until("it asks", || request(task).is_some_and(|request| Some(request) != before));
    (hook, request(task).unwrap())
}

/// The name of a request as commands have it.
pub(crate) fn by_branch(task: &Task<'_>, request: &str) -> String {
    request.replace(&task.id, &task.name())
}

fn said(mut hook: Child) -> String {
    let mut text = String::new();
    hook.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(hook.wait().unwrap().success());
    text
}

fn hanging(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task
}

#[test]
fn what_an_agent_reports_is_shown_with_its_reason() {
    let world = World::new();
    let task = hanging(&world);
    reports(&task, &event("SessionStart"));
    reports(&task, &event("UserPromptSubmit"));
    assert_eq!(doing(&task), ("busy".to_owned(), "it thinks".to_owned()));
    reports(&task, &tool("PreToolUse", "sleep 100000"));
    assert_eq!(doing(&task), ("busy".to_owned(), "Bash: sleep 100000".to_owned()));
    reports(&task, &event("Stop"));
    let idle = "it is at its prompt, and `## Handoff` is missing from TASK.md";
    assert_eq!(doing(&task), ("waiting".to_owned(), idle.to_owned()));
    let list = world.orange(&["task", "list"]).out;
    assert!(list.contains("idle-without-artifact") && list.contains("is at its prompt, and"), "{list}");
    assert_eq!(world.ok(&["task", "list"])[0]["agents"][0]["state"], "waiting");
    let doctor = world.orange(&["doctor"]).out;
    assert!(doctor.contains(idle), "{doctor}");

    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["events"][0]["outcome"], format!("agent 1 is waiting: {idle}"));
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]), "it is reported once");
    let kept = &task.events_of("agent.activity")[0];
    assert_eq!((&kept["conversation"], &kept["transcript"]), (&json!("s1"), &json!("/nowhere/s1.jsonl")));

    task.write("## Handoff\n\nDONE: all\n");
    let written = "it is at its prompt, has written what agent-review needs, and has not asked for it";
    assert_eq!(doing(&task).1, written);
    let late = world.orange(&["task", "wait", &task.id, "--status", "done", "--timeout", "0"]);
    assert!(late.err.contains(written), "{}", late.err);
}

#[test]
fn a_permission_is_answered_from_outside() {
    let world = World::new();
    let task = hanging(&world);
    let (hook, request) = asks(&world, &task, "curl example.org");
    let reason = "it asks whether it may use Bash: curl example.org";
    assert_eq!(doing(&task), ("waiting".to_owned(), reason.to_owned()));
    let show = world.orange(&["task", "show", &task.id]).out;
    assert!(
        show.contains(&format!("`orange task answer {} allow`, or `deny`", by_branch(&task, &request))),
        "{show}"
    );

    world.ok(&["task", "answer", &request, "allow"]);
    let allowed =
        r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}"#;
    assert_eq!(said(hook).trim(), allowed);
    assert_eq!(task.events_of("agent.activity").last().unwrap()["state"], "answered");
    let again = world.fails(1, "refused", &["task", "answer", &request, "deny"]);
    assert!(again.contains("was answered already"), "{again}");

    let (hook, second) = asks(&world, &task, "rm -r x");
    let other = world.fails(1, "refused", &["task", "answer", &request, "allow"]);
    assert!(other.contains(&by_branch(&task, &second)), "the one that is open is named: {other}");
    world.ok(&["task", "answer", &second, "deny", "--message", "Keep \"x\""]);
    let answer: Value = serde_json::from_str(&said(hook)).unwrap();
    let decision = &answer["hookSpecificOutput"]["decision"];
    assert_eq!(*decision, json!({ "behavior": "deny", "message": "Keep \"x\"" }));
}

#[test]
fn the_only_open_request_is_answered_by_branch() {
    let world = World::new();
    let task = hanging(&world);
    let none = world.fails(1, "refused", &["task", "answer", "fix", "allow"]);
    assert!(none.contains("no agent of fix asks anything"), "{none}");
    let (first, name) = asks(&world, &task, "curl example.org");
    let answered = world.ok(&["task", "answer", "fix", "allow"]);
    assert_eq!((&answered["request"], &answered["text"]), (&json!(name), &json!("curl example.org")));
    assert!(said(first).contains(r#""behavior":"allow""#));

    let hooks = ["ls", "pwd"].map(|command| report(&task, 1, true, &tool("PermissionRequest", command)));
    let open = || world.fails(1, "refused", &["task", "answer", "fix.1.none", "allow"]);
    world.until("both ask", || open().matches("allow`").count() == 2);
    let which = world.fails(1, "refused", &["task", "answer", "fix", "deny"]);
    assert!(which.contains("2 requests of fix are open"), "{which}");
    for command in ["ls", "pwd"] {
        assert!(which.contains(&format!("allow` (Bash: {command})")), "{which}");
    }
    let one = which.split('`').find_map(|part| part.strip_prefix("orange task answer ")).unwrap();
    let (one, _) = one.split_once(' ').unwrap();
    assert!(one.starts_with("fix.1."), "{which}");
    world.ok(&["task", "answer", one, "deny"]);
    world.ok(&["task", "answer", "fix", "allow"]);
    let said = hooks.map(said);
    assert_eq!(said.iter().filter(|text| text.contains("deny")).count(), 1, "{said:?}");
    world.fails(3, "not_found", &["task", "answer", "nobody", "allow"]);
}

#[test]
fn a_request_that_is_over_cannot_be_answered() {
    let world = World::new();
    let task = hanging(&world);
    let (hook, request) = asks(&world, &task, "ls");
    // A person has answered on the screen: the tool has run.
    reports(&task, &tool("PostToolUse", "ls"));
    assert_eq!(said(hook), "", "its hook has nothing to say");
    assert_eq!(doing(&task).0, "busy");
    let late = world.fails(1, "refused", &["task", "answer", &request, "allow"]);
    assert!(late.contains("is not open"), "{late}");

    // The harness has ended its hook: a person has pressed Escape.
    let (mut hook, request) = asks(&world, &task, "pwd");
    hook.kill().unwrap();
    hook.wait().unwrap();
    world.fails(1, "refused", &["task", "answer", &request, "allow"]);
    world.fails(3, "not_found", &["task", "answer", "nobody.1.a", "allow"]);
    world.fails(3, "not_found", &["task", "answer", "../../x", "allow"]);
}

#[test]
fn no_agent_answers_a_request() {
    let world = World::new();
    let task = hanging(&world);
    let (mut hook, request) = asks(&world, &task, "ls");
    let mut own = task.as_agent("worker", "1");
    let output = own.args(["task", "answer", &request, "allow"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("only a person may answer"), "{output:?}");
    assert!(hook.try_wait().unwrap().is_none(), "it still waits");
    kill(task.agent(1).begun());
    task.has_events(1, "agent.exited");
    world.until("the hook ends with its agent", || hook.try_wait().unwrap().is_some());
}

#[test]
fn an_agent_goes_on_when_its_limit_is_over() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    task.agent(1).begun();
    reports(&task, &event("UserPromptSubmit"));
    let mut limit = event("StopFailure");
    limit["error"] = "rate_limit".into();
    limit["last_assistant_message"] = "Limit reached, try again in 1 second.".into();
    reports(&task, &limit);
    task.has_events(1, "agent.waiting");
    assert_eq!(doing(&task).0, "limit");
    let waiting = &task.events_of("agent.waiting")[0];
    assert!(waiting["after"].as_u64().unwrap() < 10, "as long as it says: {waiting}");
    assert!(waiting["reason"].as_str().unwrap().contains("try again in 1 second"), "{waiting}");
    task.has_events(1, "agent.continued");
    assert_eq!(task.events_of("agent.continued")[0]["reason"], "it got the message that the limit is over");
    assert_eq!((task.events_of("agent.crashed"), task.events_of("agent.exited")), (vec![], vec![]));
    assert_eq!(task.owned("waiting_until"), json!(null));
}

#[test]
fn a_limit_is_no_crash_even_if_the_wrapper_is_killed() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang work]", &[]);
    task.agent(1).begun();
    let mut limit = event("StopFailure");
    limit["error"] = "rate_limit".into();
    limit["last_assistant_message"] = "Limit reached, try again in 15 minutes.".into();
    reports(&task, &limit);
    task.has_events(1, "agent.waiting");
    let agent = task.agent(1).begun();
    kill(world.wrapper("toy/fix"));
    world.until("the monitor notices", || {
        world.ok(&["monitor", "--once"]);
        !is_alive(agent) && task.events_of("agent.exited").len() == 1
    });
    due_at(&task, "2001-01-01T00:00:00.000Z");
    world.ok(&["monitor", "--once"]);
    task.reaches("agent-review");
    assert_eq!(task.events_of("agent.crashed"), Vec::<Value>::new());
    assert_eq!(task.owned("crash_count"), json!(0));
    assert_eq!(task.events_of("agent.respawned").len(), 1);
}

#[test]
fn a_limit_that_is_known_at_the_end_is_waited_for() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted work]", &[]);
    task.agent(1).begun();
    // This limit is not reported: the agent ends at once.
    let line = json!({
        "time": "2026-01-01T00:00:00.000Z", "spawn": 1, "kind": "limit", "text": "429, try again in 1 second",
    });
    let mut notes =
        fs::OpenOptions::new().append(true).create(true).open(task.folder().join("activity.jsonl")).unwrap();
    notes.write_all(format!("{line}\n").as_bytes()).unwrap();
    task.agent(1).tell("exit 3");
    task.reaches("agent-review");
    assert_eq!(task.events_of("agent.crashed"), Vec::<Value>::new());
    assert!(task.events_of("agent.waiting")[0]["reason"].as_str().unwrap().contains("limit of its provider"));
}

#[test]
fn odd_notes_break_no_command() {
    let world = World::new();
    let task = hanging(&world);
    let file = task.folder().join("activity.jsonl");
    let foreign = json!({ "time": "t", "spawn": 99, "kind": "idle" }).to_string();
    let unknown = json!({ "time": "t", "spawn": 1, "kind": "moon", "cost": 3 }).to_string();
    let wrong = json!({ "time": "t", "spawn": "1", "kind": "idle" }).to_string();
    let huge = "[".repeat(3_000_000);
    for text in [
        &b"\xff\0\xfe"[..],
        b"{\"torn",
        foreign.as_bytes(),
        unknown.as_bytes(),
        wrong.as_bytes(),
        huge.as_bytes(),
    ] {
        fs::write(&file, text).unwrap();
        works(&world, &task);
        reports(&task, &event("Stop"));
        assert_eq!(doing(&task).0, "waiting", "what comes after it is read");
    }
    // A file that was too long has become the former one.
    if file.exists() {
        fs::remove_file(&file).unwrap();
    }
    fs::create_dir(&file).unwrap();
    works(&world, &task);
    reports(&task, &event("Stop"));
    fs::remove_dir(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    works(&world, &task);
}

#[track_caller]
fn works(world: &World, task: &Task<'_>) {
    world.ok(&["task", "list"]);
    let show = task.show();
    assert!(show["agents"][0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{show}");
    world.ok(&["task", "update", &task.id, "--summary", "Mend it [agents: hang]"]);
    world.ok(&["monitor", "--once"]);
    world.orange(&["doctor"]);
}

#[test]
fn an_event_never_blocks_an_agent() {
    let world = World::new();
    let task = hanging(&world);
    for input in ["", "{", "[]", "nonsense", "{\"hook_event_name\":[]}", "{\"hook_event_name\":\"Moon\"}"] {
        let mut command = task.as_agent("worker", "1");
        let mut child =
            command.args(["agent", "event"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    // More than a pipe holds: writing it fails where it is not read.
    let mut stop = event("Stop");
    stop["last_assistant_message"] = "x".repeat(1 << 20).into();
    for (name, value) in [("ORANGE_TASK", "gone"), ("ORANGE_SPAWN", "x"), ("ORANGE_HOME", "/proc/none")] {
        let mut command = task.as_agent("worker", "1");
        let mut child =
            command.args(["agent", "event"]).env(name, value).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stop.to_string().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    let log = fs::read_to_string(world.home().join("orange.log")).unwrap_or_default();
    assert!(log.contains("error event: there is no task `gone`"), "trouble is noted: {log}");
}

#[test]
fn what_an_agent_has_taken_is_shown_and_outlives_it() {
    let world = World::new();
    let task = hanging(&world);
    let of = |tokens: Option<u64>, cost: Option<u64>, more: (&str, Value)| {
        let mut spent = json!({
            "tokens": tokens, "cost": cost, "list_price": null, "unpriced": null, "at_least": false
        });
        spent[more.0] = more.1;
        spent
    };
    assert_eq!(task.show()["spent"], of(None, None, ("agents", json!([]))));
    let mut stop = event("Stop");
    stop["tokens"] = 21_300.into();
    stop["cost"] = 250_000.into();
    reports(&task, &stop);
    let own = of(Some(21_300), Some(250_000), ("spawn", 1.into()));
    let spent = of(Some(21_300), Some(250_000), ("agents", json!([own])));
    assert_eq!(task.show()["spent"], spent);
    assert_eq!(world.ok(&["task", "list"])[0]["spent"], spent);
    let shown = world.orange(&["task", "show", &task.id]).out;
    assert!(shown.contains("taken      21300 tokens, $0.25 (agent 1: 21300 tokens, $0.25)"), "{shown}");
    let sum = || {
        let usage = world.ok(&["usage", "--by", "task"]);
        let group = &usage["groups"][0];
        assert_eq!((&group["name"], &group["starts"]), (&json!(task.id), &json!(1)), "{usage}");
        (group["tokens"].clone(), group["cost"].clone(), usage["total"]["tokens"].clone())
    };
    let sums = (json!(21_300), json!(250_000), json!(21_300));
    assert_eq!(sum(), sums);
    task.ok("stop", &[]);
    task.has_events(1, "agent.exited");
    assert_eq!(task.show()["spent"], spent);
    assert_eq!(sum(), sums);
    assert_eq!(world.ok(&["usage", "--since", "9999-01-01"])["groups"], json!([]));
    assert!(world.fails(2, "usage", &["usage", "--since", "yesterday"]).contains("a day is written as"));
    fs::write(world.home().join("prices.toml"), "[gpt]\nprice = 1\n").unwrap();
    assert_eq!(sum(), sums, "a list price is asked only about tokens without a cost");
}
