//! Checks many files at once and gathers what was found, always in the same order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use orange_codegen::catalogue::S06;
use orange_codegen::{Checked, Compilation, Diagnostic, Level, LineIndex, Source, Spanned, diag};

use crate::input::{Input, Origin, Reading};
use crate::recognise::{Likeness, likeness};

/// Fewer files than this are not worth a thread.
const FILES_PER_THREAD: usize = 4;

/// What was found in a run, sorted by file and then by place.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The files that were looked at as workflows.
    pub files: Vec<File>,
    /// Files of a searched folder that are no workflows.
    pub skipped: Vec<Skipped>,
}

/// A file that a search found and that is no workflow.
#[derive(Debug)]
pub(crate) struct Skipped {
    /// Its path.
    pub path: String,
    /// Whether it has something spelled almost like a workflow's keys.
    pub almost: bool,
}

/// What was found in one file.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path and as much of its text as could be read.
    pub source: Source,
    /// What is wrong with it.
    pub findings: Vec<Diagnostic>,
    /// The workflow's name, as far as it could be read.
    pub name: Option<Spanned<String>>,
    /// The workflow, when nothing is at level `error`.
    pub checked: Option<Checked>,
}

/// How many findings there are of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// At `error`.
    pub error: usize,
    /// At `deny`.
    pub deny: usize,
    /// At `warn`.
    pub warn: usize,
    /// At `info`.
    pub info: usize,
}

enum Outcome {
    File(Box<File>),
    Skipped(Skipped),
}

impl Report {
    /// Reads and checks all inputs, over as many threads as are of use.
    pub(crate) fn new(inputs: &[Input]) -> Self {
        let mut report = Self::default();
        for outcome in examine_all(inputs) {
            match outcome {
                Outcome::File(file) => report.files.push(*file),
                Outcome::Skipped(skipped) => report.skipped.push(skipped),
            }
        }
        report.find_shared_names();
        report
    }

    /// Whether anything is at `deny` or above.
    pub(crate) fn fails(&self) -> bool {
        self.files.iter().flat_map(|it| &it.findings).any(|it| it.level <= Level::Deny)
    }

    /// How many findings there are of each level.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for finding in self.files.iter().flat_map(|it| &it.findings) {
            match finding.level {
                Level::Error => counts.error += 1,
                Level::Deny => counts.deny += 1,
                Level::Warn => counts.warn += 1,
                Level::Info => counts.info += 1,
                Level::Allow => {}
            }
        }
        counts
    }

    /// One fault, one finding: in each file whose workflow has the name of one in a file before it.
    fn find_shared_names(&mut self) {
        for (at, before) in shared_names(&self.files) {
            let place = place_of_name(&self.files[before]);
            let file = &mut self.files[at];
            let Some(name) = &file.name else { continue };
            let finding = shared_name(name, &place);
            file.findings.retain(|it| it.check != &S06);
            file.findings.push(finding);
            diag::sort(&mut file.findings);
        }
    }
}

/// Each file whose workflow has a name again, and the first file that has it.
fn shared_names(files: &[File]) -> Vec<(usize, usize)> {
    let mut first = BTreeMap::new();
    let named =
        files.iter().enumerate().filter_map(|(at, file)| Some((at, file.name.as_ref()?.value.as_str())));
    let seen = named.map(|(at, name)| (at, *first.entry(name).or_insert(at)));
    seen.filter(|(at, before)| at != before).collect()
}

impl File {
    /// Reads and checks a file that has to be a workflow.
    pub(crate) fn new(input: &Input) -> Self {
        Self::of(input.read())
    }

    fn of(reading: Reading) -> Self {
        match reading {
            Reading::Text(source) => {
                let Compilation { diagnostics, checked, name, .. } = orange_codegen::compile(&source);
                Self { source, findings: diagnostics, name, checked }
            }
            Reading::NotText(source, finding) | Reading::Unreadable(source, finding) => {
                Self { source, findings: vec![*finding], name: None, checked: None }
            }
        }
    }
}

fn examine_all(inputs: &[Input]) -> Vec<Outcome> {
    let threads = threads(inputs.len());
    if threads < 2 {
        return inputs.iter().map(examine).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, input)) = take(inputs, &next) {
            done.push((at, examine(input)));
        }
        done
    };
    let mut outcomes: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(join).collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Asking for the number of cores is not free either.
fn threads(files: usize) -> usize {
    match files / FILES_PER_THREAD {
        few @ ..2 => few,
        many => thread::available_parallelism().map_or(1, usize::from).min(many),
    }
}

fn take<'i>(inputs: &'i [Input], next: &AtomicUsize) -> Option<(usize, &'i Input)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    inputs.get(at).map(|input| (at, input))
}

fn join<T>(worker: thread::ScopedJoinHandle<'_, T>) -> T {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A named file has to be a workflow; a found one is skipped when it looks like none, whatever it is.
fn examine(input: &Input) -> Outcome {
    match (&input.origin, input.read()) {
        (Origin::Found(_), Reading::Text(source) | Reading::NotText(source, _))
            if likeness(&source) != Likeness::Workflow =>
        {
            Outcome::skipped(source)
        }
        (Origin::Found(_) | Origin::Named(_) | Origin::Stdin, reading) => {
            // A thousand compiled workflows at once would be memory for nothing.
            Outcome::File(Box::new(File { checked: None, ..File::of(reading) }))
        }
    }
}

impl Outcome {
    fn skipped(source: Source) -> Self {
        let almost = likeness(&source) == Likeness::Almost;
        Self::Skipped(Skipped { path: source.path, almost })
    }
}

fn shared_name(name: &Spanned<String>, place: &str) -> Diagnostic {
    Diagnostic::new(
        &S06,
        name.span,
        format!("the workflow name `{}` is already taken by {place}", name.value),
    )
    .at_level(Level::Error)
    .label(name.span, "the same name again")
    .help("give one of the two workflows another name, and its file too")
}

fn place_of_name(file: &File) -> String {
    let offset = file.name.as_ref().map_or(0, |it| it.span.start);
    let start = LineIndex::new(&file.source.text).position(offset);
    format!("{}:{}:{}", file.source.path, start.line, start.column)
}
