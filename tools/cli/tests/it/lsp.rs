//! The language server as a process, as an editor starts it.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

use crate::scratch::Scratch;

/// An editor and the process of its server.
struct ServerProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: i32,
    /// Messages of the server, each with the method that it is about.
    said: Vec<Value>,
}

impl ServerProcess {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, requests: 0, said: Vec::new() }
    }

    fn initialized(scratch: &Scratch, process: Option<u32>) -> Self {
        let mut server = Self::start(&mut scratch.command(&["lsp", "--stdio"]));
        server.ask("initialize", json!({"processId": process, "rootUri": null, "capabilities": {}}));
        server.notify("initialized", json!({}));
        server
    }

    fn send(&mut self, message: Message) {
        message.write(self.input.as_mut().unwrap()).unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// The answer to a request; null if it is refused.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        self.send(Request::new(self.requests.into(), method.to_owned(), params).into());
        loop {
            let message = Message::read(&mut self.output).unwrap().unwrap();
            let about = match &message {
                Message::Response(_) => method.to_owned(),
                Message::Notification(it) => it.method.clone(),
                Message::Request(it) => it.method.clone(),
            };
            let mut written = serde_json::to_value(&message).unwrap();
            written["jsonrpc"] = json!("2.0");
            self.said.push(json!({"method": about, "message": written}));
            if let Message::Response(it) = message {
                return it.response_result.unwrap_or_default();
            }
        }
    }

    /// Waits until no check runs or waits.
    fn idle(&mut self) {
        while self.ask("orange/status", Value::Null)["isIdle"] != json!(true) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Closes its input, and gives its exit status and what it says on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), err)
    }
}

#[test]
fn it_ends_with_its_editor() {
    let scratch = Scratch::new();
    let mut orderly = ServerProcess::initialized(&scratch, None);
    orderly.ask("shutdown", Value::Null);
    orderly.notify("exit", Value::Null);
    assert_eq!(orderly.end(), (Some(0), String::new()));

    let mut without_shutdown = ServerProcess::initialized(&scratch, None);
    without_shutdown.notify("exit", Value::Null);
    assert_eq!(without_shutdown.end(), (Some(1), String::new()));

    assert_eq!(ServerProcess::initialized(&scratch, None).end(), (Some(1), String::new()));
    let never_asked = ServerProcess::start(&mut scratch.command(&["lsp"]));
    assert_eq!(never_asked.end(), (Some(1), String::new()));
}

#[test]
fn it_ends_if_the_process_of_its_editor_is_gone() {
    let scratch = Scratch::new();
    let mut editor = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut server = ServerProcess::initialized(&scratch, Some(editor.id()));
    drop(editor.stdin.take());
    editor.wait().unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}

#[test]
fn what_is_not_a_message_ends_it_with_a_reason() {
    let scratch = Scratch::new();
    let mut server = ServerProcess::initialized(&scratch, None);
    server.input.as_mut().unwrap().write_all(b"Content-Length: 3\r\n\r\n{]}").unwrap();
    let (exit, err) = server.end();
    assert_eq!(exit, Some(2));
    assert!(
        err.starts_with("error: the editor and the language server do not understand each other"),
        "{err}"
    );
    let run = scratch.run_with_stdin(&["lsp"], "hello\r\n\r\n");
    assert_eq!(run.exit, 2, "{}", run.err);
}

/// Programs with the names that workflows use, each of which leaves a file behind.
fn traps(scratch: &Scratch) -> (std::path::PathBuf, std::path::PathBuf) {
    let (folder, trace) = (scratch.path().join("bin"), scratch.path().join("was-run"));
    for name in ["git", "sh", "make", "tool", "tmux", "orange"] {
        let script = format!("#!/bin/sh\necho {name} >> {}\n", trace.display());
        scratch.write(&format!("bin/{name}"), script);
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    (folder, trace)
}

#[test]
fn it_runs_nothing_of_a_workflow() {
    let scratch = Scratch::new();
    let (bin, trace) = traps(&scratch);
    let workflow = "\
name: flow
commands: {cancel: done}
states: {pending: {}, later: {}, done: {terminal: true}}
transitions:
  - from: pending
    to: later
    gate: {command: {argv: [make, test]}}
    hooks: [{action: run_command, argv: [tool, \"; sh -c true\"]}]
  - {from: later, to: pending, gate: {command: {argv: [git, status]}}}
  - {from: [pending, later], to: done}
";
    let scenarios =
        "scenarios:\n  - name: one\n    steps: [{request: later, by: human, expect: {status: later}}]\n";
    scratch.write("flow.yml", workflow);
    scratch.write("flow.test.yml", scenarios);
    fs::create_dir(scratch.path().join(".git")).unwrap();
    scratch.write(".git/HEAD", "ref: refs/heads/main\n");
    let mut command = scratch.command(&["lsp"]);
    let mut server = ServerProcess::start(command.env("PATH", &bin));
    server.ask("initialize", json!({"processId": null, "rootUri": null, "capabilities": {}}));
    server.notify("initialized", json!({}));
    for (name, text) in [("flow.yml", workflow), ("flow.test.yml", scenarios)] {
        let uri = format!("file://{}", scratch.path().join(name).display());
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        server.notify("textDocument/didOpen", json!({"textDocument": document}));
        server.idle();
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 10, "character": 0}});
        let context = json!({"diagnostics": []});
        let document = json!({"uri": uri});
        server.ask(
            "textDocument/codeAction",
            json!({"textDocument": document, "range": range, "context": context}),
        );
    }
    assert_eq!(server.ask("orange/status", Value::Null)["finished"], json!(2));
    server.ask("shutdown", Value::Null);
    server.notify("exit", Value::Null);
    assert_eq!(server.end(), (Some(0), String::new()));
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap());
}

