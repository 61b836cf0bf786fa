//! Pictures of open documents.

use serde_json::json;

use super::TestServer;

const URI: &str = "file:///w/default.yml";
const DEFAULT: &str = include_str!("../../../../../workflows/default.yml");

#[test]
fn a_picture_names_its_parts_and_their_places() {
    let mut server = TestServer::new();
    server.open(URI, "orange-workflow", 1, DEFAULT);
    let picture = server.ask("orange/graph", json!({"textDocument": {"uri": URI}})).unwrap();
    let svg = picture["svg"].as_str().unwrap();
    let at = DEFAULT.find("\n  working:").unwrap() + 3;
    assert!(svg.contains(&format!("data-name=\"working\" data-span=\"{at}-{}", at + 7)), "{svg}");
    assert!(svg.contains("data-name=\"working → agent-review\""));
    assert_eq!((&picture["note"], &picture["steps"]), (&json!(null), &json!(0)));
    server.idle();
    server.published();
}

#[test]
fn a_broken_text_is_drawn_as_far_as_it_is_understood() {
    let mut server = TestServer::new();
    let text = DEFAULT.replacen("to: agent-review", "to: agent-reviewer", 1);
    server.open(URI, "orange-workflow", 1, &text);
    let picture = server.ask("orange/graph", json!({"textDocument": {"uri": URI}})).unwrap();
    assert!(picture["svg"].as_str().unwrap().contains("data-name=\"working\""));
    assert!(picture["note"].as_str().unwrap().starts_with("Parts with an error are left out: "));
    server.open("file:///w/other.yml", "orange-workflow", 1, "[");
    let refused = server.ask("orange/graph", json!({"textDocument": {"uri": "file:///w/other.yml"}}));
    assert!(refused.is_err_and(|it| it.starts_with("nothing of a workflow is understood")));
    server.idle();
    server.published();
}

#[test]
fn a_run_of_a_finding_is_drawn_step_by_step() {
    let mut server = TestServer::new();
    let text = DEFAULT.replacen("      fresh: true\n    reset", "    reset", 1);
    server.open(URI, "orange-workflow", 1, &text);
    assert!(!server.findings(URI).is_empty());
    let mut ask = |step: Option<usize>| {
        let params = json!({"textDocument": {"uri": URI}, "run": 0, "step": step});
        server.ask("orange/graph", params).unwrap()
    };
    let (whole, begun) = (ask(None), ask(Some(1)));
    assert!(whole["runs"][0].as_str().unwrap().starts_with("C49 stale-artifact: "), "{}", whole["runs"]);
    let marked =
        |it: &serde_json::Value| it["svg"].as_str().unwrap().matches("class=\"node marked\"").count();
    assert!(whole["steps"].as_u64().unwrap() > 1 && marked(&whole) > marked(&begun) && marked(&begun) > 0);
}

#[test]
fn a_hover_has_the_facts_of_the_search() {
    let mut server = TestServer::new();
    server.open(URI, "orange-workflow", 1, DEFAULT);
    server.idle();
    server.published();
    let line = DEFAULT.lines().position(|it| it == "  working:").unwrap();
    let place = json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": 4}});
    let hover = server.ask("textDocument/hover", place).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Shortest run: "), "{hover}");
    assert_eq!(hover["range"]["end"], json!({"line": line, "character": 9}));
    let nothing = json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}});
    server.ask("textDocument/hover", nothing).unwrap();
}

#[test]
fn hints_and_lenses_can_be_switched_off() {
    let ask = |options: serde_json::Value| {
        let mut server = TestServer::with(orange_codegen::editor_lines::Encoding::Utf16, options);
        server.open(URI, "orange-workflow", 1, DEFAULT);
        server.idle();
        server.published();
        let end = DEFAULT.lines().count();
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": end, "character": 0}});
        let params = json!({"textDocument": {"uri": URI}, "range": range});
        let hints = server.ask("textDocument/inlayHint", params).unwrap();
        let lenses = server.ask("textDocument/codeLens", json!({"textDocument": {"uri": URI}})).unwrap();
        (hints.to_string(), lenses.to_string())
    };
    let (hints, lenses) = ask(json!(null));
    assert!(hints.contains("review_round: 0..2+") && hints.contains("at most 2 times"), "{hints}");
    assert!(lenses.contains("prove: 8 of 8"), "{lenses}");
    let (hints, lenses) = ask(json!({"hints": {"ranges": false}, "lenses": false}));
    assert!(!hints.contains("review_round: ") && hints.contains("at most 2 times"), "{hints}");
    assert_eq!(lenses, "null");
}
