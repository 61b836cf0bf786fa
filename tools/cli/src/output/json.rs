//! One JSON object, for programs. Its keys are a contract; more may come, none goes.

use orange_codegen::diag::{Edit, Fix, TraceStep};
use orange_codegen::{Diagnostic, LineIndex, Trace, Witness};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::SpanLocation;
use crate::answer::Failure;
use crate::report::{File, Report};

#[derive(Serialize)]
struct Document<'r> {
    version: u32,
    files: usize,
    diagnostics: Vec<Found<'r>>,
    summary: Summary,
}

/// One finding.
#[derive(Serialize)]
pub(super) struct Found<'r> {
    code: &'static str,
    name: &'static str,
    level: &'static str,
    message: &'r str,
    file: &'r str,
    #[serde(flatten)]
    place: SpanLocation,
    labels: Vec<Label<'r>>,
    witness: Option<Values<'r>>,
    trace: Vec<&'r str>,
    steps: Vec<Acted<'r>>,
    help: Option<&'r str>,
    fix: Option<Mend<'r>>,
    url: String,
}

#[derive(Serialize)]
struct Label<'r> {
    #[serde(flatten)]
    place: SpanLocation,
    message: &'r str,
}

/// One step of the trace.
#[derive(Serialize)]
struct Acted<'r> {
    by: &'r str,
    does: &'r str,
    to: &'r str,
    hooks: &'r [String],
    line: Option<u32>,
    script: &'r [String],
}

#[derive(Serialize)]
struct Mend<'r> {
    title: &'r str,
    safe: bool,
    edits: Vec<Replacement<'r>>,
}

#[derive(Serialize)]
struct Replacement<'r> {
    #[serde(flatten)]
    place: SpanLocation,
    text: &'r str,
}

#[derive(Serialize)]
struct Summary {
    error: usize,
    deny: usize,
    warn: usize,
    info: usize,
}

/// Counter values, in the order of the counters.
struct Values<'r>(&'r Witness);

/// The whole report as one object and a line end.
///
/// # Errors
///
/// None that a report of ours can cause; serde has one all the same.
pub(crate) fn json(report: &Report) -> Result<String, Failure> {
    let counts = report.counts();
    let document = Document {
        version: 1,
        files: report.files.len(),
        diagnostics: report.files.iter().flat_map(found).collect(),
        summary: Summary { error: counts.error, deny: counts.deny, warn: counts.warn, info: counts.info },
    };
    super::to_json(&document)
}

fn found(file: &File) -> Vec<Found<'_>> {
    if file.findings().is_empty() {
        return Vec::new();
    }
    let index = LineIndex::new(&file.source.text);
    file.findings().iter().map(|it| Found::new(it, &file.source.path, &index)).collect()
}

impl<'r> Found<'r> {
    pub(super) fn new(finding: &'r Diagnostic, file: &'r str, index: &LineIndex<'_>) -> Self {
        let label = |it: &'r orange_codegen::Label| Label {
            place: SpanLocation::of(it.span, index),
            message: &it.message,
        };
        let steps = finding.trace.iter().flat_map(|it| &it.steps);
        Self {
            code: finding.code(),
            name: finding.name(),
            level: finding.level.as_str(),
            message: &finding.message,
            file,
            place: SpanLocation::of(finding.span, index),
            labels: finding.labels.iter().map(label).collect(),
            witness: finding.witness.as_ref().map(Values),
            trace: finding.trace.as_ref().map(Trace::states).unwrap_or_default(),
            steps: steps.map(|it| Acted::new(it, index)).collect(),
            help: finding.help.as_deref(),
            fix: finding.fix.as_ref().map(|it| Mend::new(it, index)),
            url: format!("docs/lints/{}.md", finding.name()),
        }
    }
}

impl<'r> Acted<'r> {
    fn new(step: &'r TraceStep, index: &LineIndex<'_>) -> Self {
        let TraceStep { by, does, to, hooks, span, script } = step;
        Self { by, does, to, hooks, line: span.map(|it| index.position(it.start).line), script }
    }
}

impl<'r> Mend<'r> {
    fn new(fix: &'r Fix, index: &LineIndex<'_>) -> Self {
        let edit = |it: &'r Edit| Replacement { place: SpanLocation::of(it.span, index), text: &it.text };
        Self { title: &fix.title, safe: fix.safe, edits: fix.edits.iter().map(edit).collect() }
    }
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = &self.0.values;
        let mut map = serializer.serialize_map(Some(values.len()))?;
        for (counter, value) in values {
            map.serialize_entry(counter, value)?;
        }
        map.end()
    }
}
