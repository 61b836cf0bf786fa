//! The scratch home of the demo and the torture, separate from the user's.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use orange_engine::demo_home::PROJECT;
use orange_engine::demo_home::{REPOSITORY, environment, furnish};
use orange_journal::{Record, read};
use serde_json::Value;
use tempfile::TempDir;

use crate::Result;
use crate::workspace::answer;

/// The scratch folder, and the programs that are used. Dropping it removes everything.
pub(crate) struct ScratchHome {
    root: TempDir,
    /// The path of `orange`.
    orange: PathBuf,
    /// The words before it on every command line.
    launcher: Vec<String>,
    /// Additional variables of every program.
    environment: Vec<(&'static str, OsString)>,
}

impl ScratchHome {
    /// A home with one project, in which `claude` is this script.
    pub(crate) fn new(orange: &Path, agent: &str) -> Result<ScratchHome> {
        let scratch = ScratchHome::empty(orange, agent)?;
        scratch.orange(&["project", "add", "--name", PROJECT])?;
        Ok(scratch)
    }

    /// A home without a project, so that `ORANGE_HOME` is empty, in which `claude` is this script.
    pub(crate) fn empty(orange: &Path, agent: &str) -> Result<ScratchHome> {
        // A socket's path is short, and some systems' temporary folders have long paths.
        let root = tempfile::Builder::new().prefix("orange-demo-").tempdir_in("/tmp");
        let root = root.map_err(|error| format!("no scratch folder can be made in /tmp: {error}"))?;
        let scratch =
            ScratchHome { root, orange: orange.to_path_buf(), launcher: Vec::new(), environment: Vec::new() };
        furnish(scratch.root.path(), agent)
            .map_err(|error| format!("the scratch home cannot be written: {error}"))?;
        scratch.make_repository()?;
        Ok(scratch)
    }

    /// Adds a variable to every program's environment.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<OsString>) -> ScratchHome {
        self.environment.push((name, value.into()));
        self
    }

    /// Sets the words before every `orange`.
    pub(crate) fn through(mut self, launcher: &[String]) -> ScratchHome {
        self.launcher = launcher.to_vec();
        self
    }

    /// `orange`, after these words.
    pub(crate) fn behind(&self, launcher: &[&str], arguments: &[&str]) -> Command {
        let orange = self.orange.to_string_lossy();
        let own = self.launcher.iter().map(String::as_str);
        let words: Vec<&str> =
            own.chain(launcher.iter().copied()).chain([&*orange]).chain(arguments.iter().copied()).collect();
        self.command(Path::new(words[0]), &words[1..])
    }

    /// Another program, with this home's environment.
    pub(crate) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        self.program(program, &self.path(PROJECT), arguments)
    }

    /// The dashboard that lies beside `orange`.
    pub(crate) fn dashboard(&self) -> PathBuf {
        self.orange.with_file_name("orange-dashboard")
    }

    /// tmux, on the server of this home.
    pub(crate) fn tmux(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(Path::new("tmux"), self.root.path(), &["-S"]);
        command.arg(self.path("tmux")).args(arguments);
        command
    }

    /// The answer of `orange … --json` in the project's main checkout.
    pub(crate) fn orange(&self, arguments: &[&str]) -> Result<Value> {
        let mut command = self.behind(&[], arguments);
        let shown = arguments.join(" ");
        let output =
            command.arg("--json").output().map_err(|error| format!("orange cannot be run: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let answer: Value = serde_json::from_str(&said)
            .map_err(|error| format!("`orange {shown}` answered no JSON ({error}): {said}"))?;
        if output.status.success() {
            return Ok(answer);
        }
        let of = |key| answer["error"][key].as_str().unwrap_or_default();
        Err(format!("`orange {shown}` failed: {}\nhelp: {}", of("message"), of("help")))
    }

    /// A note of the agent of a spawn: its `answers`, or what it `heard` on its terminal.
    pub(crate) fn note(&self, task: &str, spawn: u64, kind: &str) -> String {
        let file = self.path("orange/agents").join(format!("{task}.{spawn}.{kind}"));
        fs::read_to_string(file).unwrap_or_default()
    }

    /// The complete lines of a task's journal.
    pub(crate) fn journal(&self, task: &str) -> Result<Vec<Value>> {
        self.journal_in("orange/tasks", task)
    }

    /// The complete lines of a mission's journal.
    pub(crate) fn mission_journal(&self, mission: &str) -> Result<Vec<Value>> {
        self.journal_in("orange/missions", mission)
    }

    fn journal_in(&self, place: &str, id: &str) -> Result<Vec<Value>> {
        let file = self.path(place).join(PROJECT).join(id).join("history.jsonl");
        let bytes = fs::read(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        let journal = read::parse(&bytes).map_err(|error| format!("{}: {error:?}", file.display()))?;
        Ok(journal.records.iter().map(Record::to_json).collect())
    }

    /// The engine's log, to go with a failure.
    pub(crate) fn log(&self) -> String {
        let log = fs::read_to_string(self.path("orange/orange.log")).unwrap_or_default();
        if log.is_empty() { log } else { format!("\norange.log says:\n{}", log.trim_end()) }
    }

    /// Removes everything.
    pub(crate) fn remove(self) -> Result<()> {
        self.end_server();
        let path = self.root.path().to_path_buf();
        fs::remove_dir_all(&path).map_err(|error| format!("{} cannot be removed: {error}", path.display()))
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn make_repository(&self) -> Result<()> {
        let calls = REPOSITORY
            .iter()
            .map(|(folder, words)| self.program(Path::new("git"), &self.path(folder), words));
        calls.map(answer).try_for_each(|made| made.map(drop))
    }

    /// A program without the user's settings, and without those of a tmux or an agent around the demo.
    fn program(&self, program: &Path, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env_clear();
        command.envs(environment(self.root.path()));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn end_server(&self) {
        // There may be no server.
        self.tmux(&["kill-server"]).output().map(drop).unwrap_or_default();
    }
}

impl Drop for ScratchHome {
    fn drop(&mut self) {
        self.end_server();
    }
}
