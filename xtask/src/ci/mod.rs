//! `cargo xtask ci`: everything that must hold before a change is accepted, and a table of the results.
//!
//! Everything is built once. What runs afterwards runs beside each other: tests that wait for programs leave the processors to
//! what computes.

mod apple;
mod disk;
mod evidence;
mod orphans;
mod processors;
mod programs;
mod step;

use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::Args;

use orange_system::files::size;

use self::step::{CiResult, CiStep, StepWork, run_beside, run_in_order, summary};
use crate::Result;
use crate::workspace::{MemberPackage, OwnRepository, members};

/// Everything that must hold before a change is accepted; continuous integration runs this and nothing else.
///
/// Fails if a step fails, and goes on after it. Says what each step takes, and how many tests are skipped and why.
#[derive(Args)]
#[command(after_help = "Examples:\n  cargo xtask ci\n  cargo xtask ci --quick")]
pub(crate) struct Ci {
    /// For daily work: format, clippy, tidy, unit tests, golden files, one life of each kind
    #[arg(long)]
    quick: bool,
}

/// Features of the fleet that builds for people leave out.
const FLEET_FEATURES: &str = "orange-fleet/fail-points";

/// The stores of `cargo xtask torture --fleet`. Each is tortured by itself, since that mostly waits.
const STORES: [&str; 3] = ["postgres-pair", "postgres", "sqlite"];

pub(crate) fn run(workspace: &OwnRepository, arguments: &Ci) -> Result<ExitCode> {
    if let Some(code) = orphans::collect()? {
        return Ok(code);
    }
    let free = disk::free(workspace)?;
    disk::refuse_if_full(workspace, free)?;
    let started = Instant::now();
    let mut outcomes = run_in_order(workspace, before(workspace, arguments.quick)?);
    // Without programs there is nothing that could run.
    if outcomes.iter().all(CiResult::is_ok) {
        let lanes = if arguments.quick { quick(workspace)? } else { lanes(workspace)? };
        outcomes.extend(run_beside(workspace, lanes, started));
    } else {
        println!("\n── nothing else has run: mend this first");
    }
    let left = disk::free(workspace).map_or_else(|error| error, size);
    println!("\n{} were free on the disk, now: {left}", size(free));
    print!("{}", summary(&outcomes, started.elapsed()));
    Ok(if outcomes.iter().all(CiResult::is_ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// First steps: those that need no program, and the build of all programs.
fn before(workspace: &OwnRepository, quick: bool) -> Result<Vec<CiStep>> {
    let build = ["build", "--workspace", "--all-targets", "--features", FLEET_FEATURES];
    let mut steps = vec![
        CiStep::run("fmt", workspace.cargo(["fmt", "--all", "--check"])),
        CiStep::new("tidy", StepWork::Tidy),
        CiStep::new("golden files", StepWork::Golden),
    ];
    if !quick {
        steps.push(CiStep::new("build for the torture", StepWork::Armed));
    }
    steps.push(CiStep::run("build", workspace.cargo(build)));
    Ok(steps)
}

/// Steps after the build: in the first lane the work of cargo in the one folder of builds, in the others everything else.
fn lanes(workspace: &OwnRepository) -> Result<Lanes> {
    let folder = workspace.programs()?;
    let author = |name, arguments: &[&str]| {
        CiStep::run(name, workspace.program(folder.join("orange-workflow"), arguments))
    };
    let xtask = |name: &str, arguments: &[&str]| {
        CiStep::run(name, built(workspace.program(folder.join("xtask"), arguments)))
    };
    let mut beside = programs::all(workspace, FLEET_FEATURES)?;
    beside.extend(programs::without_parts(workspace, FLEET_FEATURES)?);
    beside.extend(STORES.map(|store| {
        let words = ["torture", "--fleet", "--seed", "11", "--store", store];
        xtask(&format!("tortured fleet, {store}"), &words)
    }));
    beside.extend([
        xtask("torture", &["torture", "--seed", "11"]),
        xtask("attack", &["torture", "--attack", "10", "--seed", "11"]),
        xtask("changed workflows", &["mutate"]),
        xtask("extension for VS Code", &["vsix", "--check"]),
        author("our workflows", &["check", "workflows", "--deny", "warnings"]),
        author("their scenarios", &["test", "workflows"]),
        author("their layout", &["fmt", "workflows", "--check"]),
    ]);
    let mut docs = workspace.cargo(["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    let cargo = vec![
        clippy(workspace),
        apple::step(workspace)?,
        CiStep::run("docs", docs),
        CiStep::run("packages", packages(workspace)?),
        // What people build, without the features of the tests.
        CiStep::run("fleet for people", workspace.cargo(["check", "--package", "orange-fleet", "--bins"])),
    ];
    Ok(Lanes { cargo, beside })
}

/// The steps after the build of `--quick`.
fn quick(workspace: &OwnRepository) -> Result<Lanes> {
    Ok(Lanes { cargo: vec![clippy(workspace)], beside: programs::quick(workspace, FLEET_FEATURES)? })
}

/// Makes every package that is published, as its registry would get it. What they include is checked by `cargo xtask tidy`.
fn packages(workspace: &OwnRepository) -> Result<Command> {
    let published = members(workspace)?.into_iter().filter(MemberPackage::is_published);
    let mut package = workspace.cargo(["package", "--no-verify", "--allow-dirty", "--locked", "--offline"]);
    package.args(published.flat_map(|package| ["--package".to_owned(), package.name]));
    Ok(package)
}

fn clippy(workspace: &OwnRepository) -> CiStep {
    let words =
        ["clippy", "--workspace", "--all-targets", "--features", FLEET_FEATURES, "--", "-D", "warnings"];
    CiStep::run("clippy", workspace.cargo(words))
}

/// The steps after the build.
struct Lanes {
    /// One after the other.
    cargo: Vec<CiStep>,
    /// Beside each other and beside the others; the longest come first.
    beside: Vec<CiStep>,
}

/// A command that finds all programs built.
fn built(mut command: Command) -> Command {
    command.env(crate::workspace::ARE_BUILT, "1");
    command
}
