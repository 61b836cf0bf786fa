//! Findings for people: drawn on a terminal, and in sentences elsewhere.

use orange_codegen::{Diagnostic, LineIndex, Span};

use super::graphical::Pen;
use super::{narrated, printable, put};
use crate::json::Counts;
use crate::report::{File, Report};
use crate::screen::Style;

/// The number of findings that are shown for one file; more would scroll away.
const MAX_SHOWN: usize = 100;

/// All findings of a run and a line that sums them up.
pub(crate) fn human(report: &Report, style: Style) -> String {
    let mut out = findings(&report.files, style);
    put(&mut out, format_args!("{}\n", summary(report)));
    out
}

/// The line that sums up a run.
pub(crate) fn summary(report: &Report) -> String {
    summed_up(report.files.len(), report.counts(), report.known)
}

/// The findings of these files, each followed by a blank line.
pub(crate) fn findings(files: &[File], style: Style) -> String {
    let mut out = String::new();
    for file in files.iter().filter(|it| !it.findings().is_empty()) {
        show(&mut out, file, style);
    }
    out
}

/// True if there is no line to show.
pub(super) fn is_about_the_whole_file(finding: &Diagnostic) -> bool {
    finding.span == Span::default() && finding.labels.is_empty()
}

fn show(out: &mut String, file: &File, style: Style) {
    let index = LineIndex::new(&file.source.text);
    let shown = file.findings().iter().take(MAX_SHOWN);
    if style.drawn {
        let pen = Pen::new(style);
        for finding in shown {
            pen.draw(out, finding, file, &index);
            out.push('\n');
        }
    } else {
        for finding in shown {
            narrated::tell(out, finding, &file.source, &index, style.width);
            out.push('\n');
        }
    }
    if let Some(more @ 1..) = file.findings().len().checked_sub(MAX_SHOWN) {
        let path = printable(&file.source.path);
        put(out, format_args!("{path}: {more} more findings; `--format short` lists them all\n\n"));
    }
}

/// "checked 3 files: 1 error, 2 warnings; 4 known findings are left out"
fn summed_up(files: usize, counts: Counts, known: usize) -> String {
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
        assert_eq!(summed_up(1, Counts::default(), 0), "checked 1 file: nothing wrong");
        let known = "checked 2 files: nothing wrong; 1 known finding is left out";
        assert_eq!(summed_up(2, Counts::default(), 1), known);
        let counts = Counts { error: 1, deny: 0, warn: 2, info: 0 };
        assert_eq!(summed_up(3, counts, 0), "checked 3 files: 1 error, 2 warnings");
    }
}
