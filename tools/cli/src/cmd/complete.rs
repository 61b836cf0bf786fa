//! Completion for shells: the candidates for a word, and the scripts that ask for them, which are those of `orange`.

use std::ffi::{OsStr, OsString};

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};
use orange_analysis::catalogue;

use crate::answer::Answer;
use crate::args::Cli;
use crate::output::put;

/// Print the script with which a shell completes commands, options, files and checks.
#[derive(Debug, Args)]
#[command(after_help = "\
For bash, add `source <(orange-workflow completions bash)` to ~/.bashrc; for zsh, the same with `zsh` to ~/.zshrc, below \
the line with `compinit`; for fish, write the script to ~/.config/fish/completions/orange-workflow.fish.

Examples:
  orange-workflow completions bash
  orange-workflow completions fish > ~/.config/fish/completions/orange-workflow.fish")]
pub(crate) struct Completions {
    /// The shell that runs the script
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// A shell that can complete our commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Print the candidates for the next word
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The words behind `orange-workflow` so far, behind `--`; the last is being typed, and may be empty
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
}

/// Kind of a value's names, read from its placeholder in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueNames {
    Checks,
    Files,
}

/// The placeholders of each kind.
const TAGS: [(ValueNames, &[&str]); 2] = [
    (ValueNames::Checks, &["CHECK", "CODE|NAME", "warnings|CHECK"]),
    (ValueNames::Files, &["DIR", "FILE", "NEW", "OLD", "OUT", "PATH", "STATES|FILE"]),
];

/// `orange-workflow completions SHELL`
pub(super) fn script(args: &Completions) -> Answer {
    Answer::text(args.shell.script("orange-workflow"))
}

impl Shell {
    /// The script with which this shell completes the words of `orange` or `orange-workflow`.
    pub fn script(self, program: &str) -> String {
        let script = match self {
            Shell::Bash => include_str!("../../completions/orange.bash"),
            Shell::Zsh => include_str!("../../completions/orange.zsh"),
            Shell::Fish => include_str!("../../completions/orange.fish"),
        };
        let function = format!("_{}", program.replace('-', "_"));
        script.replace("_orange", &function).replace(" orange", &format!(" {program}"))
    }
}

/// `orange-workflow complete -- WORDS`: a candidate a line, with what it means behind a tab; nothing before the tab means files.
pub(super) fn run(args: &Complete) -> Answer {
    let mut out = String::new();
    for (word, about) in candidates(&args.words) {
        put(&mut out, format_args!("{word}\t{}\n", about.lines().next().unwrap_or_default()));
    }
    Answer::text(out)
}

/// The candidates for the last of these words, which may be empty, each with what it means.
fn candidates(words: &[String]) -> Vec<(String, String)> {
    let Some(last) = words.last() else { return Vec::new() };
    let line: Vec<OsString> =
        std::iter::once("orange-workflow").chain(words.iter().map(String::as_str)).map(Into::into).collect();
    let found = complete(&mut asking(Cli::command()), line, words.len(), None).unwrap_or_default();
    let found = found.iter().filter(|it| !it.is_hide_set()).flat_map(|it| match ValueNames::asked_by(it) {
        Some(ValueNames::Files) => vec![(String::new(), "a file or folder".to_owned())],
        Some(ValueNames::Checks) => checks(last),
        None => {
            let about = it.get_help().map(ToString::to_string).unwrap_or_default();
            vec![(it.get_value().to_string_lossy().into_owned(), about)]
        }
    });
    // Options are candidates only for a word that begins with `-`, and files for none but the value of one.
    let is_option = last.starts_with('-');
    let is_value = !is_option || last.contains('=');
    let mut found: Vec<_> = found
        .filter(|(word, _)| if word.is_empty() { is_value } else { is_option || !word.starts_with('-') })
        .collect();
    found.dedup();
    // clap takes `--option=value` for a positional argument, too.
    if is_option && found.iter().any(|(word, _)| !word.is_empty()) {
        found.retain(|(word, _)| !word.is_empty());
    }
    found
}

/// The command with a completer for each value that is a name: it answers with what it is asked for.
fn asking(command: clap::Command) -> clap::Command {
    let marked = command.mut_args(|arg| match ValueNames::of(&arg) {
        Some(names) => arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
            vec![CompletionCandidate::new(typed).tag(Some(names.tag().into()))]
        })),
        None => arg,
    });
    marked.mut_subcommands(asking)
}

/// The checks whose names begin with what is typed, behind an option and behind the commas of a list.
fn checks(typed: &str) -> Vec<(String, String)> {
    let start = typed.rfind(['=', ',']).map_or(0, |at| at + 1);
    let (before, name) = typed.split_at(start);
    let fitting = catalogue::all().iter().filter(|it| it.name.starts_with(name));
    fitting.map(|it| (format!("{before}{}", it.name), catalogue::summary(it).to_owned())).collect()
}

impl ValueNames {
    fn of(arg: &clap::Arg) -> Option<Self> {
        if !arg.get_possible_values().is_empty() {
            return None;
        }
        let placeholder = arg.get_value_names()?.first()?.as_str();
        TAGS.iter().find(|(_, tags)| tags.contains(&placeholder)).map(|it| it.0)
    }

    fn asked_by(candidate: &CompletionCandidate) -> Option<Self> {
        let tag = candidate.get_tag()?.to_string();
        [Self::Checks, Self::Files].into_iter().find(|it| it.tag() == tag)
    }

    fn tag(self) -> &'static str {
        match self {
            Self::Checks => "checks",
            Self::Files => "files",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found: Vec<String> = candidates(&words).into_iter().map(|it| it.0).collect();
        assert_eq!(found.join(" "), expect, "{line:?}");
    }

    #[test]
    fn what_could_follow_is_offered() {
        check("sim", "simulate");
        check("compl", "completions");
        check("check --form", "--format");
        check("check --format j", "json junit");
        check("check --format=sa", "--format=sarif");
        check("check --deny spawn-wh", "spawn-while-alive");
        check("check --deny unused-prompt,spawn-wh", "unused-prompt,spawn-while-alive");
        check("check --deny=spawn-wh", "--deny=spawn-while-alive");
        check("explain spawn-wh", "spawn-while-alive");
        check("completions z", "zsh");
    }

    #[test]
    fn files_are_left_to_the_shell() {
        for line in ["check ", "check ./som", "graph flow.yml -o ", "diff a.yml b", "check --baseline=kn"] {
            check(line, "");
        }
        check("check --unkn", "");
    }

    /// Each placeholder is one that is completed, or one that is known to be free.
    #[test]
    fn every_placeholder_is_known() {
        const FREE: &[&str] = &["EXECUTION", "INTERVENE", "NAME", "STATE", "STEP after ASK", "WORDS"];
        fn look(command: &clap::Command) {
            for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                let placeholder =
                    arg.get_value_names().unwrap_or_default().first().map_or("", |it| it.as_str());
                let is_known = ValueNames::of(arg).is_some()
                    || !arg.get_possible_values().is_empty()
                    || FREE.contains(&placeholder);
                assert!(is_known, "{}: {placeholder}", command.get_name());
            }
            command.get_subcommands().for_each(look);
        }
        look(&Cli::command());
    }
}
