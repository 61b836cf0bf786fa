//! Findings drawn by miette: the lines of the file with marks below them, and the trace below those.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};
use orange_codegen::{Diagnostic, Level, LineIndex, Span};

use super::excerpt::{Excerpt, TAB};
use super::human::is_about_the_whole_file;
use super::{printable, put, wrap};
use crate::report::File;
use crate::screen::Style;

/// A label is never wrapped to fewer columns than these; it is printed below the lines instead.
const MIN_LABEL: usize = 24;

/// Start of the lines of a drawing, below the message.
const CORNER: &str = "╭─[";

/// The characters for drawing findings.
pub(super) struct Pen {
    handler: GraphicalReportHandler,
    style: Style,
}

/// A finding as miette sees it.
#[derive(Debug)]
struct Drawn<'r> {
    finding: &'r Diagnostic,
    /// The columns of the screen.
    width: usize,
    excerpt: Excerpt,
    labels: Vec<LabeledSpan>,
    /// Labels that there is no room for at their place, with their lines.
    below: Vec<(u32, String)>,
}

impl Pen {
    pub(super) fn new(style: Style) -> Self {
        let theme = if style.colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_wrap_lines(false)
            .tab_width(TAB)
            .with_links(false)
            .without_syntax_highlighting();
        Self { handler, style }
    }

    /// Draws one finding.
    pub(super) fn draw(&self, out: &mut String, finding: &Diagnostic, file: &File, index: &LineIndex<'_>) {
        let mut drawn = Drawn::new(finding, file, index, self.style.width);
        let others = drawn.take_others();
        self.render(out, &drawn);
        if !others.is_empty() {
            drawn.labels = others;
            let mut lines = String::new();
            self.render(&mut lines, &drawn);
            out.push_str(
                lines.find(CORNER).map_or("", |at| &lines[lines[..at].rfind('\n').map_or(0, |it| it + 1)..]),
            );
        }
        self.notes(out, &drawn, &file.source.path);
    }

    fn render(&self, out: &mut String, drawn: &Drawn<'_>) {
        match self.handler.render_report(out, drawn) {
            Ok(()) | Err(fmt::Error) => {}
        }
    }

    /// The text below the lines: the reason, the trace, the help, and a link.
    fn notes(&self, out: &mut String, drawn: &Drawn<'_>, path: &str) {
        let finding = drawn.finding;
        let mut note = |word: &str, text: &str| {
            let indent = word.len() + 4;
            let text = wrap(&printable(text), self.style.width.saturating_sub(indent))
                .join(&format!("\n{:indent$}", ""));
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
        if self.style.colour { format!("\u{1b}[36m{word}:\u{1b}[0m") } else { format!("{word}:") }
    }
}

impl<'r> Drawn<'r> {
    fn new(finding: &'r Diagnostic, file: &File, index: &LineIndex<'_>, width: usize) -> Self {
        let story = if is_about_the_whole_file(finding) { Vec::new() } else { story(finding) };
        let spans: Vec<Span> = story.iter().map(|(span, _)| *span).collect();
        let excerpt = Excerpt::new(&file.source, index, &spans, width);
        let before = excerpt.columns_before_labels();
        let mut drawn = Self { finding, width, excerpt, labels: Vec::new(), below: Vec::new() };
        for (at, ((span, text), before)) in story.into_iter().zip(before).enumerate() {
            let place = drawn.excerpt.place(at);
            let room = width.saturating_sub(before + 4);
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

impl Drawn<'_> {
    /// Takes the labels that are not near the primary one, so that the drawing begins with the place that the finding names.
    fn take_others(&mut self) -> Vec<LabeledSpan> {
        let Some(primary) = self.labels.iter().find(|it| it.primary()).map(|it| *it.inner()) else {
            return Vec::new();
        };
        let labels = std::mem::take(&mut self.labels);
        let (near, others) =
            labels.into_iter().partition(|it| self.excerpt.are_neighbours(it.inner(), &primary));
        self.labels = near;
        others
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
        f.write_str(&wrap(&printable(&self.finding.message), self.width - 4).join("\n"))
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
