//! The Diagnostic Format of reviewdog: <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf>.

use orange_codegen::{Diagnostic, Fix, Level, LineIndex, Span};
use serde::Serialize;

use super::github::message;
use super::human::is_about_the_whole_file;
use super::printable;
use crate::answer::Failure;
use crate::json;
use crate::paths::Repositories;
use crate::report::{File, Report};

#[derive(Serialize)]
struct DiagnosticResult<'r> {
    source: RdjsonSource,
    diagnostics: Vec<RdjsonDiagnostic<'r>>,
}

#[derive(Serialize)]
struct RdjsonSource {
    name: &'static str,
}

#[derive(Serialize)]
struct RdjsonDiagnostic<'r> {
    message: String,
    location: RdjsonLocation,
    severity: &'static str,
    code: RdjsonCode,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'r>>,
}

#[derive(Serialize)]
struct RdjsonLocation {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<RdjsonRange>,
}

#[derive(Serialize)]
struct RdjsonCode {
    value: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

#[derive(Serialize)]
struct Suggestion<'r> {
    range: RdjsonRange,
    text: &'r str,
}

/// The end is the position behind the last byte.
#[derive(Clone, Copy, Serialize)]
struct RdjsonRange {
    start: RdjsonPosition,
    end: RdjsonPosition,
}

/// Both count from 1, columns in bytes.
#[derive(Clone, Copy, Serialize)]
struct RdjsonPosition {
    line: u32,
    column: usize,
}

/// The whole report.
///
/// # Errors
///
/// None that a report can cause; serde has one all the same.
pub(crate) fn rdjson(report: &Report) -> Result<String, Failure> {
    let mut repositories = Repositories::default();
    let mut diagnostics = Vec::new();
    for file in report.files.iter().filter(|it| !it.findings().is_empty()) {
        let index = LineIndex::new(&file.source.text);
        let path = repositories.path(&file.source.path);
        diagnostics.extend(file.findings().iter().map(|it| found(it, file, &path, &index)));
    }
    json::written(&DiagnosticResult { source: RdjsonSource { name: "orange-workflow" }, diagnostics })
}

fn found<'r>(
    finding: &'r Diagnostic,
    file: &File,
    path: &str,
    index: &LineIndex<'_>,
) -> RdjsonDiagnostic<'r> {
    let text = &file.source.text;
    let range = (!is_about_the_whole_file(finding)).then(|| range(finding.span, text, index));
    RdjsonDiagnostic {
        message: printable(&message(finding, index)).into_owned(),
        location: RdjsonLocation { path: path.to_owned(), range },
        severity: match finding.level {
            Level::Error | Level::Deny => "ERROR",
            Level::Warn => "WARNING",
            Level::Info | Level::Allow => "INFO",
        },
        code: RdjsonCode { value: finding.code(), url: file.page(finding) },
        suggestions: finding.fix.iter().filter_map(|it| suggestion(it, text, index)).collect(),
    }
}

/// reviewdog offers each suggestion by itself, so that a fix of several edits is none.
fn suggestion<'r>(fix: &'r Fix, text: &str, index: &LineIndex<'_>) -> Option<Suggestion<'r>> {
    match fix.edits.as_slice() {
        [edit] => Some(Suggestion { range: range(edit.span, text, index), text: &edit.text }),
        _ => None,
    }
}

fn range(span: Span, text: &str, index: &LineIndex<'_>) -> RdjsonRange {
    let position = |at: u32| {
        let before = &text[..text.floor_char_boundary(at as usize)];
        let line_start = before.rfind('\n').map_or(0, |it| it + 1);
        RdjsonPosition { line: index.position(at).line, column: before.len() - line_start + 1 }
    };
    RdjsonRange { start: position(span.start), end: position(span.end) }
}
