//! Commands of lenses, and the pages that they show.

use std::fs;
use std::path::Path;

use orange_codegen::editor_lines::Encoding;
use orange_system::exec::ProgramCall;
use serde_json::{Value, json};

use super::{TestServer, uri};

const DEFAULT: &str = include_str!("../../../../../workflows/default.yml");

/// A client that shows documents, and asks for those that the server writes.
fn with_pages() -> Value {
    json!({
        "window": {"showDocument": {"support": true}},
        "workspace": {"textDocumentContent": {}},
    })
}

/// The workflow that ships, which has scenarios beside it.
fn shipped(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows").canonicalize().unwrap();
    uri::of(&folder.join(name))
}

fn opened(options: Value, client: Value, uri: &str, text: &str) -> TestServer {
    let mut server = TestServer::of_client(Encoding::Utf16, options, client);
    server.open(uri, "orange-workflow", 1, text);
    server.idle();
    server.published();
    server
}

fn lenses(server: &mut TestServer, uri: &str) -> Vec<Value> {
    let lenses = server.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}})).unwrap();
    lenses.as_array().unwrap().iter().map(|it| it["command"].clone()).collect()
}

#[test]
fn a_click_on_a_lens_shows_a_page_of_its_text() {
    let uri = shipped("default.yml");
    let mut server = opened(json!(null), with_pages(), &uri, DEFAULT);
    let lenses = lenses(&mut server, &uri);
    let mut texts = Vec::new();
    for lens in lenses.iter().filter(|it| it["command"] == "orange.showPage") {
        let call = json!({"command": "orange.showPage", "arguments": lens["arguments"]});
        let text = server.ask("workspace/executeCommand", call).unwrap();
        let asked = server.asked();
        let [(method, shown)] = asked.as_slice() else { panic!("{asked:?}") };
        assert_eq!((method.as_str(), &shown["uri"]), ("window/showDocument", &lens["arguments"][0]));
        let content = server.ask("workspace/textDocumentContent", json!({"uri": shown["uri"]})).unwrap();
        assert_eq!(content["text"], text);
        assert_eq!(server.ask("orange/page", json!({"uri": shown["uri"]})).unwrap()["text"], text);
        texts.push(text.as_str().unwrap().to_owned());
    }
    assert_eq!(texts.len(), 2 + 8, "{lenses:?}");
    assert!(texts[0].contains("8 properties: 8 proved"), "{}", texts[0]);
    assert!(texts[1].contains(" passed, 0 failed"), "{}", texts[1]);
    let at = lenses.iter().position(|it| it["arguments"][0].as_str().unwrap().contains("contract/working."));
    let working = lenses[at.unwrap()]["arguments"][0].clone();
    let text = server.ask("orange/page", json!({"uri": working})).unwrap();
    assert!(text["text"].as_str().unwrap().contains("## Handoff"), "{text}");
    let unknown = server.ask("orange/page", json!({"uri": "orange:/nonsense.txt?a"}));
    assert!(unknown.is_err_and(|it| it.starts_with("orange:/nonsense.txt?a is not the address")));
    let other = server.ask("orange/page", json!({"uri": "orange:/proof.txt?file%3A%2F%2F%2Fnowhere.yml"}));
    assert!(other.is_err_and(|it| it == "file:///nowhere.yml is not a workflow"));
}

