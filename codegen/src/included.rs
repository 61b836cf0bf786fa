//! Texts of other files that a source includes. Their spans lie behind the end of the source until a finding is reported.

use std::sync::Arc;

use crate::diag::{Diagnostic, FilePlace, Fix};
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
    text: Arc<str>,
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
        self.files.push(IncludedFile { name: name.clone(), span, text: Arc::from(text.as_str()) });
        self.end = span.end + 1;
        Some(Text::included(text, name.span, span.start))
    }

    /// Moves what findings say of an included text to where the source names its file, and keeps the place in that file. A fix that
    /// would edit more than that file is left out.
    pub fn relocate(&self, found: &mut [Diagnostic]) {
        for it in found {
            if let Some((name, place)) = self.place(it.span) {
                it.span = name;
                it.file = Some(place);
            }
            for label in &mut it.labels {
                if let Some((name, place)) = self.place(label.span) {
                    label.span = name;
                    label.file = Some(place);
                }
            }
            let edits_files =
                it.fix.iter().flat_map(|fix| &fix.edits).any(|it| self.locate(it.span).is_some());
            if edits_files {
                let file = it.file.as_ref();
                it.file_fix = it.fix.take().zip(file).and_then(|(fix, place)| self.within(fix, &place.file));
            }
        }
    }

    /// The file that a span is in, as the source names it, and its place there; nothing for a span of the source.
    pub fn locate(&self, span: Span) -> Option<(&Spanned<String>, Span)> {
        let file = self.file(span)?;
        let within = |at: u32| at.clamp(file.span.start, file.span.end) - file.span.start;
        Some((&file.name, Span::new(within(span.start), within(span.end))))
    }

    /// The files by their names, each where the source has it, with their texts.
    pub fn files(&self) -> impl Iterator<Item = (&Spanned<String>, &str)> {
        self.files.iter().map(|it| (&it.name, &*it.text))
    }

    /// The text of the file that a span is in, and its first byte among all spans of the source.
    pub(crate) fn text_at(&self, span: Span) -> Option<(&str, u32)> {
        self.file(span).map(|it| (&*it.text, it.span.start))
    }

    fn file(&self, span: Span) -> Option<&IncludedFile> {
        let at = self.files.partition_point(|it| it.span.start <= span.start).checked_sub(1)?;
        Some(&self.files[at])
    }

    /// The place at which the source names the file of a span, and the place in that file.
    fn place(&self, span: Span) -> Option<(Span, FilePlace)> {
        let (name, within) = self.locate(span)?;
        let before = self.file(span)?.text.get(..within.start as usize)?;
        let line = before.matches('\n').count() as u32 + 1;
        Some((name.span, FilePlace { file: name.value.clone(), span: within, line }))
    }

    /// A fix with the places of the one file that it edits.
    fn within(&self, mut fix: Fix, file: &str) -> Option<Fix> {
        for edit in &mut fix.edits {
            edit.span = self.locate(edit.span).filter(|(name, _)| name.value == file)?.1;
        }
        Some(fix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{B18, B19};

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
        let file_edits = found.each_ref().map(|it| it.file_fix.iter().flat_map(|it| &it.edits).count());
        assert_eq!(file_edits, [1, 0, 0]);
        assert_eq!(
            found[0].file.as_ref().map(|it| (it.file.as_str(), it.span, it.line)),
            Some(("one.md", Span::new(3, 5), 3))
        );
        let found = found.map(Diagnostic::worded);
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
