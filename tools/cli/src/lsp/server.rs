//! The main loop: it owns the documents, keeps their texts equal to those of the client, and never waits for an answer of the client.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvError, Select};
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, Response};
use orange_codegen::editor_lines::Encoding;
use orange_ide::{DocumentKind, Language, Workspace};
use orange_system::process::Process;
use serde::de::DeserializeOwned;

use super::checks::Checks;
use super::diagnostics::FindingsByFile;
use super::later::LateAnswers;
use super::pages::Page;
use super::requests::RequestAnswer;
use super::rules::Rules;
use super::scenario_runs::ScenarioRuns;
use super::view::View;
use super::wire::{self, Notification as _, Request as _};
use super::worker::CheckEnd;
use super::{capabilities, diagnostics, requests, sync, uri};

/// Time between two looks whether the editor is still there.
const PARENT_CHECK: Duration = Duration::from_secs(2);

/// Reason for which a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerEnd {
    /// By `exit`, after `shutdown` or not.
    Exit { after_shutdown: bool },
    /// Nobody can send anything any more.
    Disconnected,
    /// The process of the editor has ended.
    ParentEnded,
}

/// Serves one client until it goes away.
///
/// # Errors
/// The client does not begin with `initialize`.
pub(super) fn serve(connection: Connection) -> Result<ServerEnd, ProtocolError> {
    let (id, params) = match connection.initialize_start() {
        Err(error) if error.channel_is_disconnected() => return Ok(ServerEnd::Disconnected),
        begun => begun?,
    };
    let params: wire::InitializeParams = serde_json::from_value(params).unwrap_or_default();
    let encoding = capabilities::encoding(&params.capabilities);
    let mut server = Server {
        parent: params.process_id.and_then(|it| Process::alive(it).ok().flatten()),
        client: params.capabilities,
        late_answers: LateAnswers::start(connection.sender.clone()),
        connection,
        encoding,
        checks: Checks::new(Rules::of(params.initialization_options.as_ref())),
        workspace: Workspace::default(),
        addresses: BTreeMap::new(),
        published: BTreeMap::new(),
        scenario_runs: Arc::default(),
        pages: BTreeSet::new(),
        requests: 0,
        is_shut_down: false,
    };
    server.send(Response::new_ok(id, capabilities::initialized(encoding)));
    Ok(server.run())
}

/// An event that wakes the server.
enum ServerInput {
    Message(Result<Message, RecvError>),
    Check(Box<CheckEnd>),
}

/// A server and all that it knows.
struct Server {
    connection: Connection,
    client: wire::ClientCapabilities,
    encoding: Encoding,
    /// The process of the editor.
    parent: Option<Process>,
    workspace: Workspace,
    checks: Checks,
    /// The addresses of open documents, as the client writes them.
    addresses: BTreeMap<PathBuf, wire::Uri>,
    /// The findings that each document has caused, by the files that they are in.
    published: BTreeMap<PathBuf, FindingsByFile>,
    late_answers: LateAnswers,
    scenario_runs: Arc<ScenarioRuns>,
    /// The addresses of pages that the client shows.
    pages: BTreeSet<String>,
    /// Number of requests of the server.
    requests: i32,
    is_shut_down: bool,
}

impl Server {
    fn run(&mut self) -> ServerEnd {
        let mut parent_check = Instant::now() + PARENT_CHECK;
        loop {
            let next = self.checks.next().map_or(parent_check, |it| it.min(parent_check));
            match self.receive(next) {
                Some(ServerInput::Message(Ok(message))) => {
                    if let Some(end) = self.message(message) {
                        return end;
                    }
                }
                Some(ServerInput::Message(Err(RecvError))) => return ServerEnd::Disconnected,
                Some(ServerInput::Check(end)) => self.checked(*end),
                None => {}
            }
            self.checks.start(&self.workspace);
            if parent_check <= Instant::now() {
                if self.parent.is_some_and(|it| it.is_alive().is_ok_and(|alive| !alive)) {
                    return ServerEnd::ParentEnded;
                }
                parent_check = Instant::now() + PARENT_CHECK;
            }
        }
    }

    /// The next input, if there is one by then.
    fn receive(&self, by: Instant) -> Option<ServerInput> {
        let ends = &self.checks.worker.ends;
        let mut select = Select::new();
        let messages = select.recv(&self.connection.receiver);
        // A worker whose thread is gone would always be ready.
        let _ = self.checks.worker.is_busy().then(|| select.recv(ends));
        let ready = select.select_deadline(by).ok()?;
        match ready.index() == messages {
            true => Some(ServerInput::Message(ready.recv(&self.connection.receiver))),
            false => ready.recv(ends).ok().map(|it| ServerInput::Check(Box::new(it))),
        }
    }

