//! Changes between two workflows, and the tasks that are the worse for them.

use orange_analysis::evolution::{ChangeFinding, Comparison, Side};
use orange_codegen::plain::Renderer;
use orange_codegen::{Compilation, Diagnostic, Label, LineIndex, Source};

use super::excerpt::quote;
use super::human::findings;
use super::narrated::sentence;
use super::{printable, put, short, wrap};
use crate::json::{DiffAnswer, StrandedTask};
use crate::report::{File, Report};
use crate::screen::Style;

/// The whole output of `diff`.
pub(crate) struct DiffOutput<'c> {
    /// The workflow that tasks were started with.
    pub old: &'c Source,
    /// The workflow that replaces it.
    pub new: &'c Source,
    /// The changes.
    pub comparison: &'c Comparison,
    /// The changes as programs read them, and the tasks that no transition leads on.
    pub answer: &'c DiffAnswer<'c>,
}

impl DiffOutput<'_> {
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
        for StrandedTask { project, id, status, why } in &self.answer.tasks {
            let text = format!("{project}/{id} would be stranded in {status}: {why}");
            put(&mut out, format_args!("{}\n", wrap(&printable(&text), style.width).join("\n  ")));
        }
        out += &self.summary();
        out
    }

    /// One line each.
    pub(crate) fn short(&self) -> String {
        let files = self.comparison.changes.iter().map(|change| self.file(change)).collect();
        let mut out = short(&Report { files, ..Report::default() });
        for StrandedTask { project, id, status, why } in &self.answer.tasks {
            let text = format!("{project}/{id}: stranded in {status}: {why}");
            put(&mut out, format_args!("{}\n", printable(&text)));
        }
        out
    }

    /// The place in the other file, with its line.
    fn beside(&self, change: &ChangeFinding, label: &Label, style: Style) -> String {
        let source = self.source(other(change.side));
        if style.drawn {
            let excerpt = Renderer::new(source).place(label);
            return excerpt.lines().map(|line| format!("  {}\n", printable(line))).collect();
        }
        let at = LineIndex::new(&source.text).position(label.span.start);
        let text = format!(
            "In {}, line {}, column {}, `{}`: {}",
            source.path,
            at.line,
            at.column,
            quote(&source.text, label.span.range().start),
            sentence(&label.message)
        );
        format!("  {}\n", wrap(&printable(&text), style.width - 4).join("\n    "))
    }

    /// "2 breaking changes, 1 warning; 1 task would be stranded"
    fn summary(&self) -> String {
        let breaking = self.answer.diagnostics.iter().filter(|it| it.breaking).count();
        let others = self.answer.diagnostics.len() - breaking;
        let counts = [
            (breaking, "breaking change", "breaking changes"),
            (others, "warning", "warnings"),
            (self.answer.tasks.len(), "stranded task", "stranded tasks"),
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
    fn file(&self, change: &ChangeFinding) -> File {
        let diagnostics: Vec<Diagnostic> = vec![change.finding.clone()];
        let compilation = Compilation { diagnostics, ..Compilation::default() };
        File { source: self.source(change.side).clone(), compilation, docs: None }
    }
}

fn other(side: Side) -> Side {
    match side {
        Side::Old => Side::New,
        Side::New => Side::Old,
    }
}
