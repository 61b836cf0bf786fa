//! `completions`: real shells read the scripts and complete by them.

use std::env;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::scratch::Scratch;

/// zsh without its line editor: what it would show is printed.
const ZSH: &str = "\
compdef() { print \"registered $*\" }
_describe() { print -l -- $found }
_files() { print files }
compset() { true }
source <(orange-workflow completions zsh)
ask() { words=(orange-workflow \"$@\"); CURRENT=$#words; PREFIX=${words[-1]}; _orange_workflow }
";

/// The answer of a shell to a script, with our program on `PATH`; `None` where the shell is not installed.
fn answer(shell: &str, arguments: &[&str], script: &str) -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_BIN_EXE_orange-workflow")).parent().unwrap();
    let given = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([folder.to_owned()].into_iter().chain(env::split_paths(&given))).unwrap();
    let scratch = Scratch::with(&[("flow.yml", "name: flow\n")]);
    let mut command = Command::new(shell);
    command.args(arguments).arg(script).env_clear().env("PATH", path).env("HOME", scratch.path());
    let Ok(output) = command.current_dir(scratch.path()).stdin(Stdio::null()).output() else {
        // Past what catches the output of tests.
        std::io::stderr().write_all(format!("SKIPPED: {shell} is not installed\n").as_bytes()).unwrap();
        return None;
    };
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn zsh_completes_commands_checks_values_and_files() {
    let asked = "ask ch; ask check --deny exit-gate-s; ask check --format=js; ask check ''";
    let Some(found) = answer("zsh", &["-f", "-c"], &format!("{ZSH}{asked}")) else { return };
    let expect = [
        "registered _orange_workflow orange-workflow",
        "check:Find errors in workflows, before an agent does",
        "exit-gate-stronger:An exit rule applies to something that the gate of its transition refuses.",
        "--format=json:One JSON object",
        "files",
    ];
    assert_eq!(found, expect);
}

#[test]
fn fish_completes_commands_checks_values_and_files() {
    let asked = ["ch", "check --deny exit-gate-s", "check --format=js", "check fl"];
    let asked: String = asked.iter().map(|it| format!("complete -C 'orange-workflow {it}'\n")).collect();
    let script = format!("orange-workflow completions fish | source\n{asked}");
    let Some(found) = answer("fish", &["--no-config", "-c"], &script) else { return };
    let words: Vec<&str> = found.iter().map(|it| it.split('\t').next().unwrap_or_default()).collect();
    assert_eq!(words, ["check", "exit-gate-stronger", "--format=json", "flow.yml"]);
}
