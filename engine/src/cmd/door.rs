//! The door: the process's arguments in, its output and exit status out. Nothing else in the engine prints.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use orange_core::Machine;
use serde_json::json;

use crate::cmd::answer::Answer;
use crate::cmd::args::{Cli, Command};
use crate::cmd::{agent, monitor, project, task, workflow, workspace};
use crate::drive::exec::become_independent;
use crate::machines::{Built, Compile};
use crate::orange::Orange;
use crate::store::clock;
use crate::{Error, Kind, Result, fault};

/// What the generated binary runs: with the machines that are compiled in, and with the compiler of custom workflows where
/// it has one.
pub fn main(machines: &'static [&'static Machine<'static>], compile: Option<Compile>) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => return refuse(&refusal),
    };
    let built = Built { machines, compile };
    if cli.command.is_detached() {
        return log(&become_independent().and_then(|()| run(built, &cli)));
    }
    match run(built, &cli).and_then(|answer| print(&answer, cli.json).map(|()| answer.wrong)) {
        Ok(wrong) => ExitCode::from(wrong.map_or(0, Kind::exit_status)),
        Err(error) => fail(&error, cli.json),
    }
}

fn run(built: Built, cli: &Cli) -> Result<Answer> {
    match &cli.command {
        Command::Workflow(command) => workflow::run(&Orange::open(built)?, command),
        Command::Completions { shell } => Ok(completions(*shell)),
        Command::Project(command) => project::run(&Orange::open(built)?, command),
        Command::Task(command) => task::run(&Orange::open(built)?, command, cli.json),
        Command::Workspace(command) => workspace::run(&Orange::open(built)?, command),
        Command::Monitor(args) => monitor::run(&Orange::open(built)?, args, |answer| print(answer, cli.json)),
        Command::Agent(command) => agent::run(&Orange::open(built)?, command),
    }
}

fn completions(shell: clap_complete::Shell) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "orange", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    Answer::new(json!({ "shell": shell.to_string(), "script": script }), script.trim_end())
}

fn print(answer: &Answer, as_json: bool) -> Result<()> {
    let text = if as_json { answer.json.to_string() } else { answer.text.clone() };
    if text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    fault::step("answer", "success");
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    fault::step("end", "itself");
    match written {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(Kind::Environment, format!("cannot write the answer: {cause}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn fail(error: &Error, as_json: bool) -> ExitCode {
    if as_json {
        let body = json!({ "code": error.kind.code(), "message": error.message, "help": error.help });
        // Nobody is left to tell when standard output is gone; the exit status still says it.
        writeln!(io::stdout(), "{}", json!({ "error": body })).unwrap_or_default();
    } else {
        writeln!(io::stderr(), "error: {error}").unwrap_or_default();
    }
    ExitCode::from(error.kind.exit_status())
}

/// What a process of its own session has to say goes to `orange.log`, its standard error.
fn log(outcome: &Result<Answer>) -> ExitCode {
    let (what, status) = match outcome {
        Ok(answer) => (answer.text.clone(), ExitCode::SUCCESS),
        Err(error) => {
            let command: Vec<_> = std::env::args().skip(1).collect();
            let what = format!("`orange {}` failed: {}", command.join(" "), error.one_line());
            (what, ExitCode::from(error.kind.exit_status()))
        }
    };
    if !what.is_empty() {
        // One write, so that lines of several processes do not mix.
        let line = format!("{} {}\n", clock::now(), what.replace('\n', " "));
        io::stderr().write_all(line.as_bytes()).unwrap_or_default();
    }
    status
}

fn refuse(refusal: &clap::Error) -> ExitCode {
    let asks_for_help = !refusal.use_stderr();
    if !asks_for_help && std::env::args_os().any(|argument| argument == "--json") {
        let message = refusal.to_string();
        let (message, help) = message.split_once("\n\n").unwrap_or((&message, ""));
        let message = message.trim_start_matches("error: ").trim();
        return fail(&Error::new(Kind::Usage, message).help(help.trim()), true);
    }
    refusal.print().unwrap_or_default();
    ExitCode::from(if asks_for_help { 0 } else { Kind::Usage.exit_status() })
}
