//! Texts of other files that a source includes. Their spans lie behind the end of the source until a finding is reported.

use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::Text;

/// Bytes in all included files of one source.
pub const MAX_INCLUDED_BYTES: usize = 256 << 20;

/// The files that a source includes.
#[derive(Clone, Debug, Default)]
pub struct Included {
    /// In the order of their spans.
    files: Vec<IncludedFile>,
    /// The first byte behind everything that has a span.
    end: u32,
}

#[derive(Clone, Debug)]
struct IncludedFile {
    /// Its name, where the source has it.
    name: Spanned<String>,
    /// The span of its text.
    span: Span,
    /// Start of each of its lines but the first.
    lines: Vec<u32>,
}

impl Included {
    /// Of a source with this text, so far nothing.
    pub(crate) fn of(source: &str) -> Self {
        Self { files: Vec::new(), end: source.len() as u32 + 1 }
    }

    /// Adds a file, and gives its text with spans of its own; nothing if all files together are larger than
    /// [`MAX_INCLUDED_BYTES`].
    pub(crate) fn add(&mut self, name: &Spanned<String>, text: String) -> Option<Text> {
        let first = self.files.first().map_or(self.end, |it| it.span.start);
        if (self.end - first) as usize + text.len() > MAX_INCLUDED_BYTES {
            return None;
        }
        let span = Span::new(self.end, self.end + text.len() as u32);
        let lines = text.match_indices('\n').map(|(at, _)| span.start + at as u32 + 1).collect();
        self.files.push(IncludedFile { name: name.clone(), span, lines });
        self.end = span.end + 1;
        Some(Text::included(text, name.span, span.start))
    }

    /// Moves what findings say of an included text to where the source names its file. They then say which line it is, and a fix
    /// that would edit that file is left out.
    pub fn relocate(&self, found: &mut [Diagnostic]) {
        for it in found {
            if let Some((span, place)) = self.place(it.span) {
                it.span = span;
                it.message = format!("{} ({place})", it.message);
            }
            for label in &mut it.labels {
                if let Some((span, place)) = self.place(label.span) {
                    label.span = span;
                    label.message = format!("{} ({place})", label.message);
                }
            }
            it.fix.take_if(|fix| fix.edits.iter().any(|edit| self.place(edit.span).is_some()));
        }
    }

    /// The place at which the source names the file of a span, and the place in that file in words.
    fn place(&self, span: Span) -> Option<(Span, String)> {
        let at = self.files.partition_point(|it| it.span.start <= span.start).checked_sub(1)?;
        let file = &self.files[at];
        let line = file.lines.partition_point(|start| *start <= span.start) + 1;
        Some((file.name.span, format!("line {line} of {}", file.name.value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{B18, B19};
    use crate::diag::Fix;

    #[test]
    fn a_finding_in_a_file_names_its_line() {
        let source = "a: one.md\nb: two.md\n";
        let mut included = Included::of(source);
        let names = [(3, "one.md"), (13, "two.md")]
            .map(|(at, name)| Spanned::new(name.to_owned(), Span::new(at, at + name.len() as u32)));
        let [one, two] = [(0, "x\n\nyz"), (1, "\nyz")]
            .map(|(at, text)| included.add(&names[at], text.to_owned()).unwrap());
        let found = |text: &Text| {
            let at = text.value.find("yz").unwrap();
            Diagnostic::new(&B19, text.locate(at, at + 2), "it is wrong")
        };
        let mut found = [
            found(&one).label(two.locate(0, 1), "as here").fix(Fix::replace("", one.locate(0, 1), "")),
            found(&two).fix(Fix::replace("", Span::new(3, 4), "")),
            Diagnostic::new(&B18, Span::new(0, 1), "in the source"),
        ];
        included.relocate(&mut found);
        let shown =
            found.each_ref().map(|it| (it.message.as_str(), &source[it.span.range()], it.fix.is_some()));
        let one = ("it is wrong (line 3 of one.md)", "one.md", false);
        let two = ("it is wrong (line 2 of two.md)", "two.md", true);
        assert_eq!(shown, [one, two, ("in the source", "a", false)]);
        assert_eq!(found[0].labels[0].message, "as here (line 1 of two.md)");
    }

    #[test]
    fn the_files_of_a_source_have_a_limit() {
        let mut included = Included::of("");
        let name = Spanned::new("a.md".to_owned(), Span::at(0));
        let half = || "x".repeat(MAX_INCLUDED_BYTES / 2 - 1);
        assert!(included.add(&name, half()).is_some());
        assert!(included.add(&name, half()).is_some());
        assert!(included.add(&name, half()).is_none());
    }
}
