//! `orange mcp`: whole conversations over standard input and output, as an agent's client holds them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::answers;
use crate::task::Task;
use crate::world::{World, binary, target_program};

/// A client and its server.
struct McpClient {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// True if it ends with the agent to which it belongs.
    ends_with_agent: bool,
}

impl McpClient {
    /// Starts `orange mcp` in a folder and shakes hands.
    fn begin(world: &World, folder: &Path, who: impl FnOnce(&mut Command)) -> McpClient {
        target_program("orange-mcp");
        let mut command = world.command(binary());
        who(command.arg("mcp").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()));
        let mut server = command.spawn().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut talk =
            McpClient { input: server.stdin.take(), output, server, asked: 0, ends_with_agent: false };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        let welcome = talk.ask("initialize", &hello);
        assert_eq!(welcome["result"]["serverInfo"]["name"], "orange", "{welcome}");
        assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
        talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        talk
    }

    fn say(&mut self, message: &Value) {
        let mut input = self.input.as_ref().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    /// Asks, and gives the whole answer.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!((&answer["id"], &answer["jsonrpc"]), (&json!(id), &json!("2.0")), "{answer}");
        answer
    }

    /// Calls a tool: whether it failed, and what it says.
    fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert!(!text.is_object() || result["structuredContent"] == text, "{answer}");
        (result["isError"].as_bool().unwrap(), text)
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        drop(self.input.take());
        let ended = self.server.wait().unwrap();
        assert!(std::thread::panicking() || self.ends_with_agent || ended.success(), "{ended}");
    }
}

#[test]
fn the_tools_are_the_commands() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let mut talk = McpClient::begin(&world, &world.repo(), |_| {});

    let listed = talk.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let of_tasks = [
        "task_list",
        "task_show",
        "task_next",
        "task_update",
        "task_create",
        "task_feedback",
        "task_reply",
        "task_verdict",
    ];
    let of_missions = ["step_show", "step_complete", "mission_start", "mission_show", "mission_continue"];
    assert_eq!(names, [&of_tasks[..], &of_missions].concat());
    assert_eq!(tools[3]["inputSchema"]["properties"]["status"]["type"], "string");
    assert_eq!(
        (&tools[0]["annotations"]["readOnlyHint"], &tools[3]["annotations"]["readOnlyHint"]),
        (&json!(true), &json!(false))
    );

    let (failed, list) = talk.call("task_list", json!({}));
    assert!(!failed);
    assert_eq!(list, world.ok(&["task", "list"]));
    assert_eq!(talk.call("task_show", json!({ "task": "fix" })), (false, task.show()));
    assert_eq!(talk.call("task_next", json!({ "task": task.id })), (false, task.ok("next", &[])));
    let (_, planned) =
        talk.call("task_update", json!({ "task": "fix", "status": "cancelled", "dry_run": true }));
    assert_eq!((&planned["dry_run"], &planned["to"]), (&json!(true), &json!("cancelled")));

    let (failed, updated) =
        talk.call("task_update", json!({ "task": "fix", "summary": "-v; is $(ignored)\n" }));
    assert_eq!((failed, &updated["success"]), (false, &json!(true)));
    assert_eq!(task.show()["summary"], "-v; is $(ignored)\n");
    let (failed, moved) = talk.call("task_update", json!({ "task": "fix", "status": "cancelled" }));
    assert_eq!((failed, &moved["to"]), (false, &json!("cancelled")));
    assert_eq!(task.status(), "cancelled");

    let wanted = json!({ "branch": "next", "summary": "--go on", "context": "All of it.", "dry_run": true });
    let (failed, planned) = talk.call("task_create", wanted);
    assert_eq!((failed, &planned["branch"]), (false, &json!("next")), "{planned}");
}

