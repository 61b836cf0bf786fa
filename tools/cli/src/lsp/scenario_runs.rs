//! Results of the scenarios beside workflows, by the texts that they are about, so that nothing runs twice.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use orange_codegen::source::SCENARIOS;
use orange_codegen::{Checked, Source};
use orange_ide::Document;
use orange_ide::lenses::ScenarioCounts;

use super::view::View;
use crate::cmd::test;
use crate::json::ScenarioFile;
use crate::output::scenarios::TRANSITIONS;

/// The last results for each workflow.
#[derive(Default)]
pub(super) struct ScenarioRuns {
    last: Mutex<BTreeMap<PathBuf, (u64, ScenarioResults)>>,
    /// Number of files of scenarios that have run.
    pub count: AtomicUsize,
}

/// Results of the scenarios of a workflow; none where the workflow or the scenarios cannot be used.
pub(super) type ScenarioResults = Option<Arc<ScenarioFile>>;

/// A workflow and its scenarios, to be run.
pub(super) struct ScenarioRun {
    runs: Arc<ScenarioRuns>,
    workflow: PathBuf,
    key: u64,
    known: Option<ScenarioResults>,
    checked: Option<Checked>,
    scenarios: Source,
}

impl ScenarioRun {
    /// The scenarios of a workflow, in the editor or on the disk; none where there are none.
    pub(super) fn of(view: &View<'_>, workflow: &Document) -> Option<Self> {
        let scenarios = scenarios(view, workflow)?;
        let mut key = DefaultHasher::new();
        (workflow.text(), &scenarios.text, workflow.compilation.checked.is_some()).hash(&mut key);
        let (key, runs) = (key.finish(), Arc::clone(view.scenario_runs));
        let known = runs.known(&workflow.path, key);
        let checked = if known.is_none() { workflow.compilation.checked.clone() } else { None };
        Some(Self { runs, workflow: workflow.path.clone(), key, known, checked, scenarios })
    }

    /// The results: those that are known, or those of a run.
    pub(super) fn results(self) -> ScenarioResults {
        let known = self.known.or_else(|| self.runs.known(&self.workflow, self.key));
        known.unwrap_or_else(|| {
            self.runs.count.fetch_add(1, Ordering::Relaxed);
            let results = self.checked.and_then(|it| test::results(&self.scenarios, &it)).map(Arc::new);
            let mut last = self.runs.last.lock().unwrap_or_else(PoisonError::into_inner);
            last.insert(self.workflow, (self.key, results.clone()));
            results
        })
    }
}

impl ScenarioRuns {
    fn known(&self, workflow: &Path, key: u64) -> Option<ScenarioResults> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.get(workflow).filter(|it| it.0 == key).map(|it| it.1.clone())
    }
}

/// The numbers in these results.
pub(super) fn counts(results: &ScenarioFile) -> ScenarioCounts {
    let passed = results.scenarios.iter().filter(|it| it.passed).count();
    ScenarioCounts {
        passed,
        failed: results.scenarios.len() - passed,
        missed: results.coverage.missed.len(),
        has_steps: results.coverage.counted != TRANSITIONS,
    }
}

/// The scenarios beside a workflow, as they are in the editor or on the disk.
fn scenarios(view: &View<'_>, workflow: &Document) -> Option<Source> {
    if let Some(open) = view.workspace.scenarios_of(&workflow.path).first() {
        return Some(open.source.clone());
    }
    let stem = workflow.path.file_stem()?.to_str()?;
    let path = workflow.path.with_file_name(format!("{stem}{SCENARIOS}"));
    Some(Source::new(path.to_string_lossy(), view.workspace.text(&path)?))
}
