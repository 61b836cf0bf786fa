//! Turns words into a command, or into an error.

use std::ffi::OsString;

use clap::{Parser, error};

use orange_api::usage;

use super::Cli;
use crate::{Error, ErrorKind, Result};
use orange_system::clock;

/// The request of a command line.
#[derive(Debug)]
pub enum ParsedCommand {
    /// A command.
    Cli(Box<Cli>),
    /// Its help.
    Help(String),
    /// The version.
    Version(String),
}

/// Reads the words behind the program's name.
///
/// # Errors
/// `usage` for words that no command takes, with a correction.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<ParsedCommand> {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| word.into_string().map_err(|word| not_text(&word)))
        .collect::<Result<_>>()?;
    let words = helping(words);
    match Cli::try_parse_from(std::iter::once("orange").chain(words.iter().map(String::as_str))) {
        Ok(cli) => Ok(ParsedCommand::Cli(Box::new(cli))),
        Err(error) if error.kind() == error::ErrorKind::DisplayHelp => Ok(ParsedCommand::Help(text(&error))),
        Err(error) if error.kind() == error::ErrorKind::DisplayVersion => {
            Ok(ParsedCommand::Version(text(&error)))
        }
        Err(error) if error.kind() == error::ErrorKind::MissingSubcommand => Err(incomplete(&words)),
        Err(error) if error.kind() == error::ErrorKind::UnknownArgument && is_unquoted(&words) => {
            let error = usage::error(&error.to_string());
            let help = format!("quote the summary: `orange task create BRANCH \"…\"`\n{}", error.help);
            Err(error.help(help))
        }
        Err(error) => Err(usage::error(&error.to_string())),
    }
}

/// A day such as `2026-11-21`.
///
/// # Errors
/// The form of a day.
pub fn day(text: &str) -> std::result::Result<String, String> {
    let is_day = text.len() == 10 && clock::parse(&format!("{text}T00:00:00Z")).is_some();
    if is_day { Ok(text.to_owned()) } else { Err("a day is written as 2026-11-21".to_owned()) }
}

fn text(error: &clap::Error) -> String {
    error.to_string().trim_end().to_owned()
}

/// True if these words create a task and have more behind its branch than one summary.
fn is_unquoted(words: &[String]) -> bool {
    let plain: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    matches!(plain[..], ["task", "create", _, _, _, ..])
}

/// `help` ignores the options that every command has, since clap gives it none.
fn helping(mut words: Vec<String>) -> Vec<String> {
    let is_option = |word: &String| ["--json", "--help", "-h"].contains(&word.as_str());
    if words.iter().find(|word| !is_option(word)).is_some_and(|word| word == "help") {
        words.retain(|word| !is_option(word));
    }
    words
}

/// The error of a group without a command: its commands, without those that `orange` calls itself.
fn incomplete(words: &[String]) -> Error {
    let root = Cli::whole();
    let (mut group, mut path) = (&root, "orange".to_owned());
    for word in words {
        if let Some(below) = group.find_subcommand(word) {
            group = below;
            path = format!("{path} {word}");
        }
    }
    let shown: Vec<_> = group
        .get_subcommands()
        .filter(|it| !it.is_hide_set() && it.get_name() != "help")
        .map(clap::Command::get_name)
        .collect();
    Error::new(ErrorKind::Usage, format!("`{path}` needs a command"))
        .help(format!("it has: {}; `{path} --help` tells more", shown.join(", ")))
}

fn not_text(word: &OsString) -> Error {
    Error::new(ErrorKind::Usage, format!("an argument is not UTF-8: {word:?}"))
        .help("give it as UTF-8; a file of such a name needs another one")
}
