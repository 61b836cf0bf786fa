//! Outline, folds, selections, links and tokens as the client gets them; the layout is the one of `fmt`.

use orange_codegen::editor_lines::Encoding;
use orange_codegen::{Source, Span};

use super::super::convert::Lines;
use super::*;
use crate::fmt::format;

const FLOW: &str = "name: flow\nstates:\n    pending: {}\n    done: {terminal: true}\ntransitions:\n    - {from: pending, to: done}\nprompts:\n    p: {include: do/p.md}\n";

/// A folder with a workflow and its prompt, and their addresses.
fn folder() -> (tempfile::TempDir, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("do")).unwrap();
    std::fs::write(folder.path().join("do/p.md"), "# Do {summary}\n").unwrap();
    let addresses = ["flow.yml", "do/p.md"].map(|it| uri::of(&folder.path().join(it)));
    (folder, addresses)
}

fn about(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}})
}

/// Each token as its type and its text, found as a client finds it.
fn read_tokens(text: &str, encoding: Encoding, answer: &Value) -> Vec<(u64, String)> {
    let lines = Lines::new(text, encoding);
    let (mut line, mut character) = (0, 0);
    let numbers: Vec<u32> = serde_json::from_value(answer["data"].clone()).unwrap();
    let tokens = numbers.chunks(5).map(|it| {
        character = if it[0] == 0 { character + it[1] } else { it[1] };
        line += it[0];
        let [start, end] = [character, character + it[2]].map(|it| wire::Position { line, character: it });
        let span = Span::new(lines.offset(start), lines.offset(end));
        (u64::from(it[3]), text[span.range()].to_owned())
    });
    tokens.collect()
}

#[test]
fn the_structure_of_a_workflow_and_its_prompt() {
    let (_folder, [flow, prompt]) = folder();
    let mut server = TestServer::new();
    server.open(&flow, "orange-workflow", 1, FLOW);
    server.open(&prompt, "markdown", 1, "# Do\n🦀 {summary}\n");

    let symbols = server.ask("textDocument/documentSymbol", about(&flow)).unwrap();
    let names: Vec<_> = symbols.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!((names, &symbols[0]["children"][0]["name"]), (vec!["pending", "done", "p"], &json!("→ done")));

    let folds = server.ask("textDocument/foldingRange", about(&flow)).unwrap();
    assert_eq!(folds[0], json!({"startLine": 1, "endLine": 3}));

    let position = json!({"line": 5, "character": 14});
    let params = json!({"textDocument": {"uri": flow}, "positions": [position]});
    let selected = server.ask("textDocument/selectionRange", params).unwrap();
    assert_eq!(selected[0]["range"]["start"], json!({"line": 5, "character": 13}));
    assert_eq!(selected[0]["range"]["end"], json!({"line": 5, "character": 20}));
    assert!(selected[0]["parent"]["parent"].is_object());

    let links = server.ask("textDocument/documentLink", about(&flow)).unwrap();
    assert_eq!(links[0]["target"], json!(prompt));

    for (uri, text, expected) in [
        (&flow, FLOW, "flow pending done pending done p do/p.md"),
        (&prompt, "# Do\n🦀 {summary}\n", "# Do summary"),
    ] {
        let tokens = server.ask("textDocument/semanticTokens/full", about(uri)).unwrap();
        let words: Vec<_> = read_tokens(text, Encoding::Utf16, &tokens).into_iter().map(|it| it.1).collect();
        assert_eq!(words.join(" "), expected);
    }
    server.idle();
    server.published();
}

#[test]
fn formatting_gives_the_bytes_of_fmt() {
    let mut server = TestServer::new();
    let mut changed = 0;
    for path in files(&["tests/realistic", "workflows"]).into_iter().step_by(3) {
        let text = std::fs::read_to_string(&path).unwrap().replace(": {", ":   {").replace("\n\n", "\n\n\n");
        let uri = uri::of(&path);
        let is_toml = uri.ends_with(".toml");
        server.open(&uri, if is_toml { "orange-workflow-toml" } else { "orange-workflow" }, 1, &text);
        let options = json!({"tabSize": 2, "insertSpaces": true});
        let params = json!({"textDocument": {"uri": uri}, "options": options});
        let answer = server.ask("textDocument/formatting", params);
        if is_toml {
            assert_eq!(answer, Ok(Value::Null));
        } else if let Ok(formatted) = format(&Source::new(uri.as_str(), text.as_str())) {
            let edits: Vec<wire::TextEdit> = serde_json::from_value(answer.unwrap()).unwrap();
            let lines = Lines::new(&text, Encoding::Utf16);
            let mut out = text.clone();
            for edit in edits.iter().rev() {
                out.replace_range(lines.span(edit.range).range(), &edit.new_text);
            }
            assert_eq!(out, formatted, "{}", path.display());
            changed += usize::from(!edits.is_empty());
        }
        server.close(&uri);
    }
    assert!(changed > 2, "{changed}");
    let uri = "untitled:1";
    server.open(uri, "orange-workflow", 1, "states: [\n");
    let params = json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}});
    let refused = server.ask("textDocument/formatting", params).unwrap_err();
    assert_eq!(refused, "the syntax has a fault: mend it, then format");
    server.idle();
    server.published();
}
