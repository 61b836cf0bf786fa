//! SARIF 2.1.0, which code scanning services and editors read.

mod types;

use std::collections::{BTreeMap, HashMap};

use orange_analysis::catalogue::{self, Check};
use orange_codegen::diag::TraceStep;
use orange_codegen::{Diagnostic, Level, LineIndex, Span, Trace};

use super::fingerprint::Fingerprints;
use super::human::is_about_the_whole_file;
use crate::answer::Failure;
use crate::config::PageUrl;
use crate::json::{self, SpanLocation};
use crate::paths::Repositories;
use crate::report::{File, Report};

use types::{
    ArtifactChange, ArtifactLocation, BorrowedText, CodeFlow, Configuration, Described, Help, Invocation,
    LogicalLocation, Notification, PhysicalLocation, Region, Replacement, SarifDriver, SarifFix,
    SarifLocation, SarifLog, SarifResult, SarifRule, SarifRun, SarifText, SarifTool, ThreadFlow,
    ThreadFlowLocation,
};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Folder at which relative paths begin.
const ROOT: &str = "%SRCROOT%";

/// The name of the fingerprint that is made of the check and the place in the workflow.
const FINGERPRINT: &str = "place/v1";

/// The whole report as one document and a line end; `failures` has the inputs that could not be read.
///
/// # Errors
///
/// A report cannot cause one, but the type of serde has it.
pub(crate) fn sarif(report: &Report, failures: &[Failure]) -> Result<String, Failure> {
    let mut repositories = Repositories::default();
    let rules: HashMap<&str, usize> =
        catalogue::all().iter().enumerate().map(|(at, it)| (it.code, at)).collect();
    let files = report.files.iter().filter(|it| !it.findings().is_empty());
    let results = files.flat_map(|file| {
        let artifact = artifact(&repositories.path(&file.source.path));
        SarifTeller::new(file, artifact).results(file, &rules)
    });
    let run = SarifRun {
        tool: tool(report.files.iter().find_map(|it| it.docs.as_ref())),
        column_kind: "unicodeCodePoints",
        results: results.collect(),
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            Described { description: text("The root of the repository, or else the current folder.") },
        )]),
        invocations: [invocation(failures)],
    };
    let log = SarifLog { schema: SCHEMA, version: "2.1.0", runs: [run] };
    json::written(&log)
}

/// Writes the findings of one file.
struct SarifTeller<'r> {
    artifact: ArtifactLocation,
    index: LineIndex<'r>,
}

impl<'r> SarifTeller<'r> {
    fn new(file: &'r File, artifact: ArtifactLocation) -> Self {
        Self { artifact, index: LineIndex::new(&file.source.text) }
    }

    fn results(&self, file: &'r File, rules: &HashMap<&str, usize>) -> Vec<SarifResult<'r>> {
        let mut fingerprints = Fingerprints::new(file.places());
        let results = file.findings().iter().map(|finding| {
            let fingerprint = fingerprints.next(finding);
            SarifResult {
                rule_id: finding.code(),
                rule_index: rules.get(finding.code()).copied(),
                level: level(finding.level),
                message: text(message(finding)),
                locations: [SarifLocation {
                    logical_locations: vec![LogicalLocation { fully_qualified_name: fingerprint.place }],
                    ..self.of_finding(finding)
                }],
                related_locations: self.labels(finding),
                code_flows: finding.trace.iter().map(|it| self.code_flow(it, finding)).collect(),
                fixes: finding.fix.iter().map(|it| self.fix(it)).collect(),
                partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint.text)]),
            }
        });
        results.collect()
    }

    fn labels(&self, finding: &Diagnostic) -> Vec<SarifLocation> {
        let labels = finding.labels.iter().enumerate().map(|(at, label)| SarifLocation {
            id: Some(at + 1),
            message: Some(text(&label.message)),
            ..self.location(label.span)
        });
        labels.collect()
    }

    /// The run step by step. A step without a declaration has the place of the finding.
    fn code_flow(&self, trace: &Trace, finding: &Diagnostic) -> CodeFlow {
        let start = (None, format!("it starts in `{}`", trace.start));
        let steps = trace.steps.iter().map(|it| (it.span, describe(it)));
        let end = trace.end.iter().map(|it| (None, format!("at the end: {it}")));
        let locations = std::iter::once(start).chain(steps).chain(end).enumerate();
        let locations = locations.map(|(at, (span, said))| {
            let location = span.map_or_else(|| self.of_finding(finding), |it| self.location(it));
            let location = SarifLocation { message: Some(text(said)), ..location };
            ThreadFlowLocation { location, execution_order: at + 1 }
        });
        CodeFlow { thread_flows: [ThreadFlow { locations: locations.collect() }] }
    }

    fn fix(&self, fix: &'r orange_codegen::Fix) -> SarifFix<'r> {
        let doubt = if fix.safe { "" } else { "; this may not be what was meant" };
        let replacements = fix.edits.iter().map(|edit| Replacement {
            deleted_region: self.region(edit.span),
            inserted_content: BorrowedText { text: &edit.text },
        });
        SarifFix {
            description: text(format!("{}{doubt}", fix.title)),
            artifact_changes: [ArtifactChange {
                artifact_location: self.artifact.clone(),
                replacements: replacements.collect(),
            }],
        }
    }

    fn of_finding(&self, finding: &Diagnostic) -> SarifLocation {
        let region = (!is_about_the_whole_file(finding)).then(|| self.region(finding.span));
        self.at(region)
    }

    fn location(&self, span: Span) -> SarifLocation {
        self.at(Some(self.region(span)))
    }

    fn at(&self, region: Option<Region>) -> SarifLocation {
        let physical_location = PhysicalLocation { artifact_location: self.artifact.clone(), region };
        SarifLocation { id: None, physical_location, logical_locations: Vec::new(), message: None }
    }

    fn region(&self, span: Span) -> Region {
        let SpanLocation { line, column, end_line, end_column } = SpanLocation::of(span, &self.index);
        Region { start_line: line, start_column: column, end_line, end_column }
    }
}

