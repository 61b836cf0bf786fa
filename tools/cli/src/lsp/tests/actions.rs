//! Code actions do what `check --fix` does, and findings stand where `check` says.

use std::path::Path;

use orange_codegen::editor_lines::Encoding;
use orange_codegen::{Level, PromptFiles, Source};
use serde_json::json;

use super::super::convert::Lines;
use super::super::wire;
use super::*;
use crate::fix::{Reach, mend};

/// The actions of these kinds over the whole text.
fn actions(server: &mut TestServer, uri: &str, only: Value) -> Vec<wire::CodeAction> {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100_000, "character": 0}});
    let context = json!({"diagnostics": [], "only": only});
    let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
    let answer = server.ask("textDocument/codeAction", params).unwrap();
    serde_json::from_value(answer).unwrap()
}

/// The text after the edit of an action, which edits this document alone.
fn applied(text: &str, uri: &str, action: &wire::CodeAction) -> String {
    let changes = action.edit.as_ref().and_then(|it| it.changes.as_ref()).unwrap();
    assert_eq!(changes.len(), 1);
    let lines = Lines::new(text, Encoding::Utf16);
    let edits = &changes[&wire::Uri::from(uri)];
    let mut edits: Vec<_> = edits.iter().map(|it| (lines.span(it.range), &it.new_text)).collect();
    edits.sort_by_key(|it| std::cmp::Reverse(it.0));
    let mut out = text.to_owned();
    for (span, new) in edits {
        out.replace_range(span.range(), new);
    }
    out
}

fn source(path: &Path, text: &str) -> Source {
    Source::new(path.to_string_lossy(), text).with_files(PromptFiles::beside(path))
}

/// The files with mistakes, or every sixth of them.
fn mistakes() -> Vec<PathBuf> {
    let mut all = files(&["tests/diagnostics"]);
    // An editor opens text alone.
    all.retain(|path| std::fs::read_to_string(path).is_ok());
    let step = if is_whole() { 1 } else { 6 };
    all.into_iter().step_by(step).collect()
}

/// The language as which an editor opens a workflow.
fn language_of(uri: &str) -> &'static str {
    if uri.ends_with(".toml") { "orange-workflow-toml" } else { "orange-workflow" }
}

#[test]
fn every_safe_fix_gives_the_bytes_of_check_fix() {
    let (mut server, mut fixed) = (TestServer::new(), 0);
    for path in mistakes() {
        let text = std::fs::read_to_string(&path).unwrap();
        let expect = mend(&text, Reach::Safe, |text| orange_analysis::lint(&source(&path, text)).diagnostics);
        let uri = uri::of(&path);
        server.open(&uri, language_of(&uri), 1, &text);
        let offered = actions(&mut server, &uri, json!(["source.fixAll"]));
        let found = offered.first().map_or_else(|| text.clone(), |it| applied(&text, &uri, it));
        assert_eq!(found, expect.text, "{}", path.display());
        fixed += usize::from(found != text);
        server.close(&uri);
    }
    assert!(fixed > 0);
    server.idle();
    server.published();
}

#[test]
fn mistakes_stand_where_check_says() {
    let mut server = TestServer::new();
    for path in mistakes() {
        let text = std::fs::read_to_string(&path).unwrap();
        let uri = uri::of(&path);
        server.open(&uri, language_of(&uri), 1, &text);
        let found = server.findings(&uri);
        let found: Vec<_> = found.iter().map(|it| (code_of(it), it.range)).collect();
        let lines = Lines::new(&text, Encoding::Utf16);
        let compilation = orange_analysis::lint(&source(&path, &text));
        let expect =
            compilation.diagnostics.iter().filter(|it| it.level != Level::Allow && it.file.is_none());
        let expect: Vec<_> = expect.map(|it| (it.code(), lines.range(it.span))).collect();
        assert_eq!(found, expect, "{}", path.display());
        server.close(&uri);
    }
    server.idle();
    server.published();
}

#[test]
fn an_unknown_state_is_declared_and_its_check_explained() {
    let text = "name: a\ncommands: {cancel: done}\nstates:\n  pending: {}\n  done: {terminal: true}\ntransitions:\n  - {from: pending, to: workng}\n  - {from: pending, to: done}\n";
    let uri = "untitled:Untitled-1";
    let mut server = TestServer::new();
    server.open(uri, "orange-workflow", 1, text);
    let offered = actions(&mut server, uri, json!(["quickfix"]));
    let titles: Vec<_> = offered.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["declare the state `workng`", "explain A01 unknown-to"]);
    assert!(applied(text, uri, &offered[0]).contains("  workng: {}\n"));
    let command = json!({"command": "orange.explain", "arguments": ["A01"]});
    let page = server.ask("workspace/executeCommand", command).unwrap();
    assert!(page.as_str().unwrap().starts_with("# A01 unknown-to"), "{page}");
    assert_eq!(server.asked().len(), 1);
    server.idle();
    server.published();
}

#[test]
fn a_finding_is_allowed_by_a_comment() {
    let text = "name: other\ncommands: {cancel: done}\nstates:\n  pending: {}\n  done: {terminal: true}\ntransitions:\n  - {from: pending, to: done}\n";
    let uri = "file:///flows/flow.yml";
    let mut server = TestServer::new();
    server.open(uri, "yaml", 1, text);
    assert_eq!(server.findings(uri).iter().map(code_of).collect::<Vec<_>>(), ["S06"]);
    let offered = actions(&mut server, uri, json!(["quickfix"]));
    let allow = offered.iter().find(|it| it.title.starts_with("allow S06")).unwrap();
    let allowed = applied(text, uri, allow);
    assert_eq!(allowed, format!("# orange: allow(name-mismatch)\n{text}"));
    server.change(uri, 2, json!([{"text": allowed}]));
    assert_eq!(server.findings(uri).iter().map(code_of).collect::<Vec<_>>(), ["S11"]);
}

#[test]
fn a_finding_in_a_prompt_file_is_fixed_there() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "name: flow\ncommands: {cancel: done}\nstates:\n  pending: {}\n  working: {respawn_prompt: work}\n  done: {terminal: true}\n\
        transitions:\n  - {from: pending, to: working, hooks: [{action: spawn_agent, prompt: work}]}\n  - {from: [pending, working], to: done}\n\
        prompts:\n  work: {include: work.md}\n";
    let prompt = "Do {sumary}, then run: {orange} task update --status done\n";
    let uri = |name: &str| crate::lsp::uri::of(&folder.path().join(name));
    let mut server = TestServer::new();
    server.open(&uri("work.md"), "markdown", 1, prompt);
    server.open(&uri("flow.yml"), "orange-workflow", 1, flow);
    server.idle();
    server.published();
    let offered = actions(&mut server, &uri("work.md"), json!(["quickfix"]));
    let fixed: Vec<String> = offered.iter().map(|it| applied(prompt, &uri("work.md"), it)).collect();
    assert_eq!(fixed, [prompt.replace("sumary", "summary")], "{offered:?}");
    server.idle();
    server.published();
}
