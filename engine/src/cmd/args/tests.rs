//! Lines and what they come to: commands, texts, errors.

use clap::CommandFactory;

use super::{Cli, ParsedCommand, parse};
use orange_api::usage::asks_for_json;

fn words(line: &str) -> Vec<std::ffi::OsString> {
    line.split_whitespace().map(Into::into).collect()
}

/// The command that a line asks for; words are split at spaces.
#[track_caller]
fn check(line: &str, expect: &str) {
    let found = match parse(words(line)) {
        Ok(ParsedCommand::Cli(cli)) => {
            let Cli { json, command } = *cli;
            let command = command.map_or_else(|| "none".to_owned(), |command| format!("{command:?}"));
            format!("{}{command}", if json { "json " } else { "" })
        }
        Ok(ParsedCommand::Help(text) | ParsedCommand::Version(text)) => {
            text.lines().next().unwrap_or_default().to_owned()
        }
        Err(error) => format!("{}: {}", serde_json::json!(error.kind).as_str().unwrap(), error.message),
    };
    assert!(found.contains(expect), "{line}\n found: {found}\nexpect: {expect}");
}

/// The help of what is wrong with a line.
#[track_caller]
fn check_help(line: &str, expect: &str) {
    let error = parse(words(line)).unwrap_err();
    assert!(error.help.contains(expect), "{line}\n found: {}\nexpect: {expect}", error.help);
}

#[test]
fn clap_finds_the_definition_sound() {
    Cli::command().debug_assert();
}

