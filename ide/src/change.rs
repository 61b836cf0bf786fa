//! The difference between two texts, and the places of the old text in the new one.

use orange_codegen::{Diagnostic, Span};

/// One replacement that turns a text into another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// The replaced part of the old text.
    pub span: Span,
    /// The length of what takes its place, in bytes.
    pub len: u32,
}

impl TextChange {
    /// The smallest replacement between two texts; none if they are equal.
    pub fn between(old: &str, new: &str) -> Option<Self> {
        if old == new {
            return None;
        }
        let (a, b) = (old.as_bytes(), new.as_bytes());
        let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let start = old.floor_char_boundary(start);
        let ends = a[start..].iter().rev().zip(b[start..].iter().rev());
        let same = ends.take_while(|(a, b)| a == b).count();
        let end = old.ceil_char_boundary(a.len() - same);
        let len = end + b.len() - a.len() - start;
        Some(Self { span: Span::new(start as u32, end as u32), len: len as u32 })
    }

    /// A place of the old text in the new one; none if the change touches it.
    pub fn moved(&self, span: Span) -> Option<Span> {
        if span.end < self.span.start {
            return Some(span);
        }
        let moved = |at: u32| at - self.span.end + self.span.start + self.len;
        (span.start > self.span.end).then(|| Span::new(moved(span.start), moved(span.end)))
    }

    /// A finding of the old text in the new one; none if the change touches its place. Other places that it touches are left out,
    /// and so is a fix, which nobody has checked on the new text.
    pub fn moved_finding(&self, finding: &Diagnostic) -> Option<Diagnostic> {
        let mut finding =
            Diagnostic { span: self.moved(finding.span)?, fix: None, file_fix: None, ..finding.clone() };
        finding.fault.clear();
        finding.labels.retain_mut(|label| {
            let moved = self.moved(label.span);
            label.span = moved.unwrap_or_default();
            moved.is_some()
        });
        for step in finding.trace.iter_mut().flat_map(|it| &mut it.steps) {
            step.span = step.span.and_then(|it| self.moved(it));
        }
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use orange_codegen::catalogue::A01;

    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expect: Option<(u32, u32, u32)>) {
        let change = TextChange::between(old, new);
        assert_eq!(change.map(|it| (it.span.start, it.span.end, it.len)), expect);
        if let Some(TextChange { span, len }) = change {
            let put = &new[span.start as usize..(span.start + len) as usize];
            assert_eq!(format!("{}{put}{}", &old[..span.start as usize], &old[span.end as usize..]), new);
        }
    }

    #[test]
    fn the_change_between_two_texts_is_small_and_exact() {
        check("abc", "abc", None);
        check("abc", "axc", Some((1, 2, 1)));
        check("abc", "", Some((0, 3, 0)));
        check("", "abc", Some((0, 0, 3)));
        check("aaa", "aaaa", Some((3, 3, 1)));
        check("aaaa", "aaa", Some((3, 4, 0)));
        check("xñy", "xòy", Some((1, 3, 2)));
        check("ñ", "ò", Some((0, 2, 2)));
        check("日本", "日日本", Some((3, 3, 3)));
    }

    #[test]
    fn places_move_with_their_text_unless_it_is_touched() {
        let change = TextChange { span: Span::new(10, 12), len: 5 };
        assert_eq!(change.moved(Span::new(2, 9)), Some(Span::new(2, 9)));
        assert_eq!(change.moved(Span::new(2, 10)), None);
        assert_eq!(change.moved(Span::new(11, 20)), None);
        assert_eq!(change.moved(Span::new(12, 20)), None);
        assert_eq!(change.moved(Span::new(13, 20)), Some(Span::new(16, 23)));
    }

    #[test]
    fn a_finding_loses_the_places_that_are_touched() {
        let finding = Diagnostic::new(&A01, Span::new(20, 22), "wrong")
            .label(Span::new(0, 3), "here")
            .label(Span::new(8, 11), "there");
        let moved = TextChange { span: Span::new(10, 12), len: 0 }.moved_finding(&finding).unwrap();
        assert_eq!((moved.span, moved.labels.len()), (Span::new(18, 20), 1));
        assert!(TextChange { span: Span::new(21, 21), len: 1 }.moved_finding(&finding).is_none());
    }
}
