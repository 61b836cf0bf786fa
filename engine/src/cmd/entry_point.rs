//! The entry of the process: takes its arguments, prints its output and gives its exit status. Nothing else in the engine prints.

use std::borrow::Cow;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::app::{App, become_independent, keep_files};
use crate::caller::Caller;
use crate::cmd::answer::{CommandAnswer, written};
use crate::cmd::args::{AgentCommand, Command, CommandGroup, ParsedCommand, TaskCommand, parse};
use crate::cmd::{
    agent, attempt, complete, dashboard, demo, doctor, event, gc, harness, install, intake, log, manual,
    mission, monitor, notify, project, relayed, schedule, setup, step, task, uninstall, usage, workflow,
    workspace,
};
use crate::flow::names::{KnownNames, has_ids};
use crate::flow::written::edit;
use crate::log_file;
use crate::machines::{Compile, CompiledParts, Workflows};
use crate::relay::RelayReply;
use crate::setup::mcp;
use crate::store::Home;
use crate::{Error, ErrorKind, Result};
use orange_api::usage::asks_for_json;
use orange_api::{Refusal, Text, Version};
use orange_system::fault;

/// Runs the generated binary, with the workflows that are compiled in, and with the compiler of custom workflows if it has one.
pub fn main(workflows: Workflows, compile: Option<Compile>) -> ExitCode {
    keep_files();
    let built = CompiledParts { workflows, compile };
    let words = || std::env::args_os().skip(1);
    let cli = match parse(words()) {
        Ok(ParsedCommand::Cli(cli)) => cli,
        Ok(ParsedCommand::Help(text)) => {
            return end(
                built,
                CommandAnswer::of(&Text { text: text.as_str().into() }, text.as_str()),
                asks_for_json(words()),
            );
        }
        Ok(ParsedCommand::Version(text)) => {
            let version = Version { text: text.as_str().into(), json_version: orange_api::VERSION };
            return end(built, CommandAnswer::of(&version, text.as_str()), asks_for_json(words()));
        }
        Err(error) => return fail(&error, asks_for_json(words())),
    };
    if let Ok(home) = Home::from_env() {
        log_file::init(&home);
    }
    let as_json = cli.json;
    let Some(command) = &cli.command else {
        let answer = App::open(built, Caller::from_env()).and_then(|app| dashboard::alone(&app, as_json));
        return end(built, answer, as_json);
    };
    if let Command::Agent(CommandGroup(AgentCommand::Event { hold })) = command {
        event::run(*hold, || App::open(built, Caller::Engine));
        return ExitCode::SUCCESS;
    }
    if let Command::Agent(CommandGroup(AgentCommand::Inside(args))) = command {
        return fail(&agent::inside(args), as_json);
    }
    if command.is_detached() {
        return match become_independent().and_then(|()| run(built, command, as_json)) {
            // A person who calls it in place of the engine reads the answer; the engine itself is not refused.
            Err(error) if error.kind == ErrorKind::NotAllowed => fail(&error, as_json),
            outcome => note(command.component(), &outcome),
        };
    }
    match relayed::asked(command) {
        Some(Ok(RelayReply::Ran { stdout, stderr, status })) => pass_on(&stdout, &stderr, status),
        Some(Ok(RelayReply::Failed(error)) | Err(error)) => fail(&error, as_json),
        None => end(built, run(built, command, as_json).map_err(relayed::explain), as_json),
    }
}

/// Prints the output of a command that was run for this one.
fn pass_on(stdout: &str, stderr: &str, status: u8) -> ExitCode {
    io::stderr().write_all(stderr.as_bytes()).unwrap_or_default();
    let written = io::stdout().write_all(stdout.as_bytes()).and_then(|()| io::stdout().flush());
    match written {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => fail(&unwritten(&cause), false),
        Ok(()) | Err(_) => ExitCode::from(status),
    }
}

fn run(built: CompiledParts, command: &Command, as_json: bool) -> Result<CommandAnswer> {
    let open = || App::open(built, caller(command)?);
    match command {
        Command::Workflow(command) => workflow::run(&open()?, command),
        Command::Harness(command) => harness::run(&open()?, command),
        Command::Install(args) => install::run(&open()?, args),
        Command::Setup(args) => setup::run(&open()?, args, as_json),
        Command::Uninstall(args) => uninstall::run(&open()?, args),
        Command::Demo(args) => {
            let app = open()?;
            demo::run(&app, args, as_json, &|answer| tell(&app, answer, as_json))
        }
        Command::Mcp => Err(mcp::run(&open()?)),
        Command::Completions { shell } => complete::script(*shell),
        Command::Complete { words } => complete::run(open(), words),
        Command::Manual { folder } => manual::run(folder),
        Command::Project(command) => project::run(&open()?, command, as_json),
        Command::Task(command) => {
            let app = asking(open()?.telling(as_json), command)?;
            task::run(&app, command, as_json, &|answer| tell(&app, answer, as_json))
        }
        Command::Mission(command) => {
            let app = open()?.telling(as_json);
            mission::run(&app, command, as_json, &|answer| tell(&app, answer, as_json))
        }
        Command::Attempt(command) => attempt::run(&open()?, command),
        Command::Step(command) => step::run(&open()?, command),
        Command::Ls(args) => task::list(&open()?, args, as_json),
        Command::Workspace(command) => workspace::run(&open()?, command),
        Command::Dashboard(args) => Err(dashboard::run(&open()?, args)),
        Command::Editor { file } => edit(&open()?, file).map(|()| CommandAnswer::text("")),
        Command::Monitor(args) => {
            let app = open()?.by_itself();
            monitor::run(&app, args, |answer| tell(&app, answer, as_json).map(drop))
        }
        Command::Intake(args) => intake::run(&open()?.telling(as_json), args),
        Command::Schedule(args) => schedule::run(&open()?, args),
        Command::Notify(command) => notify::run(&open()?, command),
        Command::Log(args) => log::run(&open()?, args),
        Command::Doctor { wall } => doctor::run(&open()?, *wall),
        Command::Gc(args) => gc::run(&open()?, args),
        Command::Usage(args) => usage::run(&open()?, args),
        Command::Agent(CommandGroup(command @ AgentCommand::Run(_))) => {
            agent::run(&open()?.by_itself(), command)
        }
        Command::Agent(command) => agent::run(&open()?, command),
    }
}

