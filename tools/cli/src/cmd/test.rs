//! `test`: runs the scenario files beside workflows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use orange_analysis::plan_scenario;
use orange_analysis::plan_walk::Coverage;
use orange_analysis::scenario::{self, FailedExpectation, Scenarios};
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::source::{SCENARIOS, Source, is_scenario_file};
use orange_codegen::span::Spanned;
use orange_codegen::{Checked, Compilation, Diagnostic, LineIndex, Span, syntax};
use orange_core::plan::Plan;
use orange_core::{Machine, TransitionId};

use crate::answer::{Answer, Exit, Failure};
use crate::cmd::one;
use crate::input::{self, Input, ReadInput};
use crate::json::{
    self, CoverageAnswer, ScenarioAnswer, ScenarioFailure, ScenarioFile, SpanLocation, TestAnswer,
};
use crate::output;
use crate::output::scenarios::{self, RefusedFile, TRANSITIONS};
use crate::report::File;
use crate::screen::Styles;

/// Run the scenario files beside workflows.
#[derive(Debug, Args)]
#[command(after_help = "\
A folder is searched for *.test.yml. One scenario is a task, what happens to it, and what is expected:

  workflow: flow.yml                  by default the file of the same stem
  scenarios:
    - name: a handoff is asked for
      given: {status: working, agents: [worker]}
      steps:
        - {request: agent-review, by: worker, expect: {rejection: gate_failed}}
        - {write: '## Handoff', text: 'DONE: all'}
        - {request: agent-review, by: worker, expect: {status: agent-review}}

One scenario of a step workflow is a mission, and what its agents report:

  scenarios:
    - name: a review that fails is fixed
      steps:
        - {complete: implement}
        - {complete: review, result: FAIL, summary: a bug, expect: {steps: {fix: running}, context: {fix: a bug}}}
        - {complete: fix, expect: {steps: {review: running}}}

Examples:
  orange-workflow test workflows/
  orange-workflow test flow.test.yml
  orange-workflow test workflows/ --format junit > scenarios.xml

Exit status: 0 all as expected, 1 something was not, 2 the work could not be done.")]
pub(crate) struct Test {
    /// Scenario files, or folders with such files
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Format of the results
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    format: ResultFormat,
}

/// Format of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ResultFormat {
    /// For people
    Human,
    /// One JSON object
    Json,
    /// JUnit's XML, for continuous integration
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

pub(super) fn run(args: &Test, styles: Styles) -> Result<Answer, Answer> {
    let (mut files, mut refused, mut err) = (Vec::new(), Vec::new(), String::new());
    for path in scenario_files(&args.paths)? {
        match file(&path, styles) {
            Ok(ran) => files.push(ran),
            Err(answer) => {
                err += &answer.err;
                refused.push(RefusedFile { path: path.display().to_string(), why: answer.err });
            }
        }
    }
    let answer = TestAnswer::new(files);
    let out = match args.format {
        ResultFormat::Human => scenarios::human(&answer),
        ResultFormat::Json => json::written(&answer)?,
        ResultFormat::Junit => scenarios::xml(&answer, &refused),
        ResultFormat::Github => scenarios::github(&answer, &refused),
    };
    let exit = match (refused.is_empty(), answer.failed) {
        (false, _) => Exit::Failed,
        (true, 0) => Exit::Clean,
        (true, _) => Exit::Found,
    };
    Ok(Answer { out, err, exit })
}

/// The scenario files that these paths name.
fn scenario_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = BTreeSet::new();
    for path in paths {
        if path.is_dir() {
            found.extend(input::files_below(path, is_scenario_file)?);
        } else {
            found.insert(path.clone());
        }
    }
    if found.is_empty() {
        let paths: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
        let message = format!("no scenario file found in {}", paths.join(", "));
        return Err(Failure::new(message, "name a file `*.test.yml`, or a folder with such files"));
    }
    Ok(found.into_iter().collect())
}

fn file(path: &Path, styles: Styles) -> Result<ScenarioFile, Answer> {
    let reading = Input::named(path)?.read();
    if matches!(&reading, ReadInput::Text(source) if !is_scenario_file(path) && scenario::is_workflow(source))
    {
        return Err(no_scenarios(path).into());
    }
    let workflow = match &reading {
        ReadInput::Text(source) => workflow_of(path, scenario::workflow(source).as_deref()),
        ReadInput::NotText(..) | ReadInput::Unreadable(..) => workflow_of(path, None),
    };
    let loaded = workflow.map_err(Answer::from).and_then(|it| one::load(&it, styles));
    // Without its workflow, nobody knows which of the two languages a file of scenarios is written in.
    let is_readable = matches!(&reading, ReadInput::Text(source) if syntax::parse(source).0.is_some());
    let loaded = match loaded {
        Err(refused) if is_readable => return Err(refused),
        loaded => loaded,
    };
    if let Ok((_, checked)) = &loaded {
        let arena = PlanArena::default();
        if let Some(plan) = lower_plan(checked, &arena) {
            let (read, scenarios) = read_scenarios(reading, plan_scenario::read, styles)?;
            return Ok(of_plan(&read.source, &scenarios, &plan));
        }
    }
    let (read, scenarios) = read_scenarios(reading, scenario::read, styles)?;
    let (workflow, checked) = loaded?;
    let arena = Arena::default();
    match lower(&checked, &arena) {
        Ok(machine) => Ok(of_machine(&read.source, &scenarios, &machine)),
        Err(findings) => Err(one::refuse(workflow, findings, styles)),
    }
}

