//! The findings of the open documents: which are known, and which check comes next.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use orange_analysis::insight::Insight;
use orange_analysis::scenario::FailedExpectation;
use orange_codegen::{Diagnostic, Source};
use orange_ide::{Document, DocumentKind, Findings, TextChange, Workspace};

use crate::config::PageUrl;

use super::rules::{Judged, Rules};
use super::schedule::Schedule;
use super::worker::{CheckEnd, CheckFindings, CheckJob, CheckSubject, Worker};

/// The checks of all open documents.
pub(super) struct Checks {
    states: BTreeMap<PathBuf, CheckState>,
    schedule: Schedule,
    pub worker: Worker,
    rules: Rules,
    stamp: u64,
    /// Problems that nobody has been shown.
    problems: Vec<String>,
}

/// Findings in one document, and facts about it.
#[derive(Default)]
pub(super) struct CheckState {
    /// The number of its text and of the texts that it names.
    stamp: u64,
    pub findings: Findings,
    /// Facts about the parts of a workflow, and the number of the text that they are about.
    insight: Option<(u64, Arc<Insight>)>,
    /// Address of the published pages of checks.
    pub docs: Option<PageUrl>,
    /// Expectations of scenarios that are not met.
    pub failed: Vec<FailedExpectation>,
    /// Reason for which no scenario ran.
    pub refused: Option<String>,
    /// The problems of its configuration that were shown.
    shown: Vec<String>,
}

impl Checks {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            states: BTreeMap::new(),
            schedule: Schedule::default(),
            worker: Worker::start(),
            rules,
            stamp: 0,
            problems: Vec::new(),
        }
    }

    /// The rules for the levels of findings.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Findings in a document, and facts about it.
    pub(super) fn state(&self, path: &Path) -> Option<&CheckState> {
        self.states.get(path)
    }

    /// True if no check runs or waits.
    pub(super) fn is_idle(&self) -> bool {
        !self.worker.is_busy() && self.schedule.next().is_none()
    }

    /// Time of the next check.
    pub(super) fn next(&self) -> Option<Instant> {
        self.schedule.next().filter(|_| !self.worker.is_busy())
    }

    /// A document has been opened; what was known of it before means nothing.
    pub(super) fn opened(&mut self, document: &Document) {
        self.states.insert(document.path.clone(), CheckState::default());
        self.new_text(document, None);
        self.schedule.at_once(&document.path, Instant::now());
    }

    /// A document has another text.
    pub(super) fn changed(&mut self, document: &Document, change: Option<&TextChange>) {
        self.new_text(document, change);
        self.schedule.changed(&document.path, Instant::now());
    }

    /// A document is to be checked again, since what it names may have changed.
    pub(super) fn outdated(&mut self, document: &Document) {
        self.new_stamp(&document.path);
        self.schedule.changed(&document.path, Instant::now());
    }

    /// A document has been saved: it is checked without waiting.
    pub(super) fn saved(&mut self, document: &Document) {
        self.new_stamp(&document.path);
        self.schedule.at_once(&document.path, Instant::now());
    }

    pub(super) fn closed(&mut self, path: &Path) {
        self.states.remove(path);
        self.schedule.forget(path);
        self.worker.stop(path, None);
    }

    /// Starts the check that is due, if the worker has nothing to do.
    pub(super) fn start(&mut self, workspace: &Workspace) {
        while !self.worker.is_busy()
            && let Some(path) = self.schedule.take(Instant::now())
        {
            let (Some(document), Some(state)) = (workspace.document(&path), self.states.get(&path)) else {
                continue;
            };
            let subject = match document.kind {
                DocumentKind::Workflow => CheckSubject::Workflow(document.source.clone()),
                DocumentKind::Scenarios => CheckSubject::Scenarios {
                    scenarios: document.source.clone(),
                    workflow: workspace.workflow_of(document).and_then(|it| source_of(workspace, &it)),
                },
                DocumentKind::Other => continue,
            };
            self.worker.check(CheckJob { path, stamp: state.stamp, subject, rules: self.rules.clone() });
        }
    }

    /// Takes the findings of a check. Returns its document, if it still has the text that was checked.
    pub(super) fn ended(&mut self, end: CheckEnd) -> Option<PathBuf> {
        self.worker.ended(&end);
        let CheckEnd { path, stamp, found } = end;
        let state = self.states.get_mut(&path).filter(|it| it.stamp == stamp)?;
        match found {
            CheckFindings::Begun(insight, judged) => {
                state.insight = Some((stamp, insight));
                state.findings.begun(judged.file.compilation.diagnostics);
            }
            CheckFindings::Workflow(insight, judged) => {
                state.insight = Some((stamp, insight));
                self.problems.extend(state.checked(judged));
            }
            CheckFindings::Scenarios(found, judged) => {
                self.problems.extend(state.checked(judged));
                state.failed = found.failed;
                state.refused = found.refused;
            }
            CheckFindings::Stopped => return None,
            CheckFindings::Panicked => {
                self.problems
                    .push(format!("the check of {} has a fault; the server goes on", path.display()));
                return None;
            }
        }
        Some(path)
    }

    /// Problems to show to the person, each once.
    pub(super) fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
    }

    fn new_text(&mut self, document: &Document, change: Option<&TextChange>) {
        self.new_stamp(&document.path);
        let Some(state) = self.states.get_mut(&document.path) else { return };
        if document.kind == DocumentKind::Other {
            *state = CheckState { stamp: state.stamp, ..CheckState::default() };
            return;
        }
        let found = document.compilation.diagnostics.clone();
        let judged = self.rules.judged(&document.source, found);
        state.docs.clone_from(&judged.file.docs);
        state.findings.compiled(change, judged.file.compilation.diagnostics);
        if let Some(change) = change {
            state.failed.retain_mut(|it| {
                let moved = change.moved(it.span);
                it.span = moved.unwrap_or_default();
                moved.is_some()
            });
        }
    }

    fn new_stamp(&mut self, path: &Path) {
        self.stamp += 1;
        self.worker.stop(path, Some(self.stamp));
        if let Some(state) = self.states.get_mut(path) {
            state.stamp = self.stamp;
        }
    }
}

