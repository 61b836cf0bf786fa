//! `test`: runs the scenario files beside workflows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use orange_analysis::plan_scenario;
use orange_analysis::plan_walk::Coverage;
use orange_analysis::scenario::{self, Failed, Scenarios};
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::source::{SCENARIOS, Source, is_scenario_file};
use orange_codegen::{Compilation, Diagnostic, LineIndex, syntax};
use orange_core::plan::Plan;
use orange_core::{Machine, TransitionId};

use crate::Styles;
use crate::answer::{Answer, Exit, Failure};
use crate::cmd::one;
use crate::input::{self, Input, Reading};
use crate::output::{self, printable, put};
use crate::report::File;

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

Exit status: 0 all as expected, 1 something was not, 2 the work could not be done.")]
pub(crate) struct Test {
    /// Scenario files, or folders with such files
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// The result of all files.
#[derive(Default)]
struct Tally {
    out: String,
    /// The errors of files that cannot be run.
    err: String,
    scenarios: usize,
    failed: usize,
}

pub(super) fn run(args: &Test, styles: Styles) -> Result<Answer, Answer> {
    let mut tally = Tally::default();
    for path in files(&args.paths)? {
        match file(&path, styles, &mut tally) {
            Ok(()) => {}
            Err(refused) => tally.err += &refused.err,
        }
    }
    let Tally { mut out, err, scenarios, failed } = tally;
    let passed = scenarios - failed;
    put(&mut out, format_args!("{}: {passed} passed, {failed} failed\n", counted(scenarios, "scenario")));
    let exit = match (err.is_empty(), failed) {
        (false, _) => Exit::Failed,
        (true, 0) => Exit::Clean,
        (true, _) => Exit::Found,
    };
    Ok(Answer { out, err, exit })
}

/// The scenario files that these paths name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
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

fn file(path: &Path, styles: Styles, tally: &mut Tally) -> Result<(), Answer> {
    let reading = Input::named(path)?.read();
    if matches!(&reading, Reading::Text(source) if !is_scenario_file(path) && scenario::is_workflow(source)) {
        return Err(no_scenarios(path).into());
    }
    let workflow = match &reading {
        Reading::Text(source) => workflow_of(path, scenario::workflow(source).as_deref()),
        Reading::NotText(..) | Reading::Unreadable(..) => workflow_of(path, None),
    };
    let loaded = workflow.map(|it| one::load(&it, styles));
    // Without its workflow, nobody knows which of the two languages a file of scenarios is written in.
    let is_readable = matches!(&reading, Reading::Text(source) if syntax::parse(source).0.is_some());
    if is_readable && !matches!(&loaded, Ok(Ok(_))) {
        loaded??;
        return Ok(());
    }
    if let Ok(Ok((_, checked))) = &loaded {
        let arena = PlanArena::default();
        if let Some(plan) = lower_plan(checked, &arena) {
            let (read, scenarios) = scenarios(reading, plan_scenario::read, styles)?;
            of_plan(&read.source, &scenarios, &plan, tally);
            return Ok(());
        }
    }
    let (read, scenarios) = scenarios(reading, scenario::read, styles)?;
    let (workflow, checked) = loaded??;
    let arena = Arena::default();
    match lower(&checked, &arena) {
        Ok(machine) => of_machine(&read.source, &scenarios, &machine, tally),
        Err(findings) => return Err(one::refuse(workflow, findings, styles)),
    }
    Ok(())
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

fn of_machine(source: &Source, scenarios: &Scenarios, machine: &Machine<'_>, tally: &mut Tally) {
    let mut taken = BTreeSet::new();
    for scenario in &scenarios.all {
        let outcome = scenario::run(machine, scenario);
        tally.add(source, &scenario.name.value, &outcome.failed);
        taken.extend(outcome.taken);
    }
    tell_coverage(&source.path, scenarios.all.len(), machine, &taken, &mut tally.out);
}

fn of_plan(source: &Source, scenarios: &[plan_scenario::Scenario], plan: &Plan<'_>, tally: &mut Tally) {
    let mut coverage = Coverage::default();
    for scenario in scenarios {
        let outcome = plan_scenario::run(plan, scenario);
        tally.add(source, &scenario.name.value, &outcome.failed);
        coverage.add(outcome.coverage);
    }
    let parts = Coverage::parts(plan);
    let missed: Vec<_> = parts.iter().filter(|it| !coverage.has(**it)).collect();
    let (used, path) = (parts.len() - missed.len(), printable(&source.path));
    let what = "steps, conditions and loops seen";
    let scenarios = counted(scenarios.len(), "scenario");
    put(&mut tally.out, format_args!("{path}: {scenarios}, {used} of {} {what}\n", parts.len()));
    for part in missed {
        put(&mut tally.out, format_args!("  not seen: {}\n", part.text(plan)));
    }
}

fn scenarios<T>(
    reading: Reading,
    read: impl Fn(&Source) -> (Option<T>, Vec<Diagnostic>),
    styles: Styles,
) -> Result<(File, T), Answer> {
    let (source, scenarios, diagnostics) = match reading {
        Reading::Text(source) => {
            let (scenarios, found) = read(&source);
            (source, scenarios, found)
        }
        Reading::NotText(source, found) | Reading::Unreadable(source, found) => (source, None, vec![*found]),
    };
    let compilation = Compilation { diagnostics, ..Compilation::default() };
    let file = File { source, compilation };
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

impl Tally {
    /// Adds a scenario with what was not as expected in it.
    fn add(&mut self, source: &Source, name: &str, failed: &[Failed]) {
        self.scenarios += 1;
        self.failed += usize::from(!failed.is_empty());
        let index = LineIndex::new(&source.text);
        for failed in failed {
            let place = index.position(failed.span.start);
            let (path, name, message) =
                (printable(&source.path), printable(name), printable(&failed.message));
            put(&mut self.out, format_args!("{path}:{}:{}: {name}: {message}\n", place.line, place.column));
        }
    }
}

fn tell_coverage(
    path: &str,
    scenarios: usize,
    machine: &Machine<'_>,
    taken: &BTreeSet<TransitionId>,
    out: &mut String,
) {
    let (all, taken_number) = (machine.transitions.len(), taken.len());
    let scenarios = counted(scenarios, "scenario");
    put(out, format_args!("{}: {scenarios}, {taken_number} of {all} transitions taken\n", printable(path)));
    let missed = (0u32..).map(TransitionId).zip(machine.transitions).filter(|(id, _)| !taken.contains(id));
    for (_, it) in missed {
        let (from, to) = (machine.state(it.from).name, machine.state(it.to).name);
        let guard = it.guard.map(|guard| format!(" when {}", guard.text)).unwrap_or_default();
        put(out, format_args!("  not taken: {from} → {to}{guard}\n"));
    }
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
