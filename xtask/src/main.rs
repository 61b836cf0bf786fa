//! The commands for maintainers.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands talk to a person")]

mod agents;
mod bench;
mod binary;
mod build_checker;
mod build_workflow;
mod ci;
mod codegen;
mod demo;
mod manual;
mod mutate;
mod new_lint;
mod scratch;
mod size;
mod tidy;
mod torture;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    BuildWorkflow(build_workflow::BuildWorkflow),
    BuildChecker(build_checker::BuildChecker),
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
}

/// The error of a command says what to do.
type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let done = OwnRepository::find().and_then(|workspace| match Arguments::parse().command {
        Command::BuildWorkflow(arguments) => build_workflow::run(&workspace, &arguments),
        Command::BuildChecker(arguments) => build_checker::run(&workspace, &arguments),
        Command::Ci(arguments) => ci::run(&workspace, &arguments),
        Command::Tidy => tidy::run(&workspace),
        Command::Codegen => codegen::run(&workspace),
        Command::Demo(arguments) => demo::run(&workspace, &arguments),
        Command::Agents(arguments) => agents::run(&workspace, &arguments),
        Command::Bench(arguments) => bench::run(&workspace, &arguments),
        Command::Size => size::run(&workspace),
        Command::NewLint(arguments) => new_lint::run(&workspace, &arguments),
        Command::Mutate(arguments) => mutate::run(&workspace, &arguments),
        Command::Torture(arguments) => torture::run(&workspace, &arguments),
    });
    match done {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
