//! Diagnostics as plain data: what is wrong, where, why, and what to write instead.
//!
//! Nothing here renders. The authors' command, the macro and the build script each turn this data
//! into what their users read.

use crate::catalogue::Check;
pub use crate::catalogue::Level;
use crate::span::Span;

/// One finding of one check.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The check that found it: its code, its name, its page.
    pub check: &'static Check,
    /// Its level; the check's own level unless something said otherwise.
    pub level: Level,
    /// One line that names the things involved.
    pub message: String,
    /// The place to look at first. Of a finding in a file that the source includes, the place that names the file.
    pub span: Span,
    /// Its place in an included file, if it is about that file.
    pub file: Option<FilePlace>,
    /// The places involved, in the order of the story. One of them may be the primary span, which
    /// then has that text; otherwise the primary span has none.
    pub labels: Vec<Label>,
    /// Names that are missing or unknown: findings about one name are about one fault.
    pub about: Vec<String>,
    /// All findings of its fault, this one as it was found among them; nothing where it is the only one.
    pub fault: Vec<Diagnostic>,
    /// Concrete counter values that show the fault.
    pub witness: Option<Witness>,
    /// The shortest run that leads there.
    pub trace: Option<Trace>,
    /// Help: the text to write instead.
    pub help: Option<String>,
    /// The edits that correct it, where one correction is obvious.
    pub fix: Option<Fix>,
    /// The edits of the included file that correct it; their places are those of that file.
    pub file_fix: Option<Fix>,
}

/// A place in a file that a source includes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePlace {
    /// The file, as the source names it.
    pub file: String,
    /// The bytes of its text, as [`crate::prompt_files::normalised`] gives it.
    pub span: Span,
    /// The line on which they begin, from 1.
    pub line: u32,
}

/// A place with a few words about its part in the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place; of one in an included file, the place that names the file.
    pub span: Span,
    /// The place in an included file.
    pub file: Option<FilePlace>,
    /// Its part in the story.
    pub message: String,
}

/// Counter values for which a fault shows, and the whole range where it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The smallest such values, in the order of the counters.
    pub values: Vec<(String, u32)>,
    /// The whole range in words: "review_round = 2, and only there".
    pub range: String,
}

/// Number of steps that readers see of each end of a long run.
const MAX_SHOWN: usize = 20;

/// A run of the workflow, step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The state in which the task is created.
    pub start: String,
    /// The steps that follow, in order.
    pub steps: Vec<TraceStep>,
    /// A fact that is true at the end: "2 live agents".
    pub end: Option<String>,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Actor of the step: `person`, `worker`, `reviewer`, `engine`.
    pub by: String,
    /// The actor's act: `--status stuck`, `dies`, `respawn`.
    pub does: String,
    /// The state that the task is in afterwards.
    pub to: String,
    /// The hooks that the engine then runs, by name.
    pub hooks: Vec<String>,
    /// The declaration in the source that the step follows.
    pub span: Option<Span>,
    /// The lines of a script that do the same in a simulation; none where the engine does it by itself.
    pub script: Vec<String>,
}

/// Edits that mend a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Effect of the edits, as an imperative: "put `kill_session` before the spawn".
    pub title: String,
    /// Replacements in the source; they do not overlap.
    pub edits: Vec<Edit>,
    /// True if they can only mean what the author meant. Others are made on request alone.
    pub safe: bool,
}

/// One replacement in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced text; empty where text is only put in.
    pub span: Span,
    /// The text that takes its place.
    pub text: String,
}

impl Diagnostic {
    /// A finding at the check's own level, with nothing but a message and a place.
    pub fn new(check: &'static Check, span: Span, message: impl Into<String>) -> Self {
        Self {
            check,
            level: check.level,
            message: message.into(),
            span,
            file: None,
            labels: Vec::new(),
            about: Vec::new(),
            fault: Vec::new(),
            witness: None,
            trace: None,
            help: None,
            fix: None,
            file_fix: None,
        }
    }

    /// The finding for readers of one text: it says in words what its values say of included files.
    pub fn worded(mut self) -> Self {
        self.message = in_words(self.message, self.file.take());
        self.file_fix = None;
        for label in &mut self.labels {
            label.message = in_words(std::mem::take(&mut label.message), label.file.take());
        }
        self.fault = self.fault.into_iter().map(Self::worded).collect();
        self
    }

    /// Adds the next place of the story.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, file: None, message: message.into() });
        self
    }

    /// Says what is missing or unknown.
    pub fn about(mut self, name: impl Into<String>) -> Self {
        self.about.push(name.into());
        self
    }

    /// Says what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to write instead, when there is something to say.
    pub fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Gives the counter values that show the fault.
    pub fn witness(mut self, witness: Witness) -> Self {
        self.witness = Some(witness);
        self
    }

    /// Tells the shortest run that leads there.
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Tells the run, if there is one.
    pub fn trace_if(mut self, trace: Option<Trace>) -> Self {
        self.trace = trace;
        self
    }

    /// Offers the edits that mend it.
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Offers the edits that correct it, when one correction is obvious.
    pub fn fix_if(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix.or(self.fix);
        self
    }

    /// Raises or lowers the finding from the check's own level.
    pub fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The check's code: `A07`.
    pub fn code(&self) -> &'static str {
        self.check.code
    }

    /// The check's name: `ambiguous-transitions`.
    pub fn name(&self) -> &'static str {
        self.check.name
    }
}

impl Trace {
    /// The names of the states in the run, each once for every time the task enters it.
    pub fn states(&self) -> Vec<&str> {
        let mut states = vec![self.start.as_str()];
        for step in &self.steps {
            if states.last() != Some(&step.to.as_str()) {
                states.push(&step.to);
            }
        }
        states
    }
}

impl Trace {
    /// The steps that readers see: of a long run the first and the last ones, and how many are left out between them.
    pub fn shown(&self) -> (&[TraceStep], usize, &[TraceStep]) {
        let left_out = self.steps.len().saturating_sub(2 * MAX_SHOWN);
        match left_out {
            0 => (&self.steps, 0, &[]),
            _ => (&self.steps[..MAX_SHOWN], left_out, &self.steps[MAX_SHOWN + left_out..]),
        }
    }
}

impl std::fmt::Display for TraceStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "─{}: {}→ {}", self.by, self.does, self.to)
    }
}

impl std::fmt::Display for Trace {
    /// The run in one line: `pending ─person: spawn→ working ─worker: dies→ working (1 crash)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.start)?;
        let (first, left_out, last) = self.shown();
        for step in first {
            write!(f, " {step}")?;
        }
        if left_out > 0 {
            write!(f, " … {left_out} more …")?;
        }
        for step in last {
            write!(f, " {step}")?;
        }
        self.end.as_ref().map_or(Ok(()), |end| write!(f, " ({end})"))
    }
}

impl Fix {
    /// One replacement that can only mean what the author meant.
    pub fn replace(title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        Self { title: title.into(), edits: vec![Edit { span, text: text.into() }], safe: true }
    }
}

fn in_words(message: String, place: Option<FilePlace>) -> String {
    match place {
        Some(it) => format!("{message} (line {} of {})", it.line, it.file),
        None => message,
    }
}

/// Sorts findings as a reader meets them: by place, then the worst first, then by code.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| {
        let key = |it: &Diagnostic| (it.span.start, it.level, it.check.code, it.span.end);
        key(a).cmp(&key(b)).then_with(|| (&a.message, &a.file).cmp(&(&b.message, &b.file)))
    });
}
