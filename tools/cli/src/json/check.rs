//! `orange-workflow check`.

use orange_codegen::LineIndex;
use serde::Serialize;

use super::{Finding, VERSION};
use crate::report::{File, Report};

/// What `orange-workflow check` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct CheckAnswer<'l> {
    /// The version of this form: 1.
    pub version: u32,
    /// How many files were checked.
    pub files: usize,
    /// What was found, by file and place.
    pub diagnostics: Vec<Finding<'l>>,
    /// How many findings there are.
    pub summary: Counts,
}

/// How many findings there are of each level.
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
            summary: report.counts(),
        }
    }
}

fn found(file: &File) -> Vec<Finding<'_>> {
    if file.findings().is_empty() {
        return Vec::new();
    }
    let index = LineIndex::new(&file.source.text);
    file.findings().iter().map(|it| Finding::new(it, &file.source.path, &index)).collect()
}