/// The tool, with the addresses of its pages where a configuration says those.
fn tool(docs: Option<&PageUrl>) -> SarifTool {
    let version = env!("CARGO_PKG_VERSION");
    let rules = catalogue::all().iter().map(|it| rule(it, docs)).collect();
    SarifTool { driver: SarifDriver { name: "orange-workflow", version, semantic_version: version, rules } }
}

fn rule(check: &'static Check, docs: Option<&PageUrl>) -> SarifRule {
    let summary = catalogue::summary(check).replace('\n', " ");
    SarifRule {
        id: check.code,
        name: check.name,
        help: Help {
            text: format!("{summary} `orange-workflow explain {}` says more.", check.code),
            markdown: catalogue::page(check),
        },
        help_uri: docs.map(|it| it.of(check)),
        short_description: text(summary),
        default_configuration: Configuration {
            enabled: check.level != Level::Allow,
            level: level(check.level),
        },
    }
}

fn invocation(failures: &[Failure]) -> Invocation<'_> {
    Invocation {
        execution_successful: failures.is_empty(),
        tool_execution_notifications: failures.iter().map(notification).collect(),
    }
}

fn notification(failure: &Failure) -> Notification<'_> {
    Notification { level: "error", message: BorrowedText { text: failure.message() } }
}

/// Paths in and outside of repositories, as URIs.
fn artifact(path: &str) -> ArtifactLocation {
    let encoded = percent_encoded(path);
    if path.starts_with('/') {
        ArtifactLocation { uri: format!("file://{encoded}"), uri_base_id: None }
    } else {
        ArtifactLocation { uri: encoded, uri_base_id: Some(ROOT) }
    }
}

fn percent_encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into())
            }
            other => super::put(&mut out, format_args!("%{other:02X}")),
        }
    }
    out
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error | Level::Deny => "error",
        Level::Warn => "warning",
        Level::Info => "note",
        Level::Allow => "none",
    }
}

/// The message with what other parts of a result have no room for.
fn message(finding: &Diagnostic) -> String {
    let witness = finding.witness.as_ref().filter(|it| !finding.message.contains(&it.range));
    let witness = witness.map(|it| format!("\nwitness: {}", it.range)).unwrap_or_default();
    let help = finding.help.as_ref().map(|it| format!("\nhelp: {it}")).unwrap_or_default();
    format!("{}{witness}{help}", finding.message)
}

fn describe(step: &TraceStep) -> String {
    let hooks = if step.hooks.is_empty() { String::new() } else { format!(" ({})", step.hooks.join(", ")) };
    format!("{}: {} → `{}`{hooks}", step.by, step.does, step.to)
}

fn text(text: impl Into<String>) -> SarifText {
    SarifText { text: text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(artifact("a b/ü:100%.yml").uri, "a%20b/%C3%BC%3A100%25.yml");
        assert_eq!(artifact("/etc/a.yml").uri, "file:///etc/a.yml");
    }
}
