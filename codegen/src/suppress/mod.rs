//! Findings that the author allows in place: `# orange: allow(spawn-while-alive) reason`.
//!
//! The comment stands on the line of what it allows, or in the comment directly above that line.

mod comment;
mod lines;

use std::collections::{HashMap, HashSet};

use crate::catalogue::{Check, S11, S12, S13};
use crate::diag::{Diagnostic, Edit, Fix, Level};
use crate::source::Source;
use crate::span::Span;
use crate::suggest;
use crate::syntax::Node;

use comment::Comment;
use lines::SourceLines;

/// Start of every comment that allows something.
const MARK: &str = "orange:";

/// Suggestions given for the names in one file.
const MAX_SUGGESTIONS: usize = 200;

/// The findings that the comments of one source allow, and the faults of the comments.
///
/// Which names there are, the caller of [`Self::faults`] says: most checks belong to packages that build on this one.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    lines: SourceLines,
    allowed: Vec<Allowed>,
    /// The names of [`Self::allowed`] by line, to look them up.
    wanted: HashMap<usize, HashSet<String>>,
    used: HashSet<(usize, &'static str)>,
    faults: Vec<Diagnostic>,
}

/// One check that one comment allows.
#[derive(Clone, Debug)]
struct Allowed {
    /// Its name or its code, as it is written.
    name: String,
    /// The line that it is allowed on.
    line: usize,
    /// Its name in the comment.
    span: Span,
    /// Edit that takes it out of the source.
    removal: Edit,
}

/// The edit that allows the findings of a check at a place: a comment with the reason, on a line of its own above it. A finding in an
/// included file is allowed where the source names the file.
pub fn allow(source: &Source, tree: &Node, place: Span, check: &Check, reason: &str) -> Edit {
    let comment = format!("# {MARK} allow({}) {reason}", check.name);
    SourceLines::new(source, tree).insertion(&source.text, place.start, comment.trim_end())
}

impl Suppressions {
    /// Reads the comments of a source. What looks like one inside a string is text.
    pub fn read(source: &Source, tree: &Node) -> Self {
        if !source.text.contains(MARK) {
            return Self::default();
        }
        let mut suppressions = Self { lines: SourceLines::new(source, tree), ..Self::default() };
        for (line, span) in suppressions.lines.comments(&source.text) {
            match comment::read(&source.text, span) {
                None => {}
                Some(Ok(comment)) => suppressions.add(&comment, line, &source.text),
                Some(Err(fault)) => suppressions.faults.push(*fault),
            }
        }
        for allowed in &suppressions.allowed {
            suppressions.wanted.entry(allowed.line).or_default().insert(key(&allowed.name));
        }
        suppressions
    }

    /// Takes out the findings that a comment allows. Nothing allows an error.
    pub fn apply(&mut self, findings: &mut Vec<Diagnostic>) {
        if !self.wanted.is_empty() {
            findings.retain(|it| it.level == Level::Error || !self.allows(it));
        }
    }

    /// Faults of the comments themselves, where these are all the checks there are. Once everything was looked for, comments that
    /// allowed nothing are among the faults.
    pub fn faults(&self, checks: &[&'static Check], all_was_looked_for: bool) -> Vec<Diagnostic> {
        let mut faults = self.faults.clone();
        for allowed in &self.allowed {
            let may_suggest = faults.len() < MAX_SUGGESTIONS;
            faults.extend(match checks.iter().find(|check| check.is(&allowed.name)) {
                None => Some(allowed.unknown(checks, may_suggest)),
                Some(check) if check.level == Level::Error => Some(allowed.error(check)),
                Some(check) => {
                    let is_unused = all_was_looked_for && !self.used.contains(&(allowed.line, check.code));
                    is_unused.then(|| allowed.unused(check))
                }
            });
        }
        faults
    }

    fn allows(&mut self, finding: &Diagnostic) -> bool {
        let Check { code, name, .. } = finding.check;
        let is_wanted = |line: &usize| {
            self.wanted.get(line).is_some_and(|names| names.contains(*code) || names.contains(*name))
        };
        let found = self.lines.of(finding.span.start).find(is_wanted);
        self.used.extend(found.map(|line| (line, *code)));
        found.is_some()
    }

    fn add(&mut self, comment: &Comment<'_>, line: usize, text: &str) {
        if !comment.has_reason {
            self.faults.push(without_reason(comment.span));
        }
        for (at, name) in comment.names.iter().enumerate() {
            let removal = comment.without(at).unwrap_or_else(|| lines::removal(text, comment.span));
            self.allowed.push(Allowed { name: name.text.to_owned(), line, span: name.span, removal });
        }
    }
}

/// A code, which has three characters, is found in any case; a name only as it is.
fn key(name: &str) -> String {
    if name.len() == 3 { name.to_ascii_uppercase() } else { name.to_owned() }
}

impl Allowed {
    fn unused(&self, check: &Check) -> Diagnostic {
        let message = format!("`{}` is allowed here, and nothing here needs it", check.name);
        let fix = Fix { title: "delete it".to_owned(), edits: vec![self.removal.clone()], safe: true };
        Diagnostic::new(&S12, self.span, message)
            .help("delete it, or put it on the line of the finding or directly above")
            .fix(fix)
    }

    fn error(&self, check: &Check) -> Diagnostic {
        let message = format!("`{}` is an error, which no comment allows", check.name);
        Diagnostic::new(&S13, self.span, message).help("mend the workflow, and delete the comment")
    }

    fn unknown(&self, checks: &[&'static Check], may_suggest: bool) -> Diagnostic {
        let is_start = |it: &Check| {
            it.code.get(..self.name.len()).is_some_and(|start| start.eq_ignore_ascii_case(&self.name))
        };
        if !self.name.is_empty() && checks.iter().copied().any(is_start) {
            let message = format!("`{}` stands for several checks, and a comment allows one", self.name);
            let help = "write the code or the name of the finding, so that the comment hides no other";
            return Diagnostic::new(&S13, self.span, message).help(help);
        }
        let known = checks.iter().flat_map(|it| [it.name, it.code]);
        let close = may_suggest.then(|| suggest::closest(&self.name, known)).flatten();
        let shown: String = self.name.chars().take(60).collect();
        let finding = Diagnostic::new(&S13, self.span, format!("there is no check `{shown}`"));
        match close {
            Some(close) => finding.help(format!("did you mean `{close}`?")).fix(Fix::replace(
                format!("write `{close}`"),
                self.span,
                close,
            )),
            None => finding.help("`orange-workflow explain --list` lists them all"),
        }
    }
}

fn without_reason(span: Span) -> Diagnostic {
    Diagnostic::new(&S11, span, "this comment allows a finding and does not say why")
        .help("write the reason behind the parenthesis")
}
