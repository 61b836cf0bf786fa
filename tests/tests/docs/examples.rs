//! The examples in every `--help` run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::given::{GivenWorld, Setting};
use crate::programs::OurProgram;
use crate::scripts::parse;

/// Rules for running commands; of several beginnings that fit, the longest decides.
const RULES: &[(&str, GivenWorld)] = &[
    (
        "cargo xtask",
        GivenWorld::OnlyParsed("it builds and tests this very workspace; the demo and the builds have tests"),
    ),
    ("git log -1 | orange task create", GivenWorld::Project),
    ("git log -1 | orange mission start", GivenWorld::Project),
    ("git show HEAD:flow.yml | orange-workflow", GivenWorld::Workflows),
    ("orange attempt run", GivenWorld::OnlyParsed("its file is the reader's; attempts have tests")),
    ("orange attempt show", GivenWorld::Mission),
    ("orange harness", GivenWorld::Project),
    ("orange ls", GivenWorld::Working),
    ("orange completions", GivenWorld::Repository),
    ("source <(orange completions bash)", GivenWorld::Repository),
    ("source <(orange-workflow completions bash)", GivenWorld::Repository),
    ("orange intake", GivenWorld::Project),
    ("orange intake --dry-run", GivenWorld::OnlyParsed(LABELS)),
    ("orange intake retry", GivenWorld::OnlyParsed(LABELS)),
    ("orange log", GivenWorld::Died),
    ("orange install", GivenWorld::Repository),
    ("orange schedule", GivenWorld::Project),
    ("orange setup", GivenWorld::Project),
    (
        "orange-workflow lsp",
        GivenWorld::OnlyParsed("it holds a conversation with an editor; the conversations have tests"),
    ),
    ("orange dashboard", GivenWorld::OnlyParsed("it needs a terminal; tests in tmux show it")),
    ("orange mcp", GivenWorld::OnlyParsed("it holds a conversation; the conversations have tests")),
    ("orange demo", GivenWorld::OnlyParsed("it has tests")),
    ("orange doctor", GivenWorld::Working),
    ("orange doctor --wall", GivenWorld::OnlyParsed("a system may have no walls; they have tests")),
    ("orange uninstall", GivenWorld::Project),
    ("orange gc", GivenWorld::Working),
    ("orange usage", GivenWorld::Working),
    ("orange mission answer", GivenWorld::OnlyParsed("a step asks in few missions; its answers have tests")),
    ("orange mission attach", GivenWorld::OnlyParsed("it takes the terminal")),
    ("orange mission cancel", GivenWorld::Mission),
    ("orange mission continue", GivenWorld::PausedMission),
    ("orange mission delete", GivenWorld::CancelledMission),
    ("orange mission list", GivenWorld::Mission),
    ("orange mission logs", GivenWorld::PausedMission),
    ("orange mission pane", GivenWorld::Mission),
    ("orange mission pane login --follow", GivenWorld::OnlyParsed(FOLLOWS)),
    ("orange mission restore", GivenWorld::DeletedMission),
    ("orange mission restore login --backup", GivenWorld::CancelledMission),
    ("orange mission retry", GivenWorld::FailedMission),
    ("orange mission show", GivenWorld::Mission),
    ("orange mission start", GivenWorld::Project),
    (
        "orange mission watch",
        GivenWorld::OnlyParsed("it goes on until it is interrupted, or the mission is over"),
    ),
    ("orange monitor", GivenWorld::OnlyParsed("it looks again and again until it is interrupted")),
    ("orange monitor --once", GivenWorld::Died),
    ("orange notify list", GivenWorld::Repository),
    ("orange notify revoke", GivenWorld::OnlyParsed("it needs a channel; it has tests")),
    ("orange notify test", GivenWorld::OnlyParsed("it needs a channel; it has tests")),
    ("orange project add", GivenWorld::Repository),
    ("orange project list", GivenWorld::Project),
    ("orange project remove", GivenWorld::Project),
    ("orange project revoke", GivenWorld::OnlyParsed(DECLARED)),
    ("orange project show", GivenWorld::Project),
    (
        "orange project trust",
        GivenWorld::OnlyParsed("the repository needs an `orange.toml`; trust has tests"),
    ),
    ("orange project token", GivenWorld::OnlyParsed(DECLARED)),
    ("orange project tokens", GivenWorld::Project),
    ("orange project update", GivenWorld::Project),
    ("orange step", GivenWorld::Step),
    ("orange task answer", GivenWorld::OnlyParsed("an agent has to ask first; answers have tests")),
    ("orange task attach", GivenWorld::OnlyParsed("it takes the terminal")),
    ("orange task budget", GivenWorld::Pending),
    (
        "orange task budget add-login --add",
        GivenWorld::OnlyParsed("the task needs a limit first; budgets have tests"),
    ),
    ("orange task cancel", GivenWorld::Working),
    ("orange task complete", GivenWorld::HandedOff),
    ("orange task create", GivenWorld::Project),
    ("orange task create --issue", GivenWorld::OnlyParsed("it needs an account on GitHub")),
    ("orange task create docs", GivenWorld::Working),
    ("orange task create fix-43 --edit", GivenWorld::OnlyParsed("it opens an editor")),
    ("orange task create-pr", GivenWorld::OnlyParsed("it needs an account on GitHub")),
    ("orange task delete", GivenWorld::Pending),
    ("orange task diff", GivenWorld::Working),
    ("orange task edit", GivenWorld::Pending),
    ("orange task feedback", GivenWorld::OnlyParsed("it needs a pull request; feedback has tests")),
    (
        "orange task verdict",
        GivenWorld::OnlyParsed("only a reviewer that is alive asks; verdicts have tests"),
    ),
    ("orange task reply", GivenWorld::OnlyParsed("it needs a pull request; answers have tests")),
    ("orange task list", GivenWorld::Working),
    ("orange task logs", GivenWorld::Died),
    ("orange task merge", GivenWorld::Reviewing),
    ("orange task migrate add-login --to reviewing --workflow minimal", GivenWorld::Working),
    ("orange task migrate", GivenWorld::Working),
    ("orange task next", GivenWorld::Working),
    ("orange task open", GivenWorld::OnlyParsed("it needs a pull request")),
    ("orange task refresh", GivenWorld::OnlyParsed("it needs an account on GitHub")),
    ("orange task pane", GivenWorld::Working),
    ("orange task pane add-login --follow", GivenWorld::OnlyParsed(FOLLOWS)),
    ("orange task pane add-login --size", GivenWorld::OnlyParsed(FOLLOWS)),
    ("orange task respawn", GivenWorld::Died),
    ("orange task restart", GivenWorld::Working),
    ("orange task restore", GivenWorld::Deleted),
    ("orange task restore add-login --backup", GivenWorld::BackedUp),
    ("orange task send", GivenWorld::OnlyParsed("an agent has to listen first; messages have tests")),
    ("git diff main | orange task send", GivenWorld::OnlyParsed("an agent has to listen first")),
    ("orange task show", GivenWorld::Working),
    ("orange task spawn", GivenWorld::Pending),
    ("orange task stop", GivenWorld::Working),
    ("orange task sync", GivenWorld::Reviewing),
    ("orange task undo", GivenWorld::OnlyParsed("a task has to be cancelled first; undoing has tests")),
    ("orange task update --branch", GivenWorld::Working),
    (
        "orange task update --retry-hooks",
        GivenWorld::OnlyParsed("a hook has to fail first; failed hooks have tests"),
    ),
    ("orange task update --status agent-review", GivenWorld::HandedOff),
    ("orange task update --summary", GivenWorld::Asking),
    ("orange task update add-login --status done", GivenWorld::Reviewing),
    ("orange task update add-login --status working", GivenWorld::Reviewing),
    ("orange task update add-login --status shipped", GivenWorld::OnlyParsed(DECLARED)),
    ("orange task wait", GivenWorld::Reviewing),
    ("orange task wait add-login --status working", GivenWorld::Working),
    ("orange task watch", GivenWorld::OnlyParsed("it goes on until it is interrupted, or the task is over")),
    ("orange workflow", GivenWorld::Repository),
    ("orange workspace", GivenWorld::Project),
    ("orange-fleet", GivenWorld::OnlyParsed("it needs a fleet that runs; the tests of the fleet start one")),
    ("orange-fleet serve --check", GivenWorld::Repository),
    ("orange-fleet token", GivenWorld::Gateway),
    (
        "orange-fleet token revoke",
        GivenWorld::OnlyParsed("a token has to be made first; revocations have tests"),
    ),
    (
        "orange-fleet token new --colony",
        GivenWorld::OnlyParsed("it asks a gateway for the colony; tokens have tests"),
    ),
    ("orange-workflow", GivenWorld::Workflows),
    (
        "orange-workflow prove flow.yml --require",
        GivenWorld::OnlyParsed("its workflow has no asks; claims have tests"),
    ),
    (
        "orange-workflow check workflows/ --watch",
        GivenWorld::OnlyParsed("it goes on until it is interrupted; the watch has tests"),
    ),
];

