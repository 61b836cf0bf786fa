//! The command line of `orange-fleet`: arguments in, one answer out.

mod backup;
mod client;
mod colony;
mod complete_run;
mod crab;
mod mission;
mod serve;
mod status;
mod store;
mod token;
mod up;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use orange_api::{Error, ErrorKind, Result, usage};
use serde_json::{Value, json};

pub use self::client::{ClientArgs, CommandClient};
use crate::lines;

/// Runs step workflows on many machines: a gateway keeps missions, and crabs run their steps
#[derive(Debug, Parser)]
#[command(
    name = "orange-fleet",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  orange-fleet serve
  orange-fleet colony create coffee --repository git@example.org:coffee.git
  orange-fleet token new --colony coffee
  orange-fleet mission start dev-task \"Add a login form\" --colony coffee
  orange-fleet mission list --status paused

Environment: ORANGE_FLEET_DIR (the gateway's folder, default ~/orange-fleet/gateway), ORANGE_FLEET_GATEWAY (its address, default http://127.0.0.1:8800), ORANGE_FLEET_TOKEN.
Exit status: 0 done, 1 refused, 2 usage, 3 not found, 4 locked, 5 environment, 6 corrupt file."
)]
pub struct Cli {
    /// Answer with one JSON value on standard output and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// The command to run
    #[command(subcommand)]
    pub command: Command,
}

/// The commands. Each has a file of its own; a new one is a line here and a line in `run`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the gateway: the API and its console
    Serve(Box<serve::ServeArgs>),
    /// Start a gateway and its crabs on this machine, and stop them together
    Up(Box<up::UpArgs>),
    /// Run steps on this machine: the worker process of a colony
    Crab(Box<crab::CrabArgs>),
    /// Report how a run has ended, for scripts and agents without a crab
    CompleteRun(Box<complete_run::CompleteRunArgs>),
    /// Make and list colonies: crabs that work on one repository
    #[command(subcommand)]
    Colony(colony::ColonyCommand),
    /// Make, list and revoke tokens, on the gateway's machine
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Start, watch and answer missions
    #[command(subcommand)]
    Mission(mission::MissionCommand),
    /// Show the fleet at one glance
    Status(status::StatusArgs),
    /// Copy the store while the gateway runs
    Backup(backup::BackupArgs),
}

impl Command {
    fn run(self) -> Result<Said> {
        match self {
            Command::Serve(args) => args.run(),
            Command::Up(args) => args.run(),
            Command::Crab(args) => args.run(),
            Command::CompleteRun(args) => args.run(),
            Command::Colony(command) => command.run(),
            Command::Token(command) => command.run(),
            Command::Mission(command) => command.run(),
            Command::Status(args) => args.run(),
            Command::Backup(args) => args.run(),
        }
    }
}

/// Answer of a command.
#[derive(Debug)]
pub struct Said {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    crate::up::follow_parent();
    let Cli { json, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(wrong) if wrong.use_stderr() && usage::asks_for_json(std::env::args_os().skip(1)) => {
            return fail(&usage::error(&wrong.to_string()), true);
        }
        Err(wrong) => {
            // clap knows which of both outputs it belongs to; a closed one cannot show it.
            wrong.print().unwrap_or_default();
            return ExitCode::from(u8::try_from(wrong.exit_code()).unwrap_or(2));
        }
    };
    match command.run().and_then(|said| print(&said, json)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, json),
    }
}

fn print(said: &Said, as_json: bool) -> Result<()> {
    let text = if as_json { said.json.to_string() } else { said.text.clone() };
    if text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Environment, format!("cannot write the answer: {cause}")).help(
                "what was asked for is done; free space where the answer is to go, and ask for it again",
            ))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn fail(error: &Error, as_json: bool) -> ExitCode {
    let to_stderr = || lines::to_stderr(&format!("error: {error}"));
    match as_json {
        true => {
            let json = json!({"error": {"code": error.kind, "message": error.message, "help": error.help}});
            // Where the answer cannot be written, its error cannot either.
            writeln!(io::stdout(), "{json}").unwrap_or_else(|_| to_stderr());
        }
        false => to_stderr(),
    }
    ExitCode::from(error.kind.exit_status())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_help_with_examples() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            assert!(command.get_about().is_some(), "{path}");
            if command.get_subcommands().next().is_none() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                let example = path.trim_start().to_owned();
                assert!(help.contains(&example), "the help of `{path}` has no example");
            }
            command.get_subcommands().for_each(|it| check(it, &path));
        }
        check(&Cli::command(), "");
    }
}
