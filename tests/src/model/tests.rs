//! The model by itself, over its socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use serde_json::{Value, json};

use super::{Model, ModelAct, Plan, RequestFault};

fn plan(acts: Vec<ModelAct>) -> Plan {
    Plan::new(&["# Task: Paint"], acts)
}

/// Everything that the model writes when it is asked this.
fn ask(model: &Model, path: &str, body: &Value) -> String {
    let address = model.url().replace("http://", "");
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn messages(messages: Value) -> Value {
    let tool = |name: &str, fields: Value| json!({ "name": name, "input_schema": { "properties": fields } });
    json!({ "stream": true, "system": "Primary working directory: /w\nmore", "messages": messages, "tools": [
        tool("Bash", json!({ "command": {} })), tool("Read", json!({ "file_path": {} })),
        tool("Write", json!({ "file_path": {}, "content": {} })),
        tool("Edit", json!({ "file_path": {}, "old_string": {}, "new_string": {} })),
    ] })
}

fn prompt() -> Value {
    json!({ "role": "user", "content": "# Task: Paint\nthen run `/o/orange task update --status done`" })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] })
}

#[test]
fn a_plan_goes_on_with_what_tools_answered() {
    let model = Model::start(0).unwrap();
    let place = model.add(plan(vec![
        ModelAct::read("T.md"),
        ModelAct::extend("T.md", "more"),
        ModelAct::orange("task update --status done"),
    ]));
    let say = |history: Value| ask(&model, "/v1/messages", &messages(history));
    let first = say(json!([prompt()]));
    assert!(first.contains("\"name\":\"Read\"") && first.contains("/w/T.md"), "{first}");
    let read = result("call_plan0_act0", "1\tsame\n2\tlast\n3\tsame");
    let second = say(json!([prompt(), read]));
    assert!(second.contains(r#"\"old_string\":\"last\\nsame\""#), "the end must be unique: {second}");
    let edited = result("call_plan0_act1", "done");
    let third = say(json!([prompt(), read, edited]));
    assert!(third.contains("/o/orange task update --status done"), "{third}");
    let fourth = say(json!([prompt(), read, edited, result("call_plan0_act2", "ok")]));
    assert!(fourth.contains("end_turn"), "{fourth}");
    let report = model.report(place);
    assert_eq!(report.exchanges.len(), 3);
    assert!(report.is_over && report.exchanges.iter().all(|exchange| exchange.answer.is_some()));
}

#[test]
fn each_protocol_gets_the_tools_that_it_offers() {
    let model = Model::start(0).unwrap();
    model.add(plan(vec![ModelAct::run("ls")]));
    let input = json!([{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "# Task: Paint" }] }]);
    let codex = json!({ "input": input, "tools": [{ "name": "exec_command", "parameters": { "properties": { "cmd": {} } } }] });
    let answer = ask(&model, "/v1/responses", &codex);
    assert!(answer.contains("function_call") && answer.contains(r#"{\"cmd\":\"ls\"}"#), "{answer}");
    let function = json!({ "name": "bash", "parameters": { "properties": { "command": {} } } });
    let chat = json!({ "messages": [prompt()], "tools": [{ "function": function }] });
    let answer = ask(&model, "/v1/chat/completions", &chat);
    assert!(answer.contains("tool_calls") && answer.contains(r#"{\"command\":\"ls\"}"#), "{answer}");
}

#[test]
fn the_newest_message_says_which_plan() {
    let model = Model::start(0).unwrap();
    model.add(plan(vec![ModelAct::run("first")]));
    let within = model.add(Plan::new(&["go on"], vec![ModelAct::run("second")]).within(&["Paint"]));
    model.add(Plan::new(&["go on"], vec![ModelAct::run("third")]).within(&["Varnish"]));
    let history = json!([prompt(), { "role": "user", "content": "go on" }]);
    assert!(ask(&model, "/v1/messages", &messages(history)).contains("second"));
    assert_eq!(model.report(within).requests, 1);
    let other = json!([{ "role": "user", "content": "something else" }]);
    assert!(ask(&model, "/v1/messages", &messages(other)).contains("end_turn"));
    assert_eq!(model.sides().len(), 1);
}

#[test]
fn faults_come_as_often_as_planned() {
    let model = Model::start(0).unwrap();
    model.add(plan(vec![
        ModelAct::Fail(RequestFault::RateLimit(7), 2),
        ModelAct::Fail(RequestFault::Overloaded, 1),
        ModelAct::Fail(RequestFault::TooLong, 1),
        ModelAct::Fail(RequestFault::Dropped, 1),
        ModelAct::run("ls"),
    ]));
    let say = || ask(&model, "/v1/messages", &messages(json!([prompt()])));
    for _ in 0..2 {
        let limited = say();
        assert!(limited.starts_with("HTTP/1.1 429") && limited.contains("retry-after: 7"), "{limited}");
    }
    assert!(say().starts_with("HTTP/1.1 529"));
    assert!(say().contains("prompt is too long"));
    let dropped = say();
    assert!(dropped.starts_with("HTTP/1.1 200") && !dropped.contains("message_stop"), "{dropped}");
    assert!(say().contains("\\\"ls\\\""));
}

#[test]
fn who_is_held_goes_on_when_the_gate_opens() {
    let model = Model::start(0).unwrap();
    model.add(plan(vec![ModelAct::hold("gate"), ModelAct::run("ls")]));
    thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&model, "/v1/messages", &messages(json!([prompt()]))));
        while !model.is_reached("gate") {
            thread::yield_now();
        }
        assert!(!asked.is_finished());
        model.open("gate");
        assert!(asked.join().unwrap().contains("\\\"ls\\\""));
    });
}

#[test]
fn what_a_tool_read_differs_from_what_its_harness_adds() {
    let contents = super::tools::contents;
    assert_eq!(contents("1\ta\n2\t\n3\tb\n\n<system-reminder>\n1\tno\n"), "a\n\nb");
    assert_eq!(contents("<path>/t</path>\n<content>\n1: a\n2: b\n\n(End of file)\n</content>"), "a\nb");
    assert_eq!(contents("Chunk ID: 1\nOutput:\na\nb"), "a\nb");
    assert_eq!(contents("a\n\nb\n"), "a\n\nb");
}
