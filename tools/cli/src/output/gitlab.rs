//! Code Quality of GitLab: <https://docs.gitlab.com/ci/testing/code_quality/>.

use orange_codegen::{Level, LineIndex};
use orange_core::fnv1a;
use serde::Serialize;

use super::fingerprint::Fingerprints;
use super::github::message;
use super::printable;
use crate::answer::Failure;
use crate::json::{self, SpanLocation};
use crate::paths::Repositories;
use crate::report::Report;

/// One finding as GitLab reads it.
#[derive(Serialize)]
struct GitlabIssue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: GitlabLocation,
}

#[derive(Serialize)]
struct GitlabLocation {
    path: String,
    lines: GitlabLines,
}

#[derive(Serialize)]
struct GitlabLines {
    begin: u32,
    end: u32,
}

/// A list of all findings. A fingerprint stays when lines move, so that GitLab shows what a change adds.
///
/// # Errors
///
/// None that a report can cause; serde has one all the same.
pub(crate) fn gitlab(report: &Report) -> Result<String, Failure> {
    let mut repositories = Repositories::default();
    let mut issues = Vec::new();
    for file in report.files.iter().filter(|it| !it.findings().is_empty()) {
        let index = LineIndex::new(&file.source.text);
        let path = repositories.path(&file.source.path);
        let mut fingerprints = Fingerprints::new(file.places());
        issues.extend(file.findings().iter().map(|finding| {
            let SpanLocation { line, end_line, .. } = SpanLocation::of(finding.span, &index);
            let known = format!("{path}:{}", fingerprints.next(finding).text);
            GitlabIssue {
                description: printable(&message(finding, &index)).into_owned(),
                check_name: format!("{} {}", finding.code(), finding.name()),
                fingerprint: format!("{:016x}", fnv1a(known.bytes())),
                severity: severity(finding.level),
                location: GitlabLocation {
                    path: path.clone(),
                    lines: GitlabLines { begin: line, end: end_line },
                },
            }
        }));
    }
    json::written(&issues)
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "critical",
        Level::Deny => "major",
        Level::Warn => "minor",
        Level::Info | Level::Allow => "info",
    }
}
