//! `cargo xtask bench`: measures everything that has a budget.

mod compile;
mod dashboard;
mod editor;
mod fleet;
mod missions;
mod peers;
mod postgres;
mod processes;
mod resolve;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::Result;
use crate::binary::kibibytes;
use crate::size::{VARIANTS, size_of};
use crate::workspace::{OwnRepository, answer};
use crate::{build_checker, build_workflow};

/// Measure everything that has a budget.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask bench
  cargo xtask bench processes sizes --quick")]
pub(crate) struct Bench {
    /// The tables to make; all of them by default
    #[arg(value_enum)]
    tables: Vec<BenchTable>,
    /// Fewer runs and fewer tasks: figures that are only roughly right, soon
    #[arg(long)]
    quick: bool,
}

/// A table of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BenchTable {
    Resolve,
    Processes,
    Missions,
    Dashboard,
    Editor,
    Gateway,
    Builds,
    Linters,
    Instructions,
    Sizes,
}

/// A figure with its budget.
struct FigureRow {
    what: String,
    figures: Vec<String>,
    budget: String,
    /// True if the budget is kept; `None` without a budget.
    kept: Option<bool>,
}

/// The programs to measure.
struct BenchPrograms {
    /// The released binary.
    orange: PathBuf,
    /// The released binary without the compiler of custom workflows.
    small: PathBuf,
    /// The released binary with a workflow whose transitions have no hooks.
    hookless: PathBuf,
    /// The authors' command, as `cargo xtask build-checker` builds it.
    checker: PathBuf,
    /// The program that measures.
    bench: PathBuf,
}

