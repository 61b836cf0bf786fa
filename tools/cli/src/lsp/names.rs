//! Definitions, references, highlights and renames.

use orange_ide::names::{self, Location};

use super::convert::Lines;
use super::edits;
use super::requests::Refusal;
use super::view::View;
use super::wire;

pub(super) fn definition(
    view: &View<'_>,
    params: wire::DefinitionParams,
) -> Result<Option<wire::DefinitionResponse>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let found = locations(view, &names::definitions(view.workspace, document, offset));
    Ok(Some(wire::DefinitionResponse::Definition(wire::Definition::LocationList(found))))
}

pub(super) fn references(
    view: &View<'_>,
    params: wire::ReferenceParams,
) -> Result<Option<Vec<wire::Location>>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let with_definition = params.context.include_declaration;
    Ok(Some(locations(view, &names::references(view.workspace, document, offset, with_definition))))
}

pub(super) fn highlights(
    view: &View<'_>,
    params: wire::DocumentHighlightParams,
) -> Result<Option<Vec<wire::DocumentHighlight>>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let lines = view.lines(document);
    let found = names::highlights(view.workspace, document, offset).into_iter();
    let highlight = |(span, is_definition)| {
        let kind = match is_definition {
            true => wire::DocumentHighlightKind::Write,
            false => wire::DocumentHighlightKind::Read,
        };
        wire::DocumentHighlight { range: lines.range(span), kind: Some(kind) }
    };
    Ok(Some(found.map(highlight).collect()))
}

pub(super) fn prepare(
    view: &View<'_>,
    params: wire::PrepareRenameParams,
) -> Result<Option<wire::PrepareRenameResult>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let (span, placeholder) = names::renameable(view.workspace, document, offset).map_err(Refusal)?;
    let range = view.lines(document).range(span);
    Ok(Some(wire::PrepareRenameResult::PrepareRenamePlaceholder(wire::PrepareRenamePlaceholder {
        range,
        placeholder,
    })))
}

pub(super) fn rename(
    view: &View<'_>,
    params: wire::RenameParams,
) -> Result<Option<wire::WorkspaceEdit>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let edits = names::rename(view.workspace, document, offset, &params.new_name).map_err(Refusal)?;
    Ok(Some(edits::of_files(view, &edits)))
}

pub(super) fn locations(view: &View<'_>, found: &[Location]) -> Vec<wire::Location> {
    let location = |it: &Location| {
        let text = view.workspace.text(&it.path)?;
        let range = Lines::new(&text, view.encoding).range(it.span);
        Some(wire::Location { uri: view.address_of(&it.path), range })
    };
    found.iter().filter_map(location).collect()
}
