//! `orange-workflow check`.

use orange_codegen::LineIndex;
use serde::Serialize;

use super::{Finding, VERSION};
use crate::report::{File, Report, Skipped};

/// Answer of `orange-workflow check`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct CheckAnswer<'l> {
    /// The version of this form: 1.
    pub version: u32,
    /// Number of checked files.
    pub files: usize,
    /// The findings, by file and place.
    pub diagnostics: Vec<Finding<'l>>,
    /// The files of a searched folder that are not checked.
    pub skipped: Vec<SkippedFile<'l>>,
    /// Number of findings of each level.
    pub summary: Counts,
    /// With `--statistics`: how often each check found something, the most frequent first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Vec<Statistic>>,
}

/// A file that is not checked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct SkippedFile<'l> {
    /// The file.
    pub file: &'l str,
    /// Reason for which it is not checked.
    pub reason: &'static str,
}

/// Number of findings of one check.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Statistic {
    /// Its code.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The worst level of its findings.
    pub level: &'static str,
    /// Number of its findings.
    pub count: usize,
}

/// Number of findings of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Counts {
    /// At `error`.
    pub error: usize,
    /// At `deny`.
    pub deny: usize,
    /// At `warn`.
    pub warn: usize,
    /// At `info`.
    pub info: usize,
}

impl<'l> CheckAnswer<'l> {
    /// The whole report.
    pub(crate) fn new(report: &'l Report) -> Self {
        Self {
            version: VERSION,
            files: report.files.len(),
            diagnostics: report.files.iter().flat_map(found).collect(),
            skipped: report.skipped.iter().map(SkippedFile::new).collect(),
            summary: report.counts(),
            statistics: None,
        }
    }
}

impl<'l> SkippedFile<'l> {
    fn new(skipped: &'l Skipped) -> Self {
        Self { file: &skipped.path, reason: skipped.reason() }
    }
}

fn found(file: &File) -> Vec<Finding<'_>> {
    if file.findings().is_empty() {
        return Vec::new();
    }
    let index = LineIndex::new(&file.source.text);
    let finding = |it| Finding { url: file.page(it), ..Finding::new(it, &file.source.path, &index) };
    file.findings().iter().map(finding).collect()
}
