//! The requests of the client: each has one line here and is answered from the newest texts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use std::sync::atomic::Ordering;

use lsp_server::{ErrorCode, Request, RequestId, Response};
use orange_ide::Language;

use super::later::{self, LateJob, Work};
use super::view::View;
use super::worker::WorkerLog;
use super::{
    actions, commands, complete, files, hierarchy, hints, hover, names, pages, pictures, structure, uri, wire,
};

/// An answer to a request.
pub(super) enum RequestAnswer {
    /// It is there.
    Now(Response),
    /// It takes a while to compute.
    Later(LateJob),
}

/// Answers a request.
pub(super) fn answer(view: &View<'_>, request: Request) -> RequestAnswer {
    let id = request.id.clone();
    let routed = catch_unwind(AssertUnwindSafe(|| route(view, request)));
    routed.unwrap_or_else(|_| RequestAnswer::Now(later::fault(id)))
}

fn route(view: &View<'_>, request: Request) -> RequestAnswer {
    Router { view, state: Routing::Open(request) }
        .on::<wire::RecogniseRequest>(recognise)
        .on::<wire::StatusRequest>(status)
        .on::<wire::CodeActionRequest>(actions::answer)
        .later::<wire::ExecuteCommandRequest>(commands::answer)
        .later::<wire::TextDocumentContentRequest>(pages::content)
        .later::<wire::PageRequest>(pages::page)
        .on::<wire::DocumentSymbolRequest>(structure::symbols)
        .on::<wire::FoldingRangeRequest>(structure::folding)
        .on::<wire::SelectionRangeRequest>(structure::selection)
        .on::<wire::DocumentLinkRequest>(structure::document_links)
        .on::<wire::DocumentFormattingRequest>(structure::formatting)
        .on::<wire::SemanticTokensRequest>(structure::semantic_tokens)
        .on::<wire::CompletionRequest>(complete::answer)
        .on::<wire::DefinitionRequest>(names::definition)
        .on::<wire::ReferencesRequest>(names::references)
        .on::<wire::DocumentHighlightRequest>(names::highlights)
        .on::<wire::PrepareRenameRequest>(names::prepare)
        .on::<wire::RenameRequest>(names::rename)
        .later::<wire::GraphRequest>(pictures::answer)
        .on::<wire::WillRenameFilesRequest>(files::answer)
        .on::<wire::CallHierarchyPrepareRequest>(hierarchy::prepare)
        .on::<wire::CallHierarchyIncomingCallsRequest>(hierarchy::incoming)
        .on::<wire::CallHierarchyOutgoingCallsRequest>(hierarchy::outgoing)
        .on::<wire::ImplementationRequest>(hierarchy::implementation)
        .on::<wire::HoverRequest>(hover::answer)
        .on::<wire::InlayHintRequest>(hints::inlay)
        .later::<wire::CodeLensRequest>(hints::lens)
        .answer()
}

/// A request that is offered to one feature after the other.
struct Router<'v> {
    view: &'v View<'v>,
    state: Routing,
}

enum Routing {
    Open(Request),
    Answered(RequestAnswer),
}

/// Reason for which a feature does not answer, in words for the person who asked.
#[derive(Debug)]
pub(super) struct Refusal(pub String);

impl Router<'_> {
    fn on<R: wire::Request>(
        mut self,
        answer: impl FnOnce(&View<'_>, R::Params) -> Result<R::Result, Refusal>,
    ) -> Self {
        self.state = match self.state {
            Routing::Open(request) if request.method == R::METHOD.as_str() => {
                let Request { id, params, .. } = request;
                let params = serde_json::from_value(params);
                Routing::Answered(RequestAnswer::Now(match params.map(|params| answer(self.view, params)) {
                    Ok(Ok(result)) => Response::new_ok(id, result),
                    Ok(Err(Refusal(why))) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
                    Err(error) => invalid(id, &error.to_string()),
                }))
            }
            other @ (Routing::Open(_) | Routing::Answered(_)) => other,
        };
        self
    }

    /// A request whose answer is computed on another thread, from what the function takes along.
    fn later<R: wire::Request>(
        mut self,
        prepare: impl FnOnce(&View<'_>, R::Params) -> Result<Work<R::Result>, Refusal>,
    ) -> Self
    where
        R::Result: 'static,
    {
        self.state = match self.state {
            Routing::Open(request) if request.method == R::METHOD.as_str() => {
                let Request { id, params, .. } = request;
                let params = serde_json::from_value(params);
                Routing::Answered(match params.map(|params| prepare(self.view, params)) {
                    Ok(Ok(work)) => RequestAnswer::Later(later::job(id, work)),
                    Ok(Err(Refusal(why))) => {
                        RequestAnswer::Now(Response::new_err(id, ErrorCode::RequestFailed as i32, why))
                    }
                    Err(error) => RequestAnswer::Now(invalid(id, &error.to_string())),
                })
            }
            other @ (Routing::Open(_) | Routing::Answered(_)) => other,
        };
        self
    }

    fn answer(self) -> RequestAnswer {
        match self.state {
            Routing::Answered(answer) => answer,
            Routing::Open(request) => {
                let message = format!("the server has no method `{}`", request.method);
                let code = ErrorCode::MethodNotFound as i32;
                RequestAnswer::Now(Response::new_err(request.id, code, message))
            }
        }
    }
}

fn invalid(id: RequestId, why: &str) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, format!("the parameters cannot be read: {why}"))
}

fn recognise(view: &View<'_>, params: wire::RecogniseParams) -> Result<wire::Recognised, Refusal> {
    let path = uri::path(&params.text_document.uri.0);
    let text = params.text.or_else(|| view.workspace.text(&path)).unwrap_or_default();
    let language_id = Language::recognise(&path, &text).map(str::to_owned);
    Ok(wire::Recognised { language_id })
}

fn status(view: &View<'_>, _: Option<wire::LspAny>) -> Result<wire::ServerStatus, Refusal> {
    let WorkerLog { started, stopped, finished } = view.checks.worker.log;
    let scenario_runs = view.scenario_runs.count.load(Ordering::Relaxed);
    Ok(wire::ServerStatus { is_idle: view.checks.is_idle(), started, stopped, finished, scenario_runs })
}
