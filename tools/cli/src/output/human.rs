//! Findings for people: drawn on a terminal, and in sentences elsewhere.

use std::env;
use std::ffi::OsStr;
use std::io::IsTerminal;

use orange_codegen::{Diagnostic, LineIndex, Span};

use super::graphical::Pen;
use super::{narrated, printable, put};
use crate::json::Counts;
use crate::report::{File, Report};

/// Everything fits into this many columns, as far as words and the place of a label allow.
pub(super) const WIDTH: usize = 80;

/// The number of findings that are shown for one file; more would scroll away.
const MAX_SHOWN: usize = 100;

/// How findings are shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Drawn, with escape sequences for colour.
    Colour,
    /// Drawn, without escape sequences.
    Plain,
    /// In sentences, without a drawing character: for screen readers, files and pipes.
    Narrated,
}

/// All findings of a run and a line that sums them up.
pub(crate) fn human(report: &Report, style: Style) -> String {
    let mut out = findings(&report.files, style);
    put(&mut out, format_args!("{}\n", summary(report.files.len(), report.counts(), report.known)));
    out
}

/// The findings of these files, each followed by a blank line.
pub(crate) fn findings(files: &[File], style: Style) -> String {
    let mut out = String::new();
    for file in files.iter().filter(|it| !it.findings().is_empty()) {
        show(&mut out, file, style);
    }
    out
}

impl Style {
    /// Colour for a terminal that wants it (<https://no-color.org>), sentences where there is no terminal or
    /// `NO_GRAPHICS` asks for them.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let is_set = |name: &str| env::var_os(name).is_some_and(|it| !it.is_empty() && it != "0");
        let dumb = env::var_os("TERM").is_some_and(|it| it == OsStr::new("dumb"));
        if !stream.is_terminal() || is_set("NO_GRAPHICS") {
            Self::Narrated
        } else if dumb || env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty()) {
            Self::Plain
        } else {
            Self::Colour
        }
    }

    /// Drawn in any case, and in colour only where that was possible before.
    pub(crate) fn drawn(self) -> Self {
        match self {
            Self::Colour => Self::Colour,
            Self::Plain | Self::Narrated => Self::Plain,
        }
    }
}

/// Whether there is no line to show.
pub(super) fn is_about_the_whole_file(finding: &Diagnostic) -> bool {
    finding.span == Span::default() && finding.labels.is_empty()
}

fn show(out: &mut String, file: &File, style: Style) {
    let index = LineIndex::new(&file.source.text);
    let shown = file.findings().iter().take(MAX_SHOWN);
    match style {
        Style::Colour | Style::Plain => {
            let pen = Pen::new(style == Style::Colour);
            for finding in shown {
                pen.draw(out, finding, file, &index);
                out.push('\n');
            }
        }
        Style::Narrated => {
            for finding in shown {
                narrated::tell(out, finding, &file.source, &index);
                out.push('\n');
            }
        }
    }
    if let Some(more @ 1..) = file.findings().len().checked_sub(MAX_SHOWN) {
        let path = printable(&file.source.path);
        put(out, format_args!("{path}: {more} more findings; `--format short` lists them all\n\n"));
    }
}

/// "checked 3 files: 1 error, 2 warnings; 4 known findings are left out"
fn summary(files: usize, counts: Counts, known: usize) -> String {
    let known = match known {
        0 => String::new(),
        known => format!("; {} left out", counted(known, "known finding is", "known findings are")),
    };
    format!("checked {}: {}{known}", counted(files, "file", "files"), in_words(counts))
}

/// "1 error, 2 warnings"
pub(crate) fn in_words(counts: Counts) -> String {
    let kinds = [
        (counts.error, "error", "errors"),
        (counts.deny, "denied finding", "denied findings"),
        (counts.warn, "warning", "warnings"),
        (counts.info, "note", "notes"),
    ];
    let found: Vec<String> =
        kinds.iter().filter(|it| it.0 > 0).map(|(count, one, many)| counted(*count, one, many)).collect();
    if found.is_empty() { "nothing wrong".to_owned() } else { found.join(", ") }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts() {
        assert_eq!(summary(1, Counts::default(), 0), "checked 1 file: nothing wrong");
        let known = "checked 2 files: nothing wrong; 1 known finding is left out";
        assert_eq!(summary(2, Counts::default(), 1), known);
        let counts = Counts { error: 1, deny: 0, warn: 2, info: 0 };
        assert_eq!(summary(3, counts, 0), "checked 3 files: 1 error, 2 warnings");
    }
}
