//! `cargo xtask ci`: runs every step, even after a failure, and prints a table of the results.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::house::{House, typed};
use crate::{Result, codegen, tidy};

/// What builds for people leave out of the fleet.
const FLEET_FEATURES: &str = "orange-fleet/fail-points,orange-fleet/restate";

/// A step.
struct CiStep {
    name: &'static str,
    work: Work,
}

enum Work {
    Run(Command),
    Tidy,
    /// Stale files are rewritten, and the step still fails, so that somebody reads the diff.
    Golden,
}

/// The result of a step.
struct CiResult {
    name: &'static str,
    took: Duration,
    /// Why it failed.
    failure: Option<String>,
}

pub(crate) fn run(house: &House) -> Result<ExitCode> {
    let outcomes: Vec<_> = steps(house).into_iter().map(|step| step.run(house)).collect();
    print!("\n{}", table(&outcomes));
    let failed = outcomes.iter().any(|outcome| outcome.failure.is_some());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn steps(house: &House) -> Vec<CiStep> {
    let cargo = |name, arguments: &[&str]| CiStep { name, work: Work::Run(house.cargo(arguments)) };
    let author = |name, arguments: &[&str]| {
        cargo(name, &[&["run", "--quiet", "-p", "orange-workflow", "--"], arguments].concat())
    };
    let mut doc = house.cargo(["doc", "--workspace", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    vec![
        cargo("fmt", &["fmt", "--all", "--check"]),
        cargo(
            "clippy",
            &["clippy", "--workspace", "--all-targets", "--features", FLEET_FEATURES, "--", "-D", "warnings"],
        ),
        CiStep { name: "tidy", work: Work::Tidy },
        cargo("tests", &["test", "--workspace", "--no-fail-fast"]),
        cargo(
            "killed fleet",
            &["test", "-p", "orange-fleet", "--features", FLEET_FEATURES, "--test", "conformance"],
        ),
        author("our workflows", &["check", "workflows", "--deny", "warnings"]),
        author("their scenarios", &["test", "workflows"]),
        author("their layout", &["fmt", "workflows", "--check"]),
        cargo("changed workflows", &["run", "--quiet", "-p", "xtask", "--", "mutate"]),
        cargo("torture", &["run", "--quiet", "-p", "xtask", "--", "torture", "--seed", "11"]),
        cargo(
            "attack",
            &["run", "--quiet", "-p", "xtask", "--", "torture", "--attack", "10", "--seed", "11"],
        ),
        cargo(
            "tortured fleet",
            &["run", "--quiet", "-p", "xtask", "--", "torture", "--fleet", "--seed", "11"],
        ),
        CiStep { name: "golden files", work: Work::Golden },
        CiStep { name: "docs", work: Work::Run(doc) },
    ]
}

impl CiStep {
    fn run(self, house: &House) -> CiResult {
        let CiStep { name, mut work } = self;
        println!("\n── {name}: {}", work.describe());
        let started = Instant::now();
        let failure = work.run(house).err();
        if let Some(failure) = &failure {
            println!("── {name}: {failure}");
        }
        CiResult { name, took: started.elapsed(), failure }
    }
}

impl Work {
    fn describe(&self) -> String {
        match self {
            Work::Run(command) => typed(command),
            Work::Tidy => "cargo xtask tidy".to_string(),
            Work::Golden => "cargo xtask codegen".to_string(),
        }
    }

    fn run(&mut self, house: &House) -> Result<()> {
        match self {
            Work::Run(command) => {
                let status = command.status().map_err(|error| format!("cannot be run: {error}"))?;
                if status.success() { Ok(()) } else { Err(format!("failed, {status}")) }
            }
            Work::Tidy => match tidy::report(house)? {
                0 => Ok(()),
                findings => Err(format!("{findings} to mend")),
            },
            Work::Golden => match codegen::rewrite(house)?.len() {
                0 => Ok(()),
                stale => Err(format!("{stale} were stale and are mended: read the diff and commit them")),
            },
        }
    }
}

fn table(outcomes: &[CiResult]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or_default();
    let row = |CiResult { name, took, failure }: &CiResult| {
        let word = failure.as_deref().unwrap_or("ok").lines().next().unwrap_or_default();
        format!("{name:width$}  {:8.1} s  {word}\n", took.as_secs_f64())
    };
    outcomes.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_failed_and_how_long_it_took() {
        let ok = CiResult { name: "fmt", took: Duration::from_millis(1240), failure: None };
        let failed = CiResult {
            name: "clippy",
            took: Duration::from_secs(75),
            failure: Some("failed, exit status: 1\nmore".to_string()),
        };
        assert_eq!(
            table(&[ok, failed]),
            "fmt          1.2 s  ok\nclippy      75.0 s  failed, exit status: 1\n"
        );
    }
}
