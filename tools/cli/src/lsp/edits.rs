//! Edits of documents as the client applies them.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use orange_codegen::Edit;
use orange_ide::Document;
use orange_ide::names::FileEdit;

use super::convert::Lines;
use super::view::View;
use super::{uri, wire};

/// Edits of one document. They name its version where the client understands that, so that it refuses them after another edit.
pub(super) fn of_document(view: &View<'_>, document: &Document, edits: &[Edit]) -> wire::WorkspaceEdit {
    let lines = view.lines(document);
    let edits =
        edits.iter().map(|it| wire::TextEdit { range: lines.range(it.span), new_text: it.text.clone() });
    let uri = view.address(document);
    let of_workspace = view.client.workspace.as_ref().and_then(|it| it.workspace_edit.as_ref());
    if of_workspace.and_then(|it| it.document_changes) != Some(true) {
        let changes = HashMap::from([(uri, edits.collect())]);
        return wire::WorkspaceEdit {
            changes: Some(changes),
            document_changes: None,
            change_annotations: None,
        };
    }
    versioned(view, document, edits.map(wire::Edit::TextEdit).collect())
}

/// True if the client can put the cursor into an edit, for the person to write there.
pub(super) fn has_holes(view: &View<'_>) -> bool {
    let edits = view.client.workspace.as_ref().and_then(|it| it.workspace_edit.as_ref());
    edits.is_some_and(|it| it.snippet_edit_support == Some(true) && it.document_changes == Some(true))
}

/// One edit, in which the person writes another text for this word.
pub(super) fn with_hole(
    view: &View<'_>,
    document: &Document,
    edit: &Edit,
    word: &str,
) -> wire::WorkspaceEdit {
    let escaped = edit.text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}");
    let value = escaped.replacen(word, "${1:reason}", 1);
    let range = view.lines(document).range(edit.span);
    let snippet = wire::StringValue { value };
    let edit = wire::SnippetTextEdit { range, snippet, annotation_id: None };
    versioned(view, document, vec![wire::Edit::SnippetTextEdit(edit)])
}

fn versioned(view: &View<'_>, document: &Document, edits: Vec<wire::Edit>) -> wire::WorkspaceEdit {
    let edit = wire::TextDocumentEdit {
        text_document: wire::OptionalVersionedTextDocumentIdentifier {
            version: Some(document.version),
            text_document_identifier: wire::TextDocumentIdentifier { uri: view.address(document) },
        },
        edits,
    };
    let changes = vec![wire::DocumentChange::TextDocumentEdit(edit)];
    wire::WorkspaceEdit { changes: None, document_changes: Some(changes), change_annotations: None }
}

/// The annotation of edits in prose.
const IN_TEXT: &str = "text";

/// Edits of several files. Those of headings in prompts are made after a confirmation, where the client can ask for one.
pub(super) fn of_files(view: &View<'_>, edits: &[FileEdit]) -> wire::WorkspaceEdit {
    let of_workspace = view.client.workspace.as_ref().and_then(|it| it.workspace_edit.as_ref());
    let has_versions = of_workspace.and_then(|it| it.document_changes) == Some(true);
    let can_ask = has_versions && of_workspace.is_some_and(|it| it.change_annotation_support.is_some());
    let mut files: BTreeMap<&Path, Vec<&FileEdit>> = BTreeMap::new();
    for edit in edits {
        files.entry(&edit.location.path).or_default().push(edit);
    }
    let files = files.into_iter().filter_map(|(path, edits)| {
        let text = view.workspace.text(path)?;
        let lines = Lines::new(&text, view.encoding);
        let changes = edits.into_iter().map(|it| {
            let range = lines.range(it.location.span);
            (wire::TextEdit { range, new_text: it.text.clone() }, it.in_text)
        });
        Some((path, changes.collect::<Vec<_>>()))
    });
    if !has_versions {
        let changes = files.map(|(path, edits)| {
            (view.address_of(path), edits.into_iter().map(|(edit, _)| edit).collect::<Vec<_>>())
        });
        return wire::WorkspaceEdit::new(Some(changes.collect()), None, None);
    }
    let changes = files.map(|(path, edits)| {
        let edits = edits.into_iter().map(|(text_edit, in_text)| match in_text && can_ask {
            true => wire::Edit::AnnotatedTextEdit(wire::AnnotatedTextEdit {
                annotation_id: IN_TEXT.to_owned(),
                text_edit,
            }),
            false => wire::Edit::TextEdit(text_edit),
        });
        wire::DocumentChange::TextDocumentEdit(wire::TextDocumentEdit {
            text_document: wire::OptionalVersionedTextDocumentIdentifier {
                version: view.workspace.document(path).map(|it| it.version),
                text_document_identifier: wire::TextDocumentIdentifier { uri: view.address_of(path) },
            },
            edits: edits.collect(),
        })
    });
    let annotation = wire::ChangeAnnotation {
        label: "Headings in prompts".to_owned(),
        needs_confirmation: Some(true),
        description: None,
    };
    let annotations = can_ask.then(|| HashMap::from([(IN_TEXT.to_owned(), annotation)]));
    wire::WorkspaceEdit::new(None, Some(changes.collect()), annotations)
}

/// True if the client can make a file.
pub(super) fn makes_files(view: &View<'_>) -> bool {
    let edits = view.client.workspace.as_ref().and_then(|it| it.workspace_edit.as_ref());
    let operations = edits.and_then(|it| it.resource_operations.as_deref()).unwrap_or_default();
    edits.is_some_and(|it| it.document_changes == Some(true))
        && operations.contains(&wire::ResourceOperationKind::Create)
}

/// A new file with this text.
pub(super) fn new_file(view: &View<'_>, edit: &FileEdit) -> wire::WorkspaceEdit {
    let uri = view.address_of(&edit.location.path);
    let create = wire::CreateFile { uri: uri.clone(), options: None, annotation_id: None };
    let text = wire::TextEdit { range: wire::Range::default(), new_text: edit.text.clone() };
    let write = wire::TextDocumentEdit {
        text_document: wire::OptionalVersionedTextDocumentIdentifier {
            version: None,
            text_document_identifier: wire::TextDocumentIdentifier { uri },
        },
        edits: vec![wire::Edit::TextEdit(text)],
    };
    let changes =
        vec![wire::DocumentChange::CreateFile(create), wire::DocumentChange::TextDocumentEdit(write)];
    wire::WorkspaceEdit::new(None, Some(changes), None)
}

impl View<'_> {
    /// The address of a document as the client writes it.
    pub(super) fn address(&self, document: &Document) -> wire::Uri {
        self.address_of(&document.path)
    }

    /// The address of a file, as the client writes it if it has opened the file.
    pub(super) fn address_of(&self, path: &Path) -> wire::Uri {
        let known = self.addresses.get(path).cloned();
        known.unwrap_or_else(|| wire::Uri::from(uri::of(path)))
    }
}
