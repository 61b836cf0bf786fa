//! One JSON object, for programs. Its keys are a contract; more may come, none goes.

use orange_codegen::{Diagnostic, LineIndex, Trace, Witness};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Place;
use crate::answer::Failure;
use crate::report::{File, Report};

#[derive(Serialize)]
struct Document<'r> {
    version: u32,
    files: usize,
    diagnostics: Vec<Found<'r>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Found<'r> {
    code: &'static str,
    name: &'static str,
    level: &'static str,
    message: &'r str,
    file: &'r str,
    #[serde(flatten)]
    place: Place,
    labels: Vec<Label<'r>>,
    witness: Option<Values<'r>>,
    trace: Vec<&'r str>,
    help: Option<&'r str>,
    url: String,
}

#[derive(Serialize)]
struct Label<'r> {
    #[serde(flatten)]
    place: Place,
    message: &'r str,
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
    let text = serde_json::to_string_pretty(&document);
    text.map(|it| it + "\n").map_err(|error| {
        Failure::new(format!("cannot write JSON: {error}"), "please report this as a bug of orange-workflow")
    })
}

fn found(file: &File) -> Vec<Found<'_>> {
    if file.findings().is_empty() {
        return Vec::new();
    }
    let index = LineIndex::new(&file.source.text);
    file.findings().iter().map(|it| Found::new(it, &file.source.path, &index)).collect()
}

impl<'r> Found<'r> {
    fn new(finding: &'r Diagnostic, file: &'r str, index: &LineIndex<'_>) -> Self {
        let label =
            |it: &'r orange_codegen::Label| Label { place: Place::of(it.span, index), message: &it.message };
        Self {
            code: finding.code(),
            name: finding.name(),
            level: finding.level.as_str(),
            message: &finding.message,
            file,
            place: Place::of(finding.span, index),
            labels: finding.labels.iter().map(label).collect(),
            witness: finding.witness.as_ref().map(Values),
            trace: finding.trace.as_ref().map(Trace::states).unwrap_or_default(),
            help: finding.help.as_deref(),
            url: format!("docs/lints/{}.md", finding.name()),
        }
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
