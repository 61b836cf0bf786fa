//! The cache of `check`: no answer depends on it, whatever it holds and whatever becomes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::check::{BROKEN, WARNED};
use crate::scratch::{CLEAN, Scratch};

/// A workflow without a finding whose prompt is in a file of its own.
const INCLUDING: &str = "\
name: including
version: 1
commands: {cancel: done}
states:
  pending: {}  # orange: allow(entry-missing) every task has a summary
  # orange: allow(one-way-human-gate) nothing comes back
  working: {respawn_prompt: worker}
  done: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - from: working
    to: done
    by: human
    hooks: [{action: kill_session}, {action: release_workspace}]
  - {from: pending, to: done, by: human}
exit_monitoring:
  rules:
    - {status: working, action: mark_dead}
prompts: {worker: {include: worker.md}}
";

/// The exit status of a run, its answer, and what it says beside it.
type RunOutput = (i32, String, String);

/// A folder with a cache of its own.
struct Cached(Scratch);

impl Cached {
    fn with(files: &[(&str, &str)]) -> Self {
        let cached = Self(Scratch::new());
        files.iter().for_each(|(path, text)| cached.0.write(&format!("flows/{path}"), text));
        cached
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = self.0.command(&[&["check", "flows"], more].concat());
        command.env("XDG_CACHE_HOME", self.0.path().join("caches"));
        command
    }

    fn answer(&self, more: &[&str]) -> RunOutput {
        let output = self.command(more).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("caches/orange-workflow/found")
    }

    /// The only file of the cache.
    #[track_caller]
    fn file(&self) -> PathBuf {
        let files: Vec<_> = fs::read_dir(self.folder()).unwrap().map(|it| it.unwrap().path()).collect();
        let [one] = &files[..] else { panic!("{files:?}") };
        one.clone()
    }

    fn lines(&self) -> usize {
        let files = fs::read_dir(self.folder()).into_iter().flatten();
        let texts = files.map(|it| fs::read_to_string(it.unwrap().path()).unwrap_or_default());
        texts.map(|text| text.lines().filter(|line| !line.is_empty()).count()).sum()
    }

    /// Checks that a run with the cache answers like one without it, and that one again, in several forms.
    #[track_caller]
    fn check(&self) -> RunOutput {
        let formats = ["human", "short", "json", "sarif", "junit"];
        let answers = formats.map(|format| {
            let plain = self.answer(&["--no-cache", "--format", format]);
            assert_eq!(self.answer(&["--format", format]), plain);
            assert_eq!(self.answer(&["--format", format]), plain, "the second time");
            plain
        });
        let [_, short, ..] = answers;
        short
    }
}

#[test]
fn every_answer_is_the_one_without_it() {
    let others = [
        ("warned.yml", WARNED),
        ("broken.yml", BROKEN),
        ("including.yml", INCLUDING),
        ("worker.md", "Do {summary}.\n"),
        ("again/clean.yml", CLEAN),
        ("compose.yml", "services: {}\n"),
    ];
    let cached = Cached::with(&[&[("clean.yml", CLEAN)], &others[..]].concat());
    let (exit, out, err) = cached.check();
    assert_eq!(exit, 1);
    assert!(out.contains("the workflow `clean` is already defined in flows/again/clean.yml"), "{out}");
    assert!(err.contains("skipped flows/compose.yml"), "{err}");
    assert!(!out.contains("including"), "it has no finding: {out}");
    assert_eq!(cached.lines(), 2, "both files of one name and text, and the one with a finding");
}

#[test]
fn a_text_that_was_checked_is_not_checked_again() {
    let cached = Cached::with(&[("clean.yml", CLEAN), ("other.yml", "states: {}\n")]);
    cached.answer(&[]);
    let text = fs::read_to_string(cached.file()).unwrap();
    fs::write(cached.file(), text.replace("\"clean\"", "\"known\"")).unwrap();
    cached.0.write("flows/known.yml", CLEAN.replace("name: clean", "name: known"));
    let (_, out, _) = cached.answer(&["--format", "short"]);
    assert!(out.contains("the workflow `known` is already defined in flows/clean.yml"), "{out}");
}