const FOLLOWS: &str = "it goes on until the agent has ended; it has tests";

const LABELS: &str = "it needs a forge and a label; intake has tests";

const DECLARED: &str = "a workflow has to declare the actor first; tokens have tests";

/// The rule of a command, if there is one.
pub(crate) fn rule(command: &str) -> Option<GivenWorld> {
    let fits = |beginning: &str| {
        command.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let fitting = RULES.iter().filter(|(beginning, _)| fits(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map(|(_, given)| *given)
}

/// A line below "Examples:" in a help text.
#[derive(Debug)]
struct HelpExample {
    /// The command whose help has it.
    of: String,
    text: String,
}

#[test]
fn every_command_has_examples_and_they_run() {
    let commands: Vec<_> =
        [OurProgram::Orange, OurProgram::OrangeWorkflow].map(commands).into_iter().flatten().collect();
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
    commands(OurProgram::Xtask).iter().flat_map(examples).for_each(|example| try_out(&example));
}

#[test]
fn examples_are_no_remarks() {
    let help = "Usage: x\n\nExamples:\n  x a \"b  c\"    (why)\n  x d\n\nExit status: 0\n";
    assert_eq!(lines(help), ["x a \"b  c\"", "x d"]);
}

/// A command with its help text.
struct Command {
    program: OurProgram,
    words: Vec<String>,
    help: String,
}

/// Every command of a program that its help tells of, itself included.
fn commands(program: OurProgram) -> Vec<Command> {
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
fn examples(command: &Command) -> Vec<HelpExample> {
    let of = format!("{} {} --help", command.program.name(), command.words.join(" "));
    let found = lines(&command.help);
    let may_be_without = command.help.contains("\nCommands:\n") || command.program == OurProgram::Xtask;
    assert!(may_be_without || !found.is_empty(), "`{of}` has no examples");
    found.into_iter().map(|text| HelpExample { of: of.clone(), text: text.to_owned() }).collect()
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

fn try_out(example: &HelpExample) {
    let HelpExample { of, text } = example;
    match rule(text) {
        None => panic!("`{of}`: no rule says in what world `{text}` is to run"),
        Some(GivenWorld::OnlyParsed(why)) => parse(of, text, why),
        Some(given) => Setting::new(given).run(&format!("`{of}`: `{text}`"), text),
    }
}
