//! The examples in every `--help` run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::given::{Given, Setting};
use crate::programs::Program;
use crate::scripts::parse;

/// Rules for running commands; of several beginnings that fit, the longest decides.
const RULES: &[(&str, Given)] = &[
    (
        "cargo xtask",
        Given::OnlyParsed("it builds and tests this very workspace; the demo and the builds have tests"),
    ),
    ("git log -1 | orange task create", Given::Project),
    ("git log -1 | orange mission start", Given::Project),
    ("git show HEAD:flow.yml | orange-workflow", Given::Workflows),
    ("orange attempt run", Given::Project),
    ("orange attempt show", Given::Mission),
    ("orange harness", Given::Project),
    ("orange ls", Given::Working),
    ("orange completions", Given::Repository),
    ("source <(orange completions bash)", Given::Repository),
    ("source <(orange-workflow completions bash)", Given::Repository),
    ("orange log", Given::Died),
    ("orange install", Given::Repository),
    ("orange setup", Given::Project),
    ("orange dashboard", Given::OnlyParsed("it needs a terminal; tests in tmux show it")),
    ("orange mcp", Given::OnlyParsed("it holds a conversation; the conversations have tests")),
    ("orange doctor", Given::Working),
    ("orange gc", Given::Working),
    ("orange mission attach", Given::OnlyParsed("it takes the terminal")),
    ("orange mission cancel", Given::Mission),
    ("orange mission continue", Given::PausedMission),
    ("orange mission delete", Given::CancelledMission),
    ("orange mission list", Given::Mission),
    ("orange mission logs", Given::PausedMission),
    ("orange mission pane", Given::Mission),
    ("orange mission pane login --follow", Given::OnlyParsed(FOLLOWS)),
    ("orange mission restore", Given::DeletedMission),
    ("orange mission restore login --backup", Given::CancelledMission),
    ("orange mission retry", Given::FailedMission),
    ("orange mission show", Given::Mission),
    ("orange mission start", Given::Project),
    ("orange mission watch", Given::OnlyParsed("it goes on until it is interrupted, or the mission is over")),
    ("orange monitor", Given::OnlyParsed("it looks again and again until it is interrupted")),
    ("orange monitor --once", Given::Died),
    ("orange notify list", Given::Repository),
    ("orange notify test", Given::OnlyParsed("it needs a channel; it has tests")),
    ("orange project add", Given::Repository),
    ("orange project list", Given::Project),
    ("orange project remove", Given::Project),
    ("orange project revoke", Given::OnlyParsed(DECLARED)),
    ("orange project show", Given::Project),
    ("orange project trust", Given::OnlyParsed("the repository needs an `orange.toml`; trust has tests")),
    ("orange project token", Given::OnlyParsed(DECLARED)),
    ("orange project tokens", Given::Project),
    ("orange project update", Given::Project),
    ("orange step", Given::Step),
    ("orange task answer", Given::OnlyParsed("an agent has to ask first; answers have tests")),
    ("orange task attach", Given::OnlyParsed("it takes the terminal")),
    ("orange task cancel", Given::Working),
    ("orange task complete", Given::HandedOff),
    ("orange task create", Given::Project),
    ("orange task create --issue", Given::OnlyParsed("it needs an account on GitHub")),
    ("orange task create docs", Given::Working),
    ("orange task create fix-43 --edit", Given::OnlyParsed("it opens an editor")),
    ("orange task create-pr", Given::OnlyParsed("it needs an account on GitHub")),
    ("orange task delete", Given::Pending),
    ("orange task diff", Given::Working),
    ("orange task edit", Given::Pending),
    ("orange task list", Given::Working),
    ("orange task logs", Given::Died),
    ("orange task merge", Given::Reviewing),
    ("orange task migrate add-login --to reviewing --workflow minimal", Given::Working),
    ("orange task migrate", Given::Working),
    ("orange task next", Given::Working),
    ("orange task open", Given::OnlyParsed("it needs a pull request")),
    ("orange task refresh", Given::OnlyParsed("it needs an account on GitHub")),
    ("orange task pane", Given::Working),
    ("orange task pane add-login --follow", Given::OnlyParsed(FOLLOWS)),
    ("orange task pane add-login --size", Given::OnlyParsed(FOLLOWS)),
    ("orange task respawn", Given::Died),
    ("orange task restart", Given::Working),
    ("orange task restore", Given::Deleted),
    ("orange task restore add-login --backup", Given::BackedUp),
    ("orange task send", Given::OnlyParsed("an agent has to listen first; messages have tests")),
    ("git diff main | orange task send", Given::OnlyParsed("an agent has to listen first")),
    ("orange task show", Given::Working),
    ("orange task spawn", Given::Pending),
    ("orange task stop", Given::Working),
    ("orange task undo", Given::OnlyParsed("a task has to be cancelled first; undoing has tests")),
    ("orange task update --branch", Given::Working),
    (
        "orange task update --retry-hooks",
        Given::OnlyParsed("a hook has to fail first; failed hooks have tests"),
    ),
    ("orange task update --status agent-review", Given::HandedOff),
    ("orange task update --summary", Given::Asking),
    ("orange task update add-login --status done", Given::Reviewing),
    ("orange task update add-login --status working", Given::Reviewing),
    ("orange task update add-login --status shipped", Given::OnlyParsed(DECLARED)),
    ("orange task wait", Given::Reviewing),
    ("orange task wait add-login --status working", Given::Working),
    ("orange task watch", Given::OnlyParsed("it goes on until it is interrupted, or the task is over")),
    ("orange workflow", Given::Repository),
    ("orange workspace", Given::Project),
    ("orange-fleet", Given::OnlyParsed("it needs a fleet that runs; the tests of the fleet start one")),
    ("orange-fleet serve --check", Given::Repository),
    ("orange-fleet token", Given::Gateway),
    ("orange-fleet token revoke", Given::OnlyParsed("a token has to be made first; revocations have tests")),
    (
        "orange-fleet token new --colony",
        Given::OnlyParsed("it asks a gateway for the colony; tokens have tests"),
    ),
    ("orange-workflow", Given::Workflows),
    (
        "orange-workflow check workflows/ --watch",
        Given::OnlyParsed("it goes on until it is interrupted; the watch has tests"),
    ),
];

