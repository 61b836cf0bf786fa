//! The run to highlight: named by its states, or found by a check.

use std::collections::BTreeSet;
use std::path::Path;

use orange_codegen::catalogue::Check;
use orange_codegen::{Diagnostic, LineIndex, Trace, suggest};
use serde::Deserialize;

use super::Graph;
use crate::answer::Failure;
use crate::input::{Input, ReadInput};

/// A run of a workflow.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The state in which the task is created.
    pub start: String,
    /// The steps after that.
    pub steps: Vec<RunStep>,
    /// The facts at the end, if they are known.
    pub end: Option<String>,
}

/// One step of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunStep {
    /// The actor and its act, if they are known.
    pub label: Option<String>,
    /// The state that the task is in afterwards.
    pub to: String,
    /// The line of the workflow that it follows, if that is known.
    pub line: Option<u32>,
}

/// A run with its headline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HighlightedRun {
    pub run: Run,
    /// Description in one line.
    pub headline: String,
}

/// The runs in the output of `check --format json`.
#[derive(Deserialize)]
struct CheckReport {
    diagnostics: Vec<RunFinding>,
}

#[derive(Deserialize)]
struct RunFinding {
    code: String,
    name: String,
    message: String,
    file: String,
    #[serde(default)]
    trace: Vec<String>,
    #[serde(default)]
    steps: Vec<ActedStep>,
}

#[derive(Deserialize)]
struct ActedStep {
    by: String,
    does: String,
    to: String,
    line: Option<u32>,
}

/// The run that `--trace` means: states with commas between them, or else a file with what `check --format json`
/// printed, of which `check` chooses the finding.
///
/// # Errors
///
/// It is neither, or there is no such run in the file.
pub(crate) fn read(
    value: &str,
    graph: &Graph,
    file: &str,
    check: Option<&Check>,
) -> Result<HighlightedRun, Failure> {
    let states: Vec<&str> = value.split(',').map(str::trim).collect();
    let unknown = states.iter().find(|it| graph.node(it).is_none());
    match unknown {
        None => Ok(HighlightedRun { run: Run::through(&states), headline: states.join(" → ") }),
        Some(_) if value == "-" || Path::new(value).is_file() => chosen(&report(value)?, value, file, check),
        Some(unknown) => Err(neither(value, unknown, graph)),
    }
}

impl Run {
    /// The run of a finding.
    pub(crate) fn of(trace: &Trace, index: &LineIndex<'_>) -> Self {
        let step = |it: &orange_codegen::diag::TraceStep| RunStep {
            label: Some(format!("{}: {}", it.by, it.does)),
            to: it.to.clone(),
            line: it.span.map(|it| index.position(it.start).line),
        };
        let steps = trace.steps.iter().map(step).collect();
        Self { start: trace.start.clone(), steps, end: trace.end.clone() }
    }

    fn through(states: &[&str]) -> Self {
        let mut states = states.iter().map(|it| (*it).to_owned());
        let start = states.next().unwrap_or_default();
        let steps = states.map(|to| RunStep { label: None, to, line: None }).collect();
        Self { start, steps, end: None }
    }
}

/// A finding in one line.
pub(crate) fn headline(finding: &Diagnostic) -> String {
    format!("{} {}: {}", finding.code(), finding.name(), finding.message)
}

fn report(path: &str) -> Result<CheckReport, Failure> {
    let input = Input::named(Path::new(path))?;
    let text = match input.read() {
        ReadInput::Text(source) => source.text,
        ReadInput::NotText(_, finding) | ReadInput::Unreadable(_, finding) => {
            return Err(no_report(&input.shown, &finding.message));
        }
    };
    serde_json::from_str(&text).map_err(|error| no_report(&input.shown, &error.to_string()))
}

fn no_report(shown: &str, why: &str) -> Failure {
    Failure::new(
        format!("--trace: {shown} is not a report: {why}"),
        "give what `orange-workflow check --format json` prints, or states with commas between them",
    )
}

/// The first finding about this file, and of this check if one is given, that has a run.
fn chosen(
    report: &CheckReport,
    path: &str,
    file: &str,
    check: Option<&Check>,
) -> Result<HighlightedRun, Failure> {
    let is_wanted = |it: &&RunFinding| check.is_none_or(|check| check.code == it.code);
    let here: Vec<&RunFinding> = report.diagnostics.iter().filter(|it| it.file == file).collect();
    let found = here.iter().copied().filter(is_wanted).find(|it| !it.trace.is_empty());
    found.map(RunFinding::shown).ok_or_else(|| {
        let wanted = check.map(|it| format!(" of `{}`", it.name)).unwrap_or_default();
        let files: BTreeSet<&str> = report.diagnostics.iter().map(|it| it.file.as_str()).collect();
        let help = if here.is_empty() && !files.is_empty() {
            let files: Vec<&str> = files.into_iter().collect();
            format!("it is about {}: draw one of these, named like that", files.join(", "))
        } else {
            "`--highlight` chooses the check; not every finding has a trace".to_owned()
        };
        Failure::new(format!("--trace: {path} has no finding{wanted} about {file} with a trace"), help)
    })
}

impl RunFinding {
    fn shown(&self) -> HighlightedRun {
        let step = |it: &ActedStep| RunStep {
            label: Some(format!("{}: {}", it.by, it.does)),
            to: it.to.clone(),
            line: it.line,
        };
        let states: Vec<&str> = self.trace.iter().map(String::as_str).collect();
        let mut run = Run::through(&states);
        if !self.steps.is_empty() {
            run.steps = self.steps.iter().map(step).collect();
        }
        HighlightedRun { run, headline: format!("{} {}: {}", self.code, self.name, self.message) }
    }
}

fn neither(value: &str, unknown: &str, graph: &Graph) -> Failure {
    let help = match suggest::closest(unknown, graph.names()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => {
            "name states with commas between them, a file that `check --format json` wrote, or `-`".into()
        }
    };
    let message = if value.contains(',') {
        format!("--trace: there is no state `{unknown}`")
    } else {
        format!("--trace: there is no state and no file `{value}`")
    };
    Failure::new(message, help)
}
