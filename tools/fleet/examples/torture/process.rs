//! Processes that are started, killed, stopped and let go on.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A process that can be started again and again.
#[derive(Debug)]
pub(crate) struct FleetProcess {
    pub(crate) name: String,
    program: PathBuf,
    words: Vec<String>,
    environment: Vec<(String, String)>,
    log: PathBuf,
    /// It writes a line when it is ready.
    says_ready: bool,
    child: Option<Child>,
}

impl FleetProcess {
    /// A process that has not been started.
    pub(crate) fn new(name: &str, program: &Path, words: Vec<String>, log: PathBuf) -> FleetProcess {
        let (name, program, environment) = (name.to_owned(), program.to_owned(), Vec::new());
        FleetProcess { name, program, words, environment, log, says_ready: false, child: None }
    }

    /// Declares that it writes a line when it is ready.
    pub(crate) fn that_says_ready(mut self) -> FleetProcess {
        self.says_ready = true;
        self
    }

    /// Sets its environment, which has nothing but this.
    pub(crate) fn with(mut self, environment: Vec<(String, String)>) -> FleetProcess {
        self.environment = environment;
        self
    }

    /// Starts it, and waits until it is ready.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let cause = |error: std::io::Error| format!("{} cannot be started: {error}", self.name);
        let mut command = Command::new(&self.program);
        command.args(&self.words).stdin(Stdio::null()).stderr(self.log().map_err(cause)?);
        if !self.environment.is_empty() {
            command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        }
        command.stdout(if self.says_ready { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().map_err(cause)?;
        let mut line = String::new();
        let read = child.stdout.take().map(|it| BufReader::new(it).read_line(&mut line));
        self.child = Some(child);
        match read {
            Some(Ok(0) | Err(_)) => {
                let code = self.wait();
                Err(format!("{} is not ready and has ended ({code}): {}", self.name, self.logged()))
            }
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// Kills it, as a power cut does.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.wait();
    }

    /// Stops it and its children: they live, and do nothing.
    pub(crate) fn stop(&mut self) {
        self.signal(Signal::STOP);
        self.signal_children(Signal::STOP);
    }

    /// Lets them go on after a stop.
    pub(crate) fn go_on(&mut self) {
        self.signal_children(Signal::CONT);
        self.signal(Signal::CONT);
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn end(&mut self) {
        self.signal(Signal::TERM);
        self.wait();
    }

    /// True if it has ended by itself, or does not run.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(|it| !matches!(it.try_wait(), Ok(None)))
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// The end of its log.
    pub(crate) fn logged(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let from = text.lines().count().saturating_sub(12);
        text.lines().skip(from).map(|line| format!("\n    {}: {line}", self.name)).collect()
    }

    fn signal(&self, signal: Signal) {
        let pid = self.pid().and_then(|it| Pid::from_raw(i32::try_from(it).ok()?));
        if let Some(pid) = pid {
            // It may have ended by itself.
            kill_process(pid, signal).unwrap_or_default();
        }
    }

    fn signal_children(&self, signal: Signal) {
        let Some(pid) = self.pid() else { return };
        let children =
            std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        for pid in children.split_whitespace().filter_map(|it| Pid::from_raw(it.parse().ok()?)) {
            // It may have ended by itself.
            kill_process(pid, signal).unwrap_or_default();
        }
    }

    fn wait(&mut self) -> String {
        let status = self.child.take().and_then(|mut it| it.wait().ok());
        status.map(|it| it.to_string()).unwrap_or_default()
    }

    fn log(&self) -> std::io::Result<File> {
        OpenOptions::new().create(true).append(true).open(&self.log)
    }
}

impl Drop for FleetProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
