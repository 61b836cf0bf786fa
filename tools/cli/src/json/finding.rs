//! A finding, which several commands answer with.

use std::collections::BTreeMap;

use orange_codegen::{Diagnostic, LineIndex, Span, Trace, diag};
use serde::Serialize;

/// Something that is wrong with a workflow.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Finding<'l> {
    /// The code of its check.
    pub code: &'static str,
    /// The name of its check.
    pub name: &'static str,
    /// `error`, `deny`, `warn` or `info`.
    pub level: &'static str,
    /// The problem, in a sentence.
    pub message: &'l str,
    /// The file.
    pub file: &'l str,
    #[serde(flatten)]
    pub location: SpanLocation,
    /// The places in the file that the message speaks of.
    pub labels: Vec<ShownLabel<'l>>,
    /// Values of counters for which it shows.
    pub witness: Option<BTreeMap<&'l str, u32>>,
    /// The states of the shortest run that leads to it.
    pub trace: Vec<&'l str>,
    /// The steps of that run.
    pub steps: Vec<FindingStep<'l>>,
    /// That run.
    #[serde(skip)]
    pub run: Option<&'l Trace>,
    /// The remedy.
    pub help: Option<&'l str>,
    /// Edits that apply it.
    pub fix: Option<ShownFix<'l>>,
    /// The published page of its check, if `docs` in `orange-workflow.toml` says where pages are published.
    pub url: Option<String>,
}

/// Begin and end of something in a file. Lines and columns count from 1, and columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct SpanLocation {
    /// The line in which it begins.
    pub line: u32,
    /// The column in which it begins.
    pub column: u32,
    /// The line in which it ends.
    pub end_line: u32,
    /// The column behind its end.
    pub end_column: u32,
}

/// A place that a message speaks of.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Label"))]
pub(crate) struct ShownLabel<'l> {
    #[serde(flatten)]
    pub location: SpanLocation,
    /// Text about the place.
    pub message: &'l str,
}

/// A step of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct FindingStep<'l> {
    /// Actor of the step: `person`, `worker`, `reviewer` or `engine`.
    pub by: &'l str,
    /// The actor's act.
    pub does: &'l str,
    /// The state of the task afterwards.
    pub to: &'l str,
    /// The hooks that run.
    pub hooks: &'l [String],
    /// The line that declares the step.
    pub line: Option<u32>,
    /// The commands of `orange-workflow simulate` that do the same.
    pub script: &'l [String],
}

/// Edits that correct what is wrong.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Fix"))]
pub(crate) struct ShownFix<'l> {
    /// Effect of the edits, as an imperative.
    pub title: &'l str,
    /// True if `--fix` makes them; otherwise only `--unsafe-fixes` does.
    pub safe: bool,
    /// The edits, which do not overlap.
    pub edits: Vec<ShownEdit<'l>>,
}

/// A replacement in the file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Edit"))]
pub(crate) struct ShownEdit<'l> {
    #[serde(flatten)]
    pub location: SpanLocation,
    /// The new text.
    pub text: &'l str,
}

impl<'l> Finding<'l> {
    /// A finding of the file with this path.
    pub(crate) fn new(finding: &'l Diagnostic, file: &'l str, index: &LineIndex<'_>) -> Self {
        let values =
            |it: &'l diag::Witness| it.values.iter().map(|(name, value)| (&**name, *value)).collect();
        let steps = finding.trace.iter().flat_map(|it| &it.steps);
        Self {
            code: finding.code(),
            name: finding.name(),
            level: finding.level.as_str(),
            message: &finding.message,
            file,
            location: SpanLocation::of(finding.span, index),
            labels: finding.labels.iter().map(|it| ShownLabel::new(it, index)).collect(),
            witness: finding.witness.as_ref().map(values),
            trace: finding.trace.as_ref().map(Trace::states).unwrap_or_default(),
            steps: steps.map(|it| FindingStep::new(it, index)).collect(),
            run: finding.trace.as_ref(),
            help: finding.help.as_deref(),
            fix: finding.fix.as_ref().map(|it| ShownFix::new(it, index)),
            url: None,
        }
    }
}

impl SpanLocation {
    /// The location of a span.
    pub(crate) fn of(span: Span, index: &LineIndex<'_>) -> Self {
        let (start, end) = (index.position(span.start), index.position(span.end));
        Self { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    }
}

impl<'l> ShownLabel<'l> {
    fn new(label: &'l diag::Label, index: &LineIndex<'_>) -> Self {
        Self { location: SpanLocation::of(label.span, index), message: &label.message }
    }
}

impl<'l> FindingStep<'l> {
    fn new(step: &'l diag::TraceStep, index: &LineIndex<'_>) -> Self {
        let diag::TraceStep { by, does, to, hooks, span, script } = step;
        Self { by, does, to, hooks, line: span.map(|it| index.position(it.start).line), script }
    }
}

impl<'l> ShownFix<'l> {
    fn new(fix: &'l diag::Fix, index: &LineIndex<'_>) -> Self {
        let edit =
            |it: &'l diag::Edit| ShownEdit { location: SpanLocation::of(it.span, index), text: &it.text };
        Self { title: &fix.title, safe: fix.safe, edits: fix.edits.iter().map(edit).collect() }
    }
}
