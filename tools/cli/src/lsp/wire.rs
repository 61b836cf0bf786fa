//! The types of the protocol. No other module names the crate that has them.

pub(super) use gen_lsp_types::*;

use serde::{Deserialize, Serialize};

/// `orange/recognise`: the language that an editor should give to a document.
#[derive(Debug)]
pub(super) enum RecogniseRequest {}

/// Document to recognise.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecogniseParams {
    pub text_document: TextDocumentIdentifier,
    /// Its text, where the editor has not opened it with the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Language of a document.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recognised {
    /// None where it is of another program.
    pub language_id: Option<String>,
}

impl Request for RecogniseRequest {
    type Params = RecogniseParams;
    type Result = Recognised;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("orange/recognise");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

/// State from which the client simulates a workflow: the argument of its command `orange.simulate`.
#[derive(Debug, Serialize)]
pub(super) struct SimulatedState {
    pub uri: Uri,
    pub state: String,
}

/// `orange/page`: the text of a page, for clients without `workspace/textDocumentContent`.
#[derive(Debug)]
pub(super) enum PageRequest {}

/// Page to write.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct PageParams {
    pub uri: Uri,
}

/// Text of a page.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct PageText {
    pub text: String,
}

impl Request for PageRequest {
    type Params = PageParams;
    type Result = PageText;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("orange/page");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

/// `orange/status`: what the server is doing.
#[derive(Debug)]
pub(super) enum StatusRequest {}

/// Work of the server.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerStatus {
    /// True if no check runs or waits.
    pub is_idle: bool,
    /// Number of whole checks that were started.
    pub started: usize,
    /// Number of those that an edit has stopped.
    pub stopped: usize,
    /// Number of those that ended by themselves.
    pub finished: usize,
    /// Number of files of scenarios that have run for a lens or a page.
    pub scenario_runs: usize,
}

impl Request for StatusRequest {
    type Params = Option<LspAny>;
    type Result = ServerStatus;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("orange/status");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

/// `orange/graph`: the picture of a document.
#[derive(Debug)]
pub(super) enum GraphRequest {}

/// Document to draw.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GraphParams {
    pub text_document: TextDocumentIdentifier,
    /// Number of the run to highlight, among those of the picture before, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// Number of steps of the run to highlight; without it, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
}

/// Picture of a document.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Picture {
    /// The picture. `data-name` and `data-span` of a group are its part and the bytes of the declarations.
    pub svg: String,
    /// A sentence about the parts that it leaves out.
    pub note: Option<String>,
    /// Findings with a run that can be highlighted.
    pub runs: Vec<String>,
    /// Number of steps of the highlighted run.
    pub steps: usize,
}

impl Request for GraphRequest {
    type Params = GraphParams;
    type Result = Picture;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("orange/graph");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}
