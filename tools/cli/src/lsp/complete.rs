//! `textDocument/completion`.

use orange_codegen::model::keys::NameKind;
use orange_ide::complete::{self, Completion, CompletionKind};

use super::requests::Refusal;
use super::view::View;
use super::wire;

/// Signs behind which a client asks by itself.
pub(super) const TRIGGERS: [&str; 8] = [" ", ":", "{", "[", "(", "#", "-", "'"];

pub(super) fn answer(
    view: &View<'_>,
    params: wire::CompletionParams,
) -> Result<Option<wire::CompletionResponse>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let lines = view.lines(document);
    let found = complete::complete(view.workspace, document, offset).into_iter().enumerate();
    let item = |(at, it): (usize, Completion)| {
        let replaced = document.text().get(it.span.range()).unwrap_or_default();
        let edit = wire::TextEdit { range: lines.range(it.span), new_text: it.text };
        wire::CompletionItem {
            kind: Some(kind(it.kind)),
            detail: it.detail,
            sort_text: Some(format!("{at:04}")),
            // A heading begins with signs that a client does not count as a part of the word.
            filter_text: replaced.starts_with('#').then(|| it.label.clone()),
            text_edit: Some(wire::CompletionItemTextEdit::TextEdit(edit)),
            label: it.label,
            ..wire::CompletionItem::default()
        }
    };
    Ok(Some(wire::CompletionResponse::CompletionItemList(found.map(item).collect())))
}

fn kind(kind: CompletionKind) -> wire::CompletionItemKind {
    match kind {
        CompletionKind::Key => wire::CompletionItemKind::Property,
        CompletionKind::Word => wire::CompletionItemKind::Keyword,
        CompletionKind::Command => wire::CompletionItemKind::Function,
        CompletionKind::Check => wire::CompletionItemKind::Constant,
        CompletionKind::Name(NameKind::States | NameKind::Steps) => wire::CompletionItemKind::Class,
        CompletionKind::Name(NameKind::Actions) => wire::CompletionItemKind::Function,
        CompletionKind::Name(NameKind::Files) => wire::CompletionItemKind::File,
        CompletionKind::Name(NameKind::Counters | NameKind::Values) => wire::CompletionItemKind::Variable,
        CompletionKind::Name(
            NameKind::Workflows
            | NameKind::Prompts
            | NameKind::Gates
            | NameKind::Harnesses
            | NameKind::Actors
            | NameKind::Reviewers
            | NameKind::Verdicts
            | NameKind::Sections
            | NameKind::Roles
            | NameKind::Results
            | NameKind::Inputs
            | NameKind::Outputs,
        ) => wire::CompletionItemKind::Reference,
    }
}
