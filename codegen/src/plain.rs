//! Diagnostics as plain text, for readers of what cargo prints: the macro and the build script.

use crate::{Diagnostic, Label, LineIndex, Position, Source, Span, Witness};

/// The most characters of a line that are shown.
const MAX_WIDTH: usize = 120;

/// Number of characters that stay in front of a place when its line is cut.
const CONTEXT: usize = 40;

/// Renders the diagnostics of one source.
#[derive(Debug)]
pub struct Renderer<'s> {
    source: &'s Source,
    index: LineIndex<'s>,
}

impl<'s> Renderer<'s> {
    /// Reads the source's lines once, for any number of diagnostics.
    pub fn new(source: &'s Source) -> Self {
        Self { source, index: LineIndex::new(&source.text) }
    }

    /// One diagnostic over several lines, without a line end after the last:
    ///
    /// ```text
    /// flow.yml:7:12: error[A07 ambiguous-transitions]: both guards hold when review_round = 2
    ///   |
    /// 5 |     when: "review_round <= 2"
    ///   |            ^^^^^^^^^^^^^^^^^ holds up to 2
    ///   |
    /// 7 |     when: "review_round >= 2"
    ///   |            ^^^^^^^^^^^^^^^^^ holds from 2 on
    ///   = witness: review_round = 2
    ///   = help: make one of the guards exclude what the other allows
    /// ```
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let diagnostic = &diagnostic.clone().worded();
        let mut lines = vec![self.headline(diagnostic)];
        let places = places(diagnostic);
        let numbers = places.iter().map(|place| self.index.position(place.span.start).line);
        let gutter = numbers.max().unwrap_or(1).to_string().len();
        for place in &places {
            lines.extend(self.excerpt(place, gutter));
        }
        let witness = diagnostic.witness.as_ref().map(|it| ("witness", values(it)));
        let trace = diagnostic.trace.as_ref().map(|it| ("trace", it.to_string()));
        let help = diagnostic.help.as_ref().map(|it| ("help", it.clone()));
        for (name, text) in [witness, trace, help].into_iter().flatten() {
            let text = printable(&text).replace('\n', &format!("\n{:gutter$}   ", ""));
            lines.push(format!("{:gutter$} = {name}: {text}", ""));
        }
        lines.join("\n")
    }

    /// A place and what is said of it, as [`render`](Self::render) shows places.
    pub fn place(&self, place: &Label) -> String {
        let Position { line, column } = self.index.position(place.span.start);
        let headline = format!("{}:{line}:{column}: {}", self.source.path, printable(&place.message));
        let unlabelled = Label { message: String::new(), ..place.clone() };
        let gutter = line.to_string().len();
        std::iter::once(headline).chain(self.excerpt(&unlabelled, gutter)).collect::<Vec<_>>().join("\n")
    }

    fn headline(&self, diagnostic: &Diagnostic) -> String {
        let Position { line, column } = self.index.position(diagnostic.span.start);
        let (level, code, name) = (diagnostic.level.as_str(), diagnostic.code(), diagnostic.name());
        let (path, message) = (&self.source.path, printable(&diagnostic.message));
        format!("{path}:{line}:{column}: {level}[{code} {name}]: {message}")
    }

    /// The line of a place, with a mark below it. Of a place over several lines, the first is shown.
    fn excerpt(&self, place: &Label, gutter: usize) -> Vec<String> {
        let Span { start, end } = place.span;
        let Position { line: number, column } = self.index.position(start);
        let Some(line) = self.source.text.lines().nth(number as usize - 1) else { return Vec::new() };
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let from = column as usize - 1;
        let cut = if line.chars().count() > MAX_WIDTH { from.saturating_sub(CONTEXT) } else { 0 };
        let shown: String = line.chars().skip(cut).take(MAX_WIDTH).collect();
        let covered = self.source.text.get(start as usize..end as usize).unwrap_or_default();
        let covered = covered.lines().next().unwrap_or_default().chars().count();
        let marks = "^".repeat(covered.min((cut + MAX_WIDTH).saturating_sub(from)).max(1));
        let mark = format!(
            "{:gutter$} | {:indent$}{marks} {}",
            "",
            "",
            printable(&place.message),
            indent = from - cut
        );
        vec![
            format!("{:gutter$} |", ""),
            format!("{number:gutter$} | {}", one_wide(&shown)).trim_end().to_owned(),
            mark.trim_end().to_owned(),
        ]
    }
}

