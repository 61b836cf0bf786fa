//! Building and installing the programs, for everybody who begins with the sources. It is built from little, since people wait for it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands talk to a person")]

pub mod binary;
pub mod build_checker;
pub mod build_workflow;
pub mod install;
pub mod place;
pub mod target;
pub mod workspace;

use std::process::ExitCode;

use clap::Subcommand;

use crate::workspace::OwnRepository;

/// The error of a command says what to do.
pub type Result<T> = std::result::Result<T, String>;

/// The commands that build and install programs.
#[derive(Subcommand)]
pub enum BuildCommand {
    Install(install::Install),
    BuildWorkflow(build_workflow::BuildWorkflow),
    BuildChecker(build_checker::BuildChecker),
}

impl BuildCommand {
    /// Runs it.
    pub fn run(&self, workspace: &OwnRepository) -> Result<ExitCode> {
        match self {
            BuildCommand::Install(arguments) => install::run(workspace, arguments),
            BuildCommand::BuildWorkflow(arguments) => build_workflow::run(workspace, arguments),
            BuildCommand::BuildChecker(arguments) => build_checker::run(workspace, arguments),
        }
    }
}

/// The exit status of a command, after its error is printed.
pub fn ended(done: Result<ExitCode>) -> ExitCode {
    done.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::from(2)
    })
}
