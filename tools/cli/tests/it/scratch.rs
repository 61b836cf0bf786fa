//! A folder of its own for each test, and the binary run in it.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::schemas;

/// A workflow without a finding.
pub(crate) const CLEAN: &str = "\
name: clean
version: 1
commands: {cancel: done}
states:
  pending: {}
  later: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: later}
  - {from: later, to: pending}
  - {from: [pending, later], to: done}
";

/// A folder that goes away with the test.
pub(crate) struct Scratch {
    folder: TempDir,
}

/// Result of a run of the binary.
pub(crate) struct CommandResult {
    pub exit: i32,
    pub out: String,
    pub err: String,
    /// The command, where its answer is JSON of ours.
    json_of: Option<String>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self::new();
        for (path, text) in files {
            scratch.write(path, text);
        }
        scratch
    }

    /// Writes the prompts that the step workflow of the fixtures names.
    pub(crate) fn write_prompts(&self) {
        for name in ["plan", "implement", "review", "pr"] {
            self.write(&format!("do/{name}.md"), format!("{name}: {{{{mission_prompt}}}}\n"));
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// The binary in this folder, with an environment of its own.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orange-workflow"));
        command.args(args).current_dir(self.path()).env_clear().stdin(Stdio::null());
        command
    }

    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> CommandResult {
        CommandResult::of(args, &self.command(args).output().unwrap())
    }

    #[track_caller]
    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &str) -> CommandResult {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses its arguments may end before it reads.
        let written = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        assert!(written.err().is_none_or(|it| it.kind() == ErrorKind::BrokenPipe));
        CommandResult::of(args, &child.wait_with_output().unwrap())
    }
}

impl CommandResult {
    #[track_caller]
    fn of(args: &[&str], output: &Output) -> Self {
        let run = Self {
            exit: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
            json_of: args.windows(2).any(|words| words == ["--format", "json"]).then(|| args[0].to_owned()),
        };
        assert!((0..=2).contains(&run.exit), "exit {}: {}", output.status, run.err);
        assert!(!run.err.contains("panicked"), "{}", run.err);
        run
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let answer = serde_json::from_str(&self.out).unwrap();
        if let Some(command) = &self.json_of {
            schemas::check(&format!("orange-workflow-{command}"), &answer);
        }
        answer
    }

    /// The codes of the findings of a run with `--format json`.
    #[track_caller]
    pub(crate) fn codes(&self) -> Vec<String> {
        let json = self.json();
        let found = json["diagnostics"].as_array().unwrap();
        found.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
    }
}
