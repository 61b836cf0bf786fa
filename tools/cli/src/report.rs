//! Checks many files at once and collects the findings, always in the same order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use orange_analysis::place::Places;
use orange_codegen::check::same_name;
use orange_codegen::{Compilation, Diagnostic, Level, Likeness, Source, compile, diag, syntax};

use crate::cache::Cache;
use crate::config::PageUrl;
use crate::input::{Input, Origin, ReadInput};
use crate::json::Counts;

/// Fewer files than this are not worth a thread.
const FILES_PER_THREAD: usize = 4;

/// The findings of a run, sorted by file and then by place.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The files that were looked at as workflows.
    pub files: Vec<File>,
    /// Files of a searched folder that are not workflows.
    pub skipped: Vec<Skipped>,
    /// Number of findings that a baseline knows and that are left out.
    pub known: usize,
    /// Findings that the baseline knows of these files and that are gone, a line each.
    pub gone: Vec<String>,
}

/// A file that a search found and that is not a workflow.
#[derive(Debug)]
pub(crate) struct Skipped {
    pub path: String,
    /// True if it has something spelled almost like a workflow's keys.
    pub almost: bool,
}

impl Skipped {
    /// Reason for which it is not checked.
    pub(crate) fn reason(&self) -> &'static str {
        if self.almost { "no workflow, though almost one: name it to have it checked" } else { "no workflow" }
    }
}

/// The findings in one file.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path and as much of its text as could be read.
    pub source: Source,
    /// Its findings, and the workflow when nothing is at level `error`.
    pub compilation: Compilation,
    /// Address of the published pages of checks, if its configuration has one.
    pub docs: Option<PageUrl>,
}

enum InputResult {
    File(Box<File>),
    Skipped(Skipped),
}

impl Report {
    /// Reads and checks all inputs that the cache does not know, over as many threads as are of use.
    pub(crate) fn new(inputs: &[Input], cache: &Cache) -> Self {
        let mut report = Self::default();
        for outcome in examine_all(inputs, &|input| examine(input, cache)) {
            match outcome {
                InputResult::File(file) => report.files.push(*file),
                InputResult::Skipped(skipped) => report.skipped.push(skipped),
            }
        }
        report.find_shared_names();
        report
    }

    /// True if anything is at `deny` or above.
    pub(crate) fn fails(&self) -> bool {
        self.files.iter().flat_map(File::findings).any(|it| it.level <= Level::Deny)
    }

    /// Number of findings of each level.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for finding in self.files.iter().flat_map(File::findings) {
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

    /// Two workflows of one name are one finding: that the later file's name is not its stem is the same fault.
    fn find_shared_names(&mut self) {
        let files: Vec<_> = self.files.iter().map(|it| (&it.source, &it.compilation)).collect();
        for (at, finding) in same_name(&files) {
            let findings = &mut self.files[at].compilation.diagnostics;
            findings.retain(|it| it.check != finding.check);
            findings.push(finding);
            diag::sort(findings);
        }
    }
}

impl File {
    /// Reads and checks a file that has to be a workflow.
    pub(crate) fn new(input: &Input) -> Self {
        Self::of(input.read(), &Cache::default())
    }

    /// Reads and compiles a file that has to be a workflow. No lint of a sound one runs, since these search it.
    pub(crate) fn compiled(input: &Input) -> Self {
        Self::read(input.read(), |source| orange_analysis::compiled(compile(source)))
    }

    /// Its findings.
    pub(crate) fn findings(&self) -> &[Diagnostic] {
        &self.compilation.diagnostics
    }

    /// The address of the page of a finding's check.
    pub(crate) fn page(&self, finding: &Diagnostic) -> Option<String> {
        self.docs.as_ref().map(|it| it.of(finding.check))
    }

    /// The places of its workflow.
    pub(crate) fn places(&self) -> Places {
        Places::new(syntax::parse(&self.source).0.as_ref())
    }

    fn of(reading: ReadInput, cache: &Cache) -> Self {
        Self::read(reading, |source| {
            let key = cache.key(source);
            cache.get(key.as_ref(), &source.text).unwrap_or_else(|| {
                let compilation = orange_analysis::lint(source).worded();
                cache.put(key.as_ref(), &compilation);
                compilation
            })
        })
    }

    fn read(reading: ReadInput, compile: impl FnOnce(&Source) -> Compilation) -> Self {
        match reading {
            ReadInput::Text(source) => Self { compilation: compile(&source).worded(), source, docs: None },
            ReadInput::NotText(source, finding) | ReadInput::Unreadable(source, finding) => {
                let (diagnostics, likeness) = (vec![*finding], Likeness::of(&source));
                let compilation = Compilation { diagnostics, likeness, ..Compilation::default() };
                Self { source, compilation, docs: None }
            }
        }
    }
}

fn examine_all(inputs: &[Input], examine: &(dyn Fn(&Input) -> InputResult + Sync)) -> Vec<InputResult> {
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
    let mut outcomes: Vec<(usize, InputResult)> = thread::scope(|scope| {
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

/// A named file has to be a workflow; a found one is skipped when it is none, whatever it is.
fn examine(input: &Input, cache: &Cache) -> InputResult {
    let reading = input.read();
    let is_found =
        matches!((&input.origin, &reading), (Origin::Found(_), ReadInput::Text(_) | ReadInput::NotText(..)));
    let mut file = File::of(reading, cache);
    match file.compilation.likeness {
        Likeness::Almost(_) | Likeness::Other if is_found => {
            let almost = file.compilation.likeness != Likeness::Other;
            InputResult::Skipped(Skipped { path: file.source.path, almost })
        }
        Likeness::Workflow(_) | Likeness::Almost(_) | Likeness::Other => {
            // A thousand compiled workflows at once would be memory for nothing.
            file.compilation.checked = None;
            InputResult::File(Box::new(file))
        }
    }
}
