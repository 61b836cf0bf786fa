//! Findings in plain sentences, in the order of the trace: for screen readers, and for files and pipes.

use orange_codegen::diag::TraceStep;
use orange_codegen::{Diagnostic, Level, LineIndex, Position, Source, Span, Trace};

use super::excerpt::quote;
use super::human::is_about_the_whole_file;
use super::{printable, put, wrap};

/// Writes one finding.
pub(super) fn tell(
    out: &mut String,
    finding: &Diagnostic,
    source: &Source,
    index: &LineIndex<'_>,
    width: usize,
) {
    let teller = NarratedTeller { source, index };
    put(out, format_args!("{}\n", wrap(&teller.headline(finding), width).join("\n  ")));
    paragraph(out, &sentence(&finding.message), width);
    for place in teller.places(finding) {
        paragraph(out, &place, width);
    }
    if let Some(witness) = finding.witness.as_ref().filter(|it| !finding.message.contains(&it.range)) {
        paragraph(out, &sentence(&format!("Witness: {}", witness.range)), width);
    }
    if let Some(trace) = &finding.trace {
        paragraph(out, &format!("Run: {}", run(trace)), width);
    }
    if let Some(help) = &finding.help {
        paragraph(out, &sentence(&format!("Help: {help}")), width);
    }
    paragraph(out, &format!("More: orange-workflow explain {}", finding.code()), width);
}

struct NarratedTeller<'s> {
    source: &'s Source,
    index: &'s LineIndex<'s>,
}

impl NarratedTeller<'_> {
    /// `Warning C84 unknown-placeholder, at flow.yml:14:12:`
    fn headline(&self, finding: &Diagnostic) -> String {
        let (code, name, path) = (finding.code(), finding.name(), printable(&self.source.path));
        let what = format!("{} {code} {name}", word(finding.level));
        if is_about_the_whole_file(finding) {
            return format!("{what}, in {path}:");
        }
        let Position { line, column } = self.index.position(finding.span.start);
        format!("{what}, at {path}:{line}:{column}:")
    }

    /// Every place of the finding, with its line where that is another than the last.
    fn places(&self, finding: &Diagnostic) -> Vec<String> {
        if is_about_the_whole_file(finding) {
            return Vec::new();
        }
        if finding.labels.is_empty() {
            return vec![sentence(&self.place(finding.span, None))];
        }
        let mut last = None;
        let labels = finding.labels.iter().map(|label| {
            let place = self.place(label.span, last);
            last = Some(self.index.position(label.span.start).line);
            format!("{place}: {}", sentence(&label.message))
        });
        labels.collect()
    }

    fn place(&self, span: Span, last: Option<u32>) -> String {
        let Position { line, column } = self.index.position(span.start);
        let text = quote(&self.source.text, span.range().start);
        if text.is_empty() || last == Some(line) {
            format!("Line {line}, column {column}")
        } else {
            format!("Line {line}, column {column}, `{text}`")
        }
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Error => "Error",
        Level::Deny => "Denied:",
        Level::Warn => "Warning",
        Level::Info | Level::Allow => "Note",
    }
}

/// The run step by step: who does what, and where that leads.
pub(super) fn run(trace: &Trace) -> String {
    let mut text = format!("it starts in {}.", trace.start);
    let mut state = trace.start.as_str();
    let (first, left_out, last) = trace.shown();
    for (at, TraceStep { by, does, to, hooks, .. }) in first.iter().chain(last).enumerate() {
        if left_out > 0 && at == first.len() {
            put(&mut text, format_args!(" {left_out} more steps follow."));
        }
        let stays = if state == to { "it stays in" } else { "it goes to" };
        put(&mut text, format_args!(" {by}: {does}; {stays} {to}"));
        if !hooks.is_empty() {
            put(&mut text, format_args!(", with {}", hooks.join(", ")));
        }
        text.push('.');
        state = to;
    }
    if let Some(end) = &trace.end {
        put(&mut text, format_args!(" At the end: {}", sentence(end)));
    }
    text
}

pub(super) fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '?', '!', ':']) { "" } else { "." };
    format!("{text}{end}")
}

/// One thing that is said, indented, and its further lines a little more.
fn paragraph(out: &mut String, text: &str, width: usize) {
    put(out, format_args!("  {}\n", wrap(&printable(text), width - 4).join("\n    ")));
}
