//! Findings as the client gets them.

use std::fs;

use serde_json::json;

use super::*;

/// A folder with these files, and the address of one of them.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, impl Fn(&str) -> String + use<>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = folder.path().to_owned();
    (folder, move |name: &str| uri::of(&root.join(name)))
}

const MINIMAL: &str = include_str!("../../../templates/workflow.yml");

/// Each finding as its code and the first line of its message.
fn shown(findings: &[wire::Diagnostic]) -> Vec<(&str, &str)> {
    findings.iter().map(|it| (code_of(it), text_of(it).lines().next().unwrap_or_default())).collect()
}

#[test]
fn findings_come_at_once_and_again_after_the_whole_check() {
    let (_folder, uri) = folder(&[]);
    let uri = uri("flow.yml");
    let mut server = TestServer::new();
    server.open(&uri, "yaml", 7, MINIMAL);
    server.idle();
    let versions: Vec<_> = server.published().iter().map(|it| it.version).collect();
    assert_eq!(versions, [Some(7), Some(7)]);
    server.change(&uri, 8, json!([{"text": MINIMAL.replace("states:", "stats:")}]));
    let found = server.findings(&uri);
    assert!(shown(&found).iter().any(|it| it.1.contains("stats")), "{found:?}");
    server.close(&uri);
    server.idle();
    let closed = server.published();
    assert_eq!(closed.len(), 1);
    assert_eq!((closed[0].version, closed[0].diagnostics.len()), (None, 0));
}

#[test]
fn files_of_other_programs_are_left_alone() {
    let (_folder, uri) = folder(&[]);
    let mut server = TestServer::new();
    let states = "name: ci\nstates: {}\n";
    for (name, text) in [
        (".github/workflows/ci.yml", states),
        ("compose.yml", "services: {}\n"),
        ("broken.yml", "services: [\n"),
        ("notes.md", states),
    ] {
        server.open(&uri(name), "yaml", 1, text);
        server.change(&uri(name), 2, json!([{"text": format!("{text}# more\n")}]));
        server.save(&uri(name));
        server.close(&uri(name));
    }
    server.idle();
    assert_eq!((server.published().len(), server.status().started), (0, 0));
}

#[test]
fn a_file_that_becomes_another_one_loses_its_findings() {
    let (_folder, uri) = folder(&[]);
    let uri = uri("flow.yml");
    let mut server = TestServer::new();
    server.open(&uri, "yaml", 1, "states: {}\n");
    assert!(!server.findings(&uri).is_empty());
    server.change(&uri, 2, json!([{"text": "services: {}\n"}]));
    server.idle();
    let published = server.published();
    assert_eq!(published.last().map(|it| it.diagnostics.len()), Some(0));
}

#[test]
fn a_configuration_decides_levels_and_is_read_again() {
    let (folder, uri) = folder(&[]);
    let uri = uri("other-name.yml");
    let mut server = TestServer::new();
    server.open(&uri, "yaml", 1, MINIMAL);
    let codes =
        |found: Vec<wire::Diagnostic>| found.iter().map(|it| code_of(it).to_owned()).collect::<Vec<_>>();
    let before = codes(server.findings(&uri));
    assert!(!before.is_empty());
    let allow: Vec<_> = before.iter().map(|it| format!("{it} = \"allow\"\n")).collect();
    fs::write(folder.path().join("orange-workflow.toml"), format!("[lints]\n{}", allow.concat())).unwrap();
    server.save(&uri);
    assert_eq!(codes(server.findings(&uri)), [""; 0]);
}

#[test]
fn a_configuration_with_an_error_is_reported_once() {
    let (_folder, uri) = folder(&[("orange-workflow.toml", "[lints]\nnonsense = \"allow\"\n")]);
    let uri = uri("flow.yml");
    let mut server = TestServer::new();
    server.open(&uri, "yaml", 1, MINIMAL);
    server.idle();
    server.save(&uri);
    server.idle();
    let logged: Vec<String> = server.logged.drain(..).collect();
    assert_eq!(logged.len(), 1);
    assert!(logged[0].contains("nonsense"), "{logged:?}");
    server.published();
}

