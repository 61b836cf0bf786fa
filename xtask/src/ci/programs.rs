//! The test programs of the workspace: cargo builds them, and each runs by itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::built;
use super::step::CiStep;
use crate::Result;
use crate::workspace::{OwnRepository, answer};

/// The programs that take the longest, in this order; all others come after them.
const LONGEST: [&str; 7] = ["agents", "e2e", "crab", "console", "recipes", "orange_engine", "scale"];

/// The program whose tests mostly wait for others, and the number of them that run at once on each processor.
const WAITING: (&str, usize) = ("e2e", 2);

/// Tests that `--quick` runs of programs with whole lives: a life of a task, of a mission, on a crab, with a real agent, in the
/// dashboard, in the console.
const LIVES: [(&str, &[&str]); 4] = [
    (
        "e2e",
        &[
            "default::a_task_lives_from_creation_to_the_merge",
            "missions::a_review_that_fails_is_mended_and_repeated",
            "dashboard::a_permission_is_allowed_with_one_key",
            "mcp::the_tools_are_the_commands",
        ],
    ),
    ("crab", &["up::up_runs_a_mission_and_starts_again_what_ends"]),
    ("agents", &["minimal [claude]"]),
    ("serve", &[]),
];

/// The tests that compare with files of the repository.
const GOLDEN: [&str; 4] = ["golden", "diagnostics", "pages", "typed"];

/// Tests that run once more with the code for systems that lack what Linux has: the name of the program, whether its tests stand
/// beside the code, and the beginnings of the tests' names.
const WITHOUT: [(&str, bool, &[&str]); 3] = [
    ("orange_system", true, &[]),
    ("orange_engine", true, &["drive::agent::", "hooks::agent_processes::", "drive::git::tests::writers::"]),
    ("e2e", false, &["default::a_task_lives_from_creation_to_the_merge"]),
];

/// Parts of the system that `orange` does without there, as `orange_system::fault` has it.
const PARTS: &str = "proc,environments,subreaper,openat2";

/// Message of cargo about a thing that it has built.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    executable: Option<PathBuf>,
    target: Option<CargoTarget>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct CargoTarget {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// A program with tests.
#[derive(Debug, PartialEq, Eq)]
struct TestProgram {
    package: PathBuf,
    name: String,
    /// True if its tests stand beside the code: those of a library or of a program.
    is_unit: bool,
    path: PathBuf,
}

/// A step for each program with tests, the longest first.
pub(super) fn all(workspace: &OwnRepository, features: &str) -> Result<Vec<CiStep>> {
    let mut programs = found(workspace, features)?;
    let place = |name: &str| LONGEST.iter().position(|long| *long == name).unwrap_or(LONGEST.len());
    programs.sort_by_key(|program| place(&program.name));
    programs.iter().map(|program| program.step(workspace, &[])).collect()
}

/// Unit tests, golden files, and one life of each kind.
pub(super) fn quick(workspace: &OwnRepository, features: &str) -> Result<Vec<CiStep>> {
    let programs = found(workspace, features)?;
    let named = |name: &str| programs.iter().find(|program| program.name == name && !program.is_unit);
    let mut steps = Vec::new();
    for (name, lives) in LIVES {
        let program = named(name).ok_or_else(|| format!("there are no tests called {name}"))?;
        steps.push(program.step(workspace, lives)?);
    }
    let rest = programs.iter().filter(|it| it.is_unit || GOLDEN.contains(&it.name.as_str()));
    for program in rest {
        steps.push(program.step(workspace, &[])?);
    }
    Ok(steps)
}

/// Some tests without parts of the system, and with temporary folders behind a link.
pub(super) fn without_parts(workspace: &OwnRepository, features: &str) -> Result<Vec<CiStep>> {
    let folder = std::env::temp_dir();
    let link = folder.join("orange-behind-a-link");
    if let Err(error) = std::os::unix::fs::symlink(&folder, &link)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(format!("{} cannot be made: {error}", link.display()));
    }
    let programs = found(workspace, features)?;
    let step = |(name, is_unit, tests): (&str, bool, &[&str])| {
        let program = programs.iter().find(|program| program.name == name && program.is_unit == is_unit);
        let program = program.ok_or_else(|| format!("there are no tests called {name}"))?;
        let mut command = program.command(workspace, tests)?;
        command.env("ORANGE_LACKS", PARTS);
        // Some tests of `orange-system` open files by the path of that folder, which must have no link.
        if name != "orange_system" {
            command.env("TMPDIR", &link);
        }
        Ok(CiStep::run(format!("{name}, as without Linux"), command))
    };
    WITHOUT.into_iter().map(step).collect()
}

/// Every program with tests, in cargo's order.
fn found(workspace: &OwnRepository, features: &str) -> Result<Vec<TestProgram>> {
    let words = ["test", "--workspace", "--no-run", "--features", features, "--message-format", "json"];
    let said = answer(workspace.cargo(words))?;
    let found: Vec<_> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok(found.into_iter().filter_map(TestProgram::of).collect())
}

impl TestProgram {
    fn of(message: CargoMessage) -> Option<TestProgram> {
        let target = message.target.filter(|_| message.reason == "compiler-artifact")?;
        message.profile.filter(|profile| profile.test)?;
        Some(TestProgram {
            package: message.manifest_path.parent()?.to_path_buf(),
            name: target.name,
            is_unit: !target.kind.iter().any(|kind| kind == "test" || kind == "example"),
            path: message.executable?,
        })
    }

    /// Runs these tests of it, or all, as `cargo test` would.
    fn step(&self, workspace: &OwnRepository, tests: &[&str]) -> Result<CiStep> {
        let folder = self.package.file_name().unwrap_or_default().to_string_lossy();
        let mut command = self.command(workspace, tests)?;
        if !tests.is_empty() {
            command.arg("--exact");
        }
        Ok(CiStep::run(format!("{folder}, {}", self.name), command))
    }

    fn command(&self, workspace: &OwnRepository, tests: &[&str]) -> Result<Command> {
        let mut command = workspace.program(&self.path, tests);
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        command.env("LD_LIBRARY_PATH", libraries(workspace)?);
        // Of this package, and not of the one that runs.
        command.env_remove("CARGO_PKG_NAME");
        if self.name == WAITING.0 && !self.is_unit {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            command.env("RUST_TEST_THREADS", (WAITING.1 * processors).to_string());
        }
        Ok(built(command))
    }
}

/// Folders of the compiler's libraries: the tests of a macro are linked with them.
fn libraries(workspace: &OwnRepository) -> Result<OsString> {
    let root = answer(workspace.program("rustc", ["--print", "sysroot"]))?;
    let target = answer(workspace.program("rustc", ["--print", "target-libdir"]))?;
    let folders = [Path::new(root.trim()).join("lib"), PathBuf::from(target.trim())];
    std::env::join_paths(folders).map_err(|error| format!("the folder of the compiler: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_with_tests_are_found() {
        let of = |line: &str| serde_json::from_str(line).ok().and_then(TestProgram::of);
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/o/tests/Cargo.toml","target":{{"name":"e2e","kind":["test"]}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = of(&line(true, r#""/o/target/debug/deps/e2e-1""#)).unwrap();
        assert_eq!((found.name.as_str(), found.is_unit), ("e2e", false));
        assert_eq!(of(&line(false, r#""/o/target/debug/orange""#)), None);
        assert_eq!(of(&line(true, "null")), None);
        assert_eq!(of(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
