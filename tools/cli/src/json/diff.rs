//! `orange-workflow diff`.

use orange_analysis::evolution::{self, Comparison, Side};
use orange_codegen::{LineIndex, Source};
use serde::Serialize;

use super::{Finding, SpanLocation, VERSION};

/// What `orange-workflow diff` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct DiffAnswer<'l> {
    /// The version of this form: 1.
    pub version: u32,
    /// The file of the old workflow.
    pub old: &'l str,
    /// The file of the new workflow.
    pub new: &'l str,
    /// Whether a change is breaking.
    pub breaking: bool,
    /// What has changed for running tasks.
    pub diagnostics: Vec<Change<'l>>,
    /// The tasks of `--home` that the new workflow would strand.
    pub tasks: Vec<StrandedTask<'l>>,
    /// What could not be read in `--home`.
    pub unreadable: Vec<UnreadableFile<'l>>,
}

/// A change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Change<'l> {
    #[serde(flatten)]
    pub finding: Finding<'l>,
    /// Whether a running task may be refused what it was allowed, or stay where it is for ever.
    pub breaking: bool,
    /// The place in the other file.
    pub counterpart: Option<Counterpart<'l>>,
}

/// A place in the other file that a change is about.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Counterpart<'l> {
    /// The file.
    pub file: &'l str,
    #[serde(flatten)]
    pub location: SpanLocation,
    /// What is there.
    pub message: &'l str,
}

/// A task that the new workflow would strand.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct StrandedTask<'l> {
    /// Its project.
    pub project: &'l str,
    /// Its id.
    pub id: &'l str,
    /// Its status.
    pub status: &'l str,
    /// Why.
    pub why: String,
}

/// A file of a task, or a folder, that cannot be read.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct UnreadableFile<'l> {
    /// Its path.
    pub file: &'l str,
    /// Why.
    pub why: &'l str,
}

impl<'l> DiffAnswer<'l> {
    /// What has changed between two workflows, the tasks that this strands, and what was not readable.
    pub(crate) fn new(
        (old, new): (&'l Source, &'l Source),
        comparison: &'l Comparison,
        tasks: Vec<StrandedTask<'l>>,
        unreadable: &'l [(String, String)],
    ) -> Self {
        let sides = [old, new].map(|it| (&*it.path, LineIndex::new(&it.text)));
        Self {
            version: VERSION,
            old: &old.path,
            new: &new.path,
            breaking: comparison.is_breaking(),
            diagnostics: comparison.changes.iter().map(|it| Change::new(it, &sides)).collect(),
            tasks,
            unreadable: unreadable.iter().map(|(file, why)| UnreadableFile { file, why }).collect(),
        }
    }
}

impl<'l> Change<'l> {
    fn new(change: &'l evolution::Change, [old, new]: &[(&'l str, LineIndex<'_>); 2]) -> Self {
        let ((file, index), (other, other_index)) = match change.side {
            Side::Old => (old, new),
            Side::New => (new, old),
        };
        Self {
            finding: Finding::new(&change.finding, file, index),
            breaking: change.is_breaking(),
            counterpart: change.counterpart.as_ref().map(|it| Counterpart {
                file: other,
                location: SpanLocation::of(it.span, other_index),
                message: &it.message,
            }),
        }
    }
}
