//! The hierarchy of calls, in which states call each other by transitions, and the exit rules of a state as its implementation.

use orange_ide::hierarchy::{self, StateCall, StatePlace};
use orange_ide::{Document, DocumentKind};

use super::convert::Lines;
use super::names::locations;
use super::requests::Refusal;
use super::view::View;
use super::{uri, wire};

pub(super) fn prepare(
    view: &View<'_>,
    params: wire::CallHierarchyPrepareParams,
) -> Result<Option<Vec<wire::CallHierarchyItem>>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let found = hierarchy::state_at(view.workspace, document, offset).and_then(|(path, name)| {
        let workflow = view.workspace.read(&path)?;
        Some(item(view, &workflow, hierarchy::state(&workflow, &name)?))
    });
    Ok(found.map(|it| vec![it]))
}

pub(super) fn incoming(
    view: &View<'_>,
    params: wire::CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<wire::CallHierarchyIncomingCall>>, Refusal> {
    Ok(calls(view, &params.item, hierarchy::incoming)
        .map(|it| it.into_iter().map(|(from, at)| wire::CallHierarchyIncomingCall::new(from, at)).collect()))
}

pub(super) fn outgoing(
    view: &View<'_>,
    params: wire::CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<wire::CallHierarchyOutgoingCall>>, Refusal> {
    Ok(calls(view, &params.item, hierarchy::outgoing)
        .map(|it| it.into_iter().map(|(to, at)| wire::CallHierarchyOutgoingCall::new(to, at)).collect()))
}

pub(super) fn implementation(
    view: &View<'_>,
    params: wire::ImplementationParams,
) -> Result<Option<wire::ImplementationResponse>, Refusal> {
    let Some((document, offset)) = view.place(&params.text_document_position_params) else { return Ok(None) };
    let found = locations(view, &hierarchy::exit_rules(view.workspace, document, offset));
    Ok(Some(wire::ImplementationResponse::Definition(wire::Definition::LocationList(found))))
}

fn calls(
    view: &View<'_>,
    of: &wire::CallHierarchyItem,
    calls: fn(&Document, &str) -> Vec<StateCall>,
) -> Option<Vec<(wire::CallHierarchyItem, Vec<wire::Range>)>> {
    let workflow = view.workspace.read(&uri::path(&of.uri.0))?;
    if workflow.kind != DocumentKind::Workflow {
        return None;
    }
    let lines = Lines::new(workflow.text(), view.encoding);
    let found = calls(&workflow, &of.name).into_iter();
    let found = found.map(|StateCall { state, at }| {
        (item(view, &workflow, state), at.into_iter().map(|it| lines.range(it)).collect())
    });
    Some(found.collect())
}

fn item(view: &View<'_>, workflow: &Document, state: StatePlace) -> wire::CallHierarchyItem {
    let lines = Lines::new(workflow.text(), view.encoding);
    wire::CallHierarchyItem {
        name: state.name,
        kind: wire::SymbolKind::Class,
        tags: None,
        detail: None,
        uri: view.address(workflow),
        range: lines.range(state.span),
        selection_range: lines.range(state.named),
        data: None,
    }
}
