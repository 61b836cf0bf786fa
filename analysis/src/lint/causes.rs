//! One fault is one finding: what only follows from another finding at the same place is left out.

use std::collections::HashSet;

use orange_codegen::check::Checked;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::Definition;
use orange_codegen::span::Span;

/// Findings that follow from others, with the codes of those, where both are about one part of the workflow.
const CAUSES: &[(&str, &[&str])] = &[
    ("B09", &["B08"]),
    ("B17", &["B10"]),
    ("B20", &["B25"]),
    ("C44", &["C43"]),
    ("C45", &["C41"]),
    ("C47", &["C62"]),
    ("C8B", &["C41"]),
    ("C4E", &["C12", "C41", "C45"]),
];

/// Leaves out what follows from other findings of a workflow.
pub fn only_causes(checked: &Checked, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let parts = parts(checked);
    let at =
        |it: &Diagnostic| touched(it, &parts).into_iter().map(|part| (it.code(), part)).collect::<Vec<_>>();
    let known: HashSet<(&str, u32)> = found.iter().flat_map(at).collect();
    let follows = |it: &Diagnostic| {
        let causes = CAUSES.iter().filter(|(code, _)| *code == it.code()).flat_map(|(_, causes)| *causes);
        let places = touched(it, &parts);
        causes.into_iter().any(|cause| places.iter().any(|part| known.contains(&(*cause, *part))))
    };
    found.iter().filter(|it| !follows(it)).cloned().collect()
}

/// The transitions and exit rules, or the steps, each with all that it declares, in source order.
fn parts(checked: &Checked) -> Vec<Span> {
    let mut parts: Vec<Span> = match checked.definition() {
        Definition::Machine(workflow) => {
            let rules = workflow.exit_monitoring.rules.iter().map(|it| it.span);
            workflow.transitions.iter().map(|it| it.span).chain(rules).collect()
        }
        Definition::Steps(steps) => {
            // The span of a table is its header, and what it declares reaches to the next one.
            let starts: Vec<u32> = steps.steps.iter().map(|it| it.span.start).chain([u32::MAX]).collect();
            starts.windows(2).map(|it| Span::new(it[0], it[1])).collect()
        }
    };
    parts.sort_unstable_by_key(|part| part.start);
    parts
}

/// The parts of the workflow at which a finding points, each by its beginning.
fn touched(found: &Diagnostic, parts: &[Span]) -> Vec<u32> {
    let spans = [found.span].into_iter().chain(found.labels.iter().map(|label| label.span));
    let part = |span: Span| {
        let before = parts.partition_point(|part| part.start <= span.start);
        parts[..before].last().filter(|part| span.start < part.end)
    };
    spans.filter_map(part).map(|part| part.start).collect()
}