/// The app for a program that asks with a token, if this is one.
fn asking(app: App, command: &TaskCommand) -> Result<App> {
    let TaskCommand::Update(args) = command else { return Ok(app) };
    match &args.as_actor {
        Some(actor) => app.asking_as(actor, args.token_file.as_deref()),
        None => Ok(app),
    }
}

/// The caller: the engine for commands that it starts itself, and that no other caller may use.
fn caller(command: &Command) -> Result<Caller> {
    let caller = Caller::from_env();
    if !command.is_detached() {
        return Ok(caller);
    }
    caller.check_not_agent("this command").map(|()| Caller::Engine)
}

/// Prints a message before the command ends. Returns whether the output is still open.
fn tell(app: &App, answer: &CommandAnswer, as_json: bool) -> Result<bool> {
    if as_json || !has_ids(&answer.text) {
        return print(answer, as_json);
    }
    let text = KnownNames::of(app).in_text(&answer.text).into_owned();
    print(&CommandAnswer { text, ..answer.clone() }, as_json)
}

/// The outcome as people read it: its commands name branches. The values of an answer in JSON stay.
fn named(built: CompiledParts, outcome: Result<CommandAnswer>, as_json: bool) -> Result<CommandAnswer> {
    let is_asked = match &outcome {
        Ok(answer) => !as_json && has_ids(&answer.text),
        Err(error) => has_ids(&error.message) || has_ids(&error.help),
    };
    let app = if is_asked { App::open(built, Caller::from_env()).ok() } else { None };
    let Some(app) = app else { return outcome };
    let names = KnownNames::of(&app);
    match outcome {
        Ok(answer) => Ok(CommandAnswer { text: names.in_text(&answer.text).into_owned(), ..answer }),
        Err(error) => Err(names.in_error(error)),
    }
}

/// Prints a text. Returns whether the output is still open.
fn print(answer: &CommandAnswer, as_json: bool) -> Result<bool> {
    let text = answer.json.as_ref().filter(|_| as_json).unwrap_or(&answer.text);
    let (bytes, end): (&[u8], &[u8]) = match &answer.raw {
        Some(raw) => (raw, b""),
        None if text.is_empty() => return Ok(true),
        None => (text.as_bytes(), b"\n"),
    };
    let mut out = io::stdout().lock();
    fault::step("answer", "success");
    let written = out.write_all(bytes).and_then(|()| out.write_all(end)).and_then(|()| out.flush());
    fault::step("end", "itself");
    match written {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(&cause)),
        Ok(()) => Ok(true),
        Err(_) => Ok(false),
    }
}

fn unwritten(cause: &io::Error) -> Error {
    Error::new(ErrorKind::Environment, format!("cannot write the answer: {cause}"))
        .help("what was asked for is done; free space where the answer is to go, and ask for it again")
}

fn end(built: CompiledParts, outcome: Result<CommandAnswer>, as_json: bool) -> ExitCode {
    match named(built, outcome, as_json).and_then(|answer| print(&answer, as_json).map(|_| answer.wrong)) {
        Ok(wrong) => ExitCode::from(wrong.map_or(0, ErrorKind::exit_status)),
        Err(error) => fail(&error.for_person(), as_json),
    }
}

fn fail(error: &Error, as_json: bool) -> ExitCode {
    let to_stderr = || writeln!(io::stderr(), "error: {error}");
    match written(&Refusal { error: Cow::Borrowed(error) }) {
        // Where the answer cannot be written, its error cannot either.
        Ok(json) if as_json => writeln!(io::stdout(), "{json}").or_else(|_| to_stderr()),
        Ok(_) | Err(_) => to_stderr(),
    }
    // Closed outputs cannot show the error; the exit status still does.
    .unwrap_or_default();
    ExitCode::from(error.kind.exit_status())
}

/// A process in a session of its own writes its messages to `orange.log`.
fn note(component: &str, outcome: &Result<CommandAnswer>) -> ExitCode {
    match outcome {
        Ok(answer) if answer.text.is_empty() => ::log::debug!(target: component, "done"),
        Ok(answer) => ::log::info!(target: component, "{}", answer.text),
        Err(error) => {
            let command: Vec<_> = std::env::args().skip(1).collect();
            let error = error.for_person().one_line();
            ::log::error!(target: component, "`orange {}` failed: {error}", command.join(" "));
        }
    }
    ExitCode::from(outcome.as_ref().map_or_else(|error| error.kind.exit_status(), |_| 0))
}