    fn message(&mut self, message: Message) -> Option<ServerEnd> {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(it) if it.method == wire::ExitNotification::METHOD.as_str() => {
                return Some(ServerEnd::Exit { after_shutdown: self.is_shut_down });
            }
            Message::Notification(notification) => self.notification(notification),
            // Nothing waits for an answer of the client.
            Message::Response(_) => {}
        }
        None
    }

    fn request(&mut self, request: Request) {
        let response = if self.is_shut_down {
            let message = "the server is shut down".to_owned();
            Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message)
        } else if request.method == wire::ShutdownRequest::METHOD.as_str() {
            self.is_shut_down = true;
            Response::new_ok(request.id, ())
        } else {
            self.remember_page(&request);
            match requests::answer(&self.view(), request) {
                RequestAnswer::Now(response) => response,
                RequestAnswer::Later(job) => return self.late_answers.compute(job),
            }
        };
        self.send(response);
    }

    /// Notes that the client shows a page, which it asks for again once it has changed.
    fn remember_page(&mut self, request: &Request) {
        if request.method == wire::TextDocumentContentRequest::METHOD.as_str()
            && let Some(address) = request.params.get("uri").and_then(serde_json::Value::as_str)
        {
            self.pages.insert(address.to_owned());
        }
    }

    fn notification(&mut self, notification: Notification) {
        let method = notification.method.clone();
        let handled = catch_unwind(AssertUnwindSafe(|| self.handle(notification)));
        let problem = match handled {
            Ok(Ok(())) => return,
            Ok(Err(error)) => format!("`{method}` cannot be read: {error}"),
            Err(_) => format!("the server has a fault in `{method}`; it goes on"),
        };
        self.log(wire::MessageType::Error, problem);
    }

    fn handle(&mut self, notification: Notification) -> Result<(), serde_json::Error> {
        let Notification { method, params } = notification;
        if method == wire::DidOpenTextDocumentNotification::METHOD.as_str() {
            self.open(read(params)?);
        } else if method == wire::DidChangeTextDocumentNotification::METHOD.as_str() {
            self.change(read(params)?);
        } else if method == wire::DidCloseTextDocumentNotification::METHOD.as_str() {
            self.close(&read::<wire::DidCloseTextDocumentParams>(params)?);
        } else if method == wire::DidSaveTextDocumentNotification::METHOD.as_str() {
            self.save(&read::<wire::DidSaveTextDocumentParams>(params)?);
        }
        Ok(())
    }

    fn open(&mut self, params: wire::DidOpenTextDocumentParams) {
        let wire::TextDocumentItem { uri, language_id, version, text } = params.text_document;
        let path = uri::path(&uri.0);
        self.addresses.insert(path.clone(), uri);
        let document =
            self.workspace.open(path.clone(), version, Language::of_id(language_id.as_str()), text);
        self.checks.opened(document);
        self.publish(&path);
        self.others_changed(&path);
    }

    /// Each edit is one of the text that the edit before it left.
    fn change(&mut self, params: wire::DidChangeTextDocumentParams) {
        let id = params.text_document;
        let path = uri::path(&id.text_document_identifier.uri.0);
        let Some(document) = self.workspace.document(&path) else { return };
        let text = sync::edited(document.text(), params.content_changes, self.encoding);
        let Some((document, change)) = self.workspace.change(&path, id.version, text) else { return };
        self.checks.changed(document, change.as_ref());
        self.publish(&path);
        self.others_changed(&path);
    }

    /// Files on the disk have perhaps changed as well.
    fn save(&mut self, params: &wire::DidSaveTextDocumentParams) {
        let path = uri::path(&params.text_document.uri.0);
        self.others_changed(&path);
        if let Some(document) = self.workspace.document(&path) {
            self.checks.saved(document);
        }
    }

    fn close(&mut self, params: &wire::DidCloseTextDocumentParams) {
        let path = uri::path(&params.text_document.uri.0);
        self.workspace.close(&path);
        self.checks.closed(&path);
        self.others_changed(&path);
        self.replace_findings(&path, FindingsByFile::new());
        self.published.remove(&path);
        self.addresses.remove(&path);
    }

    /// Has the documents checked again that depend on this one.
    fn others_changed(&mut self, path: &Path) {
        for workflow in self.workspace.users_of(path) {
            let Some(document) = self.workspace.read_again(&workflow) else { continue };
            self.checks.changed(document, None);
            self.publish(&workflow);
        }
        for document in self.workspace.scenarios_of(path) {
            self.checks.outdated(document);
        }
    }

    fn checked(&mut self, end: CheckEnd) {
        if let Some(path) = self.checks.ended(end) {
            self.publish(&path);
            self.refresh(&path);
        }
        for problem in self.checks.take_problems() {
            self.log(wire::MessageType::Warning, problem);
        }
    }

    /// Has the client ask again for what depends on a whole check, which has ended.
    fn refresh(&mut self, path: &Path) {
        let Some(client) = self.client.workspace.clone() else { return };
        if client.code_lens.is_some_and(|it| it.refresh_support == Some(true)) {
            self.ask::<wire::CodeLensRefreshRequest>(());
        }
        if client.inlay_hint.is_some_and(|it| it.refresh_support == Some(true)) {
            self.ask::<wire::InlayHintRefreshRequest>(());
        }
        if client.semantic_tokens.is_some_and(|it| it.refresh_support == Some(true)) {
            self.ask::<wire::SemanticTokensRefreshRequest>(());
        }
        let is_of_it = |it: &&String| Page::at(it).is_ok_and(|it| it.workflow().as_deref() == Some(path));
        for address in self.pages.iter().filter(is_of_it).cloned().collect::<Vec<_>>() {
            let uri = wire::Uri::from(address);
            self.ask::<wire::TextDocumentContentRefreshRequest>(wire::TextDocumentContentRefreshParams {
                uri,
            });
        }
    }

    /// Publishes what is known of a document, also in the files that it includes.
    fn publish(&mut self, path: &Path) {
        let (Some(document), Some(state)) = (self.workspace.document(path), self.checks.state(path)) else {
            return;
        };
        let found = match document.kind {
            DocumentKind::Workflow | DocumentKind::Scenarios => {
                diagnostics::of_document(document, state, &self.view())
            }
            DocumentKind::Other => FindingsByFile::new(),
        };
        self.replace_findings(path, found);
    }

    /// Publishes the findings of every file in which this document has or had some.
    fn replace_findings(&mut self, path: &Path, found: FindingsByFile) {
        let files: BTreeSet<PathBuf> = found.keys().cloned().collect();
        let before = self.published.insert(path.to_owned(), found).unwrap_or_default();
        for file in files.into_iter().chain(before.into_keys()).collect::<BTreeSet<_>>() {
            let of_all = self.published.values().filter_map(|it| it.get(&file)).flatten();
            let mut shown: Vec<wire::Diagnostic> = Vec::new();
            for finding in of_all {
                // Two workflows may find the same in a file that both include.
                if !shown.contains(finding) {
                    shown.push(finding.clone());
                }
            }
            let version = self.workspace.document(&file).map(|it| it.version);
            let uri = self.addresses.get(&file).cloned();
            let uri = uri.unwrap_or_else(|| wire::Uri::from(uri::of(&file)));
            self.publish_findings(uri, version, shown);
        }
    }

    fn publish_findings(&self, uri: wire::Uri, version: Option<i32>, found: Vec<wire::Diagnostic>) {
        let params = wire::PublishDiagnosticsParams::new(uri, version, found);
        self.notify::<wire::PublishDiagnosticsNotification>(params);
    }

    fn view(&self) -> View<'_> {
        View {
            workspace: &self.workspace,
            checks: &self.checks,
            addresses: &self.addresses,
            encoding: self.encoding,
            client: &self.client,
            scenario_runs: &self.scenario_runs,
        }
    }

    fn log(&self, kind: wire::MessageType, message: String) {
        self.notify::<wire::LogMessageNotification>(wire::LogMessageParams { kind, message });
    }

    fn notify<N: wire::Notification>(&self, params: N::Params) {
        self.send(Notification::new(N::METHOD.as_str().to_owned(), params));
    }

    /// Sends a request whose answer says nothing.
    fn ask<R: wire::Request>(&mut self, params: R::Params) {
        self.requests += 1;
        self.send(Request::new(self.requests.into(), R::METHOD.as_str().to_owned(), params));
    }

    /// A client that does not listen any more has gone away, which the next look at its messages tells.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.connection.sender.send(message.into());
    }
}

fn read<T: DeserializeOwned>(params: serde_json::Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(params)
}