#[test]
fn scenarios_fail_where_their_expectation_stands() {
    let scenarios = "scenarios:\n  - name: it starts\n    steps:\n      - {request: working, by: human, expect: {status: nowhere}}\n";
    let (_folder, uri) = folder(&[("flow.yml", MINIMAL), ("flow.test.yml", scenarios)]);
    let mut server = TestServer::new();
    server.open(&uri("flow.test.yml"), "yaml", 1, scenarios);
    let found = server.findings(&uri("flow.test.yml"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((code_of(&found[0]), found[0].range.start.line), ("scenario", 3));
    // The workflow of the open editor counts, and not that on the disk.
    server.open(&uri("flow.yml"), "yaml", 1, "states: [\n");
    let found = server.findings(&uri("flow.test.yml"));
    assert!(text_of(&found[0]).contains("has an error"), "{found:?}");
}

#[test]
fn a_request_that_nobody_knows_is_refused() {
    let mut server = TestServer::new();
    let refused = server.ask("textDocument/nonsense", json!({})).unwrap_err();
    assert_eq!(refused, "the server has no method `textDocument/nonsense`");
    assert!(server.ask("orange/recognise", json!({"uri": 1})).unwrap_err().contains("cannot be read"));
    server.notify("textDocument/didOpen", json!({"textDocument": 1}));
    server.idle();
    assert_eq!(server.logged.drain(..).count(), 1);
}

#[test]
fn an_editor_asks_which_language_a_document_is_in() {
    let (_folder, uri) = folder(&[("flow.yml", MINIMAL)]);
    let mut server = TestServer::new();
    let mut of = |name: &str| {
        let params = json!({"textDocument": {"uri": uri(name)}});
        server.ask("orange/recognise", params).unwrap()["languageId"].clone()
    };
    assert_eq!(of("flow.yml"), json!("orange-workflow"));
    assert_eq!(of("absent.yml"), json!(null));
}

#[test]
fn findings_in_a_prompt_file_appear_in_that_file() {
    let (flow, _) = MINIMAL.split_once("prompts:\n").unwrap();
    let flow = format!("{flow}prompts:\n  worker: {{include: extra.md}}\n");
    let prompt = "Write ## Handoff.\n\nThen run: {orange} task update --status nowhere\n";
    let (_folder, uri) = folder(&[("flow.yml", &flow), ("extra.md", prompt)]);
    let mut server = TestServer::new();
    server.open(&uri("flow.yml"), "yaml", 1, &flow);
    server.idle();
    let published = server.published();
    let in_file = |published: &[wire::PublishDiagnosticsParams]| {
        let last = published.iter().rfind(|it| it.uri.0 == uri("extra.md"));
        last.map(|it| it.diagnostics.iter().map(|it| it.range.start.line).collect::<Vec<_>>())
    };
    assert_eq!(in_file(&published), Some(vec![2]), "{published:?}");
    // The text of the open editor counts, and not that on the disk.
    server.open(&uri("extra.md"), "markdown", 1, &format!("# Task\n\n{prompt}"));
    server.idle();
    let published = server.published();
    assert_eq!(in_file(&published), Some(vec![4]), "{published:?}");
    server.change(&uri("extra.md"), 2, json!([{"text": "Write ## Handoff.\n"}]));
    server.idle();
    let published = server.published();
    assert_eq!(in_file(&published), Some(vec![]), "{published:?}");
    server.change(&uri("extra.md"), 3, json!([{"text": prompt}]));
    server.idle();
    server.close(&uri("flow.yml"));
    server.idle();
    assert_eq!(in_file(&server.published()), Some(vec![]));
}

/// A workflow whose search takes long: seven reviewers, whose verdicts come in any order.
fn with_large_search() -> String {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let panel = fs::read_to_string(fixtures.join("panel.yml")).unwrap();
    let reviewer = "      - {action: spawn_agent, as: reviewer, name: style, prompt: review}\n";
    let more = (0..5).map(|it| reviewer.replace("style", &format!("reviewer-{it}"))).collect::<String>();
    panel.replace(reviewer, &format!("{reviewer}{more}"))
}

#[test]
fn an_edit_stops_the_search_and_one_runs_at_most() {
    let (_folder, uri) = folder(&[]);
    let uri = uri("panel.yml");
    let mut server = TestServer::new();
    server.open(&uri, "yaml", 0, &with_large_search());
    let mut shown = 0;
    for version in 1..=20 {
        loop {
            let status = server.status();
            assert!(status.started - status.stopped - status.finished <= 1, "{status:?}");
            if status.started == version {
                break;
            }
        }
        let key = json!([{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "#\n"}]);
        server.change(&uri, version as i32, key);
        server.save(&uri);
        for published in server.published() {
            let of = published.version.unwrap();
            assert!(of >= shown && of <= version as i32);
            shown = of;
        }
    }
    server.close(&uri);
    server.idle();
    let status = server.status();
    assert!(status.stopped > 0, "{status:?}");
    assert_eq!(status.started, status.stopped + status.finished);
    server.published();
}

#[test]
fn a_document_may_be_opened_again_with_a_lower_version() {
    let (_folder, uri) = folder(&[]);
    let uri = uri("panel.yml");
    let mut server = TestServer::new();
    server.open(&uri, "yaml", 9, &with_large_search());
    while server.status().started == 0 {}
    server.close(&uri);
    server.open(&uri, "yaml", 1, "states: {}\n");
    server.idle();
    let published = server.published();
    let closed = published.iter().position(|it| it.version.is_none()).unwrap();
    assert!(published[closed + 1..].iter().all(|it| it.version == Some(1)), "{published:?}");
    assert_eq!(server.status().stopped, 1);
}