/// Results of scenarios on a workflow; none where one of the two cannot be used.
pub(crate) fn results(scenarios: &Source, checked: &Checked) -> Option<ScenarioFile> {
    let plans = PlanArena::default();
    if let Some(plan) = lower_plan(checked, &plans) {
        return Some(of_plan(scenarios, &plan_scenario::read(scenarios).0?, &plan));
    }
    let arena = Arena::default();
    let machine = lower(checked, &arena).ok()?;
    Some(of_machine(scenarios, &scenario::read(scenarios).0?, &machine))
}

fn no_scenarios(workflow: &Path) -> Failure {
    let stem = workflow.file_stem().unwrap_or_default().to_string_lossy();
    let beside = workflow.with_file_name(format!("{stem}{SCENARIOS}"));
    let help = match beside.is_file() {
        true => format!("run its scenarios: `orange-workflow test {}`", beside.display()),
        false => format!("write its scenarios into {}, and name that file", beside.display()),
    };
    Failure::new(
        format!("{}: this is a workflow, and `test` runs files of scenarios", workflow.display()),
        help,
    )
}

fn of_machine(source: &Source, scenarios: &Scenarios, machine: &Machine<'_>) -> ScenarioFile {
    let index = LineIndex::new(&source.text);
    let mut taken = BTreeSet::new();
    let ran = scenarios.all.iter().map(|it| {
        let outcome = scenario::run(machine, it);
        taken.extend(outcome.taken);
        scenario_answer(&it.name, &outcome.failed, &index)
    });
    let ran = ran.collect();
    let all = machine.transitions.len();
    let missed = (0u32..).map(TransitionId).zip(machine.transitions).filter(|(id, _)| !taken.contains(id));
    let missed = missed.map(|(_, it)| {
        let (from, to) = (machine.state(it.from).name, machine.state(it.to).name);
        let guard = it.guard.map(|guard| format!(" when {}", guard.text)).unwrap_or_default();
        format!("{from} → {to}{guard}")
    });
    let coverage = CoverageAnswer { counted: TRANSITIONS, all, seen: taken.len(), missed: missed.collect() };
    ScenarioFile { file: source.path.clone(), scenarios: ran, coverage }
}

fn of_plan(source: &Source, scenarios: &[plan_scenario::PlanScenario], plan: &Plan<'_>) -> ScenarioFile {
    let index = LineIndex::new(&source.text);
    let mut coverage = Coverage::default();
    let ran = scenarios.iter().map(|it| {
        let outcome = plan_scenario::run(plan, it);
        coverage.add(outcome.coverage);
        scenario_answer(&it.name, &outcome.failed, &index)
    });
    let ran = ran.collect();
    let parts = Coverage::parts(plan);
    let missed: Vec<String> = parts.iter().filter(|it| !coverage.has(**it)).map(|it| it.text(plan)).collect();
    let (all, seen) = (parts.len(), parts.len() - missed.len());
    let coverage = CoverageAnswer { counted: "parts", all, seen, missed };
    ScenarioFile { file: source.path.clone(), scenarios: ran, coverage }
}

fn scenario_answer(
    name: &Spanned<String>,
    failed: &[FailedExpectation],
    index: &LineIndex<'_>,
) -> ScenarioAnswer {
    let at = |span: Span| SpanLocation::of(span, index);
    let failures: Vec<ScenarioFailure> = failed
        .iter()
        .map(|it| ScenarioFailure { message: it.message.clone(), location: at(it.span) })
        .collect();
    let (name, location) = (name.value.clone(), at(name.span));
    ScenarioAnswer { name, passed: failures.is_empty(), location, failures }
}

fn read_scenarios<T>(
    reading: ReadInput,
    read: impl Fn(&Source) -> (Option<T>, Vec<Diagnostic>),
    styles: Styles,
) -> Result<(File, T), Answer> {
    let (source, scenarios, diagnostics) = match reading {
        ReadInput::Text(source) => {
            let (scenarios, found) = read(&source);
            (source, scenarios, found)
        }
        ReadInput::NotText(source, found) | ReadInput::Unreadable(source, found) => {
            (source, None, vec![*found])
        }
    };
    let compilation = Compilation { diagnostics, ..Compilation::default() };
    let file = File { source, compilation, docs: None };
    match scenarios {
        Some(scenarios) => Ok((file, scenarios)),
        None => {
            let err = output::findings(&[file], styles.err);
            Err(Answer { out: String::new(), err, exit: Exit::Failed })
        }
    }
}

/// The workflow that a file names, or else the one beside it.
fn workflow_of(path: &Path, named: Option<&str>) -> Result<PathBuf, Failure> {
    if let Some(name) = named {
        return Ok(path.with_file_name("").join(name));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(SCENARIOS).unwrap_or(&name);
    let candidates = ["yml", "yaml", "toml"].map(|it| path.with_file_name(format!("{stem}.{it}")));
    candidates.into_iter().find(|it| fs::metadata(it).is_ok()).ok_or_else(|| {
        Failure::new(
            format!("{}: there is no workflow {stem}.yml beside it", path.display()),
            "name it with `workflow: FILE` at the top of the scenarios",
        )
    })
}
