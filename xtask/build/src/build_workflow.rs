//! `cargo xtask build-workflow`: builds a folder of workflows into the programs, as they are released.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Args, ValueEnum};

use crate::Result;
use crate::binary::{is_static, kibibytes};
use crate::place::{make_writable, put_program};
use crate::target::{self, AtPanic, ChosenTarget, TargetFacts};
use crate::workspace::{OwnRepository, answer, typed};

/// Build workflows into `orange` and `orange-fleet`, with the dashboard and the manual pages beside them
///
/// It is the release build: small programs, static where the machine can build that, and minutes for each of them.
/// `cargo xtask install` is quicker. Workflows with errors fail the build.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask build-workflow
  cargo xtask build-workflow --only orange
  cargo xtask build-workflow --only orange --no-custom
  cargo xtask build-workflow --workflows ../my-flows --out ~/bin")]
pub struct BuildWorkflow {
    /// The folder with the workflows; our own by default
    #[arg(long, value_name = "DIR")]
    workflows: Option<PathBuf>,

    /// The folder for the programs; `dist/` by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Build this program alone; may be repeated
    #[arg(long, value_name = "NAME", value_enum)]
    only: Vec<ReleasedProgram>,

    /// Leave out the compiler for workflows of `ORANGE_HOME/workflows`: a smaller `orange`
    #[arg(long)]
    no_custom: bool,
}

/// A program of the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReleasedProgram {
    /// The engine, with the workflows compiled in.
    Orange,
    /// The screen for people.
    OrangeDashboard,
    /// The gateway and the crabs, with the same step workflows compiled in.
    OrangeFleet,
}

impl ReleasedProgram {
    /// Its name, which is that of its package.
    fn name(self) -> &'static str {
        match self {
            ReleasedProgram::Orange => "orange",
            ReleasedProgram::OrangeDashboard => "orange-dashboard",
            ReleasedProgram::OrangeFleet => "orange-fleet",
        }
    }

    /// The profile of its build: a gateway is built for speed, and what people start again and again for size.
    fn profile(self) -> &'static str {
        match self {
            ReleasedProgram::Orange | ReleasedProgram::OrangeDashboard => "dist",
            ReleasedProgram::OrangeFleet => "tools",
        }
    }

    /// True if parts of it are written in C.
    fn has_c(self) -> bool {
        self == ReleasedProgram::OrangeFleet
    }

    /// The arguments of cargo that build it.
    fn arguments(self, target: &ChosenTarget, custom: bool) -> Vec<String> {
        let words = ["build", "--package", self.name(), "--profile", self.profile()];
        let mut words: Vec<String> = words.map(str::to_owned).into();
        words.extend(target.arguments());
        if self == ReleasedProgram::Orange && !custom {
            words.push("--no-default-features".to_owned());
        }
        words
    }
}

