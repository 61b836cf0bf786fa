//! `cargo xtask build-workflow`: checks a folder of workflows and builds them into one small binary.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use orange_codegen::model::Definition;
use orange_codegen::source::is_scenario_file;
use orange_codegen::{Checked, PromptFiles, Source};

use crate::binary::{is_static, kibibytes};
use crate::workspace::{OwnRepository, answer, typed};
use crate::{Result, manual};

/// The target for static binaries.
const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// Code at a fixed address needs no table of relocations, and no time to apply them.
pub(crate) const FIXED_ADDRESS: &str = "-Crelocation-model=static";

/// The screen for people, which is installed beside `orange`.
const DASHBOARD: &str = "orange-dashboard";

/// The gateway and the crabs, with the same step workflows compiled in.
const FLEET: &str = "orange-fleet";

/// Check workflows and build them into `orange` and `orange-fleet`, with the dashboard and the manual pages beside them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask build-workflow
  cargo xtask build-workflow --no-custom
  cargo xtask build-workflow --workflows ../my-flows --out ~/bin")]
pub(crate) struct BuildWorkflow {
    /// The folder with the workflows; our own by default
    #[arg(long, value_name = "DIR")]
    workflows: Option<PathBuf>,

    /// The folder for the binary; `dist/` by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Leave out the compiler for workflows of `ORANGE_HOME/workflows`: a smaller binary
    #[arg(long)]
    no_custom: bool,
}

pub(crate) fn run(workspace: &OwnRepository, arguments: &BuildWorkflow) -> Result<ExitCode> {
    let given = arguments.workflows.clone().unwrap_or_else(|| workspace.root.join("workflows"));
    let folder = folder_of_workflows(&given)?;
    let out = std::path::absolute(arguments.out.clone().unwrap_or_else(|| workspace.root.join("dist")))
        .map_err(|error| format!("--out leads nowhere: {error}"))?;
    if !check(workspace, &folder)? {
        return Ok(ExitCode::FAILURE);
    }
    let workflows = workflows(&folder)?;
    let built = build(workspace, &folder, !arguments.no_custom)?;
    let binary = install(&built, &out, "orange")?;
    let dashboard = install(&build_dashboard(workspace)?, &out, DASHBOARD)?;
    let fleet = install(&build_fleet(workspace, &folder)?, &out, FLEET)?;
    let manual = write_manual(workspace, &out)?;
    print!("\n{}", table(&workflows));
    println!();
    describe(&binary)?;
    describe(&dashboard)?;
    describe(&fleet)?;
    println!("{}  `man -M {} orange` shows them", manual.display(), manual.display());
    Ok(ExitCode::SUCCESS)
}

/// The absolute path of a folder that contains a workflow file.
fn folder_of_workflows(given: &Path) -> Result<PathBuf> {
    let folder = given.canonicalize().map_err(|error| {
        format!(
            "{} cannot be opened: {error}; `--workflows` takes a folder of workflow files",
            given.display()
        )
    })?;
    if !folder.is_dir() {
        return Err(format!("{} is a file; `--workflows` takes the folder that it lies in", given.display()));
    }
    if files(&folder)?.is_empty() {
        return Err(format!(
            "{} has no *.yml, *.yaml or *.toml; docs/workflow.md has workflows to start from",
            folder.display()
        ));
    }
    Ok(folder)
}

