//! `textDocument/inlayHint` and `textDocument/codeLens`.

use orange_codegen::Span;
use orange_ide::lenses::{Lens, LensKind};
use orange_ide::{DocumentKind, hints, lenses};

use super::commands::{SHOW_CHANGES, SHOW_PAGE, SIMULATE};
use super::later::{LateAnswer, Work};
use super::pages::{Page, WorkflowPage};
use super::requests::Refusal;
use super::scenario_runs::{self, ScenarioRun};
use super::view::View;
use super::wire;

/// The hints in a part of a document, except for the kinds that the client has switched off.
pub(super) fn inlay(
    view: &View<'_>,
    params: wire::InlayHintParams,
) -> Result<Option<Vec<wire::InlayHint>>, Refusal> {
    let Some(document) = view.document(&params.text_document) else { return Ok(None) };
    let lines = view.lines(document);
    let hidden = &view.checks.rules().hidden_hints;
    let found = hints::hints(document, view.insight(document), lines.span(params.range));
    let shown = found.into_iter().filter(|it| !hidden.contains(&it.kind)).map(|it| wire::InlayHint {
        position: lines.position(it.offset),
        label: wire::Label::String(it.text),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: Some(false),
        data: None,
    });
    Ok(Some(shown.collect()))
}

/// The lines above the parts of a document, each with the command of a click. Scenarios that have changed run first.
pub(super) fn lens(
    view: &View<'_>,
    params: wire::CodeLensParams,
) -> Result<Work<Option<Vec<wire::CodeLens>>>, Refusal> {
    let document = view.document(&params.text_document);
    let document =
        document.filter(|it| it.kind == DocumentKind::Workflow && !view.checks.rules().hides_lenses);
    let Some(document) = document else { return Ok(Box::new(|_| Ok(LateAnswer::from(None)))) };
    let lines = view.lines(document);
    let clicks = LensClicks {
        workflow: view.address(document),
        has_commits: document.path.is_absolute(),
        can_simulate: view.checks.rules().commands.iter().any(|it| it == SIMULATE),
    };
    let found = lenses::lenses(document, view.insight(document));
    let mut shown: Vec<_> =
        found.into_iter().filter_map(|it| clicks.shown(lines.range(it.span), it)).collect();
    let top = lenses::top(document).map(|it| lines.range(it));
    let run = top.zip(ScenarioRun::of(view, document));
    Ok(Box::new(move |_| {
        let results = run.and_then(|(top, run)| Some((top, run.results()?)));
        if let Some((top, results)) = results {
            let title = scenario_runs::counts(&results).title();
            let lens = Lens { span: Span::default(), title, kind: LensKind::Scenarios };
            let at = usize::from(!shown.is_empty());
            shown.splice(at..at, clicks.shown(top, lens));
        }
        Ok(LateAnswer::from(Some(shown)))
    }))
}

/// The commands of lenses in one document.
struct LensClicks {
    workflow: wire::Uri,
    has_commits: bool,
    can_simulate: bool,
}

impl LensClicks {
    /// A lens with its command; none if nothing would happen.
    fn shown(&self, range: wire::Range, lens: Lens) -> Option<wire::CodeLens> {
        let page = |page| {
            let address = Page::Workflow(page, self.workflow.clone()).address();
            (SHOW_PAGE, wire::LspAny::from(address))
        };
        let (command, argument) = match lens.kind {
            LensKind::Proof => page(WorkflowPage::Proof),
            LensKind::Scenarios => page(WorkflowPage::Scenarios),
            LensKind::State(name) => page(WorkflowPage::Contract(name)),
            LensKind::Changes if self.has_commits => {
                (SHOW_CHANGES, wire::LspAny::from(self.workflow.0.as_str()))
            }
            LensKind::Simulate(state) if self.can_simulate => {
                let argument = wire::SimulatedState { uri: self.workflow.clone(), state };
                (SIMULATE, serde_json::to_value(argument).unwrap_or_default())
            }
            LensKind::Changes | LensKind::Simulate(_) => return None,
        };
        let command = wire::Command {
            title: lens.title,
            tooltip: None,
            command: command.to_owned(),
            arguments: Some(vec![argument]),
        };
        Some(wire::CodeLens { range, command: Some(command), data: None })
    }
}
