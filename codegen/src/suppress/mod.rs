//! Findings that the author allows in place: `# orange: allow(spawn-while-alive) reason`.
//!
//! The comment stands on the line of what it allows, or in the comment directly above that line.

mod comment;
mod lines;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::catalogue::{self, Check, S11, S12, S13};
use crate::diag::{Diagnostic, Edit, Fix, Level};
use crate::source::Source;
use crate::span::Span;
use crate::suggest;
use crate::syntax::Node;

use comment::{Comment, Name};
use lines::Lines;

/// What every comment begins with that allows something.
const MARK: &str = "orange:";

/// Suggestions given for the names in one file.
const MAX_SUGGESTIONS: usize = 200;

/// What the comments of one source allow, and what is wrong with them.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    lines: Lines,
    allowed: Vec<Allowed>,
    /// The same as [`Allowed::what`], to look it up.
    wanted: HashSet<(usize, &'static str)>,
    used: HashSet<(usize, &'static str)>,
    faults: Vec<Diagnostic>,
}

/// One check that one comment allows.
#[derive(Clone, Debug)]
struct Allowed {
    check: &'static Check,
    /// The line that it is allowed on.
    line: usize,
    /// Its name in the comment.
    span: Span,
    /// What takes it out of the source.
    removal: Edit,
}

impl Suppressions {
    /// Reads the comments of a source. What looks like one inside a string is text.
    pub fn read(source: &Source, tree: &Node) -> Self {
        if !source.text.contains(MARK) {
            return Self::default();
        }
        let mut suppressions = Self { lines: Lines::new(source, tree), ..Self::default() };
        for (line, span) in suppressions.lines.comments(&source.text) {
            match comment::read(&source.text, span) {
                None => {}
                Some(Ok(comment)) => suppressions.add(&comment, line, &source.text),
                Some(Err(fault)) => suppressions.faults.push(*fault),
            }
        }
        suppressions.wanted = suppressions.allowed.iter().map(Allowed::what).collect();
        suppressions
    }

    /// Takes out the findings that a comment allows. Nothing allows an error.
    pub fn apply(&mut self, findings: &mut Vec<Diagnostic>) {
        if !self.wanted.is_empty() {
            findings.retain(|it| it.level == Level::Error || !self.allows(it));
        }
    }

    /// What is wrong with the comments themselves. Once everything was looked for, those that allowed nothing are
    /// among it.
    pub fn faults(&self, all_was_looked_for: bool) -> Vec<Diagnostic> {
        let is_unused = |it: &&Allowed| all_was_looked_for && !self.used.contains(&it.what());
        let unused = self.allowed.iter().filter(is_unused).map(Allowed::unused);
        self.faults.iter().cloned().chain(unused).collect()
    }

    fn allows(&mut self, finding: &Diagnostic) -> bool {
        let lines = self.lines.of(finding.span.start);
        let found = lines.map(|line| (line, finding.code())).find(|it| self.wanted.contains(it));
        self.used.extend(found);
        found.is_some()
    }

    fn add(&mut self, comment: &Comment<'_>, line: usize, text: &str) {
        if !comment.has_reason {
            self.faults.push(without_reason(comment.span));
        }
        for (at, name) in comment.names.iter().enumerate() {
            match find(name, self.faults.len() < MAX_SUGGESTIONS) {
                Err(fault) => self.faults.push(*fault),
                Ok(check) => {
                    let removal = comment.without(at).unwrap_or_else(|| lines::removal(text, comment.span));
                    self.allowed.push(Allowed { check, line, span: name.span, removal });
                }
            }
        }
    }
}

impl Allowed {
    fn what(&self) -> (usize, &'static str) {
        (self.line, self.check.code)
    }

    fn unused(&self) -> Diagnostic {
        let message = format!("`{}` is allowed here, and nothing here needs it", self.check.name);
        let fix = Fix { title: "delete it".to_owned(), edits: vec![self.removal.clone()], safe: true };
        Diagnostic::new(&S12, self.span, message)
            .help("delete it, or put it on the line of the finding or directly above")
            .fix(fix)
    }
}

fn without_reason(span: Span) -> Diagnostic {
    Diagnostic::new(&S11, span, "this comment allows a finding and does not say why")
        .help("write the reason behind the parenthesis")
}

/// The check of a name; nothing allows one that is an error.
fn find(name: &Name<'_>, may_suggest: bool) -> Result<&'static Check, Box<Diagnostic>> {
    match catalogue::find(name.text) {
        None => Err(Box::new(unknown(name, may_suggest))),
        Some(check) if check.level == Level::Error => {
            let message = format!("`{}` is an error, which no comment allows", check.name);
            let finding = Diagnostic::new(&S13, name.span, message);
            Err(Box::new(finding.help("mend the workflow, and delete the comment")))
        }
        Some(check) => Ok(check),
    }
}

fn unknown(name: &Name<'_>, may_suggest: bool) -> Diagnostic {
    let known = catalogue::all().iter().flat_map(|it| [it.name, it.code]);
    let close = may_suggest.then(|| suggest::closest(name.text, known)).flatten();
    let shown: String = name.text.chars().take(60).collect();
    let finding = Diagnostic::new(&S13, name.span, format!("there is no check `{shown}`"));
    match close {
        Some(close) => finding.help(format!("did you mean `{close}`?")).fix(Fix::replace(
            format!("write `{close}`"),
            name.span,
            close,
        )),
        None => finding.help("`orange-workflow explain --list` lists them all"),
    }
}
