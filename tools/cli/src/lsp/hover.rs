//! `textDocument/hover`.

use orange_ide::{DocumentKind, hover};

use super::requests::Refusal;
use super::view::View;
use super::wire;

pub(super) fn answer(view: &View<'_>, params: wire::HoverParams) -> Result<Option<wire::Hover>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let found = match document.kind {
        DocumentKind::Workflow | DocumentKind::Scenarios => {
            hover::hover(document, view.insight(document), offset)
        }
        DocumentKind::Other => view
            .workspace
            .workflows_with(&document.path)
            .find_map(|it| hover::in_prompt(it, view.insight(it), document.text(), offset)),
    };
    Ok(found.map(|it| wire::Hover {
        contents: wire::Contents::MarkupContent(wire::MarkupContent {
            kind: wire::MarkupKind::Markdown,
            value: it.text,
        }),
        range: Some(view.lines(document).range(it.span)),
    }))
}
