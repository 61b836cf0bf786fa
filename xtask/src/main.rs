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
mod house;
mod manual;
mod mutate;
mod new_lint;
mod scratch;
mod size;
mod tidy;
mod torture;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::house::House;

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
    let done = House::find().and_then(|house| match Arguments::parse().command {
        Command::BuildWorkflow(arguments) => build_workflow::run(&house, &arguments),
        Command::BuildChecker(arguments) => build_checker::run(&house, &arguments),
        Command::Ci(arguments) => ci::run(&house, &arguments),
        Command::Tidy => tidy::run(&house),
        Command::Codegen => codegen::run(&house),
        Command::Demo(arguments) => demo::run(&house, &arguments),
        Command::Agents(arguments) => agents::run(&house, &arguments),
        Command::Bench(arguments) => bench::run(&house, &arguments),
        Command::Size => size::run(&house),
        Command::NewLint(arguments) => new_lint::run(&house, &arguments),
        Command::Mutate(arguments) => mutate::run(&house, &arguments),
        Command::Torture(arguments) => torture::run(&house, &arguments),
    });
    match done {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
