//! Findings as the protocol has them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use orange_codegen::prompt_files::normalised;
use orange_codegen::{Diagnostic, FilePlace, Level, Span};
use orange_ide::Document;

use super::checks::CheckState;
use super::convert::Lines;
use super::view::View;
use super::{uri, wire};

/// The program that an editor names beside a finding.
const SOURCE: &str = "orange";

/// The code of an expectation that is not met.
const SCENARIO: &str = "scenario";

/// Checks that find something nobody needs; editors draw that pale.
const UNNECESSARY: &[&str] = &[
    "unreachable-state",
    "unused-gate",
    "actor-unused",
    "counter-unused",
    "unused-prompt",
    "unused-suppression",
];

/// Findings by the files that they are in.
pub(super) type FindingsByFile = BTreeMap<PathBuf, Vec<wire::Diagnostic>>;

/// All that is known of a document, for the client: what is in the document itself, and what is in the files that it includes.
pub(super) fn of_document(document: &Document, state: &CheckState, view: &View<'_>) -> FindingsByFile {
    let mut texts = FindingTexts { document, view, files: BTreeMap::new() };
    let mut found = BTreeMap::from([(document.path.clone(), Vec::new())]);
    for finding in state.findings() {
        let page = state.docs.as_ref().map(|docs| docs.of(finding.check));
        let Some((path, shown)) = texts.finding(finding, page) else { continue };
        found.entry(path).or_default().push(shown);
    }
    let failed = state.failed.iter().map(|it| (it.span, it.message.clone()));
    let refused = state.refused.iter().map(|it| (Span::at(0), it.clone()));
    for (span, message) in failed.chain(refused) {
        let shown =
            diagnostic(texts.location(span, None).1, wire::DiagnosticSeverity::Error, SCENARIO, message);
        found.entry(document.path.clone()).or_default().push(shown);
    }
    found
}

/// The texts that the findings of one document are about.
struct FindingTexts<'v> {
    document: &'v Document,
    view: &'v View<'v>,
    /// Path and text of each included file, by its name in the document.
    files: BTreeMap<String, Option<(PathBuf, String)>>,
}

impl FindingTexts<'_> {
    fn finding(&mut self, finding: &Diagnostic, page: Option<String>) -> Option<(PathBuf, wire::Diagnostic)> {
        let severity = severity(finding.level)?;
        let (path, range) = self.location(finding.span, finding.file.as_ref());
        let mut related = Vec::new();
        for label in &finding.labels {
            related.push(self.related(label.span, label.file.as_ref(), label.message.clone()));
        }
        for (step, number) in finding.trace.iter().flat_map(|it| &it.steps).zip(1..) {
            let text = format!("{number}. {}: {} → {}", step.by, step.does, step.to);
            related.extend(step.span.map(|span| self.related(span, None, text)));
        }
        let shown = wire::Diagnostic {
            code_description: page.map(|it| wire::CodeDescription { href: wire::Uri::from(it) }),
            tags: UNNECESSARY.contains(&finding.name()).then(|| vec![wire::DiagnosticTag::Unnecessary]),
            related_information: (!related.is_empty()).then_some(related),
            ..diagnostic(range, severity, finding.code(), message(finding))
        };
        Some((path, shown))
    }

    fn related(
        &mut self,
        span: Span,
        file: Option<&FilePlace>,
        message: String,
    ) -> wire::DiagnosticRelatedInformation {
        let (path, range) = self.location(span, file);
        let uri = wire::Uri::from(uri::of(&path));
        wire::DiagnosticRelatedInformation { location: wire::Location { uri, range }, message }
    }

    /// A place in the document, or in the file that it includes, if that can be found.
    fn location(&mut self, span: Span, file: Option<&FilePlace>) -> (PathBuf, wire::Range) {
        let encoding = self.view.encoding;
        if let Some(place) = file
            && let Some((path, text)) = self.file(&place.file)
        {
            return (path.clone(), Lines::new(text, encoding).range(place.span));
        }
        (self.document.path.clone(), self.view.lines(self.document).range(span))
    }

    fn file(&mut self, name: &str) -> Option<&(PathBuf, String)> {
        let (document, workspace) = (self.document, self.view.workspace);
        let read = || {
            let path = document.source.prompt_files.path(name)?;
            let text = normalised(&workspace.text(&path)?);
            Some((path, text))
        };
        self.files.entry(name.to_owned()).or_insert_with(read).as_ref()
    }
}

fn diagnostic(
    range: wire::Range,
    severity: wire::DiagnosticSeverity,
    code: &str,
    message: String,
) -> wire::Diagnostic {
    wire::Diagnostic {
        range,
        severity: Some(severity),
        code: Some(wire::Code::String(code.to_owned())),
        code_description: None,
        source: Some(SOURCE.to_owned()),
        message: wire::Message::String(message),
        tags: None,
        related_information: None,
        data: None,
    }
}

fn severity(level: Level) -> Option<wire::DiagnosticSeverity> {
    match level {
        Level::Error | Level::Deny => Some(wire::DiagnosticSeverity::Error),
        Level::Warn => Some(wire::DiagnosticSeverity::Warning),
        Level::Info => Some(wire::DiagnosticSeverity::Information),
        Level::Allow => None,
    }
}

/// The problem, the counter values that show it, the end of its run, and the remedy: a line each.
fn message(finding: &Diagnostic) -> String {
    let mut lines = vec![finding.message.clone()];
    let witness = finding.witness.as_ref().filter(|it| !finding.message.contains(&it.range));
    lines.extend(witness.map(|it| format!("witness: {}", it.range)));
    let end = finding.trace.as_ref().and_then(|it| it.end.as_ref());
    lines.extend(end.map(|it| format!("at the end: {it}")));
    lines.extend(finding.help.as_ref().map(|it| format!("help: {it}")));
    lines.join("\n")
}