impl CheckState {
    /// Takes the findings of a whole check. Returns problems of its configuration that were not shown before.
    fn checked(&mut self, judged: Judged) -> Vec<String> {
        self.docs = judged.file.docs;
        self.findings.checked(judged.file.compilation.diagnostics);
        let problems: Vec<String> = judged.failures.iter().map(|it| it.message().to_owned()).collect();
        let new = problems.iter().filter(|it| !self.shown.contains(it)).cloned().collect();
        self.shown = problems;
        new
    }

    /// Facts about the parts of the workflow, if its newest text has been checked.
    pub(super) fn insight(&self) -> Option<&Insight> {
        self.insight.as_ref().filter(|it| it.0 == self.stamp).map(|it| &*it.1)
    }

    /// Facts about the parts of the workflow for another thread, if its newest text has been checked.
    pub(super) fn shared_insight(&self) -> Option<Arc<Insight>> {
        self.insight.as_ref().filter(|it| it.0 == self.stamp).map(|it| Arc::clone(&it.1))
    }

    /// Facts about the parts of the workflow as it was when it was last checked.
    pub(super) fn last_insight(&self) -> Option<&Insight> {
        self.insight.as_ref().map(|it| &*it.1)
    }

    /// All findings to show.
    pub(super) fn findings(&self) -> Vec<&Diagnostic> {
        self.findings.shown()
    }
}

/// The newest text of a file.
fn source_of(workspace: &Workspace, path: &Path) -> Option<Source> {
    match workspace.document(path) {
        Some(document) => Some(document.source.clone()),
        None => Source::read(path).ok(),
    }
}
