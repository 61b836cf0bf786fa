//! `orange-workflow diff`.

use orange_analysis::evolution::{self, Comparison, Side};
use orange_analysis::step_changes::{DifferenceKind, StepChange};
use orange_codegen::{LineIndex, Source, Span};
use serde::Serialize;

use super::{Finding, SpanLocation, VERSION};

/// Answer of `orange-workflow diff`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct DiffAnswer<'l> {
    /// The version of this form: 1.
    pub version: u32,
    /// The file of the old workflow.
    pub old: &'l str,
    /// The file of the new workflow.
    pub new: &'l str,
    /// True if a change is breaking.
    pub breaking: bool,
    /// The changes for running tasks.
    pub diagnostics: Vec<ShownChange<'l>>,
    /// The tasks of `--home` that the new workflow would strand.
    pub tasks: Vec<StrandedTask<'l>>,
    /// Files and folders in `--home` that could not be read.
    pub unreadable: Vec<UnreadableFile<'l>>,
    /// The changes between two step workflows, for missions that start later.
    pub steps: Vec<ChangedStep<'l>>,
}

/// A difference between two step workflows.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ChangedStep<'l> {
    /// The step; null for the workflow as a whole.
    pub step: Option<&'l str>,
    /// `added`, `removed`, or the key with another value; `order` is the order in which steps run that are ready together.
    pub what: &'l str,
    /// The old value; null for a prompt, and where there was none.
    pub before: Option<&'l str>,
    /// The new value; null for a prompt, and where there is none.
    pub after: Option<&'l str>,
    /// The line of the step in the old file, from 1.
    pub old_line: Option<u32>,
    /// The line of the step in the new file, from 1.
    pub new_line: Option<u32>,
}

/// A change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Change"))]
pub(crate) struct ShownChange<'l> {
    #[serde(flatten)]
    pub finding: Finding<'l>,
    /// True if a running task may be refused what it was allowed, or stay where it is for ever.
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
    /// Text about the place.
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
    /// The reason.
    pub why: String,
}

/// A file of a task, or a folder, that cannot be read.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct UnreadableFile<'l> {
    /// Its path.
    pub file: &'l str,
    /// The reason.
    pub why: &'l str,
}

impl<'l> DiffAnswer<'l> {
    /// The changes between two workflows, the tasks that they strand, and the files that could not be read.
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
            diagnostics: comparison.changes.iter().map(|it| ShownChange::new(it, &sides)).collect(),
            tasks,
            unreadable: unreadable.iter().map(|(file, why)| UnreadableFile { file, why }).collect(),
            steps: Vec::new(),
        }
    }

    /// The changes between two step workflows. None of them breaks a mission, which keeps its own plan.
    pub(crate) fn of_steps((old, new): (&'l Source, &'l Source), changes: &'l [StepChange]) -> Self {
        let (old_index, new_index) = (LineIndex::new(&old.text), LineIndex::new(&new.text));
        let steps = changes.iter().map(|it| ChangedStep::new(it, &old_index, &new_index));
        Self {
            version: VERSION,
            old: &old.path,
            new: &new.path,
            breaking: false,
            diagnostics: Vec::new(),
            tasks: Vec::new(),
            unreadable: Vec::new(),
            steps: steps.collect(),
        }
    }
}

impl<'l> ChangedStep<'l> {
    fn new(change: &'l StepChange, old: &LineIndex<'_>, new: &LineIndex<'_>) -> Self {
        let text = |it: &'l String| Some(it.as_str()).filter(|it| !it.is_empty());
        let (what, before, after) = match &change.what {
            DifferenceKind::Added => ("added", None, None),
            DifferenceKind::Removed => ("removed", None, None),
            DifferenceKind::Key { key, before, after } => (*key, text(before), text(after)),
        };
        let line = |span: Option<Span>, index: &LineIndex<'_>| span.map(|it| index.position(it.start).line);
        Self {
            step: change.step.as_deref(),
            what,
            before,
            after,
            old_line: line(change.old, old),
            new_line: line(change.new, new),
        }
    }
}

impl<'l> ShownChange<'l> {
    fn new(change: &'l evolution::ChangeFinding, [old, new]: &[(&'l str, LineIndex<'_>); 2]) -> Self {
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
