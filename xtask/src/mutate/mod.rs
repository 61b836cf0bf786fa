//! `cargo xtask mutate`: changes each part of our workflows, one at a time, and lists the changes that nothing notices.
//!
//! A change is noticed if `check` finds something at level info or worse that it does not find in the original: then
//! `check --deny warnings`, which our workflows must pass, fails. A change is noticed, too, if a scenario of the workflow fails,
//! or if the scenarios of a plan no longer use every step, condition and loop. Every other change must be explained in
//! `xtask/mutants.txt`. A change is one fault, so that `check` should find one thing in it.

mod known;
mod machine;
mod mutant;
mod plan;
mod prompts;
mod prover;
mod same;
mod scenarios;
mod tree;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use orange_analysis::lint;
use orange_codegen::recognise::{self, Likeness};
use orange_codegen::source::{Format, is_scenario_file};
use orange_codegen::{Level, PromptFiles, Source};

use self::known::KnownMutants;
use self::mutant::{Mutant, MutantKind};
use self::scenarios::WorkflowScenarios;
use crate::Result;
use crate::workspace::OwnRepository;

/// Change each part of our workflows, one at a time, and print the changes that nothing notices.
///
/// A change is noticed when `orange-workflow check --deny warnings` fails on it, when a scenario of the workflow fails, or when the scenarios of a
/// plan leave a step, a condition or a loop out. A change that nothing notices is printed with the reason that
/// `xtask/mutants.txt` gives; a reason that is missing, or that explains nothing any more, fails. So do fewer noticed changes than 95 %, and
/// fewer than nine in ten among those that `check` finds with a single finding.
#[derive(Args)]
#[command(after_help = "\
Example:
  cargo xtask mutate --all      (what notices each change)
  cargo xtask mutate --prover   (what notices a prover that believes too much)")]
pub(crate) struct Mutate {
    /// Print every change and what notices it
    #[arg(long)]
    all: bool,

    /// Weaken the prover instead, in one place at a time, and print which test of its proofs notices
    #[arg(long, conflicts_with = "all")]
    prover: bool,
}

/// The required share of noticed changes among those of machines, and among those of plans, in percent.
const TARGET: f64 = 95.0;

/// The required share of changes with a single finding among those that `check` finds, in percent.
const SINGLE: f64 = 90.0;

/// The file with explanations.
const KNOWN: &str = "xtask/mutants.txt";