/// The requests about a document, and the capability that says that the server answers them.
const REQUESTS: &[(&str, &str)] = &[
    ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    ("codeActionProvider", "textDocument/codeAction"),
    ("codeLensProvider", "textDocument/codeLens"),
    ("completionProvider", "textDocument/completion"),
    ("definitionProvider", "textDocument/definition"),
    ("documentFormattingProvider", "textDocument/formatting"),
    ("documentHighlightProvider", "textDocument/documentHighlight"),
    ("documentLinkProvider", "textDocument/documentLink"),
    ("documentSymbolProvider", "textDocument/documentSymbol"),
    ("foldingRangeProvider", "textDocument/foldingRange"),
    ("hoverProvider", "textDocument/hover"),
    ("implementationProvider", "textDocument/implementation"),
    ("inlayHintProvider", "textDocument/inlayHint"),
    ("referencesProvider", "textDocument/references"),
    ("selectionRangeProvider", "textDocument/selectionRange"),
    ("semanticTokensProvider", "textDocument/semanticTokens/full"),
];

/// Requests that are about no place in a document.
fn others(uri: &str) -> [(&'static str, Value); 5] {
    let page = format!("orange:/proof.txt?{}", uri.replace(':', "%3A").replace('/', "%2F"));
    let zero = json!({"line": 0, "character": 0});
    let range = json!({"start": zero, "end": zero});
    let item = json!({"name": "working", "kind": 5, "uri": uri, "range": range, "selectionRange": range});
    [
        ("workspace/executeCommand", json!({"command": "orange.showPage", "arguments": [page]})),
        ("workspace/executeCommand", json!({"command": "orange.explain", "arguments": ["C46"]})),
        ("workspace/textDocumentContent", json!({"uri": page})),
        ("callHierarchy/incomingCalls", json!({"item": item})),
        ("callHierarchy/outgoingCalls", json!({"item": item})),
    ]
}

#[test]
fn every_message_is_one_of_the_protocol() {
    let types = match protocol_types() {
        Ok(types) => types,
        Err(reason) => {
            println!("SKIPPED: messages against the model of the protocol: {reason}");
            return;
        }
    };
    let scratch = Scratch::new();
    let mut server = ServerProcess::start(&mut scratch.command(&["lsp"]));
    let refreshed = json!({"refreshSupport": true});
    let capabilities = json!({
        "window": {"showDocument": {"support": true}},
        "workspace": {
            "workspaceEdit": {"documentChanges": true},
            "codeLens": refreshed, "inlayHint": refreshed, "semanticTokens": refreshed,
            "textDocumentContent": {},
        },
    });
    let initialize = json!({"processId": null, "rootUri": null, "capabilities": capabilities});
    let answer = server.ask("initialize", initialize);
    server.notify("initialized", json!({}));
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    for name in ["diagnostics/a01-unknown-to.yml", "realistic/hotfix.yml", "fixtures/panel.yml"] {
        let text = fs::read_to_string(fixtures.join(name)).unwrap();
        let uri = format!("file:///{name}");
        let document = json!({"uri": uri, "languageId": "orange-workflow", "version": 1, "text": text});
        server.notify("textDocument/didOpen", json!({"textDocument": document}));
        server.idle();
        for line in [0, 4, 8, 16, 24] {
            let at = json!({"line": line, "character": 12});
            let params = json!({
                "textDocument": {"uri": uri},
                "position": at,
                "positions": [at],
                "range": {"start": {"line": 0, "character": 0}, "end": at},
                "options": {"tabSize": 2, "insertSpaces": true},
                "context": {"diagnostics": [], "includeDeclaration": true},
            });
            for (capability, method) in REQUESTS {
                if !answer["capabilities"][capability].is_null() {
                    server.ask(method, params.clone());
                }
            }
        }
    }
    for (method, params) in others("file:///realistic/hotfix.yml") {
        assert!(!server.ask(method, params).is_null(), "{method}");
    }
    server.ask("shutdown", Value::Null);
    let is_ours = |it: &&Value| it["method"].as_str().is_some_and(|it| it.starts_with("orange/"));
    let said = server.said.iter().filter(|it| !is_ours(it) && it["message"]["error"].is_null());
    let said: Vec<String> = said.map(|it| format!("{it}\n")).collect();
    assert!(said.len() > 10);
    scratch.write("said", said.concat());
    server.notify("exit", Value::Null);
    server.end();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol/validate.py");
    let input = fs::File::open(scratch.path().join("said")).unwrap();
    let output = Command::new("python3").arg(script).env("PYTHONPATH", types).stdin(input).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Installs the types of the protocol below the target folder, once; or says why that is not possible here.
fn protocol_types() -> Result<std::path::PathBuf, String> {
    let requirements =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol/requirements.txt");
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (folder, begun) = (cache.join("lsprotocol-2025.0.0"), cache.join("lsprotocol-new"));
    if !folder.exists() {
        fs::create_dir_all(&begun).map_err(|error| format!("{}: {error}", begun.display()))?;
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"];
        let from = ["--require-hashes", "--upgrade", "--target", ".", "-r", &requirements.to_string_lossy()];
        crate::neovim::python(&begun, &[&install[..], &from].concat())?;
        fs::rename(&begun, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    Ok(folder)
}
