//! The processes of the fleet's demo: a gateway, and crabs with folders of their own.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::scratch::ScratchHome;

/// The gateway and the crabs, by their names.
pub(super) struct Processes<'s> {
    scratch: &'s ScratchHome,
    program: PathBuf,
    running: BTreeMap<String, Child>,
    /// Address of the gateway, which stays the same.
    listen: String,
}

impl<'s> Processes<'s> {
    pub(super) fn new(scratch: &'s ScratchHome, program: &Path) -> Result<Processes<'s>> {
        let processes = Processes {
            scratch,
            program: program.to_path_buf(),
            running: BTreeMap::new(),
            listen: "127.0.0.1:0".to_owned(),
        };
        let logs = processes.scratch.path("logs");
        fs::create_dir_all(&logs).map_err(|error| format!("{} cannot be made: {error}", logs.display()))?;
        Ok(processes)
    }

    /// Starts the gateway, and waits until it serves.
    pub(super) fn serve(&mut self) -> Result<()> {
        let folder = self.gateway();
        let mut command = self.command(&["serve", "--log", "warn", "--listen", &self.listen, "--dir"]);
        command.arg(folder).stdout(Stdio::piped()).stderr(self.log("gateway")?);
        let mut child = command.spawn().map_err(|error| format!("the gateway cannot be started: {error}"))?;
        let mut line = String::new();
        let read = child.stdout.take().map(|it| BufReader::new(it).read_line(&mut line));
        self.running.insert("gateway".to_owned(), child);
        let address = line.split_once("http://").and_then(|it| it.1.split(';').next());
        match (read, address) {
            (Some(Ok(_)), Some(address)) => address.trim().clone_into(&mut self.listen),
            (Some(_) | None, _) => return Err(format!("the gateway does not serve: {line}")),
        }
        Ok(())
    }

    /// Makes the token of the crabs.
    pub(super) fn make_token(&self) -> Result<()> {
        let mut command = self.command(&["token", "new", "--colony", "toy"]);
        let output =
            self.asking(&mut command).output().map_err(|error| format!("no token can be made: {error}"))?;
        let file = self.scratch.path("crab.token");
        fs::write(&file, &output.stdout)
            .map_err(|error| format!("{} cannot be written: {error}", file.display()))
    }

    /// Writes the script of a step's agent on a crab.
    pub(super) fn acts(&self, crab: &str, step: &str, script: &str) -> Result<()> {
        let folder = self.folder(crab).join("orange/agents");
        let file = folder.join(format!("{step}.sh"));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, script))
            .map_err(|error| format!("{} cannot be written: {error}", file.display()))
    }

    /// Starts a crab.
    pub(super) fn crab(&mut self, name: &str) -> Result<()> {
        let gateway = format!("http://{}", self.listen);
        let words = [
            "crab",
            "--colony",
            "toy",
            "--role",
            name,
            "--name",
            name,
            "--agree",
            "--look",
            "1",
            "--gateway",
        ];
        let mut command = self.command(&words);
        command.arg(gateway).arg("--token-file").arg(self.scratch.path("crab.token"));
        command.arg("--dir").arg(self.folder(name)).stdout(Stdio::null()).stderr(self.log(name)?);
        let child = command.spawn().map_err(|error| format!("the crab {name} cannot be started: {error}"))?;
        self.running.insert(name.to_owned(), child);
        Ok(())
    }

    /// Kills a process, as a power cut does.
    pub(super) fn kill(&mut self, name: &str) -> Result<()> {
        let Some(mut child) = self.running.remove(name) else { return Ok(()) };
        child
            .kill()
            .and_then(|()| child.wait().map(drop))
            .map_err(|error| format!("{name} cannot be killed: {error}"))
    }

    /// The answer of `orange-fleet … --json`.
    pub(super) fn ask(&self, words: &[&str]) -> Result<Value> {
        let mut command = self.command(words);
        let output = self.asking(command.arg("--json")).output();
        let output = output.map_err(|error| format!("orange-fleet cannot be run: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        match serde_json::from_str(&said) {
            Ok(answer) if output.status.success() => Ok(answer),
            Ok(_) | Err(_) => Err(format!("`orange-fleet {}` failed: {said}", words.join(" "))),
        }
    }

    /// The commits of a branch of the origin.
    pub(super) fn log_of(&self, branch: &str) -> Result<String> {
        let mut command = self.scratch.command(Path::new("git"), &["log", "--format=%s", branch]);
        let output = command.current_dir(self.scratch.path("toy.git")).output();
        let output = output.map_err(|error| format!("git cannot be run: {error}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Number of agents that the crabs have started.
    pub(super) fn agents(&self) -> usize {
        let folders = fs::read_dir(self.scratch.path("crabs")).into_iter().flatten().flatten();
        let notes = folders.filter_map(|crab| fs::read_dir(crab.path().join("orange/agents")).ok());
        notes.flatten().flatten().filter(|it| it.path().extension().is_some_and(|it| it == "pid")).count()
    }

    /// Ends everything, with the tmux servers of the crabs.
    pub(super) fn end(&mut self) {
        for child in self.running.values_mut() {
            // What has ended needs no end.
            child.kill().unwrap_or_default();
            child.wait().map(drop).unwrap_or_default();
        }
        for crab in fs::read_dir(self.scratch.path("crabs")).into_iter().flatten().flatten() {
            let socket = crab.path().join("tmux").display().to_string();
            let mut command = self.scratch.command(Path::new("tmux"), &["-S", &socket, "kill-server"]);
            command.output().map(drop).unwrap_or_default();
        }
    }

    /// Logs of the processes, to go with a failure.
    pub(super) fn logs(&self) -> String {
        let files = fs::read_dir(self.scratch.path("logs")).into_iter().flatten().flatten();
        let texts = files.map(|it| {
            let text = fs::read_to_string(it.path()).unwrap_or_default();
            format!("\n{} says:\n{}", it.file_name().to_string_lossy(), text.trim_end())
        });
        texts.collect()
    }

    fn gateway(&self) -> PathBuf {
        self.scratch.path("gateway")
    }

    fn folder(&self, crab: &str) -> PathBuf {
        self.scratch.path("crabs").join(crab)
    }

    fn log(&self, name: &str) -> Result<File> {
        let file = self.scratch.path("logs").join(name);
        let opened = OpenOptions::new().create(true).append(true).open(&file);
        opened.map_err(|error| format!("{} cannot be opened: {error}", file.display()))
    }

    fn command(&self, words: &[&str]) -> Command {
        self.scratch.command(&self.program, words)
    }

    /// A command with the address of the gateway and the administrator's token.
    fn asking<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(["--gateway", &format!("http://{}", self.listen), "--dir"]).arg(self.gateway())
    }
}

impl Drop for Processes<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
