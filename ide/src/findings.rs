//! The findings of one document: those of the compiler at once, those of the whole check later, and in between those of the whole check
//! before that no edit has touched.

use orange_codegen::Diagnostic;
use orange_codegen::catalogue::A10;

use crate::change::TextChange;

/// Findings of one document.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Those of the compiler, in the newest text.
    compiled: Vec<Diagnostic>,
    /// All, where the newest text has been checked.
    whole: Option<Vec<Diagnostic>>,
    /// Those that only the whole check of an older text has found, in the newest text.
    older: Vec<Diagnostic>,
}

impl Findings {
    /// The text has changed, or a file that it includes, and the compiler has found these in the new one.
    pub fn compiled(&mut self, change: Option<&TextChange>, found: Vec<Diagnostic>) {
        if let Some(whole) = self.whole.take() {
            let is_new = |it: &Diagnostic| !self.compiled.iter().any(|known| is_same(known, it));
            self.older = whole.into_iter().filter(is_new).collect();
        }
        match change {
            Some(change) => {
                self.older = self.older.iter().filter_map(|it| change.moved_finding(it)).collect();
            }
            // It is an included file that has changed.
            None => self.older.retain(|it| it.file.is_none()),
        }
        self.compiled = found;
    }

    /// A part of the whole check has found these in the newest text; what it decides is not decided yet.
    pub fn begun(&mut self, found: Vec<Diagnostic>) {
        let is_new = |it: &Diagnostic| !self.compiled.iter().any(|known| is_same(known, it));
        let mut found: Vec<Diagnostic> =
            found.into_iter().filter(|it| it.check != &A10 && is_new(it)).collect();
        let older = std::mem::take(&mut self.older);
        let is_gone = |it: &Diagnostic| !found.iter().any(|known| is_same(known, it));
        let older: Vec<Diagnostic> = older.into_iter().filter(is_gone).collect();
        found.extend(older);
        self.older = found;
    }

    /// The whole check has found these in the newest text.
    pub fn checked(&mut self, found: Vec<Diagnostic>) {
        self.whole = Some(found);
        self.older.clear();
    }

    /// The findings to show.
    pub fn shown(&self) -> Vec<&Diagnostic> {
        match &self.whole {
            Some(whole) => whole.iter().collect(),
            None => {
                let is_new = |it: &&Diagnostic| !self.compiled.iter().any(|known| is_same(known, it));
                self.compiled.iter().chain(self.older.iter().filter(is_new)).collect()
            }
        }
    }

    /// All findings in the newest text, once it has been checked.
    pub fn whole(&self) -> Option<&[Diagnostic]> {
        self.whole.as_deref()
    }
}

fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    (one.check, one.span, &one.file, &one.message) == (other.check, other.span, &other.file, &other.message)
}

#[cfg(test)]
mod tests {
    use orange_codegen::Span;
    use orange_codegen::catalogue::{A01, C46};

    use super::*;

    #[track_caller]
    fn check(findings: &Findings, expect: &[(&str, u32)]) {
        let shown: Vec<_> = findings.shown().into_iter().map(|it| (it.code(), it.span.start)).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn older_findings_move_with_their_text_until_the_next_check() {
        let compiler = |at| Diagnostic::new(&A01, Span::new(at, at + 2), "compiler");
        let lint = |at| Diagnostic::new(&C46, Span::new(at, at + 2), "lint");
        let mut findings = Findings::default();
        findings.compiled(None, vec![compiler(0)]);
        check(&findings, &[("A01", 0)]);
        findings.checked(vec![compiler(0), lint(10), lint(20)]);
        check(&findings, &[("A01", 0), ("C46", 10), ("C46", 20)]);
        let change = TextChange { span: Span::new(11, 11), len: 3 };
        findings.compiled(Some(&change), vec![compiler(4)]);
        check(&findings, &[("A01", 4), ("C46", 23)]);
        assert!(findings.whole().is_none());
        findings.compiled(Some(&change), Vec::new());
        check(&findings, &[("C46", 26)]);
        findings.checked(Vec::new());
        check(&findings, &[]);
    }
}
