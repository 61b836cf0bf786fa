//! Lines and what they come to: commands, errors, candidates, pages.

use super::complete::{self, Candidate, candidates};
use super::parse::{Line, Parsed, asks_for_json, parse};
use super::{Arg, Does, Shape, Spec, Takes, man};
use crate::cmd::args::{Cli, ORANGE};
use crate::store::suggest;

fn words(line: &str) -> Vec<std::ffi::OsString> {
    line.split_whitespace().map(Into::into).collect()
}

/// The command that a line asks for; words are split at spaces.
#[track_caller]
fn check(line: &str, expect: &str) {
    let found = match parse(&ORANGE, words(line)) {
        Ok(Parsed::Cli(Cli { json, command })) => format!("{}{command:?}", if json { "json " } else { "" }),
        Ok(Parsed::Text(text)) => text.lines().next().unwrap_or_default().to_owned(),
        Err(error) => format!("{}: {}", error.kind.code(), error.message),
    };
    assert!(found.contains(expect), "{line}\n found: {found}\nexpect: {expect}");
}

/// The help of what is wrong with a line.
#[track_caller]
fn check_help(line: &str, expect: &str) {
    let error = parse(&ORANGE, words(line)).unwrap_err();
    assert!(error.help.contains(expect), "{line}\n found: {}\nexpect: {expect}", error.help);
}

