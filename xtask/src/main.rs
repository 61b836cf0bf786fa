//! The commands for maintainers.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands talk to a person")]

mod agents;
mod bench;
mod ci;
mod codegen;
mod demo;
mod mutate;
mod new_lint;
mod process_stat;
mod release;
mod scratch;
mod size;
mod tidy;
mod torture;
mod vsix;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask_build::{BuildCommand, Result, binary, build_checker, build_workflow, ended};

use crate::workspace::OwnRepository;

/// The maintainers' commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Build(BuildCommand),
    Ci(ci::Ci),
    /// The rules that no compiler checks: arrows between packages, dependencies of the small binary, words, forgotten files.
    Tidy,
    /// Rewrite the golden files, the Rust that each workflow becomes.
    Codegen,
    Demo(demo::Demo),
    Agents(agents::Agents),
    Bench(bench::Bench),
    /// The size of the binary, with and without custom workflows, beside the budgets; fails when it exceeds one.
    Size,
    NewLint(new_lint::NewLint),
    Mutate(mutate::Mutate),
    Torture(torture::Torture),
    Release(release::Release),
    Vsix(vsix::Vsix),
}

fn main() -> ExitCode {
    ended(OwnRepository::find().and_then(|workspace| match Arguments::parse().command {
        Command::Build(command) => command.run(&workspace),
        Command::Ci(arguments) => ci::run(&workspace, &arguments),
        Command::Tidy => tidy::run(&workspace),
        Command::Codegen => codegen::run(&workspace),
        Command::Demo(arguments) => demo::run(&workspace, &arguments),
        Command::Agents(arguments) => agents::run(&workspace, &arguments),
        Command::Bench(arguments) => bench::run(&workspace, &arguments),
        Command::Size => size::run(&workspace),
        Command::NewLint(arguments) => new_lint::run(&workspace, &arguments),
        Command::Mutate(arguments) => mutate::run(&workspace, &arguments),
        Command::Release(arguments) => release::run(&workspace, &arguments),
        Command::Vsix(arguments) => vsix::run(&workspace, &arguments),
        Command::Torture(arguments) => torture::run(&workspace, &arguments),
    }))
}