#[test]
fn an_agent_starts_a_mission_and_another_takes_a_step() {
    let world = World::new();
    world.acts("plan", "exec sleep 1000000");
    let mut talk = McpClient::begin(&world, &world.repo(), |_| {});
    let wishes = json!({ "workflow": "dev-task", "prompt": "--make it faster", "execution": "step" });
    let (failed, started) = talk.call("mission_start", wishes);
    assert_eq!((failed, &started["step"]), (false, &json!("plan")), "{started}");
    let mission = Task::mission(&world, started["id"].as_str().unwrap());
    mission.agent(1).begun();

    let mut own = McpClient::begin(&world, &mission.worktree(), |command| {
        command.envs([
            ("ORANGE_TASK", mission.id.as_str()),
            ("ORANGE_ACTOR", "worker"),
            ("ORANGE_SPAWN", "1"),
        ]);
        command.envs(mission.secret("1").map(|secret| ("ORANGE_SECRET", secret)));
    });
    own.ends_with_agent = true;
    let (_, shown) = own.call("step_show", json!({}));
    assert_eq!((&shown["step"], &shown["attempt"]), (&json!("plan"), &json!(1)), "{shown}");
    // The mission may end the agent, and so its server, before the answer is there.
    let call = json!({ "name": "step_complete", "arguments": { "summary": "It is planned" } });
    own.say(&json!({ "jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call }));
    mission.has_events(1, "mission.paused");
    let asks = json!({ "mission": mission.id, "pause": "1" });
    let (failed, answer) = talk.call("mission_continue", asks.clone());
    assert!(!failed && answer["done"].as_str().unwrap().contains("it goes on"), "{answer}");
    assert!(talk.call("mission_continue", asks).0, "the same answer again is refused");
    let (_, shown) = talk.call("mission_show", json!({ "mission": mission.id }));
    assert_eq!(shown["steps"][0]["summary"], "It is planned");
}

#[test]
fn a_refusal_is_an_error_of_the_tool_with_code_message_and_help() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let mut talk = McpClient::begin(&world, &task.worktree(), |command| {
        command.envs([("ORANGE_TASK", task.id.as_str()), ("ORANGE_ACTOR", "worker"), ("ORANGE_SPAWN", "1")]);
        command.envs(task.secret("1").map(|secret| ("ORANGE_SECRET", secret)));
    });
    let refused = |talk: &mut McpClient, arguments: Value, code: &str| {
        let (failed, answer) = talk.call("task_update", arguments);
        assert!(failed && answer["error"]["code"] == code, "{answer}");
        answers::check(&["error"], &answer);
        let (message, help) = (&answer["error"]["message"], &answer["error"]["help"]);
        assert!(!message.as_str().unwrap().is_empty() && help.is_string(), "{answer}");
        message.as_str().unwrap().to_owned()
    };
    let message = refused(&mut talk, json!({ "status": "agent-review" }), "gate_failed");
    assert!(message.contains("`## Handoff` is missing"), "{message}");
    refused(&mut talk, json!({ "status": "done" }), "no_transition");
    refused(&mut talk, json!({ "status": "nowhere" }), "not_found");
    refused(&mut talk, json!({}), "usage");
    refused(&mut talk, json!({ "status": 7 }), "usage");
    refused(&mut talk, json!({ "state": "done" }), "usage");
    let (failed, unknown) = talk.call("task_show", json!({ "task": "--help" }));
    assert!(failed && unknown["error"]["code"] == "not_found", "{unknown}");

    let answer = talk.ask("tools/call", &json!({ "name": "task_delete", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("task_update"), "{answer}");
    assert_eq!(talk.ask("nothing/like/this", &json!({}))["error"]["code"], -32601);
    assert_eq!(task.status(), "working");
}

#[test]
fn without_the_program_it_says_how_to_build_it() {
    let world = World::empty();
    // A copy, since beside the original is what is missed.
    let orange = world.path("tools/orange");
    assert!(world.command("cp").args([binary(), &orange]).status().unwrap().success());
    let message = world.said(world.command(&orange).args(["mcp", "--json"])).fails(5, "environment");
    assert!(message.contains("cargo build --release --package orange-mcp"), "{message}");
}
