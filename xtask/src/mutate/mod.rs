//! `cargo xtask mutate`: changes each part of our workflows, one at a time, and lists the changes that no check notices.
//!
//! A change is noticed if `check` finds something at level info or worse that it does not find in the original: then
//! `check --deny warnings`, which our workflows must pass, fails. Every other change must be explained in
//! `xtask/mutants.txt`.

mod known;
mod machine;
mod mutant;
mod prompts;
mod same;
mod tree;

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use orange_analysis::lint;
use orange_codegen::{Level, Source};

use self::known::Known;
use self::mutant::{Kind, Mutant};
use crate::Result;
use crate::house::House;

/// Change each part of our workflows, one at a time, and print the changes that no check notices.
///
/// A change is noticed when `orange-workflow check --deny warnings` fails on it. A change that no check notices is printed with the reason
/// that `xtask/mutants.txt` gives; a reason that is missing, or that explains nothing any more, fails.
#[derive(Args)]
#[command(after_help = "\
Example:
  cargo xtask mutate --all    (what notices each change)")]
pub(crate) struct Mutate {
    /// Print every change and what notices it
    #[arg(long)]
    all: bool,
}

/// The required share of noticed changes, in percent.
const TARGET: f64 = 90.0;

/// The file with explanations.
const KNOWN: &str = "xtask/mutants.txt";

/// A change and its verdict.
struct Judged {
    path: String,
    mutant: Mutant,
    fate: Fate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// These checks notice it.
    Caught(Vec<&'static str>),
    /// The change is prose: the checks read nothing in it that the rest of the prompt does not say, too.
    Prose,
    /// Every run is the same, so there is nothing to notice.
    Same,
    /// No check notices it.
    Survives,
}

pub(crate) fn run(house: &House, arguments: &Mutate) -> Result<ExitCode> {
    let judged = judge_all(house)?;
    let known = Known::read(&house.read(KNOWN)?.text)?;
    let survivors: Vec<&Judged> = judged.iter().filter(|it| it.fate == Fate::Survives).collect();
    let shown: Vec<&Judged> = if arguments.all { judged.iter().collect() } else { survivors.clone() };
    for it in shown {
        println!("{}", it.line());
        known.reason(&it.name()).iter().for_each(|reason| println!("    {reason}"));
    }
    print!("\n{}", table(&judged));
    let troubles = known.compare(&survivors.iter().map(|it| it.name()).collect::<Vec<_>>());
    troubles.iter().for_each(|it| println!("{it}; see {KNOWN}"));
    let enough = score(&judged) >= TARGET;
    if !enough {
        println!("less than {TARGET} % are noticed");
    }
    Ok(if enough && troubles.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Judges every change to every workflow that ships, in order.
fn judge_all(house: &House) -> Result<Vec<Judged>> {
    let is_ours = |path: &String| {
        path.strip_prefix("workflows/").is_some_and(|it| it.ends_with(".yml") && !it.ends_with(".test.yml"))
    };
    let mut judged = Vec::new();
    for path in house.paths()?.into_iter().filter(is_ours) {
        let source = Source::new(&path, house.read(&path)?.text);
        judged.extend(judge(&source)?);
    }
    Ok(judged)
}

fn judge(source: &Source) -> Result<Vec<Judged>> {
    let before = Before { findings: findings(source), behaviour: same::behaviour(source) };
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
        .map(|(mutant, fate)| Ok(Judged { path: path.clone(), mutant, fate: fate? }))
        .collect()
}

/// A workflow before its changes.
struct Before {
    findings: Vec<Finding>,
    behaviour: Option<String>,
}

fn fates(source: &Source, before: &Before, mutants: &[Mutant]) -> Vec<Result<Fate>> {
    mutants.iter().map(|it| fate(source, before, it)).collect()
}

fn fate(source: &Source, before: &Before, mutant: &Mutant) -> Result<Fate> {
    let mut left = before.findings.clone();
    let mut codes = Vec::new();
    let changed = Source::new(&source.path, &mutant.text);
    for finding in findings(&changed) {
        match left.iter().position(|it| *it == finding) {
            Some(at) => drop(left.swap_remove(at)),
            None => codes.push(finding.code),
        }
    }
    codes.dedup();
    if codes.contains(&"S01") {
        return Err(format!("{}: {}: the change breaks the syntax", source.path, mutant.name()));
    }
    Ok(if !codes.is_empty() {
        Fate::Caught(codes)
    } else if mutant.is_prose {
        Fate::Prose
    } else if same::behaviour(&changed) == before.behaviour {
        Fate::Same
    } else {
        Fate::Survives
    })
}

/// A finding without its position, which changes with the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    code: &'static str,
    message: String,
}

fn findings(source: &Source) -> Vec<Finding> {
    let found = lint(source).diagnostics.into_iter().filter(|it| it.level <= Level::Info);
    found.map(|it| Finding { code: it.code(), message: it.message }).collect()
}

impl Judged {
    /// The name of the change in `mutants.txt`.
    fn name(&self) -> String {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        format!("{file}: {}", self.mutant.name())
    }

    fn line(&self) -> String {
        let fate = match &self.fate {
            Fate::Caught(codes) => codes.join(" "),
            Fate::Prose => "(prose)".to_owned(),
            Fate::Same => "(same)".to_owned(),
            Fate::Survives => "nobody notices".to_owned(),
        };
        format!("{}:{}: {}: {fate}", self.path, self.mutant.line, self.mutant.name())
    }
}

/// The share of noticed changes, in percent, among those that can be noticed.
fn score(judged: &[Judged]) -> f64 {
    let caught = judged.iter().filter(|it| matches!(it.fate, Fate::Caught(_))).count();
    let all = caught + judged.iter().filter(|it| it.fate == Fate::Survives).count();
    if all == 0 { 0.0 } else { 100.0 * caught as f64 / all as f64 }
}

/// The number of noticed changes of each kind, by workflow.
fn table(judged: &[Judged]) -> String {
    let mut rows: BTreeMap<(&str, Kind), [usize; 4]> = BTreeMap::new();
    for it in judged {
        let row = rows.entry((&it.path, it.mutant.kind)).or_default();
        match it.fate {
            Fate::Caught(_) => row[0] += 1,
            Fate::Survives => row[1] += 1,
            Fate::Same => row[2] += 1,
            Fate::Prose => row[3] += 1,
        }
    }
    let mut table = format!(
        "{:26} {:12} {:>6} {:>4} {:>6} {:>6}\n",
        "workflow", "changed", "caught", "of", "same", "prose"
    );
    for ((path, kind), [caught, survive, same, prose]) in rows {
        let of = caught + survive;
        table += &format!("{path:26} {:12} {caught:6} {of:4} {same:6} {prose:6}\n", kind.as_str());
    }
    table + &format!("{:.1} % are noticed\n", score(judged))
}