#[test]
fn lines_become_commands() {
    check("project list", "Project(List)");
    check("--json project list", "json Project(List)");
    check("project --json list", "json Project(List)");
    check("task list --status stuck --all", r#"List { status: Some("stuck"), project: None, all: true }"#);
    check("task list --status=stuck", r#"status: Some("stuck")"#);
    check("task create a b", r#"branch: Some("a"), summary: Some("b")"#);
    check("task create a --no-spawn b", r#"branch: Some("a"), summary: Some("b")"#);
    check("task create a -- --no-spawn", r#"summary: Some("--no-spawn")"#);
    check("task create --context - a", r#"context: Some("-")"#);
    check("task create --context -v a", r#"context: Some("-v")"#);
    check("task create a", r#"harness: "claude", review_harness: "claude""#);
    check("task create a --harness pi", r#"harness: "pi", review_harness: "claude""#);
    check("monitor --interval 7", "interval: Some(7)");
    check(
        "agent ended --task t --spawn 1 --code -1 --reason --x",
        r#"code: Some(-1), signal: None, reason: "--x""#,
    );
    check("complete -- task --status=x", r#"words: ["task", "--status=x"]"#);
}

/// Every command and group, as it is called.
fn all(spec: &'static Spec, path: &str) -> Vec<(String, &'static Spec)> {
    let below = |one: &'static Spec| all(one, format!("{path} {}", one.name).trim_start());
    let mut found = vec![(path.to_owned(), spec)];
    found.extend(spec.commands().iter().flat_map(below));
    found
}

#[test]
fn every_wrong_line_says_what_would_be_right() {
    for (path, spec) in all(&ORANGE, "") {
        let told = |more: &str| parse(&ORANGE, words(&format!("{path} {more}")));
        let Ok(Parsed::Text(page)) = told("--help") else { panic!("{path}") };
        assert!(page.contains("\n\nUsage: orange") && page.starts_with(spec.about), "{page}");
        let mut wrong = vec!["--wrong".to_owned(), "--json=yes".to_owned()];
        match spec.does {
            Does::Group(_) => wrong.extend(["", "wrong", "--json"].map(str::to_owned)),
            Does::Command(_) => {
                let is_full = !spec.words().any(|arg| arg.many);
                wrong.extend(is_full.then(|| "bash ".repeat(spec.words().count() + 1)));
                let valued = spec.args.iter().filter(|arg| matches!(arg.shape, Shape::Option(_)));
                wrong.extend(valued.map(|arg| format!("--{}", arg.name)));
                wrong.extend(spec.args.iter().any(|arg| arg.required).then(String::new));
            }
        }
        for line in wrong {
            let error = told(&line).unwrap_err();
            assert!(error.message.contains('`') && error.message.len() > 12, "orange {path} {line}: {error}");
            assert!(!error.help.is_empty() && !error.help.contains(": ;"), "orange {path} {line}: {error}");
        }
    }
}

#[test]
fn an_option_may_go_without_its_value() {
    check("task update", "branch: None");
    check("task update --branch", "branch: Some(None)");
    check("task update --branch x", r#"branch: Some(Some("x"))"#);
    check(
        "task update --branch=x id",
        r#"name: Some("id") }, status: None, summary: None, branch: Some(Some("x"))"#,
    );
    check("task update --branch --status s", r#"status: Some("s"), summary: None, branch: Some(None)"#);
    check(
        "task update --branch -- id",
        r#"name: Some("id") }, status: None, summary: None, branch: Some(None)"#,
    );
}

#[test]
fn what_makes_no_sense_is_said() {
    check("", "usage: `orange` needs a command");
    check("task", "usage: `orange task` needs a command");
    check("tusk", "usage: `orange` has no command `tusk`");
    check("task show a b", "usage: `orange task show` does not know what to do with `b`");
    check("task create --bogus", "usage: `orange task create` has no option `--bogus`");
    check("task create -x", "usage: `orange task create` has no option `-x`");
    check("task update --status", "usage: `--status` needs a value");
    check("task update --status --json", "usage: `--status` needs a value");
    check("task cancel --yes=1", "usage: `--yes` takes no value");
    check("task list --status a --status b", "usage: `--status` was given twice");
    check("project remove", "usage: `orange project remove` needs NAME");
    check("agent run --task t", "usage: `orange agent run` needs --spawn N");
    check("project add --pool-size 0", "usage: `--pool-size` cannot be `0`");
    check("project add --pool-size x", "usage: `--pool-size` cannot be `x`");
    check("task merge --strategy fastest", "usage: `--strategy` cannot be `fastest`");
    check("version --version", "usage: `orange` has no command `version`");
    check("task --version", "usage: `orange task` has no option `--version`");
}

#[test]
fn the_help_of_an_error_says_what_to_write() {
    check_help("tusk", "did you mean `task`?");
    check_help("xyz", "it has: project, task, ");
    check_help("task update --stat x", "did you mean `--status`?");
    check_help("task create -v", "a text that begins with `-` goes behind `--`");
    check_help("task update --status", "write --status S");
    check_help("project add --pool-size 0", "give a number from 1 to 1000");
    check_help("task merge --strategy merg", "did you mean `merge`?");
    check_help("project remove", "orange project remove [OPTIONS] NAME");
}

#[test]
fn help_and_version_come_first() {
    check("--help", "Drives the tasks");
    check("-h", "Drives the tasks");
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
    let word = std::ffi::OsString::from_vec(b"\xff".to_vec());
    let error = parse(&ORANGE, ["task".into(), "show".into(), word]).unwrap_err();
    assert_eq!(error.kind, crate::Kind::Usage);
}

fn each(spec: &'static Spec, path: &str, look: &mut impl FnMut(&'static Spec, &str)) {
    look(spec, path);
    for below in spec.commands() {
        each(below, &format!("{path} {}", below.name), look);
    }
}

#[test]
fn the_table_is_in_order() {
    each(&ORANGE, "orange", &mut |spec, path| {
        let mut names: Vec<_> = spec.words().chain(spec.options()).map(|arg| arg.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{path}: two arguments with one name");
        for text in spec.args.iter().map(|arg| arg.help).chain([spec.about]) {
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{path}: {text:?}");
        }
        let required: Vec<_> = spec.words().map(|arg| arg.required).collect();
        assert!(
            required.is_sorted_by(|one, next| one >= next),
            "{path}: a word that is needed behind one that is not"
        );
        let last_many = spec.words().position(|arg| arg.many).unwrap_or(usize::MAX);
        assert!(last_many >= spec.words().count().saturating_sub(1), "{path}: no word can follow many");
        for arg in spec.args.iter().filter(|arg| !arg.default.is_empty()) {
            assert!(
                matches!(arg.shape, Shape::Option(_)) && !arg.required,
                "{path}: {} cannot have a default",
                arg.name
            );
        }
        let is_shown = !path.contains("agent") && !spec.hidden;
        assert!(!is_shown || !spec.commands().is_empty() || !spec.examples.is_empty(), "{path}: no examples");
    });
}

/// A value that an argument takes and that is not its default.
fn sample(arg: &Arg) -> String {
    match arg.takes {
        Takes::Number(from, _) => from.max(7).to_string(),
        Takes::OneOf(words) => words.iter().rfind(|word| **word != arg.default).unwrap().to_string(),
        Takes::Text | Takes::Name | Takes::Path => "sample".to_owned(),
        Takes::Task | Takes::Status | Takes::Project | Takes::Workflow | Takes::Harness => {
            "sample".to_owned()
        }
    }
}

/// The command with what it needs and, of the rest, this argument.
fn with(spec: &'static Spec, given: Option<&Arg>) -> String {
    let mut line = Line::begin(spec);
    let is_given = |arg: &&Arg| arg.required || given.is_some_and(|given| given.name == arg.name);
    for arg in spec.args.iter().filter(|arg| !arg.is_option()) {
        if !is_given(&arg) {
            break;
        }
        line.push(&sample(arg)).unwrap();
    }
    for arg in spec.args.iter().filter(|arg| arg.is_option()).filter(is_given) {
        let value = if arg.shape == Shape::Flag { String::new() } else { format!("={}", sample(arg)) };
        line.push(&format!("--{}{value}", arg.name)).unwrap();
    }
    format!("{:?}", line.end().unwrap().command)
}

#[test]
fn every_argument_reaches_its_command() {
    each(&ORANGE, "orange", &mut |spec, path| {
        let Does::Command(_) = spec.does else { return };
        let bare = with(spec, None);
        let is_optional = |arg: &&Arg| arg.is_option() && !arg.required;
        for arg in spec.args.iter().filter(is_optional) {
            assert_ne!(with(spec, Some(arg)), bare, "{path}: --{} changes nothing", arg.name);
        }
        let words = spec.words().filter(|arg| arg.required).count();
        if let Some(arg) = spec.words().nth(words) {
            assert_ne!(with(spec, Some(arg)), bare, "{path}: {} changes nothing", arg.name);
        }
        for arg in spec.args.iter().filter(|arg| arg.required) {
            assert!(bare.contains(&sample(arg)), "{path}: {} is lost", arg.name);
        }
    });
}

/// The candidates for a line whose last word is being typed.
#[track_caller]
fn check_next(line: &str, expect: &str) {
    let line: Vec<_> = line.split(' ').map(str::to_owned).collect();
    let names = |takes: Takes, _: &Line| {
        let names: &[&str] = match takes {
            Takes::Status => &["working", "done"],
            Takes::Task => &["add-login", "fix"],
            Takes::Text | Takes::Name | Takes::Path | Takes::Number(..) | Takes::OneOf(_) => &[],
            Takes::Project | Takes::Workflow | Takes::Harness => &[],
        };
        names.iter().map(|name| Candidate::new(*name, "")).collect()
    };
    let found: Vec<_> = candidates(&ORANGE, &line, names).into_iter().map(|it| it.word).collect();
    assert_eq!(found.join(" "), expect, "{line:?}");
}

#[test]
fn what_could_follow_is_offered() {
    check_next("pro", "project");
    check_next("task resp", "respawn");
    check_next("agent", "");
    check_next("task update --st", "--status");
    check_next("task update --status w", "working");
    check_next("task update --status ", "working done");
    check_next("task update --status=d", "--status=done");
    check_next("task show a", "add-login");
    check_next("task show add-login a", "");
    check_next("task show --json --j", "");
    check_next("task merge --strategy ", "ff merge");
    check_next("completions z", "zsh");
    check_next("task show -- --j", "");
    check_next("tusk upd", "");
    check_next("task cancel --bogus add", "add-login");
}

#[test]
fn files_are_left_to_the_shell() {
    let next = |line: &str| {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        candidates(&ORANGE, &words, |_, _| Vec::new())
    };
    let files = [Candidate::new("", "a file or folder")];
    assert_eq!(next("project add ./som"), files);
    assert_eq!(next("project update coffee --path ~/co"), files);
    assert_eq!(next("project update coffee --path=~/co"), files);
    assert_eq!(next("project add --name "), []);
    assert_eq!(next("task create bra"), []);
}

#[test]
fn each_shell_has_its_script() {
    let Some(shells) = ORANGE.commands().iter().find(|spec| spec.name == "completions") else { panic!() };
    let Takes::OneOf(shells) = shells.args[0].takes else { panic!() };
    for shell in shells {
        assert!(complete::script(shell).unwrap().contains(" complete -- "), "{shell}");
    }
    assert_eq!(complete::script("ksh"), None);
    assert_eq!(suggest::nearest("bsh", shells.iter().copied()), Some("bash"));
}

fn pages() -> Vec<(String, String)> {
    man::pages(&ORANGE, "2026-01-31")
}

#[test]
fn every_command_has_a_manual_page() {
    let pages = pages();
    let page = |name: &str| &pages.iter().find(|(file, _)| file == name).unwrap().1;
    let heads = |name: &str| {
        page(name).lines().filter_map(|line| line.strip_prefix(".SH ")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        heads("orange.1"),
        "NAME, SYNOPSIS, DESCRIPTION, COMMANDS, OPTIONS, EXIT STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE ALSO"
    );
    assert_eq!(
        heads("orange-task-update.1"),
        "NAME, SYNOPSIS, DESCRIPTION, ARGUMENTS, OPTIONS, EXIT STATUS, ENVIRONMENT, EXAMPLES, SEE ALSO"
    );
    assert!(page("orange.1").contains("\n\\fBorange\\-task(1)\\fR\n"));
    let update = page("orange-task-update.1");
    assert!(update.starts_with(".TH ORANGE\\-TASK\\-UPDATE 1 \"2026-01-31\" \"orange "), "{update}");
    assert!(update.contains(".TP\n\\fB\\-\\-branch\\fR \\fI[NAME]\\fR\n"), "{update}");
    assert!(update.contains("\n.RS 4\n(take over the name"), "{update}");
    assert!(page("orange-task-wait.1").contains("\\-\\-status S... [ID]\n"));
    assert!(!pages.iter().any(|(file, _)| file.contains("agent")));
}

/// What `mandoc -Tlint -Wall` and `groff -ww` have to say of such pages, as far as it can happen here.
#[test]
fn a_manual_page_is_what_formatters_take() {
    let requests = [".TH", ".SH", ".TP", ".PP", ".nf", ".fi", ".RS", ".RE", ".nh", ".ad"];
    for (file, page) in pages() {
        let mut before = "";
        for line in page.lines() {
            let request = line.split(' ').next().unwrap_or_default();
            assert!(line.len() <= 80 || before == ".nf", "{file}: {line}");
            assert!(line.is_ascii() && !line.ends_with(' '), "{file}: {line}");
            assert!(!line.is_empty() && !line.starts_with('\''), "{file}: {line}");
            assert!(!line.starts_with('.') || requests.contains(&request), "{file}: {line}");
            assert!(request != ".PP" || !before.starts_with(".SH"), "{file}: a paragraph that begins twice");
            assert!(!line.starts_with(".SH") || before != ".TP", "{file}: nothing is said of a term");
            before = line;
        }
    }
}

/// What the help of `orange` says in its notes has sections of its own in the manual.
#[test]
fn the_manual_says_what_the_notes_of_the_first_page_say() {
    let pages = pages();
    let page = pages[0].1.replace('\\', "");
    for name in ORANGE.notes.split([' ', '(']).filter(|word| word.starts_with("ORANGE_")) {
        assert!(page.contains(name), "{name}");
    }
    let status = ORANGE.notes.split_once("Exit status: ").unwrap().1;
    for status in status.split(", ").filter_map(|part| part.split(' ').next()) {
        assert!(page.contains(&format!(".TP\nfB{status}fR\n")), "{status}");
    }
}