/// The places to show, in the order of the story. The primary place is always among them.
fn places(diagnostic: &Diagnostic) -> Vec<Label> {
    let mut places = diagnostic.labels.clone();
    if !places.iter().any(|place| place.span == diagnostic.span) {
        places.insert(0, Label { span: diagnostic.span, file: None, message: String::new() });
    }
    places
}

fn values(witness: &Witness) -> String {
    let values = witness.values.iter().map(|(counter, value)| format!("{counter} = {value}"));
    values.collect::<Vec<_>>().join(", ")
}

/// The text of a source without control characters, which would act on the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// A tab takes one column, as the marks below it count.
fn one_wide(line: &str) -> String {
    printable(&line.replace('\t', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{A07, S01};

    #[track_caller]
    fn check(text: &str, diagnostic: &Diagnostic, expect: &str) {
        let source = Source::new("flow.yml", text);
        assert_eq!(Renderer::new(&source).render(diagnostic), expect);
    }

    #[test]
    fn all_that_a_finding_says() {
        let text = "a: 1\nwhen: \"r <= 2\"\nb: 2\nwhen: \"r >= 2\"\n";
        let [first, second] = [Span::new(12, 18), Span::new(32, 38)];
        let witness = Witness { values: vec![("r".into(), 2)], range: "r = 2, and only there".into() };
        let diagnostic = Diagnostic::new(&A07, second, "both hold when r = 2")
            .label(first, "up to 2")
            .label(second, "from 2 on")
            .witness(witness)
            .help("write `r > 2`");
        check(
            text,
            &diagnostic,
            "flow.yml:4:8: error[A07 ambiguous-transitions]: both hold when r = 2\n  \
               |\n\
             2 | when: \"r <= 2\"\n  \
               |        ^^^^^^ up to 2\n  \
               |\n\
             4 | when: \"r >= 2\"\n  \
               |        ^^^^^^ from 2 on\n  \
               = witness: r = 2\n  \
               = help: write `r > 2`",
        );
    }

    #[test]
    fn marks_stand_below_what_they_mark() {
        let here = |start, end| Diagnostic::new(&S01, Span::new(start, end), "no");
        let headline = |place: &str| format!("flow.yml:{place}: error[S01 syntax-error]: no\n  |\n1 | ");
        check("\t日x: [", &here(4, 5), &(headline("1:3") + " 日x: [\n  |   ^"));
        check("\u{feff}ab", &here(3, 5), &(headline("1:1") + "ab\n  | ^^"));
        check("ab\ncd", &here(1, 5), &(headline("1:2") + "ab\n  |  ^"));
        check("", &here(0, 0), "flow.yml:1:1: error[S01 syntax-error]: no");
        check("\u{1b}[31mx", &here(5, 6), &(headline("1:6") + "\u{fffd}[31mx\n  |      ^"));
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}here{}", "a".repeat(1_000), "b".repeat(1_000));
        let source = Source::new("flow.yml", text);
        let rendered = Renderer::new(&source).render(&Diagnostic::new(&S01, Span::new(1_000, 1_004), "no"));
        let lines: Vec<_> = rendered.lines().collect();
        assert_eq!(
            lines[2],
            format!("1 | {}here{}", "a".repeat(CONTEXT), "b".repeat(MAX_WIDTH - CONTEXT - 4))
        );
        assert_eq!(lines[3], format!("  | {}^^^^", " ".repeat(CONTEXT)));
    }
}