/// The workflow files of a folder, sorted, as the build script finds them.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| format!("{} cannot be read: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_source =
            path.extension().is_some_and(|it| ["yml", "yaml", "toml"].iter().any(|known| it == *known));
        if is_source && path.is_file() && !path.ends_with("Cargo.toml") && !is_scenario_file(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Runs the authors' check, which prints the findings.
fn check(workspace: &OwnRepository, folder: &Path) -> Result<bool> {
    let mut check = workspace.cargo(["run", "--quiet", "-p", "orange-workflow", "--", "check"]);
    let status =
        check.arg(folder).status().map_err(|error| format!("`{}` cannot be run: {error}", typed(&check)))?;
    if !status.success() {
        eprintln!("nothing is built: mend what stands above first");
    }
    Ok(status.success())
}

/// The workflows of the folder.
fn workflows(folder: &Path) -> Result<Vec<Checked>> {
    let mut workflows = Vec::new();
    for file in files(folder)? {
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        let source = Source::new(file.display().to_string(), text).with_files(PromptFiles::beside(&file));
        workflows.extend(orange_codegen::compile(&source).checked);
    }
    Ok(workflows)
}

/// Builds `orange` as it is released, static if the target is installed, with or without the compiler of custom workflows, and returns
/// its path.
pub(crate) fn build(workspace: &OwnRepository, workflows: &Path, custom: bool) -> Result<PathBuf> {
    let target = target()?;
    if target != STATIC_TARGET {
        println!(
            "{STATIC_TARGET} is not installed (`rustup target add {STATIC_TARGET}`): building for {target}, which is not static"
        );
    }
    let mut build =
        workspace.cargo(["build", "--package", "orange", "--profile", "dist", "--target", &target]);
    if !custom {
        build.arg("--no-default-features");
    }
    build.args(["--config", &format!("target.{target}.rustflags=[{FIXED_ADDRESS:?}]")]);
    build.env("ORANGE_WORKFLOWS", workflows);
    println!("{}", typed(&build));
    let status = build.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("`{}` failed, {status}", typed(&build)));
    }
    Ok(workspace.metadata()?.target_directory.join(target).join("dist/orange"))
}

/// Builds the dashboard in the same way, and returns its path.
pub(crate) fn build_dashboard(workspace: &OwnRepository) -> Result<PathBuf> {
    build_beside(workspace, DASHBOARD, "dist", None)
}

/// Builds the fleet with the step workflows of a folder, for speed instead of size, and returns its path.
pub(crate) fn build_fleet(workspace: &OwnRepository, workflows: &Path) -> Result<PathBuf> {
    build_beside(workspace, FLEET, "tools", Some(workflows))
}

fn build_beside(
    workspace: &OwnRepository,
    package: &str,
    profile: &str,
    workflows: Option<&Path>,
) -> Result<PathBuf> {
    let target = target()?;
    let mut build =
        workspace.cargo(["build", "--package", package, "--profile", profile, "--target", &target]);
    build.args(["--config", &format!("target.{target}.rustflags=[{FIXED_ADDRESS:?}]")]);
    build.envs(workflows.map(|folder| ("ORANGE_WORKFLOWS", folder)));
    println!("{}", typed(&build));
    let status = build.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("`{}` failed, {status}", typed(&build)));
    }
    Ok(workspace.metadata()?.target_directory.join(target).join(profile).join(package))
}

/// Builds, in the same way, a program that prints one line, as the lower bound of every size, and returns its path. With an argument
/// it panics.
pub(crate) fn build_bare(scratch: &Path) -> Result<PathBuf> {
    let (source, program, target) = (scratch.join("bare.rs"), scratch.join("bare"), target()?);
    std::fs::write(&source, "fn main() { println!(\"{}\", 1 / (2 - std::env::args().count())); }\n")
        .map_err(|error| format!("{} cannot be written: {error}", source.display()))?;
    let mut rustc = Command::new("rustc");
    rustc.args(["-Copt-level=z", "-Clto=fat", "-Cpanic=abort", "-Cstrip=symbols", "--target", &target]);
    rustc.arg(FIXED_ADDRESS).arg(&source).arg("-o").arg(&program);
    answer(rustc)?;
    Ok(program)
}

/// The target of the build: the static one if it is installed.
fn target() -> Result<String> {
    if target_is_installed(STATIC_TARGET) { Ok(STATIC_TARGET.to_string()) } else { host() }
}

/// True if the standard library of a target is installed.
fn target_is_installed(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]).stderr(Stdio::null());
    answer(rustc).is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

/// The target of this machine.
pub(crate) fn host() -> Result<String> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "host-tuple"]);
    answer(rustc).map(|host| host.trim().to_string())
}

/// Copies a program beside its target path and renames it, so that a running one is not an obstacle.
pub(crate) fn install(built: &Path, out: &Path, name: &str) -> Result<PathBuf> {
    let (binary, beside) = (out.join(name), out.join(format!(".{name}.new")));
    let failed = |error| format!("{} cannot be written: {error}", binary.display());
    std::fs::create_dir_all(out).map_err(failed)?;
    std::fs::copy(built, &beside).map_err(failed)?;
    std::fs::rename(&beside, &binary).map_err(failed)?;
    binary.canonicalize().map_err(failed)
}