#[test]
fn lines_become_commands() {
    check("project list", "Project(List)");
    check("--json project list", "json Project(List)");
    check("project --json list", "json Project(List)");
    check(
        "task list --status stuck --all",
        r#"List(ListArgs { status: Some("stuck"), project: None, all: true, "#,
    );
    check("task list --status=stuck", r#"status: Some("stuck")"#);
    check("", "none");
    check("--json", "json none");
    check("ls --all", "Ls(ListArgs { status: None, project: None, all: true, ");
    check("list", "Ls(ListArgs");
    check("task ls", "Task(List(ListArgs");
    check("project ls", "Project(List)");
    check("workflow ls", "Workflow(List)");
    check("workspace ls", "Workspace(List { all: false })");
    check("task complete", "Complete(TaskName { name: None })");
    check("task create a b", r#"branch: Some("a"), summary: Some("b")"#);
    check("task create a --no-spawn b", r#"branch: Some("a"), summary: Some("b")"#);
    check("task create a -- --no-spawn", r#"summary: Some("--no-spawn")"#);
    check("task create --context - a", r#"context: Some("-")"#);
    check("task create --context -v a", r#"context: Some("-v")"#);
    check("task update --summary --status", r#"summary: Some("--status")"#);
    check("task create a", r#"harness: None, review_harness: None"#);
    check("task create a --harness pi", r#"harness: Some("pi"), review_harness: None"#);
    check("task merge a --strategy merge", "strategy: Some(Merge)");
    check("task wait a --status b --status c", r#"status: ["b", "c"]"#);
    check("monitor --interval 7", "interval: Some(7)");
    check(
        "agent ended --task t --spawn 1 --code -1 --reason --x",
        r#"code: Some(-1), signal: None, reason: "--x""#,
    );
    check("complete -- task --status=x", r#"words: ["task", "--status=x"]"#);
    check("complete -- task -- --st", r#"words: ["task", "--", "--st"]"#);
}

#[test]
fn an_option_may_go_without_its_value() {
    check("task update", "branch: None");
    check("task update --branch", "branch: Some(None)");
    check("task update --branch x", r#"branch: Some(Some("x"))"#);
    check(
        "task update --branch=x id",
        r#"names: ["id"], filter: None }, status: None, retry_hooks: false, summary: None, branch: Some(Some("x"))"#,
    );
    check(
        "task update --branch --status s",
        r#"status: Some("s"), retry_hooks: false, summary: None, branch: Some(None)"#,
    );
    check(
        "task update --branch -- id",
        r#"names: ["id"], filter: None }, status: None, retry_hooks: false, summary: None, branch: Some(None)"#,
    );
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    check("task", "usage: `orange task` needs a command");
    check("--json workflow", "usage: `orange workflow` needs a command");
    check("tusk", "usage: unrecognized subcommand 'tusk'");
    check("task show a b", "usage: unexpected argument 'b' found");
    check("task create fix the login form", "usage: unexpected argument 'login' found");
    check("task create --bogus", "usage: unexpected argument '--bogus' found");
    check("task create -x", "usage: unexpected argument '-x' found");
    check("task update --status", "usage: a value is required for '--status <STATUS>'");
    check("task update --status --json", "usage: a value is required for '--status <STATUS>'");
    check("task cancel --yes=1", "usage: unexpected value '1' for '--yes'");
    check(
        "task list --status a --status b",
        "usage: the argument '--status <STATUS>' cannot be used multiple times",
    );
    check("project remove", "usage: the following required arguments were not provided: <PROJECT>");
    check("task wait a", "usage: the following required arguments were not provided: --status <STATUS>");
    check("project add --pool-size 0", "usage: invalid value '0' for '--pool-size <N>'");
    check("project add --pool-size x", "usage: invalid value 'x' for '--pool-size <N>'");
    check("task merge --strategy fastest", "usage: invalid value 'fastest' for '--strategy <HOW>'");
    check("task --version", "usage: unexpected argument '--version' found");
}

#[test]
fn the_help_of_an_error_says_what_to_write() {
    check_help("task", "it has: create, list, ");
    check_help("tusk", "a similar subcommand exists: 'task'");
    check_help("task update --stat x", "a similar argument exists: '--status'");
    check_help("task create -v", "to pass '-v' as a value, use '-- -v'");
    check_help("task merge --strategy merg", "a similar value exists: 'merge'");
    check_help("project remove", "Usage: orange project remove <PROJECT>");
    check_help("task update --status", "try '--help'");
}

#[test]
fn help_and_version_come_first() {
    check("--help", "Drives the tasks");
    check("-h", "Drives the tasks");
    check("help task update", "Change a task's status");
    check("help --json task update", "Change a task's status");
    check("help task update --help", "Change a task's status");
    check("--help help", "Drives the tasks");
    check("task help update", "Change a task's status");
    check("help", "Drives the tasks");
    check("task update --help --bogus", "Change a task's status");
    check("project remove --help", "Forget one");
    check("--version", concat!("orange ", env!("CARGO_PKG_VERSION")));
    check("-V", "orange ");
    check("task create -- --help", r#"branch: Some("--help")"#);
}

#[test]
fn an_answer_is_json_even_if_the_line_makes_no_sense() {
    assert!(asks_for_json(words("tusk --json")));
    assert!(!asks_for_json(words("task create a -- --json")));
}

#[test]
fn words_have_to_be_utf8() {
    use std::os::unix::ffi::OsStringExt;
    for line in ["task show", "project add", "task create x --context"] {
        let word = std::ffi::OsString::from_vec(b"\xff".to_vec());
        let error = parse(words(line).into_iter().chain([word])).unwrap_err();
        assert_eq!(error.kind, crate::ErrorKind::Usage);
        assert!(error.help.contains("UTF-8"), "{error}");
    }
}

/// The commands of a group, without the one that clap adds.
fn ours(group: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    group.get_subcommands().filter(|below| below.get_name() != "help")
}

/// Every command and group that is shown, as it is called.
fn shown(command: &clap::Command, path: &str, look: &mut impl FnMut(&clap::Command, &str)) {
    look(command, path);
    for below in ours(command).filter(|below| !below.is_hide_set()) {
        shown(below, &format!("{path} {}", below.get_name()), look);
    }
}

/// The definition of what is in a group takes most of the time of a start.
#[test]
fn a_group_is_defined_when_it_is_called() {
    let (start, whole) = (Cli::command(), Cli::whole());
    let groups = whole.get_subcommands().filter(|it| it.has_subcommands() && it.get_name() != "help");
    for group in groups {
        let known = start.find_subcommand(group.get_name()).unwrap();
        assert!(!known.has_subcommands(), "{}", group.get_name());
        let helps = [group, known].map(|it| it.get_about().map(ToString::to_string));
        assert_eq!(helps[0], helps[1], "{}", group.get_name());
    }
}

#[test]
fn every_help_says_what_it_is_for_and_has_examples() {
    shown(&Cli::whole(), "orange", &mut |command, path| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && !about.contains('\n'), "{path}: {about:?}");
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let is_group = command.has_subcommands();
        assert!(is_group || after.contains("Example"), "{path}: no examples");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some() && arg.get_long_help().is_none(), "{path}: {}", arg.get_id());
        }
    });
}

/// The names of these commands that help shows.
fn names(command: &clap::Command) -> Vec<&str> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let mut names: Vec<&str> =
        below.flat_map(|below| [below.get_name()].into_iter().chain(below.get_visible_aliases())).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_core_knows_every_command() {
    let all = Cli::whole();
    let known: Vec<&str> = orange_core::COMMANDS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, names(&all));
    for (name, below) in orange_core::COMMANDS {
        let command = ours(&all).find(|it| it.get_all_aliases().chain([it.get_name()]).any(|it| it == *name));
        assert_eq!(command.map(names).unwrap_or_default(), *below, "{name}");
    }
}

#[test]
fn the_core_knows_every_option() {
    let all = Cli::whole();
    for (name, below) in orange_core::COMMANDS {
        let has_name = |it: &&clap::Command, name: &str| {
            it.get_all_aliases().chain([it.get_name()]).any(|it| it == name)
        };
        let Some(command) = all.get_subcommands().find(|it| has_name(it, name)) else { continue };
        check_options(command, name);
        for below in below.iter().filter(|it| **it != "help") {
            let found = command.get_subcommands().find(|it| has_name(it, below));
            check_options(found.unwrap(), &format!("{name} {below}"));
        }
    }
}

#[track_caller]
fn check_options(command: &clap::Command, path: &str) {
    let shown = command.get_arguments().filter(|it| !it.is_hide_set());
    let own = shown.filter_map(|it| it.get_long()).filter(|it| !["help", "json"].contains(it));
    let mut own: Vec<&str> = own.collect();
    own.sort_unstable();
    let known: Vec<&str> = orange_core::options(path).filter(|it| !["help", "json"].contains(it)).collect();
    assert_eq!(known, own, "{path}");
}

/// Whatever is wrong with a line, the error says so and what to do.
#[test]
fn every_wrong_line_says_what_would_be_right() {
    shown(&Cli::whole(), "", &mut |command, path| {
        let valued = command.get_arguments().filter(|arg| {
            arg.get_action().takes_values() && !arg.is_positional() && arg.get_num_args().is_none()
        });
        let mut wrong: Vec<_> = valued.map(|arg| format!("--{}", arg.get_long().unwrap())).collect();
        wrong.extend(["--wrong", "--json=yes"].map(str::to_owned));
        if command.get_subcommands().next().is_some() {
            wrong.push("wrong".to_owned());
            wrong.extend((!path.is_empty()).then(|| ["", "--json"].map(str::to_owned)).into_iter().flatten());
        }
        for line in wrong {
            let error = parse(words(&format!("{path} {line}"))).unwrap_err();
            assert!(
                error.message.contains(['\'', '`']) && !error.help.is_empty(),
                "orange {path} {line}: {error}"
            );
        }
    });
}

#[test]
fn the_words_of_a_summary_are_quoted() {
    check_help("task create fix the login form", "quote the summary: ");
    for line in ["task create fix login --bogus", "task show a b"] {
        assert!(!parse(words(line)).unwrap_err().help.contains("quote"), "{line}");
    }
}

#[test]
fn help_is_printed_before_and_behind_a_command() {
    let text = |line: &str| match parse(words(line)) {
        Ok(ParsedCommand::Help(text)) => text,
        other => panic!("{line}: {other:?}"),
    };
    let create = text("task create --help");
    for line in ["help task create", "task help create", "task create -h"] {
        assert_eq!(text(line), create, "{line}");
    }
    assert_eq!(text("help task"), text("task help"));
}
