//! Commands that an agent in a sandbox has its companion run.

use std::borrow::Cow;

use crate::caller::Caller;
use crate::cmd::args::{
    AgentCommand, Command, CommandGroup, CompleteArgs, CreateArgs, MissionCommand, MissionName,
    ParsedCommand, StepCommand, TaskCommand, parse,
};
use crate::cmd::stdin;
use crate::relay::{RelayReply, SandboxAsker, only_some};
use crate::store::{Home, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// Passes this command to the companion if an agent in a sandbox calls it and the companion runs such commands. Refuses one that would
/// answer from an empty store, since the agent's wall hides the real one.
pub fn asked(command: &Command) -> Option<Result<RelayReply>> {
    if !is_relayed(command) {
        let is_blind = needs_store(command) && with_asker(|asker| !asker.sees_store).unwrap_or_default();
        return is_blind.then(|| Err(not_relayed(&words()?)));
    }
    with_asker(|asker| asker.ask(words()?, input(command)?))
}

/// The answer of the companion to the event of a hook with this input, if an agent in a wall reports it.
pub fn reported(input: &str) -> Option<Result<RelayReply>> {
    with_asker(|asker| asker.ask(words()?, input.to_owned()))
}

/// Standard input of a command that reads it, which the companion does not have.
fn input(command: &Command) -> Result<String> {
    let (given, what) = if let Command::Task(CommandGroup(TaskCommand::Reply(args))) = command {
        (&args.text, "the answer")
    } else if let Command::Task(CommandGroup(TaskCommand::Verdict(args))) = command {
        (&args.text, "the review")
    } else if let Command::Task(CommandGroup(TaskCommand::Create(CreateArgs {
        context: Some(context),
        ..
    }))) = command
    {
        (context, "the context")
    } else if let Command::Step(command) = command {
        match &command.0 {
            StepCommand::Complete(CompleteArgs { outputs_json: Some(given), .. }) if given == "-" => {
                (given, "the outputs")
            }
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

/// Checks that the companion runs the command with these words, for a walled agent only about its `own` task or mission.
///
/// # Errors
/// `not_allowed` for any other command; `usage` for words that are not a command.
pub fn check(words: &[String], own: Option<&WorkItemDir>) -> Result<()> {
    match parse(words.iter().map(Into::into))? {
        ParsedCommand::Cli(cli) if cli.command.as_ref().is_some_and(is_relayed) => {
            let other = cli.command.as_ref().zip(own).and_then(|(command, own)| other_than(command, &own.id));
            other.map_or(Ok(()), |other| {
                let message =
                    format!("an agent in a wall may ask about its own work only, and not about `{other}`");
                Err(Error::new(ErrorKind::NotAllowed, message)
                    .help("leave out the name, or give the whole id"))
            })
        }
        ParsedCommand::Cli(_) | ParsedCommand::Help(_) | ParsedCommand::Version(_) => Err(not_relayed(words)),
    }
}

fn not_relayed(words: &[String]) -> Error {
    let message = format!("an agent in a sandbox may not ask for `orange {}`", words.join(" "));
    only_some(Error::new(ErrorKind::NotAllowed, message))
}

/// True if the answer is made of what the store has.
fn needs_store(command: &Command) -> bool {
    matches!(
        command,
        Command::Project(_)
            | Command::Task(_)
            | Command::Mission(_)
            | Command::Attempt(_)
            | Command::Workspace(_)
            | Command::Ls(_)
            | Command::Doctor { .. }
            | Command::Usage(_)
    )
}

fn is_relayed(command: &Command) -> bool {
    if let Command::Task(CommandGroup(TaskCommand::Create(args))) = command {
        // Another project, an editor and the forge are a person's.
        return args.project.is_none() && args.issue.is_none() && !args.edit;
    }
    matches!(
        command,
        Command::Task(CommandGroup(
            TaskCommand::Update(_)
                | TaskCommand::Complete(_)
                | TaskCommand::Next(_)
                | TaskCommand::Show { .. }
                | TaskCommand::Feedback(_)
                | TaskCommand::Reply(_)
                | TaskCommand::Verdict(_)
        )) | Command::Step(_)
            | Command::Mission(CommandGroup(MissionCommand::Show(_)))
            | Command::Agent(CommandGroup(AgentCommand::Event { .. }))
    )
}

/// The first name in a command that is not this id.
fn other_than<'c>(command: &'c Command, own: &str) -> Option<&'c str> {
    named(command).into_iter().find(|name| *name != own)
}

/// The tasks and missions that a relayed command names.
fn named(command: &Command) -> Vec<&str> {
    if let Command::Mission(CommandGroup(MissionCommand::Show(MissionName { name }))) = command {
        return name.iter().map(String::as_str).collect();
    }
    let Command::Task(CommandGroup(command)) = command else { return Vec::new() };
    if let TaskCommand::Update(args) = command {
        let filter = args.task.filter.as_ref().map(|_| "--where");
        return args.task.names.iter().map(String::as_str).chain(filter).collect();
    }
    if let TaskCommand::Reply(args) = command {
        return args.task.iter().map(String::as_str).collect();
    }
    if let TaskCommand::Verdict(args) = command {
        return args.task.iter().map(String::as_str).collect();
    }
    let one = if let TaskCommand::Complete(task) | TaskCommand::Next(task) | TaskCommand::Show { task, .. } =
        command
    {
        Some(task)
    } else if let TaskCommand::Feedback(args) = command {
        Some(&args.task)
    } else {
        None
    };
    one.and_then(|task| task.name.as_deref()).into_iter().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Home;

    #[track_caller]
    fn check_words(words: &str, walled: bool, expect: Option<&str>) {
        let own = Home::at("/orange").task("toy", "t1");
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let found = check(&words, walled.then_some(&own));
        assert_eq!(found.err().map(|error| error.message.clone()).as_deref(), expect, "{words:?}");
    }

    #[test]
    fn a_walled_agent_asks_about_its_own_work_only() {
        for words in [
            "task show",
            "task show t1 --all",
            "task next t1",
            "task complete t1",
            "task update t1 --summary x",
            "task feedback t1",
            "task reply x --task t1 --text y",
            "task verdict PASS - --task t1",
            "mission show t1",
            "step show",
            "task create part Do-it --context -",
            "agent event --hold",
        ] {
            check_words(words, true, None);
            check_words(words, false, None);
        }
        let other = "an agent in a wall may ask about its own work only, and not about `t2`";
        for words in [
            "task show t2",
            "task show t2 --all",
            "task next t2",
            "task complete t2",
            "task update t1 t2 --summary x",
            "task feedback t2",
            "task reply x --task t2 --text y",
            "task verdict PASS - --task t2",
            "mission show t2",
        ] {
            check_words(words, true, Some(other));
            check_words(words, false, None);
        }
        let all = "an agent in a wall may ask about its own work only, and not about `--where`";
        check_words("task update --where status=working --summary x", true, Some(all));
    }

    #[test]
    fn lints_know_the_commands_that_are_refused_in_a_wall() {
        let mut known = 0;
        let names = |(group, below): &(&str, &'static [&'static str])| -> Vec<String> {
            let commands = below.iter().map(|name| format!("{group} {name}"));
            if below.is_empty() { vec![(*group).to_owned()] } else { commands.collect() }
        };
        for command in orange_core::COMMANDS.iter().flat_map(names) {
            let arguments =
                ["", " x", " x y", " x --summary y", " x --task t1 --text y", " PASS -", " x --yes"];
            let parsed = arguments.iter().find_map(|arguments| {
                match parse(format!("{command}{arguments}").split(' ').map(Into::into)) {
                    Ok(ParsedCommand::Cli(cli)) => cli.command,
                    Ok(ParsedCommand::Help(_) | ParsedCommand::Version(_)) | Err(_) => None,
                }
            });
            let Some(parsed) = parsed else { continue };
            let is_refused = needs_store(&parsed) && !is_relayed(&parsed);
            assert_eq!(orange_core::is_refused_in_wall(&command), is_refused, "{command}");
            known += 1;
        }
        assert!(known > 60, "{known}");
    }

    #[test]
    fn other_commands_are_refused_in_a_wall_and_in_a_sandbox() {
        for words in [
            "task cancel t1",
            "task merge t1",
            "project token ci",
            "agent ended --task t1 --spawn 1",
            "ls",
            "task create part --project other",
            "task create --issue 7",
            "task create part --edit",
        ] {
            let refusal = format!("an agent in a sandbox may not ask for `orange {words}`");
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let error = check(&words, None).unwrap_err();
            assert!(error.message == refusal || error.kind == ErrorKind::Usage, "{error}");
        }
    }
}
