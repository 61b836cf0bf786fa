//! Workflow commands of GitHub Actions, which become annotations beside the lines of a change.

use orange_codegen::{Diagnostic, Level, LineIndex};

use super::human::is_about_the_whole_file;
use super::{printable, put};
use crate::json::SpanLocation;
use crate::paths::Repositories;
use crate::report::Report;

/// A line for each finding, the worst first: GitHub shows ten of each kind for one step, and drops the others.
pub(crate) fn github(report: &Report) -> String {
    let mut repositories = Repositories::default();
    let mut commands = Vec::new();
    for file in report.files.iter().filter(|it| !it.findings().is_empty()) {
        let index = LineIndex::new(&file.source.text);
        let path = repositories.path(&file.source.path);
        commands.extend(file.findings().iter().map(|it| (it.level, command(it, &path, &index))));
    }
    commands.sort_by_key(|(level, _)| *level);
    commands.into_iter().map(|(_, command)| command + "\n").collect()
}

/// `::error file=flow.yml,line=7,…,title=A01 unknown-to::message`
fn command(finding: &Diagnostic, path: &str, index: &LineIndex<'_>) -> String {
    let kind = match finding.level {
        Level::Error | Level::Deny => "error",
        Level::Warn => "warning",
        Level::Info | Level::Allow => "notice",
    };
    let mut out = format!("::{kind} file={}", property(path));
    if !is_about_the_whole_file(finding) {
        let SpanLocation { line, column, end_line, end_column } = SpanLocation::of(finding.span, index);
        put(&mut out, format_args!(",line={line},endLine={end_line},col={column}"));
        // GitHub takes an end column for what stands on one line, and for nothing else.
        if line == end_line {
            put(&mut out, format_args!(",endColumn={end_column}"));
        }
    }
    let title = format!("{} {}", finding.code(), finding.name());
    put(&mut out, format_args!(",title={}::{}", property(&title), data(&message(finding, index))));
    out
}

/// The whole finding, a line for each part: an annotation shows one place only.
pub(super) fn message(finding: &Diagnostic, index: &LineIndex<'_>) -> String {
    let mut out = finding.message.clone();
    for label in &finding.labels {
        let line = index.position(label.span.start).line;
        put(&mut out, format_args!("\nline {line}: {}", label.message));
    }
    if let Some(witness) = finding.witness.as_ref().filter(|it| !finding.message.contains(&it.range)) {
        put(&mut out, format_args!("\nwitness: {}", witness.range));
    }
    if let Some(trace) = &finding.trace {
        put(&mut out, format_args!("\ntrace: {trace}"));
    }
    if let Some(help) = &finding.help {
        put(&mut out, format_args!("\nhelp: {help}"));
    }
    put(&mut out, format_args!("\ndocs: orange-workflow explain {}", finding.code()));
    out
}

pub(super) fn data(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\n', "%0A")
}

pub(super) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_file_says_ends_a_command() {
        assert_eq!(data("100%\r\nbad"), "100%25\\r%0Abad");
        assert_eq!(property("a,b:c\n::error"), "a%2Cb%3Ac%0A%3A%3Aerror");
    }
}