#[test]
fn a_client_without_pages_gets_their_text_in_a_message() {
    let uri = "file:///w/default.yml";
    let mut server = opened(json!(null), json!({}), uri, DEFAULT);
    let call = json!({"command": "orange.explain", "arguments": ["C46"]});
    let text = server.ask("workspace/executeCommand", call).unwrap();
    let asked = server.asked();
    let [(method, shown)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((method.as_str(), &shown["message"]), ("window/showMessage", &text));
    assert!(text.as_str().unwrap().contains("crash-no-stuck"), "{text}");
    let call = json!({"command": "orange.nonsense", "arguments": [""]});
    let refused = server.ask("workspace/executeCommand", call).unwrap_err();
    assert_eq!(refused, "`orange.nonsense` is not a command of this server");
}

#[test]
fn a_client_that_can_simulate_has_a_lens_for_that() {
    let uri = "file:///w/default.yml";
    let simulated = |options: Value| {
        let mut server = opened(options, json!({}), uri, DEFAULT);
        let lenses = lenses(&mut server, uri).into_iter();
        lenses.filter(|it| it["command"] == "orange.simulate").map(|it| it["arguments"][0].clone()).collect()
    };
    let without: Vec<Value> = simulated(json!(null));
    let with: Vec<Value> = simulated(json!({"commands": ["orange.simulate"]}));
    assert!(without.is_empty() && with.contains(&json!({"uri": uri, "state": "working"})), "{with:?}");
}

#[test]
fn scenarios_run_once_for_each_text() {
    for (name, has) in [("default.yml", "pass"), ("dev-task.toml", "10 pass")] {
        let uri = shipped(name);
        let text = fs::read_to_string(crate::lsp::uri::path(&uri)).unwrap();
        let mut server = TestServer::new();
        server.open(&uri, "", 1, &text);
        let title = |server: &mut TestServer| {
            let lenses = lenses(server, &uri);
            let titles = lenses.iter().map(|it| it["title"].as_str().unwrap().to_owned());
            titles.filter(|it| it.starts_with("scenarios: ")).collect::<String>()
        };
        let first = title(&mut server);
        assert!(first.contains(has), "{first}");
        assert_eq!((title(&mut server), server.status().scenario_runs), (first.clone(), 1));
        server.change(&uri, 2, json!([{"text": format!("{text}# more\n")}]));
        assert_eq!((title(&mut server), server.status().scenario_runs), (first, 2));
        server.idle();
        server.published();
    }
}

#[test]
fn what_depends_on_a_check_is_asked_for_again() {
    let uri = "file:///w/default.yml";
    let mut client = with_pages();
    for of in ["codeLens", "inlayHint", "semanticTokens"] {
        client["workspace"][of] = json!({"refreshSupport": true});
    }
    let mut server = opened(json!(null), client, uri, DEFAULT);
    let methods = |server: &mut TestServer| -> Vec<String> {
        server.asked().into_iter().map(|it| it.0.replace("workspace/", "")).collect()
    };
    let refreshed = ["codeLens/refresh", "inlayHint/refresh", "semanticTokens/refresh"];
    assert_eq!(methods(&mut server), refreshed);
    let page = json!({"uri": "orange:/proof.txt?file%3A%2F%2F%2Fw%2Fdefault.yml"});
    server.ask("workspace/textDocumentContent", page).unwrap();
    server.save(uri);
    server.idle();
    server.published();
    assert_eq!(methods(&mut server), [&refreshed[..], &["textDocumentContent/refresh"]].concat());
}

#[test]
fn changes_since_the_last_commit_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
        let call = ProgramCall::new("git").args(identity).args(args).folder(folder.path());
        call.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").text().unwrap()
    };
    let uri = uri::of(&folder.path().join("default.yml"));
    git(&["init", "-q"]);
    fs::write(folder.path().join("default.yml"), DEFAULT).unwrap();
    let unbounded = DEFAULT.replace("    when: \"review_round < 2\"\n", "");
    let mut server = opened(json!(null), with_pages(), &uri, &unbounded);
    let call = json!({"command": "orange.showChanges", "arguments": [uri]});
    let none = server.ask("workspace/executeCommand", call.clone()).unwrap_err();
    assert!(none.starts_with("no commit has default.yml: "), "{none}");
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    let text = server.ask("workspace/executeCommand", call.clone()).unwrap();
    let text = text.as_str().unwrap();
    assert!(text.contains("refuted, and it was proved") && text.contains("New findings"), "{text}");
    server.change(&uri, 2, json!([{"text": DEFAULT}]));
    let same = server.ask("workspace/executeCommand", call).unwrap();
    assert_eq!(same, "default.yml is as in the last commit.\n");
    assert_eq!(server.asked().len(), 2);
    server.idle();
    server.published();
}

#[test]
fn a_large_search_answers_before_its_end() {
    let uri = "file:///w/default.yml";
    let text = DEFAULT.replacen("      fresh: true\n    reset", "    reset", 1);
    let published = |options: Value| {
        let mut server = TestServer::with(Encoding::Utf16, options);
        server.open(uri, "orange-workflow", 1, &text);
        server.idle();
        server.published()
    };
    let (at_once, in_parts) = (published(json!(null)), published(json!({"firstSteps": 300})));
    assert_eq!((at_once.len(), in_parts.len()), (2, 3));
    assert_eq!(at_once.last(), in_parts.last());
    let is_undecided = |it: &super::wire::Diagnostic| super::code_of(it) == "A10";
    assert!(!in_parts[1].diagnostics.iter().any(is_undecided), "{:?}", in_parts[1]);
}