/// Builds, and puts the programs into the folder for them.
pub fn run(workspace: &OwnRepository, arguments: &BuildWorkflow) -> Result<ExitCode> {
    let given = arguments.workflows.clone().unwrap_or_else(|| workspace.root.join("workflows"));
    let folder = folder_of_workflows(&given)?;
    let out = std::path::absolute(arguments.out.clone().unwrap_or_else(|| workspace.root.join("dist")))
        .map_err(|error| format!("--out leads nowhere: {error}"))?;
    make_writable(&out)?;
    let facts = TargetFacts::find()?;
    let plan = planned(&arguments.only, &facts);
    plan.iter().filter_map(|(_, target)| target.reason.as_ref()).for_each(|reason| println!("{reason}"));
    let mut built = Vec::new();
    for (program, target) in &plan {
        let path = build_for(workspace, *program, target, &folder, !arguments.no_custom)?;
        built.push(put_program(&path, &out, program.name())?);
    }
    println!();
    for ((program, _), path) in plan.iter().zip(&built) {
        if *program == ReleasedProgram::Orange {
            println!("{}", compiled_in(workspace, path)?);
        }
    }
    built.iter().try_for_each(|program| describe(program))?;
    for ((program, _), path) in plan.iter().zip(&built) {
        if *program == ReleasedProgram::Orange {
            let manual = write_manual(path, &out)?;
            println!("{}  `man -M {} orange` shows them", manual.display(), manual.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The programs to build, in their order, each with its target; all of them where none is named.
fn planned(only: &[ReleasedProgram], facts: &TargetFacts) -> Vec<(ReleasedProgram, ChosenTarget)> {
    let is_wanted = |program: &&ReleasedProgram| only.is_empty() || only.contains(*program);
    let chosen = |program: &ReleasedProgram| (*program, facts.choose(program.name(), program.has_c()));
    ReleasedProgram::value_variants().iter().filter(is_wanted).map(chosen).collect()
}

/// The absolute path of a folder that contains a workflow file.
pub(crate) fn folder_of_workflows(given: &Path) -> Result<PathBuf> {
    let folder = given.canonicalize().map_err(|error| {
        format!(
            "{} cannot be opened: {error}; `--workflows` takes a folder of workflow files",
            given.display()
        )
    })?;
    if !folder.is_dir() {
        return Err(format!("{} is a file; `--workflows` takes the folder that it lies in", given.display()));
    }
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
    let is_workflow = |path: PathBuf| {
        let kind = path.extension().unwrap_or_default();
        ["yml", "yaml", "toml"].iter().any(|known| kind == *known) && !path.ends_with("Cargo.toml")
    };
    if entries.filter_map(std::result::Result::ok).any(|entry| is_workflow(entry.path())) {
        return Ok(folder);
    }
    Err(format!(
        "{} has no *.yml, *.yaml or *.toml; docs/workflow.md has workflows to start from",
        folder.display()
    ))
}

/// Builds `orange` as it is released, static if the target is installed, with or without the compiler of custom workflows, and returns
/// its path.
pub fn build(workspace: &OwnRepository, workflows: &Path, custom: bool) -> Result<PathBuf> {
    build_one(workspace, ReleasedProgram::Orange, workflows, custom)
}

/// Builds the dashboard in the same way, and returns its path.
pub fn build_dashboard(workspace: &OwnRepository) -> Result<PathBuf> {
    build_one(workspace, ReleasedProgram::OrangeDashboard, &workspace.root.join("workflows"), true)
}

/// Builds the fleet with the step workflows of a folder, for speed instead of size, and returns its path.
pub fn build_fleet(workspace: &OwnRepository, workflows: &Path) -> Result<PathBuf> {
    build_one(workspace, ReleasedProgram::OrangeFleet, workflows, true)
}

fn build_one(
    workspace: &OwnRepository,
    program: ReleasedProgram,
    workflows: &Path,
    custom: bool,
) -> Result<PathBuf> {
    let target = TargetFacts::find()?.choose(program.name(), program.has_c());
    target.reason.iter().for_each(|reason| println!("{reason}"));
    build_for(workspace, program, &target, workflows, custom)
}

fn build_for(
    workspace: &OwnRepository,
    program: ReleasedProgram,
    target: &ChosenTarget,
    workflows: &Path,
    custom: bool,
) -> Result<PathBuf> {
    let mut build = workspace.cargo(program.arguments(target, custom));
    build.env("ORANGE_WORKFLOWS", workflows);
    println!("{}", typed(&build));
    let status = build.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("`{}` failed, {status}; cargo says why above", typed(&build)));
    }
    Ok(workspace.target_folder()?.join(&target.name).join(program.profile()).join(program.name()))
}

/// Builds, in the same way, a program that prints one line, as the lower bound of every size, and returns its path. With an argument
/// it panics.
pub fn build_bare(workspace: &OwnRepository, scratch: &Path) -> Result<PathBuf> {
    let (source, program) = (scratch.join("bare.rs"), scratch.join("bare"));
    let ChosenTarget { name: target, is_folded, .. } = TargetFacts::find()?.choose("it", false);
    std::fs::write(&source, "fn main() { println!(\"{}\", 1 / (2 - std::env::args().count())); }\n")
        .map_err(|error| format!("{} cannot be written: {error}", source.display()))?;
    let mut rustc = Command::new("rustc");
    rustc.current_dir(&workspace.root);
    rustc.args(["-Copt-level=z", "-Clto=fat", "-Cpanic=abort", "-Cstrip=symbols", "--target", &target]);
    if target::is_static(&target) {
        rustc.args(target::static_flags(is_folded, AtPanic::Abort));
    }
    rustc.arg(&source).arg("-o").arg(&program);
    answer(rustc)?;
    Ok(program)
}

/// Has the built program write its manual pages, and returns their folder.
pub(crate) fn write_manual(program: &Path, out: &Path) -> Result<PathBuf> {
    let folder = out.join("man");
    let mut manual = Command::new(program);
    manual.arg("manual").arg(folder.join("man1"));
    answer(manual)?;
    Ok(folder)
}

/// The workflows that the built program lists. It sees a home without custom ones.
fn compiled_in(workspace: &OwnRepository, program: &Path) -> Result<String> {
    let mut list = Command::new(program);
    list.args(["workflow", "list"]).env("ORANGE_HOME", workspace.target_folder()?.join("no-home"));
    answer(list)
}

/// Prints the size of a program, and whether it is static.
pub fn describe(binary: &Path) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn facts(has_static_compiler: bool) -> TargetFacts {
        TargetFacts {
            host: "x86_64-unknown-linux-gnu".to_owned(),
            has_static_library: true,
            has_static_compiler,
            has_folding_linker: true,
        }
    }

    fn shown(only: &[ReleasedProgram], facts: &TargetFacts) -> String {
        let lines = planned(only, facts);
        let lines = lines.iter().map(|(program, target)| {
            format!("{} {} {}\n", program.name(), target.name, target.reason.is_some())
        });
        lines.collect()
    }

    #[test]
    fn only_what_is_asked_for_is_built() {
        use ReleasedProgram::{Orange, OrangeDashboard, OrangeFleet};
        let musl = "x86_64-unknown-linux-musl";
        assert_eq!(
            shown(&[], &facts(true)),
            format!("orange {musl} false\norange-dashboard {musl} false\norange-fleet {musl} false\n")
        );
        assert_eq!(
            shown(&[OrangeDashboard, Orange, Orange], &facts(true)),
            shown(&[Orange, OrangeDashboard], &facts(true))
        );
        assert_eq!(shown(&[OrangeFleet], &facts(false)), "orange-fleet x86_64-unknown-linux-gnu true\n");
        assert_eq!(shown(&[Orange], &facts(false)), format!("orange {musl} false\n"));
    }

    #[test]
    fn programs_for_people_are_small_and_the_fleet_is_fast() {
        let target = ChosenTarget { name: "t".to_owned(), reason: None, is_folded: false };
        let words = |program: ReleasedProgram, custom| program.arguments(&target, custom).join(" ");
        assert_eq!(words(ReleasedProgram::Orange, true), "build --package orange --profile dist --target t");
        assert!(words(ReleasedProgram::Orange, false).ends_with(" --no-default-features"));
        assert!(
            words(ReleasedProgram::OrangeFleet, false).ends_with("orange-fleet --profile tools --target t")
        );
    }

    #[test]
    fn a_name_that_is_unknown_lists_those_that_are() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            arguments: BuildWorkflow,
        }
        let parse = |words: &[&str]| <Line as clap::Parser>::try_parse_from([&["x"], words].concat());
        let refused = parse(&["--only", "orange-mcp"]).err().unwrap().to_string();
        assert!(refused.contains("[possible values: orange, orange-dashboard, orange-fleet]"), "{refused}");
        let twice = parse(&["--only", "orange", "--only", "orange-fleet"]).ok().unwrap().arguments.only;
        assert_eq!(twice, [ReleasedProgram::Orange, ReleasedProgram::OrangeFleet]);
    }

    #[test]
    fn a_panic_of_what_ships_says_what_happened_and_ends_it() {
        let scratch = tempfile::tempdir().unwrap();
        let bare = build_bare(&OwnRepository::find().unwrap(), scratch.path()).unwrap();
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
