//! The one thread for whole checks. It does one at a time, and an edit stops it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use orange_analysis::insight::Insight;
use orange_analysis::search::SearchLimits;
use orange_codegen::Source;
use orange_ide::check::{self, ScenarioFindings};

use super::rules::{Judged, Rules};

/// A whole check of one text.
#[derive(Debug)]
pub(super) struct CheckJob {
    pub path: PathBuf,
    /// The number of the text; every change of it, or of what it names, has a new one.
    pub stamp: u64,
    pub subject: CheckSubject,
    pub rules: Rules,
}

/// Texts to check.
#[derive(Debug)]
pub(super) enum CheckSubject {
    Workflow(Source),
    Scenarios { scenarios: Source, workflow: Option<Source> },
}

/// The end of a whole check.
pub(super) struct CheckEnd {
    pub path: PathBuf,
    pub stamp: u64,
    pub found: CheckFindings,
}

/// The findings of a whole check.
pub(super) enum CheckFindings {
    /// Those of the first steps of a large search, which goes on.
    Begun(Arc<Insight>, Judged),
    Workflow(Arc<Insight>, Judged),
    Scenarios(ScenarioFindings, Judged),
    /// An edit has stopped it.
    Stopped,
    /// It has panicked.
    Panicked,
}

/// The thread, as the main loop sees it.
pub(super) struct Worker {
    jobs: Sender<(CheckJob, Arc<AtomicBool>)>,
    pub ends: Receiver<CheckEnd>,
    running: Option<RunningCheck>,
    /// Number of checks so far.
    pub log: WorkerLog,
}

struct RunningCheck {
    path: PathBuf,
    stamp: u64,
    stop: Arc<AtomicBool>,
}

/// Numbers of what has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkerLog {
    pub started: usize,
    pub stopped: usize,
    pub finished: usize,
}

impl Worker {
    pub(super) fn start() -> Self {
        let (jobs, to_do) = unbounded::<(CheckJob, Arc<AtomicBool>)>();
        let (done, ends) = unbounded();
        // Without its thread there are no whole checks, and everything else goes on.
        let _ = thread::Builder::new().name("check".to_owned()).spawn(move || {
            for (job, stop) in to_do {
                let tell = |end: CheckEnd| done.send(end).is_ok();
                if !tell(checked(job, &stop, &tell)) {
                    break;
                }
            }
        });
        Self { jobs, ends, running: None, log: WorkerLog::default() }
    }

    /// True while a check runs, also one that is being stopped.
    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Starts a check; the worker has to be idle.
    pub(super) fn check(&mut self, job: CheckJob) {
        let stop = Arc::new(AtomicBool::new(false));
        let running = RunningCheck { path: job.path.clone(), stamp: job.stamp, stop: Arc::clone(&stop) };
        if self.jobs.send((job, stop)).is_ok() {
            self.log.started += 1;
            self.running = Some(running);
        }
    }

    /// Stops the check of this document, if it runs and is not of this text.
    pub(super) fn stop(&mut self, path: &std::path::Path, newest: Option<u64>) {
        if let Some(running) = &self.running
            && running.path == path
            && Some(running.stamp) != newest
        {
            running.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that the check that ran has ended.
    pub(super) fn ended(&mut self, end: &CheckEnd) {
        if matches!(end.found, CheckFindings::Begun(..)) {
            return;
        }
        self.running = None;
        match end.found {
            CheckFindings::Begun(..) => {}
            CheckFindings::Stopped => self.log.stopped += 1,
            CheckFindings::Workflow(..) | CheckFindings::Scenarios(..) | CheckFindings::Panicked => {
                self.log.finished += 1;
            }
        }
    }
}

impl Drop for Worker {
    /// A server that ends waits for nothing.
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Does a check. The findings of the first steps of a large search go to `tell` before its end.
fn checked(job: CheckJob, stop: &AtomicBool, tell: &dyn Fn(CheckEnd) -> bool) -> CheckEnd {
    let CheckJob { path, stamp, subject, rules } = job;
    let begun = |found| {
        tell(CheckEnd { path: path.clone(), stamp, found });
    };
    let found = catch_unwind(AssertUnwindSafe(|| found(&subject, &rules, stop, &begun)));
    CheckEnd { found: found.unwrap_or(CheckFindings::Panicked), path, stamp }
}

fn found(
    subject: &CheckSubject,
    rules: &Rules,
    stop: &AtomicBool,
    begun: &dyn Fn(CheckFindings),
) -> CheckFindings {
    match subject {
        CheckSubject::Workflow(source) => {
            let whole = SearchLimits { stop: Some(stop), ..SearchLimits::default() };
            let first = SearchLimits { steps: rules.first_steps.min(whole.steps), ..whole };
            let Some(mut insight) = check::workflow_within(source, &first) else {
                return CheckFindings::Stopped;
            };
            if insight.is_cut() && first.steps < whole.steps {
                let judged = rules.judged(source, insight.findings.clone());
                begun(CheckFindings::Begun(Arc::new(insight), judged));
                insight = match check::workflow_within(source, &whole) {
                    Some(insight) => insight,
                    None => return CheckFindings::Stopped,
                };
            }
            let judged = rules.judged(source, insight.findings.clone());
            CheckFindings::Workflow(Arc::new(insight), judged)
        }
        CheckSubject::Scenarios { scenarios, workflow } => {
            let mut found = check::scenarios(scenarios, workflow.as_ref());
            let judged = rules.judged(scenarios, std::mem::take(&mut found.diagnostics));
            CheckFindings::Scenarios(found, judged)
        }
    }
}

#[cfg(test)]
mod tests {
    use orange_codegen::PromptFiles;
    use orange_codegen::prompt_files::OpenTexts;

    use super::*;

    fn end_of(worker: &mut Worker, source: Source) -> CheckFindings {
        let subject = CheckSubject::Workflow(source);
        worker.check(CheckJob { path: "/flow.yml".into(), stamp: 1, subject, rules: Rules::default() });
        let end = worker.ends.recv().unwrap();
        worker.ended(&end);
        end.found
    }

    #[test]
    fn a_check_that_panics_ends_and_the_next_one_runs() {
        let mut worker = Worker::start();
        let text = "name: flow\nstates: {}\nprompts: {work: {include: work.md}}\n";
        let source = Source::new("flow.yml", text);
        let open = OpenTexts::new(|_| panic!("this panic is part of a test"));
        let panics = source.clone().with_files(PromptFiles::Over("/".into(), open));
        assert!(matches!(end_of(&mut worker, panics), CheckFindings::Panicked));
        assert!(matches!(end_of(&mut worker, source), CheckFindings::Workflow(..)));
        assert_eq!(worker.log, WorkerLog { started: 2, stopped: 0, finished: 2 });
        assert!(!worker.is_busy());
    }
}