/// A change and its verdict.
struct JudgedMutant {
    group: recognise::WorkflowKind,
    path: String,
    mutant: Mutant,
    fate: MutantFate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum MutantFate {
    /// These checks notice it, each once for each of its findings.
    Checks(Vec<&'static str>),
    /// No check notices it, and these scenarios do.
    Scenarios(Vec<String>),
    /// The change is prose: the checks read nothing in it that the rest of the prompt does not say, too.
    Prose,
    /// Every run is the same, so there is nothing to notice.
    Same,
    /// Nothing notices it.
    Survives,
}

pub(crate) fn run(workspace: &OwnRepository, arguments: &Mutate) -> Result<ExitCode> {
    if arguments.prover {
        return prover::run(workspace);
    }
    let judged = judge_all(workspace)?;
    let known = KnownMutants::read(&workspace.read(KNOWN)?.text)?;
    let survivors: Vec<&JudgedMutant> = judged.iter().filter(|it| it.fate == MutantFate::Survives).collect();
    let shown: Vec<&JudgedMutant> = if arguments.all { judged.iter().collect() } else { survivors.clone() };
    for it in shown {
        println!("{}", it.line());
        known.reason(&it.name()).iter().for_each(|reason| println!("    {reason}"));
    }
    print!("\n{}", table(&judged));
    let troubles = known.compare(&survivors.iter().map(|it| it.name()).collect::<Vec<_>>());
    troubles.iter().for_each(|it| println!("{it}; see {KNOWN}"));
    let enough = scores(&judged).into_iter().all(|(_, score)| score >= TARGET);
    if !enough {
        println!("less than {TARGET} % are noticed");
    }
    let single = single(&judged) >= SINGLE;
    if !single {
        println!("less than {SINGLE} % of the changes that `check` finds have a single finding");
    }
    Ok(if enough && single && troubles.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Judges every change to every workflow that ships, in order.
fn judge_all(workspace: &OwnRepository) -> Result<Vec<JudgedMutant>> {
    let mut judged = Vec::new();
    for source in sources(workspace)? {
        let Some(group) = Likeness::of(&source).kind() else { continue };
        let scenarios = WorkflowScenarios::beside(&source, group, workspace)?;
        judged.extend(judge(&source, group, scenarios)?);
    }
    Ok(judged)
}

/// The files that may be workflows, with the prompts that they name.
fn sources(workspace: &OwnRepository) -> Result<Vec<Source>> {
    let paths = workspace.paths()?;
    let names: Vec<&str> = paths.iter().filter_map(|it| it.strip_prefix("workflows/")).collect();
    let prompts = names.iter().filter(|it| it.ends_with(".md"));
    let text = |name: &str| workspace.read(&format!("workflows/{name}")).map(|it| it.text);
    let prompts = prompts.map(|it| Ok(((*it).to_owned(), text(it)?))).collect::<Result<_>>()?;
    let prompts = PromptFiles::Given(prompts);
    let is_ours = |it: &&&str| Format::of_path(it).is_some() && !is_scenario_file(Path::new(it));
    let source =
        |name: &&str| Ok(Source::new(format!("workflows/{name}"), text(name)?).with_files(prompts.clone()));
    names.iter().filter(is_ours).map(source).collect()
}

fn judge(
    source: &Source,
    group: recognise::WorkflowKind,
    scenarios: WorkflowScenarios,
) -> Result<Vec<JudgedMutant>> {
    let before =
        UnchangedWorkflow { findings: findings(source), behaviour: same::behaviour(source), scenarios };
    if let Some(failure) = before.scenarios.failures(source).first() {
        return Err(format!("{}: before any change: {failure}", source.path));
    }
    let mutants = mutant::all(source)?;
    // The checks are slow in a debug build, so two threads share them.
    let half = mutants.len().div_ceil(2);
    let (first, second) = mutants.split_at(half);
    let fates = std::thread::scope(|scope| {
        let second = scope.spawn(|| fates(source, &before, second));
        let first = fates(source, &before, first);
        second.join().map(|second| [first, second].concat())
    });
    let fates = fates.map_err(|_| format!("a check panicked on a change of {}", source.path))?;
    let path = &source.path;
    mutants
        .into_iter()
        .zip(fates)
        .map(|(mutant, fate)| Ok(JudgedMutant { group, path: path.clone(), mutant, fate: fate? }))
        .collect()
}

/// A workflow before its changes.
struct UnchangedWorkflow {
    findings: Vec<UnplacedFinding>,
    behaviour: Option<String>,
    scenarios: WorkflowScenarios,
}

fn fates(source: &Source, before: &UnchangedWorkflow, mutants: &[Mutant]) -> Vec<Result<MutantFate>> {
    mutants.iter().map(|it| fate(source, before, it)).collect()
}

fn fate(source: &Source, before: &UnchangedWorkflow, mutant: &Mutant) -> Result<MutantFate> {
    let mut left = before.findings.clone();
    let mut codes = Vec::new();
    let changed = mutant.applied(source);
    for finding in findings(&changed) {
        match left.iter().position(|it| *it == finding) {
            Some(at) => drop(left.swap_remove(at)),
            None => codes.push(finding.code),
        }
    }
    if codes.contains(&"S01") {
        return Err(format!("{}: {}: the change breaks the syntax", source.path, mutant.name()));
    }
    if !codes.is_empty() {
        return Ok(MutantFate::Checks(codes));
    }
    let failures = before.scenarios.failures(&changed);
    Ok(if !failures.is_empty() {
        MutantFate::Scenarios(failures)
    } else if mutant.is_prose {
        MutantFate::Prose
    } else if same::behaviour(&changed) == before.behaviour {
        MutantFate::Same
    } else {
        MutantFate::Survives
    })
}

/// A finding without its position, which changes with the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnplacedFinding {
    code: &'static str,
    message: String,
}

fn findings(source: &Source) -> Vec<UnplacedFinding> {
    let found = lint(source).diagnostics.into_iter().filter(|it| it.level <= Level::Info);
    found.map(|it| UnplacedFinding { code: it.code(), message: it.message }).collect()
}

impl JudgedMutant {
    /// The name of the change in `mutants.txt`.
    fn name(&self) -> String {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        format!("{file}: {}", self.mutant.name())
    }

    fn line(&self) -> String {
        let fate = match &self.fate {
            MutantFate::Checks(codes) => codes.join(" "),
            MutantFate::Scenarios(failures) => failures.join(", "),
            MutantFate::Prose => "(prose)".to_owned(),
            MutantFate::Same => "(same)".to_owned(),
            MutantFate::Survives => "nobody notices".to_owned(),
        };
        format!("{}:{}: {}: {fate}", self.path, self.mutant.line, self.mutant.name())
    }
}

/// The share of noticed changes of each group, in percent, among those that can be noticed.
fn scores(judged: &[JudgedMutant]) -> [(&'static str, f64); 2] {
    [("machines", recognise::WorkflowKind::Machine), ("plans", recognise::WorkflowKind::Steps)].map(
        |(name, group)| {
            let of = |fates: fn(&MutantFate) -> bool| {
                judged.iter().filter(|it| it.group == group && fates(&it.fate)).count()
            };
            let noticed = of(|it| matches!(it, MutantFate::Checks(_) | MutantFate::Scenarios(_)));
            let all = noticed + of(|it| *it == MutantFate::Survives);
            (name, if all == 0 { 0.0 } else { 100.0 * noticed as f64 / all as f64 })
        },
    )
}

/// The share of changes with a single finding among those that `check` finds, in percent.
fn single(judged: &[JudgedMutant]) -> f64 {
    let findings = judged.iter().filter_map(|it| match &it.fate {
        MutantFate::Checks(codes) => Some(codes.len()),
        MutantFate::Scenarios(_) | MutantFate::Prose | MutantFate::Same | MutantFate::Survives => None,
    });
    let (single, several): (Vec<usize>, Vec<usize>) = findings.partition(|it| *it == 1);
    100.0 * single.len() as f64 / (single.len() + several.len()).max(1) as f64
}

/// The number of noticed changes of each kind, by workflow.
fn table(judged: &[JudgedMutant]) -> String {
    let mut rows: BTreeMap<(&str, MutantKind), [usize; 5]> = BTreeMap::new();
    for it in judged {
        let row = rows.entry((&it.path, it.mutant.kind)).or_default();
        match it.fate {
            MutantFate::Checks(_) => row[0] += 1,
            MutantFate::Scenarios(_) => row[1] += 1,
            MutantFate::Survives => row[2] += 1,
            MutantFate::Same => row[3] += 1,
            MutantFate::Prose => row[4] += 1,
        }
    }
    let mut table = format!(
        "{:26} {:12} {:>6} {:>9} {:>4} {:>6} {:>6}\n",
        "workflow", "changed", "checks", "scenarios", "of", "same", "prose"
    );
    for ((path, kind), [checks, scenarios, survive, same, prose]) in rows {
        let (kind, of) = (kind.as_str(), checks + scenarios + survive);
        table += &format!("{path:26} {kind:12} {checks:6} {scenarios:9} {of:4} {same:6} {prose:6}\n");
    }
    for (group, score) in scores(judged) {
        table += &format!("{group}: {score:.1} % are noticed\n");
    }
    table += &format!("{:.1} % of the changes that `check` finds have a single finding\n", single(judged));
    table
}
