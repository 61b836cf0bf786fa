//! What changed between two workflows, and which tasks are the worse for it.

use orange_analysis::evolution::{Change, Comparison, Side};
use orange_codegen::plain::Renderer;
use orange_codegen::{Compilation, Diagnostic, Label, LineIndex, Source};
use serde::Serialize;

use super::excerpt::quote;
use super::human::{Style, WIDTH, findings};
use super::json::Found;
use super::narrated::sentence;
use super::{SpanLocation, printable, put, short, to_json, wrap};
use crate::answer::Failure;
use crate::home::{Home, Task};
use crate::report::{File, Report};

/// The whole output of `diff`.
pub(crate) struct Changes<'c> {
    /// The workflow that tasks were started with.
    pub old: &'c Source,
    /// The workflow that replaces it.
    pub new: &'c Source,
    /// What was found.
    pub comparison: &'c Comparison,
    /// The tasks that no transition leads on.
    pub stranded: Vec<Stranded<'c>>,
    /// The home that was searched for them.
    pub home: &'c Home,
}

/// A task that no transition leads on.
pub(crate) struct Stranded<'c> {
    /// The task.
    pub task: &'c Task,
    /// Why.
    pub why: String,
}

#[derive(Serialize)]
struct Document<'c> {
    version: u32,
    old: &'c str,
    new: &'c str,
    breaking: bool,
    diagnostics: Vec<Changed<'c>>,
    tasks: Vec<Lost<'c>>,
    unreadable: Vec<Broken<'c>>,
}

#[derive(Serialize)]
struct Changed<'c> {
    #[serde(flatten)]
    found: Found<'c>,
    breaking: bool,
    counterpart: Option<Counterpart<'c>>,
}

#[derive(Serialize)]
struct Counterpart<'c> {
    file: &'c str,
    #[serde(flatten)]
    place: SpanLocation,
    message: &'c str,
}

#[derive(Serialize)]
struct Lost<'c> {
    project: &'c str,
    id: &'c str,
    status: &'c str,
    why: &'c str,
}

#[derive(Serialize)]
struct Broken<'c> {
    file: &'c str,
    why: &'c str,
}

impl Changes<'_> {
    /// Each change with the lines of both files, then the tasks, then a summary. Empty without a change.
    pub(crate) fn human(&self, style: Style) -> String {
        let mut out = String::new();
        for change in &self.comparison.changes {
            out += findings(&[self.file(change)], style).trim_end();
            out.push('\n');
            if let Some(label) = &change.counterpart {
                out += &self.beside(change, label, style);
            }
            out.push('\n');
        }
        for Stranded { task, why } in &self.stranded {
            let text = format!("{}/{} would be stranded in {}: {why}", task.project, task.id, task.status);
            put(&mut out, format_args!("{}\n", wrap(&printable(&text), WIDTH).join("\n  ")));
        }
        out += &self.summary();
        out
    }

    /// One line each.
    pub(crate) fn short(&self) -> String {
        let files = self.comparison.changes.iter().map(|change| self.file(change)).collect();
        let mut out = short(&Report { files, ..Report::default() });
        for Stranded { task, why } in &self.stranded {
            let text = format!("{}/{}: stranded in {}: {why}", task.project, task.id, task.status);
            put(&mut out, format_args!("{}\n", printable(&text)));
        }
        out
    }

    /// One JSON object and a line end.
    pub(crate) fn json(&self) -> Result<String, Failure> {
        let [old, new] = [self.old, self.new].map(|it| LineIndex::new(&it.text));
        let index = |side: Side| if side == Side::Old { &old } else { &new };
        let changed = self.comparison.changes.iter().map(|change| Changed {
            found: Found::new(&change.finding, &self.source(change.side).path, index(change.side)),
            breaking: change.is_breaking(),
            counterpart: change.counterpart.as_ref().map(|it| Counterpart {
                file: &self.source(other(change.side)).path,
                place: SpanLocation::of(it.span, index(other(change.side))),
                message: &it.message,
            }),
        });
        let tasks = self.stranded.iter().map(|Stranded { task, why }| Lost {
            project: &task.project,
            id: &task.id,
            status: &task.status,
            why,
        });
        to_json(&Document {
            version: 1,
            old: &self.old.path,
            new: &self.new.path,
            breaking: self.comparison.is_breaking(),
            diagnostics: changed.collect(),
            tasks: tasks.collect(),
            unreadable: self.home.broken.iter().map(|(file, why)| Broken { file, why }).collect(),
        })
    }

    /// The place in the other file, with its line.
    fn beside(&self, change: &Change, label: &Label, style: Style) -> String {
        let source = self.source(other(change.side));
        match style {
            Style::Colour | Style::Plain => {
                let excerpt = Renderer::new(source).place(label);
                excerpt.lines().map(|line| format!("  {}\n", printable(line))).collect()
            }
            Style::Narrated => {
                let at = LineIndex::new(&source.text).position(label.span.start);
                let text = format!(
                    "In {}, line {}, column {}, `{}`: {}",
                    source.path,
                    at.line,
                    at.column,
                    quote(&source.text, label.span.range().start),
                    sentence(&label.message)
                );
                format!("  {}\n", wrap(&printable(&text), WIDTH - 4).join("\n    "))
            }
        }
    }

    /// "2 breaking changes, 1 warning; 1 task would be stranded"
    fn summary(&self) -> String {
        let breaking = self.comparison.changes.iter().filter(|it| it.is_breaking()).count();
        let others = self.comparison.changes.len() - breaking;
        let counts = [
            (breaking, "breaking change", "breaking changes"),
            (others, "warning", "warnings"),
            (self.stranded.len(), "stranded task", "stranded tasks"),
        ];
        let counts = counts.iter().filter(|(count, ..)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
            .collect();
        if counts.is_empty() { String::new() } else { counts.join(", ") + "\n" }
    }

    fn source(&self, side: Side) -> &Source {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }

    /// One change as a file of its own, so that it is shown as every finding is.
    fn file(&self, change: &Change) -> File {
        let diagnostics: Vec<Diagnostic> = vec![change.finding.clone()];
        let compilation = Compilation { diagnostics, ..Compilation::default() };
        File { source: self.source(change.side).clone(), compilation }
    }
}

fn other(side: Side) -> Side {
    match side {
        Side::Old => Side::New,
        Side::New => Side::Old,
    }
}
