//! The door: the process's arguments in, its output and exit status out. Nothing else in the engine prints.

use std::io::{self, Write};
use std::process::ExitCode;

use orange_core::Machine;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::cmd::answer::Answer;
use crate::cmd::args::{Cli, Command, ORANGE};
use crate::cmd::line::parse::{Parsed, asks_for_json, parse};
use crate::cmd::{agent, complete, monitor, project, task, workflow, workspace};
use crate::drive::exec::become_independent;
use crate::machines::{Built, Compile};
use crate::orange::Orange;
use crate::store::clock;
use crate::{Error, Kind, Result, fault};

/// What the generated binary runs: with the machines that are compiled in, and with the compiler of custom workflows where
/// it has one.
pub fn main(machines: &'static [&'static Machine<'static>], compile: Option<Compile>) -> ExitCode {
    let words = || std::env::args_os().skip(1);
    let cli = match parse(&ORANGE, words()) {
        Ok(Parsed::Cli(cli)) => cli,
        Ok(Parsed::Text(text)) => return end(Ok(Answer::new(Value::Null, text)), false),
        Err(error) => return fail(&error, asks_for_json(words())),
    };
    let built = Built { machines, compile };
    if cli.command.is_detached() {
        return log(&become_independent().and_then(|()| run(built, &cli)));
    }
    end(run(built, &cli), cli.json)
}

fn run(built: Built, cli: &Cli) -> Result<Answer> {
    let caller = || if cli.command.is_detached() { Caller::Engine } else { Caller::from_env() };
    let open = || Orange::open(built, caller());
    match &cli.command {
        Command::Workflow(command) => workflow::run(&open()?, command),
        Command::Completions { shell } => complete::script(shell),
        Command::Complete { words } => Ok(complete::run(&open()?, words)),
        Command::Project(command) => project::run(&open()?, command),
        Command::Task(command) => task::run(&open()?.telling(cli.json), command, cli.json),
        Command::Workspace(command) => workspace::run(&open()?, command),
        Command::Monitor(args) => monitor::run(&open()?, args, |answer| print(answer, cli.json)),
        Command::Agent(command) => agent::run(&open()?, command),
    }
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

fn end(outcome: Result<Answer>, as_json: bool) -> ExitCode {
    match outcome.and_then(|answer| print(&answer, as_json).map(|()| answer.wrong)) {
        Ok(wrong) => ExitCode::from(wrong.map_or(0, Kind::exit_status)),
        Err(error) => fail(&error, as_json),
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
