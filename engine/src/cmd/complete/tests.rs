//! Lines that are being typed, and what could follow.

use super::{Candidate, NameKind, candidate, candidates, task_in};
use crate::cmd::args::Cli;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn some(names: NameKind) -> Vec<Candidate> {
    let words: &[&str] = match names {
        NameKind::Statuses => &["working", "done"],
        NameKind::Tasks => &["add-login", "fix"],
        NameKind::Missions => &["log-in"],
        NameKind::Files => &[""],
        NameKind::Projects | NameKind::Workflows | NameKind::Harnesses => &[],
    };
    words.iter().map(|word| candidate(*word, "")).collect()
}

/// The candidates for a line whose last word is being typed.
#[track_caller]
fn check(line: &str, expect: &str) {
    let found: Vec<_> = candidates(&words(line), some).into_iter().map(|it| it.word).collect();
    assert_eq!(found.join(" "), expect, "{line:?}");
}

#[test]
fn what_could_follow_is_offered() {
    check("mission show ", "log-in");
    check("pro", "project");
    check("task resp", "respawn");
    check("agent", "");
    check("task fin", "");
    check("task update --st", "--status");
    check("task update --status w", "working");
    check("task update --status ", "working done");
    check("task update --status=d", "--status=done");
    check("task update fix --status=", "--status=working --status=done");
    check("task update --status=a", "");
    check("task update fix a", "add-login");
    check("task show a", "add-login");
    check("task show ", "add-login fix");
    check("task show add-login a", "");
    check("task merge --strategy ", "ff merge squash rebase auto");
    check("task sync --with ", "merge rebase");
    check("completions z", "zsh");
    check("usage --by ", "task project day state harness");
    check("intake r", "retry");
    check("task show -- --j", "");
    check("task cancel --bogus add", "add-login");
}

#[test]
fn files_are_left_to_the_shell() {
    let files = |line: &str| candidates(&words(line), some).iter().any(|it| it.word.is_empty());
    assert!(files("project add ./som"));
    assert!(files("project update coffee --path ~/co"));
    assert!(files("project update coffee --path=~/co"));
    assert!(!files("project add --name "));
    assert!(!files("task create bra"));
}

#[test]
fn the_task_of_an_unfinished_line_is_found() {
    let name = |line: &str| task_in(&words(line)).map(|task| task.name);
    assert_eq!(name("task update fix --status "), Some(Some("fix".to_owned())));
    assert_eq!(name("task update --status w"), Some(None));
    assert_eq!(name("task wait fix --status"), Some(Some("fix".to_owned())));
    assert_eq!(name("task list --status w"), None);
}

/// Each placeholder that the help shows is one that is completed, or one that is known to be free.
#[test]
fn every_placeholder_is_known() {
    const FREE: &[&str] = &[
        "-|TEXT",
        "ACTION",
        "ACTOR",
        "ANSWER",
        "BASE[:NUMBER]",
        "[MISSION [STEP]] ANSWER",
        "BRANCH",
        "CHANNEL",
        "COLUMNSxROWS",
        "COMMAND",
        "COMMIT",
        "COUNT",
        "DATE",
        "DAYS",
        "DIGITS",
        "DIR",
        "FILE",
        "FORGE",
        "GROUP",
        "HOW",
        "HOST:PORT",
        "JSON",
        "JSON|-",
        "KEY=VALUE,…",
        "KIND",
        "LEVEL",
        "NETWORK",
        "LIMITS",
        "N",
        "NAME",
        "NAME=VALUE",
        "NUMBER",
        "PLACE",
        "PROMPT",
        "QUEUE",
        "REQUEST",
        "RESULT",
        "SECONDS",
        "SEQ",
        "SETTING",
        "SHELL",
        "STEP",
        "SUMMARY",
        "TARGETS",
        "TEXT",
        "TEXT|-",
        "THREAD",
        "TOKEN",
        "VERDICT",
        "WHEN",
        "WHICH",
        "WORD",
        "WORDS",
        "true|false",
    ];
    fn look(command: &clap::Command) {
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let placeholder = arg.get_value_names().unwrap()[0].as_str();
            let is_known = NameKind::of(arg).is_some() || FREE.contains(&placeholder);
            assert!(is_known, "{}: {placeholder}", command.get_name());
        }
        command.get_subcommands().filter(|below| below.get_name() != "help").for_each(look);
    }
    look(&Cli::whole());
}