/// Writes the manual pages beside the binary, and returns their folder. Their date is that of the last commit, so that they are
/// reproducible.
fn write_manual(workspace: &OwnRepository, out: &Path) -> Result<PathBuf> {
    let folder = out.join("man");
    let failed = |error| format!("{} cannot be written: {error}", folder.display());
    let pages = folder.join("man1");
    std::fs::create_dir_all(&pages).map_err(failed)?;
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%cs"]).current_dir(&workspace.root).stderr(Stdio::null());
    let date = answer(git).unwrap_or_default();
    for (name, page) in manual::pages(date.trim()).map_err(failed)? {
        std::fs::write(pages.join(name), page).map_err(failed)?;
    }
    Ok(folder)
}

/// Prints the size of a program, and whether it is static.
pub(crate) fn describe(binary: &Path) -> Result<()> {
    let bytes =
        std::fs::read(binary).map_err(|error| format!("{} cannot be read: {error}", binary.display()))?;
    let linking = match is_static(&bytes) {
        Some(true) => "static, needs no libraries",
        Some(false) => "needs the dynamic libraries of its system",
        None => "of a kind that is not known here",
    };
    println!("{}  {}, {linking}", binary.display(), kibibytes(bytes.len() as u64));
    Ok(())
}

fn table(workflows: &[Checked]) -> String {
    let rows: Vec<[String; 6]> = workflows.iter().map(row).collect();
    let heads = ["workflow", "states", "transitions", "guards", "steps", "hash"].map(str::to_string);
    let width =
        |column: usize| rows.iter().chain([&heads]).map(|row| row[column].len()).max().unwrap_or_default();
    let line = |row: &[String; 6]| {
        let [name, states, transitions, guards, steps, hash] = row;
        format!(
            "{name:0$}  {states:>1$}  {transitions:>2$}  {guards:>3$}  {steps:>4$}  {hash}\n",
            width(0),
            width(1),
            width(2),
            width(3),
            width(4)
        )
    };
    [&heads].into_iter().chain(&rows).map(line).collect()
}

fn row(checked: &Checked) -> [String; 6] {
    let none = || "-".to_string();
    let [states, transitions, guards, steps] = match checked.definition() {
        Definition::Machine(workflow) => {
            let guards = workflow.transitions.iter().filter(|transition| transition.when.is_some()).count();
            let figures =
                [workflow.states.len(), workflow.transitions.len(), guards].map(|it| it.to_string());
            let [states, transitions, guards] = figures;
            [states, transitions, guards, none()]
        }
        Definition::Steps(it) => [none(), none(), none(), it.steps.len().to_string()],
    };
    [checked.name().to_string(), states, transitions, guards, steps, checked.hash().to_string()]
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn the_table_counts_what_a_workflow_declares() {
        let text = "name: a\nversion: 1\nstates:\n  x: {terminal: false}\n  y: {terminal: true}\ntransitions:\n  - {from: x, to: y, when: \"review_round < 2\"}\n";
        let steps = "[workflow]\nname = 'b'\n[[steps]]\nid = 'x'\nprompt = 'do it'\n";
        let compiled = |path, text| orange_codegen::compile(&Source::new(path, text)).checked.unwrap();
        let table = table(&[compiled("a.yml", text), compiled("b.toml", steps)]);
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[0].starts_with("workflow  states  transitions  guards  steps  hash"), "{table}");
        assert!(lines[1].starts_with("a              2            1       1      -  "), "{table}");
        assert!(lines[2].starts_with("b              -            -       -      1  "), "{table}");
    }

    #[test]
    fn a_panic_of_what_ships_says_what_happened_and_ends_it() {
        let scratch = tempfile::tempdir().unwrap();
        let bare = build_bare(scratch.path()).unwrap();
        let run = Command::new(bare).arg("more").env("RUST_BACKTRACE", "1").output().unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(said.contains("bare.rs:1:") && said.contains("divide by zero"), "{said}");
        assert_eq!(run.status.signal(), Some(rustix::process::Signal::ABORT.as_raw()), "{:?}", run.status);
    }

    #[test]
    fn a_folder_without_workflows_says_so() {
        let empty = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert!(folder_of_workflows(&empty).unwrap_err().contains("has no *.yml"));
        assert!(folder_of_workflows(Path::new("/nowhere")).unwrap_err().contains("cannot be opened"));
        assert!(folder_of_workflows(Path::new(file!())).is_err());
    }
}