const FOLLOWS: &str = "it goes on until the agent has ended; it has tests";

const DECLARED: &str = "a workflow has to declare the actor first; tokens have tests";

/// The rule of a command, if there is one.
pub(crate) fn rule(command: &str) -> Option<Given> {
    let fits = |beginning: &str| {
        command.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let fitting = RULES.iter().filter(|(beginning, _)| fits(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map(|(_, given)| *given)
}

/// A line below "Examples:" in a help text.
#[derive(Debug)]
struct Example {
    /// The command whose help has it.
    of: String,
    text: String,
}

#[test]
fn every_command_has_examples_and_they_run() {
    let commands: Vec<_> =
        [Program::Orange, Program::OrangeWorkflow].map(commands).into_iter().flatten().collect();
    assert!(commands.len() > 25, "only {} commands were found", commands.len());
    let examples: Vec<_> = commands.iter().flat_map(examples).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(example) = examples.get(next.fetch_add(1, Ordering::Relaxed)) {
                    try_out(example);
                }
            });
        }
    });
}

#[test]
fn the_examples_of_xtask_are_understood() {
    commands(Program::Xtask).iter().flat_map(examples).for_each(|example| try_out(&example));
}

#[test]
fn examples_are_no_remarks() {
    let help = "Usage: x\n\nExamples:\n  x a \"b  c\"    (why)\n  x d\n\nExit status: 0\n";
    assert_eq!(lines(help), ["x a \"b  c\"", "x d"]);
}

/// A command with its help text.
struct Command {
    program: Program,
    words: Vec<String>,
    help: String,
}

/// Every command of a program that its help tells of, itself included.
fn commands(program: Program) -> Vec<Command> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(words) = open.pop() {
        let help = program.help(&words).unwrap();
        let below =
            help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = below.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let names = names.filter(|name| !name.is_empty() && *name != "help");
        open.extend(names.map(|name| [&words[..], &[name.to_owned()]].concat()));
        found.push(Command { program, words, help });
    }
    found
}

/// The examples of a command. One that has commands below it may leave them to those.
fn examples(command: &Command) -> Vec<Example> {
    let of = format!("{} {} --help", command.program.name(), command.words.join(" "));
    let found = lines(&command.help);
    let may_be_without = command.help.contains("\nCommands:\n") || command.program == Program::Xtask;
    assert!(may_be_without || !found.is_empty(), "`{of}` has no examples");
    found.into_iter().map(|text| Example { of: of.clone(), text: text.to_owned() }).collect()
}

/// The lines below "Examples:", without the remarks behind them, which two spaces set apart.
fn lines(help: &str) -> Vec<&str> {
    let below = help.lines().skip_while(|line| !["Example:", "Examples:"].contains(line)).skip(1);
    below.map_while(|line| line.strip_prefix("  ")).map(without_remark).collect()
}

fn without_remark(line: &str) -> &str {
    let is_outside = |at: &usize| line[..*at].matches('"').count().is_multiple_of(2);
    let end = line.match_indices("  ").map(|(at, _)| at).find(is_outside);
    &line[..end.unwrap_or(line.len())]
}

fn try_out(example: &Example) {
    let Example { of, text } = example;
    match rule(text) {
        None => panic!("`{of}`: no rule says in what world `{text}` is to run"),
        Some(Given::OnlyParsed(why)) => parse(of, text, why),
        Some(given) => Setting::new(given).run(&format!("`{of}`: `{text}`"), text),
    }
}