#[test]
fn a_check_that_is_off_is_looked_for_when_it_is_on() {
    let cached = Cached::with(&[("default.yml", include_str!("../../../../workflows/default.yml"))]);
    assert_eq!(cached.check(), (0, String::new(), String::new()));
    assert_eq!(cached.lines(), 1);
    let on = ["--warn", "C65", "--format", "short"];
    let (_, found, _) = cached.answer(&on);
    assert!(found.contains("C65") && !found.contains("C89"), "{found}");
    assert_eq!(cached.answer(&on), cached.answer(&[&on[..], &["--no-cache"]].concat()));
    cached.0.write("orange-workflow.toml", "[[paths]]\nfiles = [\"flows/**\"]\nlints = {C89 = \"deny\"}\n");
    let (exit, found, _) = cached.check();
    assert!(exit == 1 && found.contains("C89") && !found.contains("C65"), "{found}");
    assert_eq!(cached.lines(), 1, "nothing new is known");
}

#[test]
fn whatever_changes_is_seen() {
    let cached = Cached::with(&[("clean.yml", CLEAN)]);
    assert_eq!(cached.check().0, 0);
    cached.0.write("flows/clean.yml", CLEAN.replace("later: {}", "latr: {}"));
    assert_eq!(cached.check().0, 1, "another text");
    cached.0.write("flows/clean.yml", CLEAN);
    assert_eq!(cached.check().0, 0);
    fs::rename(cached.0.path().join("flows/clean.yml"), cached.0.path().join("flows/other.yml")).unwrap();
    assert!(cached.check().1.contains("S06"), "another name");
    fs::rename(cached.0.path().join("flows/other.yml"), cached.0.path().join("flows/clean.toml")).unwrap();
    assert_eq!(cached.check().0, 2, "in another language, it is not a workflow");
}

#[test]
fn a_prompt_in_a_file_of_its_own_is_read_again() {
    let cached = Cached::with(&[("including.yml", INCLUDING), ("worker.md", "Do {summary}.\n")]);
    assert_eq!(cached.check(), (0, String::new(), String::new()));
    cached.0.write("flows/worker.md", "Do {summry}.\n");
    assert!(cached.check().1.contains("unknown placeholder"), "another prompt");
    fs::remove_file(cached.0.path().join("flows/worker.md")).unwrap();
    assert_eq!(cached.check().0, 1, "no prompt");
}

#[test]
fn another_build_of_the_program_checks_again() {
    let cached = Cached::with(&[("clean.yml", CLEAN)]);
    cached.answer(&[]);
    cached.answer(&[]);
    assert_eq!(cached.lines(), 1);
    let other = cached.0.path().join("orange-workflow");
    // Another process writes it: a test that forks at this moment would keep the file open for writing, and it could not be run.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_orange-workflow")).arg(&other).status();
    assert!(copied.unwrap().success());
    let mut command = Command::new(other);
    command.args(["check", "flows"]).current_dir(cached.0.path()).env_clear();
    command.env("HOME", cached.0.path()).env("XDG_CACHE_HOME", cached.0.path().join("caches"));
    assert!(command.output().unwrap().status.success());
    assert_eq!(cached.lines(), 2);
}

#[test]
fn no_file_in_its_place_does_any_harm() {
    let cached = Cached::with(&[("clean.yml", CLEAN), ("broken.yml", BROKEN)]);
    let expect = cached.check();
    let file = cached.file();
    let folder = file.parent().unwrap();
    let line = fs::read_to_string(&file).unwrap();
    let torn = [&line[..line.len() / 2], &line.replace("steps", "neither"), "\u{0}\u{1}\n"];
    for text in torn.map(str::as_bytes).into_iter().chain([&[0xff; 9][..], &[b'\n'; 600_000]]) {
        fs::write(&file, text).unwrap();
        assert_eq!(cached.check(), expect);
    }
    assert_eq!(cached.lines(), 1, "a file that is too long is emptied");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(cached.check(), expect, "a folder");
    fs::remove_dir(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert_eq!(cached.check(), expect, "a pipe that nobody writes");
    fs::remove_file(&file).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(cached.check(), expect, "a folder that may not be written");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn runs_at_once_write_whole_lines() {
    let named = |number: usize| CLEAN.replace("name: clean", &format!("name: clean-{number}"));
    let files: Vec<_> = (0..64).map(|it| (format!("{it}/clean-{it}.yml"), named(it))).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let cached = Cached::with(&files);
    let start = |_| cached.command(&[]).stdout(Stdio::null()).spawn().unwrap();
    let runs: Vec<Child> = (0..8).map(start).collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    let before = cached.lines();
    assert!((64..=8 * 64).contains(&before), "{before}");
    cached.check();
    assert_eq!(cached.lines(), before, "every text is known");
}