pub(crate) fn run(workspace: &OwnRepository, arguments: &Bench) -> Result<ExitCode> {
    let scratch =
        tempfile::tempdir().map_err(|error| format!("there is no room for scratch files: {error}"))?;
    let built = BenchPrograms {
        hookless: build_hookless(workspace, scratch.path())?,
        small: build_small(workspace, scratch.path())?,
        orange: build_workflow::build(workspace, &workspace.root.join("workflows"), true)?,
        checker: build_checker::build(workspace)?,
        bench: build_bench(workspace)?,
    };
    let tables = if arguments.tables.is_empty() { BenchTable::value_variants() } else { &arguments.tables };
    for table in tables {
        measure(*table, workspace, &built, scratch.path(), arguments.quick)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(
    measured: BenchTable,
    workspace: &OwnRepository,
    built: &BenchPrograms,
    scratch: &Path,
    quick: bool,
) -> Result<()> {
    let heads: [&str; 3] = ["", "wall ms", "cpu ms"];
    let (title, heads, rows): (_, &[&str], _) = match measured {
        BenchTable::Resolve => (
            "resolve, on the default workflow; the harness is in every figure",
            &["", "ns", "instructions"],
            resolve::rows(&built.bench),
        ),
        BenchTable::Processes => {
            ("whole processes, medians", &heads, processes::rows(workspace, built, scratch, quick))
        }
        BenchTable::Missions => (
            "missions with real tmux, real git and an agent that only reports, medians",
            &["", "first ms", "last ms"],
            missions::rows(&built.orange, quick),
        ),
        BenchTable::Dashboard => {
            build_workflow::build_dashboard(workspace)?;
            ("the dashboard in a real tmux, medians", &["", "figure"], dashboard::rows(&built.orange, quick))
        }
        BenchTable::Editor => (
            "the language server over pipes, on the default workflow",
            &["", "figure"],
            editor::rows(workspace, &built.checker, quick),
        ),
        BenchTable::Gateway => {
            let program = build_workflow::build_fleet(workspace, &workspace.root.join("workflows"))?;
            (
                "one gateway over HTTP, and its store; 32 clients and 16 simulated crabs on the same machine",
                &["", "sqlite", "postgres"],
                fleet::rows(workspace, &program, quick),
            )
        }
        BenchTable::Builds => ("builds, medians", &heads, compile::rows(workspace, built, scratch, quick)),
        BenchTable::Linters => (
            "linters, whole processes, medians",
            &heads,
            match peers::install(workspace) {
                Ok(peers) => processes::linters(workspace, built, &peers, scratch, quick),
                Err(why) => {
                    return not_measured(&format!("the other linters cannot be installed from PyPI: {why}"));
                }
            },
        ),
        BenchTable::Instructions => (
            "instructions of a check, in millions, and in thousands for each state",
            &["", "millions", "thousands"],
            match peers::instructions(&built.checker, workspace, scratch) {
                Ok(rows) => Ok(rows),
                Err(why) => return not_measured(&why),
            },
        ),
        BenchTable::Sizes => ("binaries", &["", "KiB"], sizes(built)),
    };
    println!("\n{title}\n");
    print!("{}", table(heads, &rows?));
    Ok(())
}

fn not_measured(why: &str) -> Result<()> {
    println!("\nnot measured: {why}");
    Ok(())
}

fn build_hookless(workspace: &OwnRepository, scratch: &Path) -> Result<PathBuf> {
    let built = build_workflow::build(workspace, &workspace.root.join("xtask/bench/workflows"), true)?;
    set_aside(&built, scratch.join("orange-hookless"))
}

fn build_small(workspace: &OwnRepository, scratch: &Path) -> Result<PathBuf> {
    let built = build_workflow::build(workspace, &workspace.root.join("workflows"), false)?;
    set_aside(&built, scratch.join("orange-small"))
}

/// Copies a binary before the next build replaces it.
fn set_aside(built: &Path, place: PathBuf) -> Result<PathBuf> {
    std::fs::copy(built, &place).map_err(|error| format!("{} cannot be copied: {error}", built.display()))?;
    Ok(place)
}

fn build_bench(workspace: &OwnRepository) -> Result<PathBuf> {
    let manifest = "xtask/bench/Cargo.toml";
    let target = workspace.target_folder()?.join("bench");
    let mut build = workspace.cargo(["build", "--release", "--manifest-path", manifest, "--target-dir"]);
    build.arg(&target);
    answer(build)?;
    Ok(target.join("release/orange-bench"))
}

fn sizes(built: &BenchPrograms) -> Result<Vec<FigureRow>> {
    let row = |what: &str, binary: &Path, budget: Option<u64>| -> Result<FigureRow> {
        let size = size_of(binary)?;
        Ok(FigureRow {
            what: what.to_string(),
            figures: vec![size.div_ceil(1024).to_string()],
            budget: budget.map(|it| format!("at most {}", kibibytes(it))).unwrap_or_default(),
            kept: budget.map(|it| size <= it),
        })
    };
    let [small, ships] = VARIANTS;
    Ok(vec![
        row(small.what, &built.small, Some(small.budget))?,
        row(ships.what, &built.orange, Some(ships.budget))?,
        row("orange-workflow", &built.checker, None)?,
    ])
}

/// The lines of another program's answer, split at tabs.
fn fields(answer: &str) -> Vec<Vec<&str>> {
    answer.lines().map(|line| line.split('\t').collect()).collect()
}

fn table(heads: &[&str], rows: &[FigureRow]) -> String {
    let names = rows.iter().map(|row| row.what.chars().count()).max().unwrap_or_default();
    let head: String = heads[1..].iter().map(|head| format!("{head:>14}")).collect();
    let line = |row: &FigureRow| {
        let figures: String = row.figures.iter().map(|figure| format!("{figure:>14}")).collect();
        let word = match row.kept {
            Some(true) => "kept: ",
            Some(false) => "MISSED: ",
            None => "",
        };
        format!("{:names$}{figures}   {word}{}", row.what, row.budget).trim_end().to_string() + "\n"
    };
    format!("{:names$}{head}   budget\n{}", heads[0], rows.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_budget_shows() {
        let row = |what: &str, figure: &str, kept: Option<bool>| FigureRow {
            what: what.to_string(),
            figures: vec![figure.to_string()],
            budget: if kept.is_none() { String::new() } else { "at most 2".to_string() },
            kept,
        };
        let rows = [row("floor", "1", None), row("a", "2", Some(true)), row("b", "3", Some(false))];
        let expect = "                 ms   budget\nfloor             1\na                 2   kept: at most 2\nb                 3   MISSED: at most 2\n";
        assert_eq!(table(&["", "ms"], &rows), expect);
    }
}
