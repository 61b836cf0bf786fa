//! States as callers, exit rules as implementations, and files with other names.

use std::fs;

use serde_json::{Value, json};

use super::{TestServer, uri};

const URI: &str = "file:///w/default.yml";
const DEFAULT: &str = include_str!("../../../../../workflows/default.yml");

fn at(text: &str, place: &str) -> Value {
    let line = text.lines().position(|it| it == place).unwrap();
    json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": 3}})
}

#[test]
fn states_call_each_other_and_rules_implement_them() {
    let mut server = TestServer::new();
    server.open(URI, "orange-workflow", 1, DEFAULT);
    let prepared = server.ask("textDocument/prepareCallHierarchy", at(DEFAULT, "  working:")).unwrap();
    let item = json!({"item": prepared[0]});
    assert_eq!((&prepared[0]["name"], &prepared[0]["uri"]), (&json!("working"), &json!(URI)));
    let mut names = |method: &str, of: &str| -> Vec<Value> {
        let calls = server.ask(method, item.clone()).unwrap();
        let calls = calls.as_array().unwrap().iter();
        calls.map(|it| it[of]["name"].clone()).collect()
    };
    assert!(names("callHierarchy/incomingCalls", "from").contains(&json!("pending")));
    assert!(names("callHierarchy/outgoingCalls", "to").contains(&json!("agent-review")));
    let rules = server.ask("textDocument/implementation", at(DEFAULT, "  working:")).unwrap();
    let lines: Vec<&str> = DEFAULT.lines().collect();
    let rules = rules.as_array().unwrap().iter().map(|it| it["range"]["start"]["line"].as_u64().unwrap());
    let shown: Vec<&str> = rules.map(|it| lines[it as usize].trim()).collect();
    assert!(!shown.is_empty() && shown.iter().all(|it| it.contains("status: working")), "{shown:?}");
    server.idle();
    server.published();
}

#[test]
fn a_prompt_that_is_renamed_is_included_by_its_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "name: flow\nstates: {}\nprompts:\n  work: {include: work.md}\n";
    fs::write(folder.path().join("work.md"), "do it").unwrap();
    let uri = |name: &str| uri::of(&folder.path().join(name));
    let mut server = TestServer::new();
    server.open(&uri("flow.yml"), "orange-workflow", 1, flow);
    let mut renamed = |old: &str, new: &str| {
        let files = json!({"files": [{"oldUri": uri(old), "newUri": uri(new)}]});
        server.ask("workspace/willRenameFiles", files).unwrap()
    };
    let edit = renamed("work.md", "do.md");
    let edit = &edit["changes"][uri("flow.yml")][0];
    assert_eq!((&edit["newText"], &edit["range"]["start"]["line"]), (&json!("do.md"), &json!(3)));
    assert_eq!(renamed("other.md", "do.md"), json!(null));
    server.idle();
    server.published();
}
