//! The server, in this process, and a client that fails if the test has not looked at every message.

mod actions;
mod checks;
mod clicks;
mod hierarchy;
mod pictures;
mod structure;
mod text;
mod typist;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, Response};
use orange_codegen::editor_lines::Encoding;
use serde_json::{Value, json};

use super::server::{ServerEnd, serve};
use super::wire::{self, Notification as _};
use super::{convert, uri};

/// A message that has not come after so long never will.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server and its client.
struct TestServer {
    client: Connection,
    server: Option<JoinHandle<ServerEnd>>,
    requests: i32,
    /// Findings that have come and that the test has not looked at.
    published: VecDeque<wire::PublishDiagnosticsParams>,
    /// Messages of the log that the test has not looked at.
    logged: VecDeque<String>,
    /// Requests of the server, and messages for the person, that the test has not looked at.
    asked: VecDeque<(String, Value)>,
}

impl TestServer {
    fn new() -> Self {
        Self::with(Encoding::Utf16, Value::Null)
    }

    fn with(encoding: Encoding, options: Value) -> Self {
        Self::of_client(encoding, options, json!({}))
    }

    /// A server of a client with these capabilities beside its encodings.
    fn of_client(encoding: Encoding, options: Value, mut capabilities: Value) -> Self {
        capabilities["general"] = json!({"positionEncodings": [convert::kind(encoding)]});
        let (client, server) = Connection::memory();
        let server = thread::spawn(move || serve(server).unwrap());
        let mut test = Self {
            client,
            server: Some(server),
            requests: 0,
            published: VecDeque::new(),
            logged: VecDeque::new(),
            asked: VecDeque::new(),
        };
        let params = json!({
            "processId": null,
            "rootUri": null,
            "initializationOptions": options,
            "capabilities": capabilities,
        });
        let answer = test.ask("initialize", params).unwrap();
        assert_eq!(answer["capabilities"]["positionEncoding"], json!(convert::kind(encoding)));
        test.notify("initialized", json!({}));
        test
    }

    fn notify(&self, method: &str, params: Value) {
        self.client.sender.send(Notification::new(method.to_owned(), params).into()).unwrap();
    }

    /// The answer to a request, or the message of its refusal.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = self.requests.into();
        self.client.sender.send(Request::new(id, method.to_owned(), params).into()).unwrap();
        loop {
            if let Some(Response { id, response_result }) = self.receive() {
                assert_eq!(id, self.requests.into());
                return response_result.map_err(|it| it.message);
            }
        }
    }

    fn request<R: wire::Request>(&mut self, params: R::Params) -> R::Result {
        let params = serde_json::to_value(params).unwrap();
        serde_json::from_value(self.ask(R::METHOD.as_str(), params).unwrap()).unwrap()
    }

    /// Takes the next message. Returns it if it is a response.
    fn receive(&mut self) -> Option<Response> {
        match self.client.receiver.recv_timeout(PATIENCE).unwrap() {
            Message::Response(response) => return Some(response),
            Message::Notification(it)
                if it.method == wire::PublishDiagnosticsNotification::METHOD.as_str() =>
            {
                self.published.push_back(serde_json::from_value(it.params).unwrap());
            }
            Message::Notification(it) if it.method == wire::LogMessageNotification::METHOD.as_str() => {
                let params: wire::LogMessageParams = serde_json::from_value(it.params).unwrap();
                self.logged.push_back(params.message);
            }
            Message::Request(it) => self.asked.push_back((it.method, it.params)),
            Message::Notification(it) if it.method == wire::ShowMessageNotification::METHOD.as_str() => {
                self.asked.push_back((it.method, it.params));
            }
            other @ Message::Notification(_) => panic!("the test asks for no {other:?}"),
        }
        None
    }

    fn open(&self, uri: &str, language: &str, version: i32, text: &str) {
        let document = json!({"uri": uri, "languageId": language, "version": version, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn change(&self, uri: &str, version: i32, changes: Value) {
        let id = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": id, "contentChanges": changes}));
    }

    fn save(&self, uri: &str) {
        self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    }

    fn close(&self, uri: &str) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }

    fn status(&mut self) -> wire::ServerStatus {
        self.request::<wire::StatusRequest>(None)
    }

    /// Waits until no check runs or waits.
    fn idle(&mut self) {
        while !self.status().is_idle {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// All requests of the server, and messages for the person, that have come since the last look.
    fn asked(&mut self) -> Vec<(String, Value)> {
        self.asked.drain(..).collect()
    }

    /// All findings that have come since the last look.
    fn published(&mut self) -> Vec<wire::PublishDiagnosticsParams> {
        self.published.drain(..).collect()
    }

    /// The last findings of a document that have come, once nothing is checked any more.
    fn findings(&mut self, uri: &str) -> Vec<wire::Diagnostic> {
        self.idle();
        self.published().into_iter().rfind(|it| it.uri.0 == uri).map(|it| it.diagnostics).unwrap_or_default()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let Some(server) = self.server.take().filter(|_| !thread::panicking()) else { return };
        self.ask("shutdown", Value::Null).unwrap();
        self.notify("exit", Value::Null);
        assert_eq!(server.join().unwrap(), ServerEnd::Exit { after_shutdown: true });
        assert!(self.published.is_empty(), "the test does not look at {:?}", self.published);
        assert!(self.logged.is_empty(), "the test does not look at {:?}", self.logged);
        assert!(self.asked.is_empty(), "the test does not look at {:?}", self.asked);
        assert!(self.client.receiver.is_empty());
    }
}

/// The files of the repository that are workflows or have scenarios.
fn files(folders: &[&str]) -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let entries = folders.iter().flat_map(|it| std::fs::read_dir(root.join(it)).unwrap());
    let mut files: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    files.retain(|it| {
        it.extension().is_some_and(|it| it == "yml" || it == "toml") && !it.ends_with("Cargo.toml")
    });
    files.sort();
    assert!(!files.is_empty());
    files
}

/// True if a test is to look at everything, and not at a sample.
fn is_whole() -> bool {
    std::env::var_os("ORANGE_WHOLE").is_some()
}

fn text_of(finding: &wire::Diagnostic) -> &str {
    match &finding.message {
        wire::Message::String(text) => text,
        wire::Message::MarkupContent(content) => &content.value,
    }
}

fn code_of(finding: &wire::Diagnostic) -> &str {
    match &finding.code {
        Some(wire::Code::String(code)) => code,
        Some(wire::Code::Int(_)) | None => "",
    }
}
