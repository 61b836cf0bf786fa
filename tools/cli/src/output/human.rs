//! Findings for people: miette draws the lines of the file, and the story goes below them.

use std::fmt;
use std::io::IsTerminal;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};
use orange_codegen::{Diagnostic, Level, LineIndex, Span};

use super::excerpt::{Excerpt, TAB};
use super::{printable, put};
use crate::report::{Counts, File, Report};

/// Everything fits into this many columns, as far as words and the place of a label allow.
const WIDTH: usize = 80;

/// A label is never wrapped to fewer columns than these.
const MIN_LABEL: usize = 24;

/// So many findings of one file are drawn; more would only scroll away.
const MAX_DRAWN: usize = 100;

/// Whether escape sequences for colour may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// They may.
    Colour,
    /// They may not.
    Plain,
}

/// A finding as miette sees it.
#[derive(Debug)]
struct Drawn<'r> {
    finding: &'r Diagnostic,
    excerpt: Excerpt,
    labels: Vec<LabeledSpan>,
}

/// All findings of a run and a line that sums them up.
pub(crate) fn human(report: &Report, style: Style) -> String {
    let mut out = findings(&report.files, style);
    put(&mut out, format_args!("{}\n", summary(report.files.len(), report.counts())));
    out
}

/// The findings of these files, each followed by a blank line.
pub(crate) fn findings(files: &[File], style: Style) -> String {
    let mut out = String::new();
    for file in files.iter().filter(|it| !it.findings().is_empty()) {
        draw_file(&mut out, file, style);
    }
    out
}

impl Style {
    /// Colour for a terminal that wants it: <https://no-color.org>.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty())
            || std::env::var_os("TERM").is_some_and(|it| it == "dumb");
        if stream.is_terminal() && !refused { Self::Colour } else { Self::Plain }
    }

    fn theme(self) -> GraphicalTheme {
        match self {
            Self::Colour => GraphicalTheme::unicode(),
            Self::Plain => GraphicalTheme::unicode_nocolor(),
        }
    }

    fn word(self, word: &str) -> String {
        match self {
            Self::Colour => format!("\u{1b}[36m{word}:\u{1b}[0m"),
            Self::Plain => format!("{word}:"),
        }
    }
}

fn draw_file(out: &mut String, file: &File, style: Style) {
    let handler = GraphicalReportHandler::new_themed(style.theme())
        .with_wrap_lines(false)
        .tab_width(TAB)
        .with_links(false)
        .without_syntax_highlighting();
    let index = LineIndex::new(&file.source.text);
    for finding in file.findings().iter().take(MAX_DRAWN) {
        let drawn = Drawn::new(finding, file, &index);
        match handler.render_report(out, &drawn) {
            Ok(()) | Err(fmt::Error) => {}
        }
        notes(out, finding, &file.source.path, style);
        out.push('\n');
    }
    if let Some(more @ 1..) = file.findings().len().checked_sub(MAX_DRAWN) {
        let path = printable(&file.source.path);
        put(out, format_args!("{path}: {more} more findings; `--format short` lists them all\n\n"));
    }
}

/// What is below the lines: why, how one gets there, what to write, where to read more.
fn notes(out: &mut String, finding: &Diagnostic, path: &str, style: Style) {
    let mut note = |word: &str, text: &str| {
        let indent = word.len() + 4;
        let text = wrap(&printable(text), WIDTH - indent).join(&format!("\n{:indent$}", ""));
        put(out, format_args!("  {} {text}\n", style.word(word)));
    };
    if is_about_the_whole_file(finding) {
        note("file", path);
    }
    if let Some(witness) = finding.witness.as_ref().filter(|it| !finding.message.contains(&it.range)) {
        note("witness", &witness.range);
    }
    if let Some(trace) = &finding.trace {
        note("trace", &trace.to_string());
    }
    if let Some(help) = &finding.help {
        note("help", help);
    }
    note("docs", &format!("orange-workflow explain {}", finding.code()));
}

fn is_about_the_whole_file(finding: &Diagnostic) -> bool {
    finding.span == Span::default() && finding.labels.is_empty()
}

impl<'r> Drawn<'r> {
    fn new(finding: &'r Diagnostic, file: &File, index: &LineIndex<'_>) -> Self {
        let story = if is_about_the_whole_file(finding) { Vec::new() } else { story(finding) };
        let spans: Vec<Span> = story.iter().map(|(span, _)| *span).collect();
        let excerpt = Excerpt::new(&file.source, index, &spans);
        let labels = story.into_iter().enumerate().map(|(at, (span, text))| {
            let place = excerpt.place(at);
            let width = WIDTH.saturating_sub(excerpt.columns_before(place) + 4).max(MIN_LABEL);
            let text = text.map(|it| wrap(&it, width).join("\n"));
            if span == finding.span {
                LabeledSpan::new_primary_with_span(text, place)
            } else {
                LabeledSpan::new_with_span(text, place)
            }
        });
        let labels = labels.collect();
        Self { finding, excerpt, labels }
    }
}

/// The places of a finding with their texts. Numbers tell the order where it is not the order of the lines.
fn story(finding: &Diagnostic) -> Vec<(Span, Option<String>)> {
    let numbered = !finding.labels.is_sorted_by_key(|it| it.span.start);
    let text = |at: usize, text: &str| {
        let text = printable(text);
        if numbered { format!("{}. {text}", at + 1) } else { text.into_owned() }
    };
    let labels = finding.labels.iter().enumerate();
    let mut story: Vec<_> = labels.map(|(at, it)| (it.span, Some(text(at, &it.message)))).collect();
    if finding.labels.iter().all(|it| it.span != finding.span) {
        story.push((finding.span, None));
    }
    story
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wrap(&printable(&self.finding.message), WIDTH - 4).join("\n"))
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let Diagnostic { level, check, .. } = self.finding;
        Some(Box::new(format!("{}[{} {}]", level.as_str(), check.code, check.name)))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.finding.level {
            Level::Error | Level::Deny => Severity::Error,
            Level::Warn => Severity::Warning,
            Level::Info | Level::Allow => Severity::Advice,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// "checked 3 files: 1 error, 2 warnings"
fn summary(files: usize, counts: Counts) -> String {
    let kinds = [
        (counts.error, "error", "errors"),
        (counts.deny, "denied finding", "denied findings"),
        (counts.warn, "warning", "warnings"),
        (counts.info, "note", "notes"),
    ];
    let found: Vec<String> =
        kinds.iter().filter(|it| it.0 > 0).map(|(count, one, many)| counted(*count, one, many)).collect();
    let found = if found.is_empty() { "nothing wrong".to_owned() } else { found.join(", ") };
    format!("checked {}: {found}", counted(files, "file", "files"))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The text in lines of at most `width` characters, as far as its words allow.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("averylongword a\nb", 4), ["averylongword", "a", "b"]);
        assert_eq!(wrap("", 4), [""; 0]);
    }

    #[test]
    fn a_summary_counts() {
        assert_eq!(summary(1, Counts::default()), "checked 1 file: nothing wrong");
        let counts = Counts { error: 1, deny: 0, warn: 2, info: 0 };
        assert_eq!(summary(3, counts), "checked 3 files: 1 error, 2 warnings");
    }
}
