//! The files that a document names, as links.

use std::path::PathBuf;

use orange_codegen::Span;
use orange_codegen::model::keys::NameKind;
use orange_codegen::model::occurrences::occurrences;

use crate::document::{Document, DocumentKind};
use crate::project::keys_of;
use crate::workspace::Workspace;

/// A name of a file in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLink {
    /// The name.
    pub span: Span,
    /// The file.
    pub path: PathBuf,
}

/// The files that a workflow includes, or the workflow that scenarios name. A file that is not there has no link.
pub fn links(workspace: &Workspace, document: &Document) -> Vec<FileLink> {
    let read = document.tree().zip(keys_of(workspace, document));
    let names = read.map(|(tree, keys)| occurrences(tree, keys)).unwrap_or_default();
    let files = names.into_iter().filter(|it| it.kind == NameKind::Files);
    let links = files.filter_map(|it| {
        let path = match document.kind {
            DocumentKind::Scenarios => document.path.parent()?.join(&it.name),
            DocumentKind::Workflow | DocumentKind::Other => document.source.prompt_files.path(&it.name)?,
        };
        path.is_file().then_some(FileLink { span: it.span, path })
    });
    links.collect()
}
