//! Commands that an agent in a sandbox has its companion run.

use std::borrow::Cow;

use crate::caller::Caller;
use crate::cmd::args::{
    Command, CommandGroup, CompleteArgs, MissionCommand, ParsedCommand, StepCommand, TaskCommand, parse,
};
use crate::cmd::stdin;
use crate::relay::{RelayReply, SandboxAsker, only_some};
use crate::store::Home;
use crate::{Error, ErrorKind, Result};

/// Passes this command to the companion if an agent in a sandbox calls it and the companion runs such commands.
pub fn asked(command: &Command) -> Option<Result<RelayReply>> {
    if !is_relayed(command) {
        return None;
    }
    with_asker(|asker| asker.ask(words()?, input(command)?))
}

/// Standard input of a command that reads it, which the companion does not have.
fn input(command: &Command) -> Result<String> {
    let (given, what) = if let Command::Task(CommandGroup(TaskCommand::Reply(args))) = command {
        (&args.text, "the answer")
    } else if let Command::Step(command) = command {
        match &command.0 {
            StepCommand::Complete(CompleteArgs { summary, .. }) => (summary, "the report"),
            StepCommand::Fail { reason } => (reason, "the report"),
            StepCommand::Show => return Ok(String::new()),
        }
    } else {
        return Ok(String::new());
    };
    if given == "-" { stdin::or_text(given, what).map(Cow::into_owned) } else { Ok(String::new()) }
}

/// Adds the help for an agent in a sandbox if its sandbox made a command fail.
pub fn explain(error: Error) -> Error {
    let is_confined = error.kind == ErrorKind::Environment && with_asker(|_| ()).is_some();
    if is_confined { only_some(error) } else { error }
}

/// Checks that the companion runs the command with these words.
///
/// # Errors
/// `not_allowed` for any other command; `usage` for words that are not a command.
pub fn check(words: &[String]) -> Result<()> {
    match parse(words.iter().map(Into::into))? {
        ParsedCommand::Cli(cli) if cli.command.as_ref().is_some_and(is_relayed) => Ok(()),
        ParsedCommand::Cli(_) | ParsedCommand::Help(_) | ParsedCommand::Version(_) => {
            Err(only_some(Error::new(
                ErrorKind::NotAllowed,
                format!("an agent in a sandbox may not ask for `orange {}`", words.join(" ")),
            )))
        }
    }
}

fn is_relayed(command: &Command) -> bool {
    matches!(
        command,
        Command::Task(CommandGroup(
            TaskCommand::Update(_)
                | TaskCommand::Complete(_)
                | TaskCommand::Next(_)
                | TaskCommand::Show { .. }
                | TaskCommand::Feedback(_)
                | TaskCommand::Reply(_)
        )) | Command::Step(_)
            | Command::Mission(CommandGroup(MissionCommand::Show(_)))
    )
}

fn with_asker<T>(run: impl FnOnce(&SandboxAsker<'_>) -> T) -> Option<T> {
    let caller = Caller::from_env();
    caller.task()?;
    let (home, folder) = (Home::from_env().ok()?, std::env::current_dir().ok()?);
    SandboxAsker::of(&home, &caller, &folder).map(|asker| run(&asker))
}

/// The words behind `orange`.
fn words() -> Result<Vec<String>> {
    let word = |word: std::ffi::OsString| {
        word.into_string().map_err(|word| {
            Error::new(ErrorKind::Usage, format!("`{}` is not UTF-8", word.to_string_lossy()))
                .help("say it in UTF-8: a request from inside a sandbox is text")
        })
    };
    std::env::args_os().skip(1).map(word).collect()
}
