//! `orange/graph`: the picture of a document, with a run of a finding if one is asked for.

use orange_codegen::{Diagnostic, LineIndex};

use super::later::{LateAnswer, Work};
use super::requests::Refusal;
use super::view::View;
use super::wire;
use crate::graph::{Graph, Run, headline, svg_with_places};

/// Draws a document as far as it is understood. The layout takes a while.
pub(super) fn answer(view: &View<'_>, params: wire::GraphParams) -> Result<Work<wire::Picture>, Refusal> {
    let document = view.document(&params.text_document).ok_or_else(|| not_open(&params.text_document))?;
    let mut graph = Graph::of_compilation(&document.compilation)
        .ok_or_else(|| Refusal("nothing of a workflow is understood in this text yet".to_owned()))?;
    let note = graph.note().map(str::to_owned);
    let state = view.checks.state(&document.path);
    let found = state.map(|it| it.findings()).unwrap_or_default();
    let with_runs: Vec<&Diagnostic> = found.into_iter().filter(|it| it.trace.is_some()).collect();
    let chosen = params.run.and_then(|at| with_runs.get(at));
    let mut steps = 0;
    if let Some((finding, trace)) = chosen.and_then(|it| Some((it, it.trace.as_ref()?))) {
        let index = LineIndex::new(document.text());
        let mut run = Run::of(trace, &index);
        steps = run.steps.len();
        if let Some(shown) = params.step.filter(|it| *it < steps) {
            run.steps.truncate(shown);
            run.end = None;
        }
        graph.say(headline(finding));
        graph.point_at(finding.span);
        graph.follow(&run, &index).map_err(|it| Refusal(it.message().to_owned()))?;
    }
    let runs = with_runs.into_iter().map(headline).collect();
    Ok(Box::new(move |_| {
        let svg = svg_with_places(&graph).map_err(|it| Refusal(it.message().to_owned()))?;
        Ok(LateAnswer::from(wire::Picture { svg, note, runs, steps }))
    }))
}

fn not_open(of: &wire::TextDocumentIdentifier) -> Refusal {
    Refusal(format!("{} is not open", of.uri.0))
}
