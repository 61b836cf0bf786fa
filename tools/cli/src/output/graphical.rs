//! Findings drawn by miette: the lines of the file with marks below them, and the trace below those.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};
use orange_codegen::{Diagnostic, Level, LineIndex, Span};

use super::excerpt::{Excerpt, TAB};
use super::human::{WIDTH, is_about_the_whole_file};
use super::{printable, put, wrap};
use crate::report::File;

/// A label is never wrapped to fewer columns than these; it is printed below the lines instead.
const MIN_LABEL: usize = 24;

/// The characters for drawing findings.
pub(super) struct Pen {
    handler: GraphicalReportHandler,
    colour: bool,
}

/// A finding as miette sees it.
#[derive(Debug)]
struct Drawn<'r> {
    finding: &'r Diagnostic,
    excerpt: Excerpt,
    labels: Vec<LabeledSpan>,
    /// Labels that there is no room for at their place, with their lines.
    below: Vec<(u32, String)>,
}

impl Pen {
    pub(super) fn new(colour: bool) -> Self {
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_wrap_lines(false)
            .tab_width(TAB)
            .with_links(false)
            .without_syntax_highlighting();
        Self { handler, colour }
    }

    /// Draws one finding.
    pub(super) fn draw(&self, out: &mut String, finding: &Diagnostic, file: &File, index: &LineIndex<'_>) {
        let drawn = Drawn::new(finding, file, index);
        match self.handler.render_report(out, &drawn) {
            Ok(()) | Err(fmt::Error) => {}
        }
        self.notes(out, &drawn, &file.source.path);
    }

    /// The text below the lines: the reason, the trace, the help, and a link.
    fn notes(&self, out: &mut String, drawn: &Drawn<'_>, path: &str) {
        let finding = drawn.finding;
        let mut note = |word: &str, text: &str| {
            let indent = word.len() + 4;
            let text = wrap(&printable(text), WIDTH - indent).join(&format!("\n{:indent$}", ""));
            put(out, format_args!("  {} {text}\n", self.word(word)));
        };
        if is_about_the_whole_file(finding) {
            note("file", path);
        }
        for (line, text) in &drawn.below {
            note(&format!("line {line}"), text);
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

    fn word(&self, word: &str) -> String {
        if self.colour { format!("\u{1b}[36m{word}:\u{1b}[0m") } else { format!("{word}:") }
    }
}

impl<'r> Drawn<'r> {
    fn new(finding: &'r Diagnostic, file: &File, index: &LineIndex<'_>) -> Self {
        let story = if is_about_the_whole_file(finding) { Vec::new() } else { story(finding) };
        let spans: Vec<Span> = story.iter().map(|(span, _)| *span).collect();
        let excerpt = Excerpt::new(&file.source, index, &spans);
        let before = excerpt.columns_before_labels();
        let mut drawn = Self { finding, excerpt, labels: Vec::new(), below: Vec::new() };
        for (at, ((span, text), before)) in story.into_iter().zip(before).enumerate() {
            let place = drawn.excerpt.place(at);
            let room = WIDTH.saturating_sub(before + 4);
            let text = match text {
                Some(text) if room < MIN_LABEL && text.chars().count() > room => {
                    drawn.below.push((index.position(span.start).line, text));
                    None
                }
                text => text.map(|it| wrap(&it, room).join("\n")),
            };
            drawn.labels.push(if span == finding.span {
                LabeledSpan::new_primary_with_span(text, place)
            } else {
                LabeledSpan::new_with_span(text, place)
            });
        }
        drawn
    }
}

/// The places of a finding with their texts. Numbers show the order if it is not the order of the lines.
fn story(finding: &Diagnostic) -> Vec<(Span, Option<String>)> {
    let numbered = !finding.labels.is_sorted_by_key(|it| it.span.start)
        && !finding.labels.iter().any(|it| it.message.starts_with("1. "));
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
