//! The state of the server for those who answer requests: the newest texts, and the abilities of the client.

#![allow(dead_code, reason = "features use these")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use orange_analysis::insight::Insight;
use orange_codegen::editor_lines::Encoding;
use orange_ide::{Document, Workspace};

use super::checks::Checks;
use super::convert::Lines;
use super::scenario_runs::ScenarioRuns;
use super::{uri, wire};

/// The state of the server, for reading.
#[derive(Clone, Copy)]
pub(super) struct View<'s> {
    pub workspace: &'s Workspace,
    pub checks: &'s Checks,
    /// The addresses of open documents, as the client writes them.
    pub addresses: &'s BTreeMap<PathBuf, wire::Uri>,
    pub encoding: Encoding,
    pub client: &'s wire::ClientCapabilities,
    /// Results of scenarios that are known.
    pub scenario_runs: &'s Arc<ScenarioRuns>,
}

impl<'s> View<'s> {
    /// An open document.
    pub(super) fn document(&self, of: &wire::TextDocumentIdentifier) -> Option<&'s Document> {
        self.workspace.document(&uri::path(&of.uri.0))
    }

    /// An open document, and a byte in it.
    pub(super) fn place(&self, of: &wire::TextDocumentPositionParams) -> Option<(&'s Document, u32)> {
        let document = self.document(&of.text_document)?;
        Some((document, self.lines(document).offset(of.position)))
    }

    /// The lines of a document, in the units of the client.
    pub(super) fn lines(&self, document: &'s Document) -> Lines<'s> {
        Lines::new(document.text(), self.encoding)
    }

    /// Facts about the parts of a workflow, if this very text has been checked.
    pub(super) fn insight(&self, document: &Document) -> Option<&'s Insight> {
        self.checks.state(&document.path)?.insight()
    }

    /// Facts about the parts of a workflow as it was when it was last checked: names in it may be gone.
    pub(super) fn last_insight(&self, document: &Document) -> Option<&'s Insight> {
        self.checks.state(&document.path)?.last_insight()
    }
}
